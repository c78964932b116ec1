/** Compares the motion that a detector finds in a film with the truth. */
import { type Detector, type DetectorSettings, detect, newDetector } from '../../../src/video/motion/detector.ts'
import type { FrameScore } from '../../../src/video/motion/score.ts'
import { type Film, frameMs, read, type Span } from './films.ts'
import type { Program } from './programs.ts'

export type Verdict = {
  readonly film: Film
  readonly found: readonly boolean[]
  /** Motion that fired while nothing moved. */
  readonly falseMs: readonly number[]
  /** Time in which nothing moves, and the part of it that is over the sensitivity. */
  readonly freeMs: number
  readonly busyMs: number
}

const defaults: DetectorSettings = { sensitivity: 0.3, cooldownMs: 5000, preRecordMs: 5000, postRecordMs: 10_000 }
/** Motion that has just ended still shows, because the reference is older. */
const afterglowMs = 1400

export function judge(film: Film, program: Program): Verdict {
  const push = program()
  return judgeScores(film, read(film), (picture) => push(picture))
}

export function judgeScores<P>(
  film: Film,
  pictures: Iterable<P>,
  score: (picture: P) => FrameScore | undefined,
): Verdict {
  let detector: Detector = newDetector
  const over: number[] = []
  const fired: number[] = []
  let atMs = 0
  for (const picture of pictures) {
    const frame = score(picture)
    if (!frame) {
      atMs += frameMs
      continue
    }
    const step = detect(detector, { kind: 'scored', frame }, atMs, defaults)
    detector = step.detector
    if (frame.score > defaults.sensitivity) over.push(atMs)
    if (step.outcomes.some(({ kind }) => kind === 'fired')) fired.push(atMs)
    atMs += frameMs
  }
  const { acts, still, countFromMs, durationMs } = film
  const free =
    still?.map(({ fromMs, toMs }) => ({ fromMs: fromMs + 500, toMs: toMs - 500 })) ?? freeOf(acts, durationMs)
  const counted = (ms: number) => ms >= countFromMs && free.some((span) => ms >= span.fromMs && ms <= span.toMs)
  const isSeen = ({ fromMs, toMs }: Span) => [...over, ...fired].some((ms) => ms >= fromMs && ms <= toMs + 600)
  return {
    film,
    found: acts.map(isSeen),
    falseMs: fired.filter(counted),
    freeMs: free.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, toMs - Math.max(fromMs, countFromMs)), 0),
    busyMs: over.filter(counted).length * frameMs,
  }
}

function freeOf(acts: readonly Span[], durationMs: number): Span[] {
  const free: Span[] = []
  let fromMs = 0
  for (const act of acts) {
    free.push({ fromMs, toMs: act.fromMs })
    fromMs = act.toMs + afterglowMs
  }
  return [...free, { fromMs, toMs: durationMs }]
}
