import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Footage, footage } from '../../test/support/footage.ts'
import { type RtspServer, startRtspServer } from '../../test/support/rtsp/server.ts'
import { type Act, type Found, missedAndFalse } from '../soak/wall-truth.ts'
import { familyOf } from './family.ts'
import { type Figure, rounded } from './figure.ts'
import { serveGateway } from './served.ts'
import { makeAccount, signedIn } from './site.ts'
import { cpuMs, type Workshop } from './workshop.ts'

const walls = [1, 9, 16]
/** Events of their own for the person and the forklift, which come seconds apart. */
const motion = { preRecordSeconds: 3, postRecordSeconds: 1, cooldownSeconds: 0 }
const settleMs = 20_000
const watchedMs = 60_000
const peer = '/usr/bin/motion'

type Outcome = { readonly cores: number; readonly found: Found[] }
type Scene = { readonly rtsp: RtspServer; readonly names: readonly string[]; readonly scene: Footage }

/** What a wall of cameras costs and finds, beside Debian's `motion` on the same streams: its default settings,
 * but that an event ends after a second, as ours does. */
export async function measureWall(workshop: Workshop): Promise<Figure[]> {
  const scene = await footage('crossing')
  const figures: Figure[] = []
  for (const size of walls) {
    const names = Array.from({ length: size }, (_, i) => `cam${i + 1}`)
    const rtsp = await startRtspServer({ streams: Object.fromEntries(names.map((name) => [name, scene])) })
    try {
      for (const [i, name] of names.entries()) rtsp.seek(name, (i * scene.durationMs) / size)
      const wall = { rtsp, names, scene }
      const ours = await watched(wall, (during) => byGatehouse(workshop, wall, during))
      const theirs = isInstalled() ? await watched(wall, (during) => byMotion(workshop, wall, during)) : undefined
      figures.push(figureOf(size, ours, theirs))
    } finally {
      await rtsp.stop()
    }
  }
  return figures
}

type Judged = { readonly cores: number; readonly events: number; readonly found: number; readonly false: number }

async function watched(
  { rtsp, names, scene }: Scene,
  run: (during: () => Promise<void>) => Promise<Outcome>,
): Promise<Judged> {
  let within = { fromMs: 0, toMs: 0 }
  const { cores, found } = await run(async () => {
    within = { fromMs: Date.now(), toMs: Date.now() + watchedMs }
    await pause(watchedMs)
  })
  const acts = names.flatMap((name, i) =>
    scene.motion.flatMap(({ fromMs, toMs }) =>
      rtsp.takenAt(name, fromMs).map((at): Act => ({ cameraId: i + 1, fromMs: at, toMs: at + toMs - fromMs })),
    ),
  )
  const judged = missedAndFalse({ acts, found, within, faulty: [] })
  return { cores, events: judged.events, found: judged.events - judged.missed.length, false: judged.false.length }
}

async function byGatehouse(workshop: Workshop, { rtsp, names }: Scene, during: () => Promise<void>): Promise<Outcome> {
  const cameras = names.map((name, i) => ({ id: i + 1, url: rtsp.url(name), motion }))
  const served = await serveGateway(workshop, workshop.newFolder(`wall-${names.length}`), await makeAccount(), {
    cameras,
  })
  await pause(settleMs)
  const cores = await coresOf(served.pid, during)
  await pause(15_000) // until the last clips are closed
  const answer = await fetch(`${served.url}/api/iot/detection-events?limit=500`, { headers: signedIn })
  const { data } = (await answer.json()) as { data: { cctvId: number; timestamp: string; clipStatus: string }[] }
  await served.end()
  const found = data.map(({ cctvId, timestamp, clipStatus }) => {
    return { cameraId: cctvId, atMs: Date.parse(timestamp), clipStatus }
  })
  return { cores, found }
}

/** Runs the peer with one thread a camera. It writes a line when an event begins. */
async function byMotion(workshop: Workshop, { rtsp, names }: Scene, during: () => Promise<void>): Promise<Outcome> {
  const folder = workshop.newFolder(`motion-${names.length}`)
  const begun = join(folder, 'begun')
  const files = names.map((name, i) => {
    const file = join(folder, `${name}.conf`)
    const lines = [`camera_id ${i + 1}`, `netcam_url ${rtsp.url(name)}`, 'width 640', 'height 360', 'framerate 15']
    const target = join(folder, name)
    mkdirSync(target)
    writeFileSync(
      file,
      [...lines, `target_dir ${target}`, `on_event_start date +'${i + 1} %s%3N' >> ${begun}`, ''].join('\n'),
    )
    return file
  })
  writeFileSync(begun, '')
  const main = join(folder, 'motion.conf')
  const log = join(folder, 'motion.log')
  const settings = [
    'daemon off',
    'webcontrol_port 0',
    'stream_port 0',
    `log_file ${log}`,
    'movie_output on',
    'event_gap 1',
  ]
  writeFileSync(main, [...settings, ...files.map((file) => `camera ${file}`), ''].join('\n'))
  const said = openSync(join(folder, 'said'), 'w')
  const child = workshop.owns(spawn(peer, ['-n', '-c', main], { cwd: folder, stdio: ['ignore', said, said] }))
  await pause(settleMs)
  if (child.exitCode !== null || child.pid === undefined)
    throw new Error(`motion ended:\n${readFileSync(join(folder, 'said'), 'utf8')}`)
  const cores = await coresOf(child.pid, during)
  child.kill('SIGTERM')
  await once(child, 'exit')
  const lines = readFileSync(begun, 'utf8').trim().split('\n').filter(Boolean)
  const found = lines.map((line) => {
    const [cameraId, atMs] = line.split(' ').map(Number)
    return { cameraId: cameraId ?? 0, atMs: atMs ?? 0, clipStatus: 'recorded' }
  })
  return { cores, found }
}

/** The share of one core that a process and its children use meanwhile. */
async function coresOf(pid: number, during: () => Promise<void>): Promise<number> {
  const [sinceMs, before] = [performance.now(), familyMs(pid)]
  await during()
  return (familyMs(pid) - before) / (performance.now() - sinceMs)
}

const familyMs = (pid: number) => familyOf(pid).reduce((sum, one) => sum + cpuMs(one), 0)

function figureOf(size: number, ours: Judged, theirs: Judged | undefined): Figure {
  const words = (judged: Judged) =>
    `${rounded(judged.cores * 100)} % of a core, ${judged.found} of ${judged.events} events, ${judged.false} false`
  return {
    id: `wall-${size}`,
    what: `Processor time of ${size} ${size === 1 ? 'camera' : 'cameras'} with 640×360, against Debian’s motion on the same streams`,
    value: theirs ? ours.cores / theirs.cores : null,
    unit: '×',
    target: { limit: 1, sense: 'at most' },
    raw: theirs ? `${words(ours)}; motion ${words(theirs)}` : `${words(ours)}; motion is not installed here`,
    numbers: { cores: ours.cores, found: ours.found, false: ours.false, motionCores: theirs?.cores ?? Number.NaN },
  }
}

function isInstalled(): boolean {
  try {
    accessSync(peer, constants.X_OK)
    return true
  } catch {
    return false
  }
}
