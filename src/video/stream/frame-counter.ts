import { type Frame, framesPerSecond } from '../decoding/frames.ts'
import type { FrameScore } from '../motion/score.ts'

export type FrameCounts = {
  readonly frameCount: number
  readonly motionFrames: {
    readonly count: number
    readonly percentage: number
    readonly lastScore: number
    readonly maxScore: number
  }
  readonly fps: number
  readonly stillSeconds: number
}

const fpsWindowMs = 5000
/** Arrivals of twice the window, and one more. */
const mostArrivals = (2 * fpsWindowMs * framesPerSecond) / 1000 + 1

/** Counts one camera's frames since its detection was started. */
export class FrameCounter {
  #frames = 0
  #motion = 0
  #lastScore = 0
  #maxScore = 0
  readonly #arrivals: number[] = []
  #before: Uint8Array | undefined
  #changedMs = 0
  #lastFrameMs: number | undefined

  /** Returns when the newest frame came that differs from the one before it. */
  get changedMs(): number {
    return this.#changedMs
  }

  /** Returns the monotonic time of the newest frame; undefined before the first. */
  get lastFrameMs(): number | undefined {
    return this.#lastFrameMs
  }

  add({ pixels, arrivedMs }: Frame, { score }: FrameScore, isMotion: boolean): void {
    this.#frames += 1
    if (isMotion) this.#motion += 1
    this.#lastScore = score
    this.#maxScore = Math.max(this.#maxScore, score)
    this.#arrivals.push(arrivedMs)
    if (this.#arrivals.length > mostArrivals) this.#arrivals.shift()
    if (!this.#before || Buffer.compare(this.#before, pixels) !== 0) this.#changedMs = arrivedMs
    this.#before = pixels
    this.#lastFrameMs = arrivedMs
  }

  counts(nowMs: number): FrameCounts {
    const recent = this.#arrivals.filter((ms) => ms > nowMs - fpsWindowMs).length
    return {
      frameCount: this.#frames,
      motionFrames: {
        count: this.#motion,
        percentage: this.#frames === 0 ? 0 : Math.round((10_000 * this.#motion) / this.#frames) / 100,
        lastScore: this.#lastScore,
        maxScore: this.#maxScore,
      },
      // A decoder that wakes returns many at once.
      fps: Math.min(Math.round((10_000 * recent) / fpsWindowMs) / 10, framesPerSecond),
      stillSeconds: Math.floor(((this.#lastFrameMs ?? 0) - this.#changedMs) / 1000),
    }
  }
}
