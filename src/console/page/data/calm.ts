/** Does a work once for many causes that come together: after they have rested, or when they go on and on. */
export class Calm {
  readonly #work: () => void
  readonly #restMs: number
  readonly #mostMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #firstMs = 0

  /** `restMs` after the last cause the work is done, at the latest `mostMs` after the first. */
  constructor(work: () => void, { restMs, mostMs }: { restMs: number; mostMs: number }) {
    this.#work = work
    this.#restMs = restMs
    this.#mostMs = mostMs
  }

  soon(): void {
    const nowMs = performance.now()
    if (this.#timer === undefined) this.#firstMs = nowMs
    clearTimeout(this.#timer)
    const waitMs = Math.min(this.#restMs, Math.max(0, this.#firstMs + this.#mostMs - nowMs))
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#work()
    }, waitMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** A plan that is saved changes its layout with each request: it is read again once they have ended, or every few seconds. */
export const layoutPace = { restMs: 400, mostMs: 5000 } as const
