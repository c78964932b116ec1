/** Detectors that are judged side by side: gatehouse's, its first one, and a running mean. */
import pixelmatch from 'pixelmatch'
import { frameSize } from '../../../src/video/index.ts'
import { Comparer } from '../../../src/video/motion/cells.ts'
import { cellCount, columns, rows } from '../../../src/video/motion/grid.ts'
import { type FrameScore, Scorer, scoreOf, WindowShares, windowCount } from '../../../src/video/motion/score.ts'

/** Scores the pictures of one film in order. */
export type Program = () => (picture: Uint8Array) => FrameScore

const { width, height } = frameSize

export const gatehouse: Program = () => {
  const comparer = new Comparer(frameSize)
  const scorer = new Scorer()
  return (picture) => scorer.push(comparer.push(picture))
}

/** pixelmatch at a fixed threshold against the picture 0.6 s earlier; the score is the smaller one of two pictures. */
export const firstScorer: Program = () => {
  const earlier: Uint8Array[] = []
  const marks = new Uint8Array(frameSize.bytes)
  const windows = new Windows()
  let before = 0
  return (picture) => {
    earlier.push(picture)
    const reference = earlier.length > 3 ? earlier.shift() : undefined
    if (!reference) return nothing
    marks.fill(0)
    pixelmatch(reference, picture, marks, width, height, { threshold: 0.08, includeAA: true, diffMask: true })
    const { share, isWhole } = windows.judge((i) => (marks[4 * i + 3] ?? 0) > 0)
    const raw = isWhole ? 0 : share
    const score = Math.min(raw, before)
    before = raw
    return { ...nothing, raw, score, whole: isWhole ? 'light' : null }
  }
}

/** Pixels that differ from their mean of ten seconds by more than 15 steps, in a fifth of a window in three pictures of three. */
export const runningMean: Program = () => {
  let mean: Float32Array | undefined
  const windows = new Windows()
  const last = [0, 0]
  return (picture) => {
    const past = mean
    mean ??= Float32Array.from({ length: width * height }, (_, i) => picture[4 * i + 1] ?? 0)
    if (!past) return nothing
    const { share } = windows.judge((i) => Math.abs((picture[4 * i + 1] ?? 0) - (past[i] ?? 0)) > 15)
    for (let i = 0; i < past.length; i += 1)
      past[i] = (past[i] ?? 0) + ((picture[4 * i + 1] ?? 0) - (past[i] ?? 0)) / 50
    const raw = scoreOf(share)
    const score = Math.min(raw, ...last)
    last.push(raw)
    last.shift()
    return { ...nothing, raw, score }
  }
}

const nothing: FrameScore = { score: 0, raw: 0, whole: null, view: null }

/** Changed share of the busiest window of two by two cells. */
class Windows {
  readonly #shares = new Float64Array(windowCount)
  readonly #open = new WindowShares(new Float64Array(cellCount).fill(1))

  judge(isChanged: (i: number) => boolean): { share: number; isWhole: boolean } {
    const changed = new Uint8Array(cellCount)
    const counts = new Uint16Array(cellCount)
    for (let i = 0; i < width * height; i += 1) {
      if (!isChanged(i)) continue
      const cell =
        Math.floor(Math.floor(i / width) / (height / rows)) * columns + Math.floor((i % width) / (width / columns))
      counts[cell] = (counts[cell] ?? 0) + 1
    }
    for (let cell = 0; cell < cellCount; cell += 1) changed[cell] = counts[cell] ?? 0
    this.#open.fill(this.#shares, changed)
    return { share: Math.max(...this.#shares), isWhole: changed.filter((share) => share > 50).length > 0.6 * cellCount }
  }
}
