/** Frames that a window is learned from: 30 s. */
const remembered = 150
/** Less than this is left as it is. */
const restlessFrom = 0.04
/** Less than this is nothing. Numbers near the smallest that there are would make a processor slow. */
const forgotten = 1e-12

/**
 * Learns how much of each window changes usually, as a mean and a mean deviation over 30 s: a fan, a screen, a tree. That
 * much is taken from a window before it competes with others. What comes rarely, such as people, is not learned.
 */
export class RestlessWindows {
  readonly #mean: Float64Array
  readonly #deviation: Float64Array
  #frames = 0

  constructor(count: number) {
    this.#mean = new Float64Array(count)
    this.#deviation = new Float64Array(count)
  }

  /** Forgets all of it, so that the next frames are as the first ones. */
  forget(): void {
    this.#mean.fill(0)
    this.#deviation.fill(0)
    this.#frames = 0
  }

  /** Takes from each share what is usual there, and learns from it. */
  subtract(shares: Float64Array): void {
    this.#frames += 1
    const weight = Math.max(1 / remembered, 1 / (this.#frames + 1))
    const means = this.#mean
    const deviations = this.#deviation
    for (let i = 0; i < shares.length; i += 1) {
      const share = shares[i] ?? 0
      const mean = means[i] ?? 0
      const deviation = deviations[i] ?? 0
      if (share === 0 && mean <= forgotten && deviation <= forgotten) {
        means[i] = 0
        deviations[i] = 0
        continue
      }
      const usual = mean + deviation
      if (usual > restlessFrom) shares[i] = Math.max(share - usual, 0)
      means[i] = mean + weight * (share - mean)
      deviations[i] = deviation + weight * (Math.abs(share - mean) - deviation)
    }
  }
}
