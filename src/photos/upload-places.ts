/** Each takes up to 12 MiB of the disk before its hash is known. */
const atOnce = 8
const atOnceOfPerson = 2

type Waiting = { readonly who: string; readonly go: () => void }

/**
 * Places for photos that are being received. Two at once of one person, eight in all. The others wait in turn and unread,
 * so their bytes stay with the client; a person who has two is passed over.
 */
export class UploadPlaces {
  readonly #taken = new Map<string, number>()
  readonly #waiting: Waiting[] = []

  /** Runs `receive` when there is a place for it. */
  async use<T>(who: string, receive: () => Promise<T>): Promise<T> {
    if (this.#isFreeFor(who)) this.#take(who)
    else await new Promise<void>((go) => this.#waiting.push({ who, go }))
    try {
      return await receive()
    } finally {
      this.#giveBack(who)
    }
  }

  #isFreeFor(who: string): boolean {
    const taken = [...this.#taken.values()].reduce((sum, n) => sum + n, 0)
    return taken < atOnce && (this.#taken.get(who) ?? 0) < atOnceOfPerson
  }

  #take(who: string): void {
    this.#taken.set(who, (this.#taken.get(who) ?? 0) + 1)
  }

  #giveBack(who: string): void {
    const left = (this.#taken.get(who) ?? 1) - 1
    if (left > 0) this.#taken.set(who, left)
    else this.#taken.delete(who)
    const next = this.#waiting.findIndex((waiting) => this.#isFreeFor(waiting.who))
    const [first] = next < 0 ? [] : this.#waiting.splice(next, 1)
    if (!first) return
    this.#take(first.who)
    first.go()
  }
}
