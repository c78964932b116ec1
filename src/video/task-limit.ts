/** Runs tasks in the order they come, at most so many at once. */
export class TaskLimit {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(most: number) {
    this.#most = most
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      return await task()
    } finally {
      // The place is handed on, not given back, so that nobody who comes now gets it first.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }
}
