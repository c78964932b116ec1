import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { framesPerSecond } from '../../src/video/index.ts'
import { type RtspServer, startRtspServer } from '../../test/support/rtsp/server.ts'
import { type KindName, makeScene, type Scene } from '../../test/support/scenes/kinds.ts'
import { play } from '../../test/support/scenes/play.ts'
import type { Act } from '../soak/wall-truth.ts'
import { type Figure, rounded } from './figure.ts'
import { encodeFrames } from './scene-film.ts'
import { byGatehouse, byMotion, isMotionInstalled, type Program, type Seen } from './wall-programs.ts'
import type { Workshop } from './workshop.ts'

/** One camera each. Kinds with motion all the time are left out: detection would have to learn them for two minutes first. */
const shownKinds: readonly KindName[] = [
  ...(['person 1-5 %', 'person 1 %', 'person 0.5 %', 'person who runs', 'person, low contrast'] as const),
  ...(['person at night', 'forklift', 'busy aisle', 'person in rain', 'person before foliage'] as const),
  ...(['noise', 'blocks', 'switch', 'flicker', 'rain', 'insects', 'shake', 'headlights'] as const),
  ...(['clouds', 'light of a zone'] as const),
]
const sceneSeconds = 200
/** Even seeds are those of reports. */
const seed = 4
/** A scene begins with a cut in the stream. */
const afterCutMs = 10_000
/** An event belongs to a motion if it begins this much before it or this much after its end. Debian's motion is 2 to 3 s late. */
const [earlyMs, lateMs] = [1500, 4000]

type Judged = { readonly events: number; readonly found: number; readonly false: number; readonly cores: number }
type Yard = { readonly rtsp: RtspServer; readonly scenes: readonly Scene[] }

/**
 * Measures the events that gatehouse and Debian's `motion` find in the same scenes of known truth, and their cost. Each scene is a
 * camera with a small H.264 stream. All cameras run at the same time; first one program watches them, then the other.
 */
export async function measureBesideMotion(
  workshop: Workshop,
  kinds: readonly KindName[] = shownKinds,
  seconds = sceneSeconds,
): Promise<Figure[]> {
  const folder = workshop.newFolder('scenes')
  const scenes = kinds.map((kind) => makeScene(kind, seed, seconds * 1000))
  const streams = scenes.map((scene, i) => {
    const file = join(folder, `${i + 1}.h264`)
    encodeFrames([...play(scene)], file)
    return [`cam${i + 1}`, { file, codec: 'h264' as const, fps: framesPerSecond }] as const
  })
  const rtsp = await startRtspServer({ streams: Object.fromEntries(streams) })
  try {
    const yard = { rtsp, scenes }
    const ours = await watched(workshop, yard, byGatehouse)
    const theirs = isMotionInstalled() ? await watched(workshop, yard, byMotion) : undefined
    return figuresOf(ours, theirs, (kinds.length * (seconds - afterCutMs / 1000)) / 3600)
  } finally {
    await rtsp.stop()
  }
}

async function watched(workshop: Workshop, { rtsp, scenes }: Yard, run: Program): Promise<Judged> {
  const names = scenes.map((_, i) => `cam${i + 1}`)
  const urls = names.map((name) => rtsp.url(name))
  let beganMs = 0
  const lengthMs = scenes[0]?.durationMs ?? 0
  const { cores, seen } = await run(workshop, { urls, fps: framesPerSecond }, async () => {
    for (const name of names) rtsp.seek(name, 0)
    beganMs = Date.now()
    await pause(lengthMs)
  })
  const within = { fromMs: beganMs + afterCutMs, toMs: beganMs + lengthMs }
  const acts = scenes.flatMap(({ movers }, i) =>
    movers.map((mover): Act => ({ cameraId: i + 1, fromMs: beganMs + mover.fromMs, toMs: beganMs + mover.toMs })),
  )
  return { cores, ...judge(acts, seen, within) }
}

/**
 * An act is found when an event overlaps it, because the event has its pictures. An event is false when it begins while nothing
 * moves.
 */
function judge(
  acts: readonly Act[],
  seen: readonly Seen[],
  within: { readonly fromMs: number; readonly toMs: number },
): Omit<Judged, 'cores'> {
  const counted = acts.filter(({ fromMs, toMs }) => fromMs >= within.fromMs && toMs <= within.toMs)
  const goesOn = (act: Act, one: Seen) =>
    one.cameraId === act.cameraId && one.fromMs <= act.toMs + lateMs && one.toMs >= act.fromMs
  const begins = (act: Act, { cameraId, fromMs }: Seen) =>
    cameraId === act.cameraId && fromMs >= act.fromMs - earlyMs && fromMs <= act.toMs + lateMs
  return {
    events: counted.length,
    found: counted.filter((act) => seen.some((one) => goesOn(act, one))).length,
    false: seen.filter(
      (one) => one.fromMs >= within.fromMs && one.fromMs <= within.toMs && !acts.some((act) => begins(act, one)),
    ).length,
  }
}

function figuresOf(ours: Judged, theirs: Judged | undefined, hours: number): Figure[] {
  const beside = (of: (judged: Judged) => string) =>
    theirs ? `${of(ours)}; motion ${of(theirs)}` : `${of(ours)}; motion is not installed here`
  const against = (of: (peer: Judged) => number) => (theirs ? of(theirs) : null)
  const numbers = {
    ...{ events: ours.events, found: ours.found, false: ours.false, cores: ours.cores, hours },
    ...(theirs && { motionFound: theirs.found, motionFalse: theirs.false, motionCores: theirs.cores }),
  }
  return [
    {
      id: 'beside-motion-found',
      what: 'Events found beyond those that Debian’s motion found, in the same scenes',
      value: against((peer) => ours.found - peer.found),
      unit: 'events',
      target: { limit: 1, sense: 'at least' },
      raw: beside(({ events, found }) => `${found} of ${events}`),
      numbers,
    },
    {
      id: 'beside-motion-false',
      what: 'False events fewer than those of motion',
      value: against((peer) => peer.false - ours.false),
      unit: 'events',
      target: { limit: 1, sense: 'at least' },
      raw: `${beside((judged) => String(judged.false))}, in ${rounded(hours)} h of cameras`,
      numbers,
    },
    {
      id: 'beside-motion-cpu',
      what: 'Processor time of these cameras, clips included, against motion',
      value: against((peer) => ours.cores / peer.cores),
      unit: '×',
      target: { limit: 1, sense: 'at most' },
      raw: beside(({ cores }) => `${rounded(cores * 100)} % of a core`),
      numbers,
    },
  ]
}
