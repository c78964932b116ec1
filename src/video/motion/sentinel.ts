import { frameSize, giveBackFrame } from '../decoding/frames.ts'
import { Comparer, type FrameCells } from './cells.ts'
import type { MotionArea } from './mask.ts'
import { type FrameScore, Scorer } from './score.ts'

type Seen = { readonly cells: FrameCells; readonly score: FrameScore; readonly isOtherLight: boolean }

/** A change of the light by more octaves, 2.5 %: a camera sets its exposure anew for what came and went between two key frames. */
const steadyOctaves = 0.035

/**
 * Watches key frames alone. It compares each with the third before it, and learns noise and usual motion from them alone: two key
 * frames differ in other ways than two pictures beside each other.
 */
export class Sentinel {
  readonly #comparer = new Comparer(frameSize, undefined, giveBackFrame)
  readonly #scorer: Scorer

  constructor(area: MotionArea) {
    this.#scorer = new Scorer(area)
  }

  setArea(area: MotionArea): void {
    this.#scorer.setArea(area)
  }

  /** Another connection begins. */
  reset(): void {
    this.#comparer.reset()
    this.#scorer.reset()
  }

  /** Scores a key frame. Its pixels are the sentinel's afterwards. */
  push(pixels: Uint8Array): Seen {
    const cells = this.#comparer.push(pixels)
    const isOtherLight = Math.abs(Math.log2(this.#comparer.gain)) > steadyOctaves
    return { cells, score: this.#scorer.push(cells), isOtherLight }
  }
}
