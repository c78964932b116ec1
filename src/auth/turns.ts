import { AppError } from '../errors/index.ts'

/** So much is under way at once, and so much may wait, in all and of one lane. */
export type TurnLimits = { readonly atOnce: number; readonly waitingOfLane: number; readonly waiting: number }

type Waiting = { readonly lane: string; readonly go: () => void }

/**
 * Turns at work that costs: lanes are served one after the other, however many wait in one of them, and no lane has more
 * than one turn at a time. So a flood from one address holds up nobody at another.
 */
export class Turns {
  readonly #limits: TurnLimits
  readonly #running = new Set<string>()
  #waiting: Waiting[] = []

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** Runs the work when it is its turn. Throws NOT_READY when too much waits already. */
  async run<T>(lane: string, work: () => Promise<T>): Promise<T> {
    await this.#turn(lane)
    try {
      return await work()
    } finally {
      this.#running.delete(lane)
      this.#next()
    }
  }

  #turn(lane: string): Promise<void> | undefined {
    const { atOnce, waiting, waitingOfLane } = this.#limits
    if (this.#running.size < atOnce && !this.#running.has(lane)) {
      this.#running.add(lane)
      return undefined
    }
    const ofLane = this.#waiting.filter((w) => w.lane === lane).length
    if (ofLane >= waitingOfLane || this.#waiting.length >= waiting) {
      throw new AppError('NOT_READY', 'Too many sign-ins at once', { retryAfterSeconds: 2 })
    }
    return new Promise((go) => {
      this.#waiting.push({ lane, go })
    })
  }

  /** The one that waits longest among the lanes that have no turn. */
  #next(): void {
    const chosen = this.#waiting.find((w) => !this.#running.has(w.lane))
    if (!chosen || this.#running.size >= this.#limits.atOnce) return
    this.#waiting = this.#waiting.filter((w) => w !== chosen)
    this.#running.add(chosen.lane)
    chosen.go()
  }
}
