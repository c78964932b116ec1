/** Gets the share of a work that is done, from 0 to 1. */
export type OnProgress = (share: number) => void

/** Share of the files in the whole, about; leaves and audit entries take the rest. */
const filesShare = 0.1
/** An audit entry takes about half as long as a leaf with its row. */
const entryWeight = 0.5

/** Adds up the progress of a verification, and reports it at each whole percent. */
export class Progress {
  readonly #say: OnProgress
  #percent = -1
  #leavesDone = 0
  #leaves = 0
  #entries = 0

  constructor(say: OnProgress = () => {}) {
    this.#say = say
    this.#at(0)
  }

  /** Takes the sizes of the work. */
  plan(leaves: number, entries: number): void {
    this.#leaves = leaves
    this.#entries = entries * entryWeight
  }

  /** Counts leaves that were compared with their rows. */
  leaves(count: number): void {
    this.#leavesDone += count
    this.#rows(this.#leavesDone)
  }

  /** Takes how many audit entries were compared, all in all. */
  trail(entries: number): void {
    this.#rows(this.#leaves + entries * entryWeight)
  }

  /** Takes the share of files that were read. */
  files(share: number): void {
    this.#at(1 - filesShare + share * filesShare)
  }

  #rows(done: number): void {
    const all = this.#leaves + this.#entries
    const rest = 1 - filesShare
    if (all > 0) this.#at((Math.min(done, all) / all) * rest)
  }

  #at(share: number): void {
    const percent = Math.floor(share * 100)
    if (percent <= this.#percent) return
    this.#percent = percent
    this.#say(percent / 100)
  }
}
