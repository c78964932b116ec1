/** Frames that a window is learned from: 30 s. */
const remembered = 150
/** Frames of the longer memory: three minutes. A replay reads more before its span (`cell-replay.ts`), so it knows them all. */
const longRemembered = 900
/** The longer memory has shares in steps of half a percent. */
const steps = 200
/** Less than this is left as it is. */
const restlessFrom = 0.04
/** Less than this is nothing. Numbers near the smallest that there are would make a processor slow. */
const forgotten = 1e-12

/**
 * Learns how much of each window changes usually, as a mean and a mean deviation over 30 s: a fan, a screen, a tree. That
 * much is taken from a window before it competes with others. What comes rarely, such as people, is not learned. What has
 * paused for a minute or two, such as a film on a screen, is still known from the last three minutes.
 */
export class RestlessWindows {
  readonly #mean: Float64Array
  readonly #deviation: Float64Array
  readonly #minutes: LastMinutes
  #frames = 0

  constructor(count: number) {
    this.#mean = new Float64Array(count)
    this.#deviation = new Float64Array(count)
    this.#minutes = new LastMinutes(count)
  }

  /** Forgets all of it, so that the next frames are as the first ones. */
  forget(): void {
    this.#mean.fill(0)
    this.#deviation.fill(0)
    this.#minutes.forget()
    this.#frames = 0
  }

  /** Takes from each share what is usual there, and learns from it. */
  subtract(shares: Float64Array): void {
    this.#frames += 1
    const weight = Math.max(1 / remembered, 1 / (this.#frames + 1))
    const means = this.#mean
    const deviations = this.#deviation
    const minutes = this.#minutes
    for (let i = 0; i < shares.length; i += 1) {
      const share = shares[i] ?? 0
      const mean = means[i] ?? 0
      const deviation = deviations[i] ?? 0
      if (share > 0) {
        const usual = Math.max(mean + deviation, minutes.usual(i))
        if (usual > restlessFrom) shares[i] = Math.max(share - usual, 0)
      }
      minutes.learn(i, share)
      if (share === 0 && mean <= forgotten && deviation <= forgotten) {
        means[i] = 0
        deviations[i] = 0
        continue
      }
      means[i] = mean + weight * (share - mean)
      deviations[i] = deviation + weight * (Math.abs(share - mean) - deviation)
    }
    minutes.next()
  }
}

/**
 * The last three minutes of each window, frame by frame, in whole numbers: what is usual depends on these frames alone, not on when
 * the watch began.
 */
class LastMinutes {
  readonly #count: number
  /** A row of all windows for each frame; the oldest is written over. */
  readonly #kept: Uint8Array
  readonly #sums: Uint32Array
  readonly #squares: Uint32Array
  #frames = 0
  #row = 0

  constructor(count: number) {
    this.#count = count
    this.#kept = new Uint8Array(count * longRemembered)
    this.#sums = new Uint32Array(count)
    this.#squares = new Uint32Array(count)
  }

  forget(): void {
    for (const numbers of [this.#kept, this.#sums, this.#squares]) numbers.fill(0)
    this.#frames = 0
    this.#row = 0
  }

  /** Returns mean and mean deviation of a window that changes either not at all or by as much each time. */
  usual(window: number): number {
    const sum = this.#sums[window] ?? 0
    if (sum === 0) return 0
    const frames = Math.min(this.#frames, longRemembered) + 1
    const often = sum ** 2 / ((this.#squares[window] ?? 0) * frames)
    return ((sum / frames) * (3 - 2 * often)) / steps
  }

  learn(window: number, share: number): void {
    const at = this.#row + window
    const before = this.#kept[at] ?? 0
    if (before === 0 && share === 0) return
    const now = Math.round(steps * share)
    this.#kept[at] = now
    this.#sums[window] = (this.#sums[window] ?? 0) + now - before
    this.#squares[window] = (this.#squares[window] ?? 0) + now ** 2 - before ** 2
  }

  /** Begins the next frame. */
  next(): void {
    this.#frames += 1
    this.#row = (this.#frames % longRemembered) * this.#count
  }
}
