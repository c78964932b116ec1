/** Runs tasks in their order, at most a given number at once. */
export class TaskLimit {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Tasks that wait for a place. */
  get waiting(): number {
    return this.#waiting.length
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      return await task()
    } finally {
      // The place passes to the next waiting task, so that a new one does not overtake it.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }
}
