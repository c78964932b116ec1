import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { FrameSplitter, frameSize } from '../../src/video/index.ts'
import { type FootageName, footage } from '../support/footage.ts'
import { cheapHash } from '../support/gateway.ts'
import { startDaemon } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { eventually } from '../support/waiting.ts'

t.setTimeout(240_000)

const site = 'http://127.0.0.1:8480'
const headers = { Authorization: 'Bearer ada-secret', 'X-Storage-Instance': site, 'X-Storage-Username': 'ada' }

/** The usual view is learned for 20 s, and must be seen for 5 s more. */
const readyAfterFrames = 140
/** Frames in which a lens that is covered would have fired, and its clip would have ended. */
const judgedFrames = 50

const lost = ['cloth', 'turned', 'blinded'] as const
const harmless = ['light', 'exposure', 'reconnect'] as const
const cameras = [...lost, ...harmless]
const idOf = (name: (typeof cameras)[number]) => cameras.indexOf(name) + 1

type Detection = {
  id: number
  cctvId: number
  sceneChange: boolean
  clipStatus: string
  preRollSeconds: number
  duration: number
}
type Sent = { type: string; data: { id: number; cctvId: number; sceneChange: boolean; clip: string | null } }

/** Six cameras that show the hall, and a webhook that is owed what they see. */
async function yard(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-lens-'))
  const hall = await footage('empty-tiny')
  const rtsp = await startRtspServer({ streams: Object.fromEntries(cameras.map((name) => [name, hall])) })
  const file = join(folder, 'gatehouse.yaml')
  const configured = cameras.map((name) => ({
    ...{ id: idOf(name), url: rtsp.url(name) },
    motion: { preRecordSeconds: 4, postRecordSeconds: 2 },
  }))
  const config = {
    ...{ site: { id: 'lens-test', url: site }, listen: [{ host: '127.0.0.1', port: 0 }] },
    ...{ dataDir: 'state', runtimeDir: 'run', rateLimit: { requestsPerMinute: 100_000 } },
    auth: { users: [{ username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }] },
    retention: { minFreeBytes: '1B', ledgerReserveBytes: '1B' },
    cameras: configured,
  }
  writeFileSync(file, JSON.stringify(config))
  const daemon = await startDaemon(['--config', file], { cwd: folder })
  t.teardown(async () => {
    await daemon.end('SIGKILL')
    await rtsp.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const ask = async (path: string) => fetch(`${daemon.url}/api/iot/${path}`, { headers })
  const frames = async (name: (typeof cameras)[number]) => {
    const status = await (await ask(`detection/motion-stream?cctvId=${idOf(name)}`)).json()
    return (status as { frameCount: number }).frameCount
  }
  const detections = async () => ((await (await ask('detection-events')).json()) as { data: Detection[] }).data
  const sent = () => {
    const db = new BetterSqlite3(databaseFile(join(folder, 'state')), { readonly: true })
    const bodies = db.prepare('SELECT body FROM outbox ORDER BY seq').pluck().all() as Buffer[]
    db.close()
    return bodies.map((body): Sent => JSON.parse(body.toString())).filter(({ type }) => type === 'motion.detected')
  }

  const sentOf = (name: (typeof cameras)[number]) => sent().filter(({ data }) => data.cctvId === idOf(name))
  const changes = (name: (typeof cameras)[number]) => sentOf(name).filter(({ data }) => data.sceneChange)

  const webhook = { url: 'https://hooks.invalid/', secret: 'a secret of sixteen or more', events: ['motion.detected'] }
  const registered = await fetch(`${daemon.url}/api/webhooks`, {
    ...{ method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(webhook) },
  })
  t.equal(registered.status, 201)
  return { folder, hall, rtsp, ask, frames, detections, sent, sentOf, changes }
}

t.test('a lens that is covered, turned or blinded is motion with a clip of how it came about', async (t) => {
  const { folder, hall, rtsp, ask, frames, detections, sent, sentOf, changes } = await yard(t)
  for (const name of cameras)
    await eventually(
      () => frames(name),
      (count) => count > readyAfterFrames,
    )
  t.same(sent(), [])
  const films: Partial<Record<(typeof cameras)[number], FootageName>> = {
    ...{ cloth: 'cloth', turned: 'turned', blinded: 'blinded', exposure: 'exposure', light: 'light-tiny' },
  }
  for (const [name, film] of Object.entries(films)) rtsp.switchTo(name, await footage(film))
  rtsp.drop('reconnect')
  const before = await Promise.all(cameras.map(frames))

  for (const name of lost) {
    const change = async () => changes(name)[0]
    const notification = await eventually(change, (one) => one !== undefined)
    t.match(notification?.data.clip, /\/\d+\/clip$/, `${name}: motion.detected`)
    // Somebody who turns a camera is seen: the clip of that motion, which is open then, shows it.
    const shownIn = Number(/(\d+)\/clip$/.exec(notification?.data.clip ?? '')?.[1])
    const found = async () => (await detections()).find(({ id }) => id === shownIn)
    const detection = await eventually(found, (one) => one !== undefined)
    t.match(detection, { clipStatus: 'recorded' }, name)
    t.match(
      (await detections()).filter(({ cctvId, sceneChange }) => cctvId === idOf(name) && sceneChange),
      [{ id: notification?.data.id }],
      `${name}: one detection says it`,
    )
    t.ok(detection && detection.preRollSeconds >= 3.5, `${name}: ${detection?.preRollSeconds} s of pre-roll`)
    const clip = Buffer.from(await (await ask(`detection-events/${detection?.id}/clip`)).arrayBuffer())
    const [first, last] = endsOf(clip, join(folder, `${name}.mp4`))
    const [usual, other] = [await lookOf(hall.file), last]
    t.ok(alike(first, usual) > 0.8, `${name}: the clip begins with the hall (${alike(first, usual).toFixed(2)})`)
    t.ok(alike(other, usual) < 0.4, `${name}: and ends without it (${alike(other, usual).toFixed(2)})`)
  }
  for (const [i, name] of cameras.entries())
    await eventually(
      () => frames(name),
      (count) => count > (before[i] ?? 0) + judgedFrames,
    )
  const causes = async (name: (typeof cameras)[number]) =>
    ((await (await ask(`cctv/${idOf(name)}/gaps`)).json()) as { data: { cause: string }[] }).data.map(
      ({ cause }) => cause,
    )
  for (const name of lost)
    t.match(
      await eventually(
        () => causes(name),
        ({ length }) => length > 0,
      ),
      [/^(covered|turned)$/],
      name,
    )
  for (const name of cameras) {
    const isHarmless = harmless.some((one) => one === name)
    t.equal(changes(name).length, isHarmless ? 0 : 1, `${name}: one notification of the changed scene`)
    if (isHarmless) t.same(sentOf(name), [], `${name}: nothing moved`)
  }
})

const raw = [
  '-vf',
  `scale=${frameSize.width}:${frameSize.height}:flags=area`,
  '-pix_fmt',
  'rgba',
  '-f',
  'rawvideo',
  'pipe:1',
]

function picturesOf(path: string): Uint8Array[] {
  const bytes = execFileSync(locateFfmpeg().path, ['-nostdin', '-loglevel', 'error', '-i', path, ...raw], {
    maxBuffer: 1 << 30,
  })
  return new FrameSplitter().push(bytes, 0).map(({ pixels }) => pixels)
}

function endsOf(clip: Buffer, path: string): readonly [Uint8Array, Uint8Array] {
  writeFileSync(path, clip)
  const pictures = picturesOf(path)
  return [pictures.at(0) ?? new Uint8Array(), pictures.at(-1) ?? new Uint8Array()]
}

const lookOf = async (path: string) => picturesOf(path).at(0) ?? new Uint8Array()

/** Returns how the greens of two pictures go together, from -1 to 1. */
function alike(a: Uint8Array, b: Uint8Array): number {
  const greens = (one: Uint8Array) => one.filter((_, i) => i % 4 === 1)
  const centered = (all: Uint8Array) => {
    const mean = all.reduce((sum, tone) => sum + tone, 0) / all.length
    return Array.from(all, (tone) => tone - mean)
  }
  const [left, right] = [centered(greens(a)), centered(greens(b))]
  const product = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, tone, i) => sum + tone * (y[i] ?? 0), 0)
  return product(left, right) / (Math.sqrt(product(left, left) * product(right, right)) || 1)
}
