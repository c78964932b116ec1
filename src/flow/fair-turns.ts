import { AppError } from '../errors/index.ts'

/** Limits of tasks that run at once, and of waiting tasks in all and in one lane. */
export type TurnLimits = { readonly atOnce: number; readonly waitingOfLane: number; readonly waiting: number }

type Waiting = { readonly who: string; readonly go: () => void; readonly giveUp: (error: AppError) => void }

/**
 * Shares out expensive work. Lanes are served in rotation, one task at a time each. When too many wait, the longest lane loses a
 * task. It is the newest task of the name that waits most often there. So a flood keeps out neither another network nor another
 * name.
 */
export class FairTurns {
  readonly #limits: TurnLimits
  readonly #refusal: string
  readonly #running = new Set<string>()
  /** Waiting tasks by lane, the lane served longest ago first; no lane is empty. */
  readonly #waiting = new Map<string, Waiting[]>()

  /** @param refusal message for a task that is refused */
  constructor(limits: TurnLimits, refusal: string) {
    this.#limits = limits
    this.#refusal = refusal
  }

  /**
   * Runs the work when it is its turn. Throws NOT_READY when too much waits already.
   * @param who the name inside the lane
   */
  async run<T>(lane: string, work: () => Promise<T>, who = ''): Promise<T> {
    await this.#turn(lane, who)
    try {
      return await work()
    } finally {
      this.#running.delete(lane)
      this.#next()
    }
  }

  #turn(lane: string, who: string): Promise<void> | undefined {
    if (this.#running.size < this.#limits.atOnce && !this.#running.has(lane)) {
      this.#running.add(lane)
      return undefined
    }
    this.#makeRoom(lane, who)
    return new Promise((go, giveUp) => {
      this.#waiting.set(lane, [...(this.#waiting.get(lane) ?? []), { who, go, giveUp }])
    })
  }

  /** Refuses the newest task of the longest lane. Throws NOT_READY when that is the asker's own. */
  #makeRoom(lane: string, who: string): void {
    const own = this.#waiting.get(lane) ?? []
    if (own.length >= this.#limits.waitingOfLane) {
      this.#giveUp(lane, mostOften(own, who))
      return
    }
    const all = [...this.#waiting].reduce((sum, [, of]) => sum + of.length, 0)
    if (all < this.#limits.waiting) return
    const [longest, of] = [...this.#waiting].reduce((a, b) => (b[1].length > a[1].length ? b : a))
    if (of.length > own.length) this.#giveUp(longest, of.at(-1))
    else this.#giveUp(lane, mostOften(own, who))
  }

  #giveUp(lane: string, chosen: Waiting | undefined): void {
    const tooMany = new AppError('NOT_READY', this.#refusal, { retryAfterSeconds: 2 })
    if (!chosen) throw tooMany
    this.#leave(lane, chosen)
    chosen.giveUp(tooMany)
  }

  #leave(lane: string, gone: Waiting): void {
    const left = (this.#waiting.get(lane) ?? []).filter((waiting) => waiting !== gone)
    if (left.length > 0) this.#waiting.set(lane, left)
    else this.#waiting.delete(lane)
  }

  #next(): void {
    if (this.#running.size >= this.#limits.atOnce) return
    const found = [...this.#waiting].find(([lane]) => !this.#running.has(lane))
    const first = found?.[1][0]
    if (!found || !first) return
    const [lane, [, ...left]] = found
    // Moves the lane to the end of the rotation.
    this.#waiting.delete(lane)
    if (left.length > 0) this.#waiting.set(lane, left)
    this.#running.add(lane)
    first.go()
  }
}

/**
 * Returns the newest task of the name that waits most often, if that is more often than `who` would; else undefined.
 */
function mostOften(waiting: readonly Waiting[], who: string): Waiting | undefined {
  const count = (name: string) => waiting.filter((one) => one.who === name).length
  const most = waiting.reduce<Waiting | undefined>((a, b) => (a && count(a.who) > count(b.who) ? a : b), undefined)
  return most && count(most.who) > count(who) + 1 ? most : undefined
}
