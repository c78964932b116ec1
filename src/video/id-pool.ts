/** So many ids are asked for at once, and asked for again when half are used. */
const poolSize = 16

/** Ids of detections in advance, so that motion is told of without waiting for the thread that gives them out. */
export class IdPool {
  readonly #ask: (count: number) => void
  readonly #waiting: { readonly give: (id: number) => void; readonly refuse: (error: Error) => void }[] = []
  #ids: number[] = []
  #asked = 0

  /** Asks at once. */
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

  /** Waits when there is none. */
  take(): Promise<number> {
    const id = this.#ids.shift()
    const taken =
      id === undefined
        ? new Promise<number>((give, refuse) => this.#waiting.push({ give, refuse }))
        : Promise.resolve(id)
    this.#refill()
    return taken
  }

  /** Nobody gives out ids any more. */
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
