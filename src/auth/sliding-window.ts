import type { Clock } from '../world/index.ts'

const windowSeconds = 60

type Counts = { readonly perSecond: Uint32Array; total: number; lastSecond: number }

/** Counts requests of the last minute by key, to the second. Memory: 300 bytes a key, idle keys are forgotten. */
export class SlidingWindow {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #counts = new Map<string, Counts>()
  #sweptSecond = 0

  constructor(options: { clock: Pick<Clock, 'monotonic'> }) {
    this.#clock = options.clock
  }

  /**
   * Takes one request of `limit` a minute. A refused request is not counted.
   * @returns 0 when it may pass, else the whole seconds until one may
   */
  take(key: string, limit: number): number {
    const second = Math.floor(this.#clock.monotonic() / 1000)
    this.#sweep(second)
    const counts = this.#advance(key, second)
    if (counts.total >= limit) return waitFor(counts, limit, second)
    const slot = second % windowSeconds
    counts.perSecond[slot] = (counts.perSecond[slot] ?? 0) + 1
    counts.total += 1
    return 0
  }

  #advance(key: string, second: number): Counts {
    const counts = this.#counts.get(key) ?? { perSecond: new Uint32Array(windowSeconds), total: 0, lastSecond: second }
    this.#counts.set(key, counts)
    const passed = Math.min(second - counts.lastSecond, windowSeconds)
    for (let i = 1; i <= passed; i += 1) {
      const slot = (counts.lastSecond + i) % windowSeconds
      counts.total -= counts.perSecond[slot] ?? 0
      counts.perSecond[slot] = 0
    }
    counts.lastSecond = second
    return counts
  }

  #sweep(second: number): void {
    if (second - this.#sweptSecond < windowSeconds) return
    this.#sweptSecond = second
    for (const [key, counts] of this.#counts) {
      if (second - counts.lastSecond >= windowSeconds) this.#counts.delete(key)
    }
  }
}

/** Seconds until enough of the oldest requests have left the window. */
function waitFor(counts: Counts, limit: number, second: number): number {
  let left = counts.total
  for (let age = windowSeconds - 1; age > 0; age -= 1) {
    left -= counts.perSecond[(second - age + windowSeconds * 2) % windowSeconds] ?? 0
    if (left < limit) return windowSeconds - age
  }
  return windowSeconds
}
