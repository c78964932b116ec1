import { join } from 'node:path'
import { judgeScene, type Verdict } from '../../test/support/scenes/judge.ts'
import { type KindName, kindNames, kinds, makeScene } from '../../test/support/scenes/kinds.ts'
import { play } from '../../test/support/scenes/play.ts'
import { type Figure, rounded } from './figure.ts'
import { encodedAndBack } from './scene-film.ts'
import type { Workshop } from './workshop.ts'

/** Scenes of each kind with people or vehicles, and how long one is. */
const scenesWithMovers = 6
const sceneMs = 150_000
const hourMs = 3_600_000
const longestMs = 600_000
const encodedKinds = ['person 1 %', 'person, low contrast', 'noise', 'rain'] as const

const targets: Partial<Record<(typeof kinds)[KindName]['group'], Figure['target']>> = {
  people: { limit: 95, sense: 'at least' },
  vehicles: { limit: 95, sense: 'at least' },
  low: { limit: 80, sense: 'at least' },
  nothing: { limit: 1, sense: 'at most' },
  headlights: { limit: 48, sense: 'at most' },
}

/**
 * Measures motion detection at the default settings in drawn scenes of known truth. It uses even seeds: odd seeds are
 * for development. The last figures go through H.264 and back.
 */
export async function measureDetection(workshop: Workshop, hours: number): Promise<Figure[]> {
  const drawn = kindNames.map((kind) => figureOf(kind, verdictsOf(kind, hours)))
  const folder = workshop.newFolder('detection')
  const encoded = encodedKinds.map((kind) => {
    const scene = makeScene(kind, 2, sceneMs)
    const verdict = judgeScene(makeScene(kind, 2, sceneMs), encodedAndBack([...play(scene)], join(folder, 'scene.mp4')))
    return { ...figureOf(kind, [verdict]), id: `detection-h264-${idOf(kind)}`, what: `${kind}, through H.264` }
  })
  return [...drawn, ...encoded]
}

function verdictsOf(kind: KindName, hours: number): Verdict[] {
  if ('mover' in kinds[kind]) {
    return Array.from({ length: scenesWithMovers }, (_, i) => judgeScene(makeScene(kind, 2 * (i + 1), sceneMs)))
  }
  const count = Math.ceil((hours * hourMs) / longestMs)
  const lengthMs = Math.round((hours * hourMs) / count / 200) * 200
  return Array.from({ length: count }, (_, i) => judgeScene(makeScene(kind, 2 * (i + 1), lengthMs)))
}

function figureOf(kind: KindName, verdicts: readonly Verdict[]): Figure {
  const sum = (of: (verdict: Verdict) => number) => verdicts.reduce((all, verdict) => all + of(verdict), 0)
  const [events, found, wrong] = [sum((v) => v.events), sum((v) => v.found), sum((v) => v.falseEvents.length)]
  const hours = sum((v) => v.countedMs) / hourMs
  const frameMicros = (1000 * sum((v) => v.scoreMs)) / sum((v) => v.frames)
  const target = targets[kinds[kind].group]
  const raw = `${events > 0 ? `${found} of ${events} found, ` : ''}${wrong} false in ${rounded(hours)} h, ${rounded(frameMicros)} µs a frame`
  return {
    id: `detection-${idOf(kind)}`,
    what: events > 0 ? `${kind}: found` : `${kind}: false events`,
    value: events > 0 ? (100 * found) / events : (24 * wrong) / hours,
    unit: events > 0 ? '%' : 'a day',
    ...(target && { target }),
    raw,
    numbers: { events, found, falseEvents: wrong, hours, frameMicros },
  }
}

const idOf = (kind: KindName): string => kind.replaceAll(/[^a-z0-9]+/g, '-').replace(/-$/, '')
