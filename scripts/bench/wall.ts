import { setTimeout as pause } from 'node:timers/promises'
import { type Footage, footage } from '../../test/support/footage.ts'
import { type RtspServer, startRtspServer } from '../../test/support/rtsp/server.ts'
import { type Act, missedAndFalse } from '../soak/wall-truth.ts'
import { type Figure, rounded } from './figure.ts'
import { byGatehouse, byMotion, isMotionInstalled, type Program } from './wall-programs.ts'
import type { Workshop } from './workshop.ts'

const walls = [1, 9, 16]
const watchedMs = 60_000

type Scene = { readonly rtsp: RtspServer; readonly names: readonly string[]; readonly scene: Footage }
type Judged = { readonly cores: number; readonly events: number; readonly found: number; readonly false: number }

/**
 * Measures the cost and the detections of a wall of cameras with all clips cut, beside Debian's `motion` on the same
 * streams.
 */
export async function measureWall(workshop: Workshop): Promise<Figure[]> {
  const scene = await footage('crossing')
  const figures: Figure[] = []
  for (const size of walls) {
    const names = Array.from({ length: size }, (_, i) => `cam${i + 1}`)
    const rtsp = await startRtspServer({ streams: Object.fromEntries(names.map((name) => [name, scene])) })
    try {
      for (const [i, name] of names.entries()) rtsp.seek(name, (i * scene.durationMs) / size)
      const wall = { rtsp, names, scene }
      const ours = await watched(workshop, wall, byGatehouse)
      const theirs = isMotionInstalled() ? await watched(workshop, wall, byMotion) : undefined
      figures.push(figureOf(size, ours, theirs))
    } finally {
      await rtsp.stop()
    }
  }
  return figures
}

async function watched(workshop: Workshop, { rtsp, names, scene }: Scene, run: Program): Promise<Judged> {
  let within = { fromMs: 0, toMs: 0 }
  const urls = names.map((name) => rtsp.url(name))
  const { cores, seen } = await run(workshop, { urls, fps: scene.fps }, async () => {
    within = { fromMs: Date.now(), toMs: Date.now() + watchedMs }
    await pause(watchedMs)
  })
  const acts = names.flatMap((name, i) =>
    scene.motion.flatMap(({ fromMs, toMs }) =>
      rtsp.takenAt(name, fromMs).map((at): Act => ({ cameraId: i + 1, fromMs: at, toMs: at + toMs - fromMs })),
    ),
  )
  const found = seen.map(({ cameraId, fromMs, clipStatus }) => ({ cameraId, atMs: fromMs, clipStatus }))
  const judged = missedAndFalse({ acts, found, within, faulty: [] })
  return { cores, events: judged.events, found: judged.events - judged.missed.length, false: judged.false.length }
}

function figureOf(size: number, ours: Judged, theirs: Judged | undefined): Figure {
  const words = (judged: Judged) =>
    `${rounded(judged.cores * 100)} % of a core, ${judged.found} of ${judged.events} events, ${judged.false} false`
  return {
    id: `wall-${size}`,
    what: `Processor time of ${size} ${size === 1 ? 'camera' : 'cameras'} with 640×360, clips included, against Debian’s motion on the same streams`,
    value: theirs ? ours.cores / theirs.cores : null,
    unit: '×',
    target: { limit: 1, sense: 'at most' },
    raw: theirs ? `${words(ours)}; motion ${words(theirs)}` : `${words(ours)}; motion is not installed here`,
    numbers: { cores: ours.cores, found: ours.found, false: ours.false, motionCores: theirs?.cores ?? Number.NaN },
  }
}
