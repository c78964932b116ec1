/** Ids that are requested at once; more are requested when half are used. */
const poolSize = 16

/** Holds detection ids in advance, so that motion is reported without waiting for the main thread. */
export class IdPool {
  readonly #ask: (count: number) => void
  readonly #waiting: { readonly give: (id: number) => void; readonly refuse: (error: Error) => void }[] = []
  #ids: number[] = []
  #asked = 0

  /** Requests ids at once. */
  constructor(ask: (count: number) => void) {
    this.#ask = ask
    this.#refill()
  }

  add(ids: readonly number[]): void {
    this.#asked = Math.max(this.#asked - ids.length, 0)
    this.#ids.push(...ids)
    while (this.#waiting.length > 0 && this.#ids.length > 0) this.#waiting.shift()?.give(this.#ids.shift() ?? 0)
    this.#refill()
  }

  /** Resolves with an id; waits while there is none. Rejects after `end`. */
  take(): Promise<number> {
    const id = this.#ids.shift()
    const taken =
      id === undefined
        ? new Promise<number>((give, refuse) => this.#waiting.push({ give, refuse }))
        : Promise.resolve(id)
    this.#refill()
    return taken
  }

  /** Rejects all waiting and later calls of `take`. */
  end(): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(new Error('no ids any more'))
  }

  #refill(): void {
    if (this.#ids.length + this.#asked >= poolSize / 2 + this.#waiting.length) return
    const count = poolSize - this.#ids.length - this.#asked + this.#waiting.length
    this.#asked += count
    this.#ask(count)
  }
}
