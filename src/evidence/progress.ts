/** Gets the share of a work that is done, from 0 to 1. */
export type OnProgress = (share: number) => void

/** How much of the whole each part takes, about; the leaves take the rest. From runs of `npm run bench -- --only verify`. */
const shares = { file: 0.1, people: 0.1, files: 0.1 } as const
/** An audit entry takes about half as long as a leaf with its row. */
const entryWeight = 0.5

/** Adds up how far a verification is, and says it at each whole percent. */
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

  /** Takes the sizes of the work, once the check of the file is done. */
  plan(leaves: number, entries: number): void {
    this.#leaves = leaves
    this.#entries = entries * entryWeight
    this.#at(shares.file)
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

  /** Notes that texts and people were compared. */
  people(): void {
    this.#at(1 - shares.files)
  }

  /** Takes the share of files that were read. */
  files(share: number): void {
    this.#at(1 - shares.files + share * shares.files)
  }

  #rows(done: number): void {
    const all = this.#leaves + this.#entries
    const rest = 1 - shares.file - shares.people - shares.files
    if (all > 0) this.#at(shares.file + (Math.min(done, all) / all) * rest)
  }

  #at(share: number): void {
    const percent = Math.floor(share * 100)
    if (percent <= this.#percent) return
    this.#percent = percent
    this.#say(percent / 100)
  }
}
