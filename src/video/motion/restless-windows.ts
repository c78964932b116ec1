import { PermanentMotion } from './permanent-motion.ts'

/** Frames that a window is learned from: 30 s. */
const remembered = 150
/** Less than this is left as it is. */
const restlessFrom = 0.04
/** Change over the usual in a window beside one that moves permanently: somebody reaches beyond it. */
const beyond = 0.06
/** Less than this is nothing. Numbers near the smallest that there are would make a processor slow. */
const forgotten = 1e-12

/**
 * Learns how much of each window changes usually, as a mean and a mean deviation over 30 s: a fan, a screen, a tree. Subtracts that
 * much from a window before it competes with others. Rare changes, such as people, are not learned. For permanent motion, such as a
 * conveyor, `permanent-motion.ts` knows more. It is subtracted where nothing moves beside it.
 */
export class RestlessWindows {
  readonly #mean: Float64Array
  readonly #deviation: Float64Array
  readonly #permanent: PermanentMotion
  readonly #columns: number
  /** Permanent motion of each window in this frame, beyond its usual change; -1 in a window without it. */
  readonly #extra: Float64Array
  #frames = 0

  /** @param columns how many windows are beside each other */
  constructor(count: number, columns: number) {
    this.#columns = columns
    this.#extra = new Float64Array(count)
    this.#mean = new Float64Array(count)
    this.#deviation = new Float64Array(count)
    this.#permanent = new PermanentMotion(count)
  }

  /** Forgets all of it, so that the next frames are as the first ones. */
  forget(): void {
    this.#mean.fill(0)
    this.#deviation.fill(0)
    this.#permanent.forget()
    this.#frames = 0
  }

  /** Takes from each share its usual part, and learns from it. */
  subtract(shares: Float64Array): void {
    this.#frames += 1
    const weight = Math.max(1 / remembered, 1 / (this.#frames + 1))
    const means = this.#mean
    const deviations = this.#deviation
    const permanent = this.#permanent
    const extra = this.#extra
    let hasExtra = false
    for (let i = 0; i < shares.length; i += 1) {
      const share = shares[i] ?? 0
      const mean = means[i] ?? 0
      const deviation = deviations[i] ?? 0
      const usual = mean + deviation > restlessFrom ? mean + deviation : 0
      if (share > usual + restlessFrom) {
        const always = permanent.usual(i)
        extra[i] = always > 0 ? Math.max(always - usual, 0) : -1
        if (always > usual) hasExtra = true
      } else extra[i] = 0
      if (usual > 0) shares[i] = Math.max(share - usual, 0)
      permanent.learn(i, share, share > restlessFrom)
      if (share === 0 && mean <= forgotten && deviation <= forgotten) {
        means[i] = 0
        deviations[i] = 0
        continue
      }
      means[i] = mean + weight * (share - mean)
      deviations[i] = deviation + weight * (Math.abs(share - mean) - deviation)
    }
    permanent.next()
    if (hasExtra) this.#subtractExtra(shares)
  }

  #subtractExtra(shares: Float64Array): void {
    for (let i = 0; i < shares.length; i += 1) {
      const share = shares[i] ?? 0
      const extra = this.#extra[i] ?? 0
      if (share > 0 && extra > 0 && !this.#movesBeside(shares, i)) shares[i] = Math.max(share - extra, 0)
    }
  }

  /** Says whether a window around this one changes that does not move permanently. */
  #movesBeside(shares: Float64Array, window: number): boolean {
    const columns = this.#columns
    const column = window % columns
    for (let row = window - column - columns; row <= window - column + columns; row += columns) {
      for (let x = Math.max(column - 1, 0); x <= Math.min(column + 1, columns - 1); x += 1) {
        if ((shares[row + x] ?? 0) > beyond && (this.#extra[row + x] ?? 0) < 0) return true
      }
    }
    return false
  }
}
