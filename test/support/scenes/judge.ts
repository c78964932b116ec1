import { frameSize } from '../../../src/video/index.ts'
import { Comparer } from '../../../src/video/motion/cells.ts'
import { type Detector, type DetectorSettings, detect, newDetector } from '../../../src/video/motion/detector.ts'
import { Scorer } from '../../../src/video/motion/score.ts'
import type { Scene } from './kinds.ts'
import { frameMs, play } from './play.ts'

/** Result of a detector in a scene. */
export type Verdict = {
  readonly events: number
  readonly found: number
  /** Motion that fired while nothing moved, after constant motion was learned. */
  readonly falseEvents: readonly number[]
  /** From the begin of a found event to the frame that was over the sensitivity. */
  readonly delaysMs: readonly number[]
  readonly countedMs: number
  /** For scoring alone, without making the frames. */
  readonly scoreMs: number
  readonly frames: number
}

const defaults: DetectorSettings = { sensitivity: 0.3, cooldownMs: 5000, preRecordMs: 5000, postRecordMs: 10_000 }
/** Motion that has just ended still shows, because the reference is older. */
const afterglowMs = 1400

/** Plays a scene to scorer and detector at the default settings, and compares with the truth. */
export function judgeScene(scene: Scene, frames: Iterable<Uint8Array> = play(scene)): Verdict {
  const settings = defaults
  const comparer = new Comparer(frameSize)
  const scorer = new Scorer()
  let detector: Detector = newDetector
  const overMs: number[] = []
  const firedMs: number[] = []
  let [atMs, scoreMs, count] = [0, 0, 0]
  for (const frame of frames) {
    const startedMs = cpuMs()
    const score = scorer.push(comparer.push(frame))
    const step = detect(detector, { kind: 'scored', frame: score }, atMs, settings)
    scoreMs += cpuMs() - startedMs
    detector = step.detector
    if (score.score > settings.sensitivity || (detector.state.kind === 'active' && score.whole)) overMs.push(atMs)
    if (step.outcomes.some(({ kind }) => kind === 'fired')) firedMs.push(atMs)
    atMs += frameMs
    count += 1
  }
  const isTrue = (ms: number) => scene.movers.some(({ fromMs, toMs }) => ms >= fromMs && ms <= toMs + afterglowMs)
  const hits = scene.movers.flatMap(({ fromMs, toMs }) => {
    const first = overMs.find((ms) => ms >= fromMs && ms <= toMs + 600)
    return first === undefined ? [] : [first - fromMs]
  })
  return {
    events: scene.movers.length,
    found: hits.length,
    falseEvents: firedMs.filter((ms) => ms >= scene.countFromMs && !isTrue(ms)),
    delaysMs: hits,
    countedMs: scene.durationMs - scene.countFromMs,
    scoreMs,
    frames: count,
  }
}

function cpuMs(): number {
  return process.threadCpuUsage().user / 1000
}
