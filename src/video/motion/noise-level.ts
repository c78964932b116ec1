/** Frames that the typical noise is taken from: 30 s. */
const remembered = 150
/** Those that count after a sleep: 2 s. */
const resumed = 10
/** Bounds of the threshold: 3 and 21 of 255 steps of brightness. */
const [lowest, highest] = [0.012, 0.08]
/** Share of the pixels of a frame that differ from the reference by no more than its noise. */
const share = 0.9

/**
 * Follows the noise of one camera. For each frame it takes the difference that 90 % of the pixels do not exceed. The noise is the
 * median over the last 150 frames.
 */
export class NoiseLevel {
  readonly #recent = new Float64Array(remembered)
  readonly #counts = new Uint32Array(256)
  #seen = 0
  #threshold: number = highest

  /** Returns the threshold for pixelmatch. A difference of brightness of 264 × threshold counts as a change. */
  get threshold(): number {
    return this.#threshold
  }

  /** Forgets most of what was learned, because it is old. */
  resume(): void {
    const length = Math.min(this.#seen, remembered)
    const newest = Array.from(
      { length: Math.min(length, resumed) },
      (_, i) => this.#recent[(this.#seen - 1 - i) % remembered] ?? 0,
    )
    this.#recent.set(newest.toReversed())
    this.#seen = newest.length
  }

  add(reference: Uint8Array, frame: Uint8Array): void {
    this.#recent[this.#seen % remembered] = this.#noiseOf(reference, frame)
    this.#seen += 1
    // The median moves slowly: every fifth frame is enough.
    if (this.#seen % 5 === 1)
      this.#threshold = thresholdOf(median(this.#recent.slice(0, Math.min(this.#seen, remembered))))
  }

  /** Returns the difference of brightness that is not exceeded by 90 % of the pixels, between whole numbers too. */
  #noiseOf(reference: Uint8Array, frame: Uint8Array): number {
    const counts = this.#counts.fill(0)
    let pixels = 0
    // Every third pixel is enough.
    for (let i = 0; i + 2 < frame.length; i += 12) {
      const before = (reference[i] ?? 0) + 2 * (reference[i + 1] ?? 0) + (reference[i + 2] ?? 0)
      const now = (frame[i] ?? 0) + 2 * (frame[i + 1] ?? 0) + (frame[i + 2] ?? 0)
      const difference = Math.abs(now - before) >> 2
      counts[difference] = (counts[difference] ?? 0) + 1
      pixels += 1
    }
    let left = share * pixels
    for (let difference = 0; difference < 256; difference += 1) {
      const count = counts[difference] ?? 0
      if (count >= left) return difference + left / count
      left -= count
    }
    return 255
  }
}

/** Returns the threshold for this noise: a fifth more, within bounds. */
export function thresholdOf(noise: number): number {
  return Math.min(Math.max((1.2 * noise) / 264, lowest), highest)
}

function median(values: Float64Array): number {
  return values.sort()[values.length >> 1] ?? 0
}
