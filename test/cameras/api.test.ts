import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { footage } from '../support/footage.ts'
import { cheapHash } from '../support/gateway.ts'
import { startGstServer } from '../support/gst/server.ts'
import { needs } from '../support/needs.ts'
import { type Daemon, gatehouse, runToEnd, startDaemon } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { eventually } from '../support/waiting.ts'

t.setTimeout(180_000)

const site = 'http://127.0.0.1:8480'
const secret = 'a secret of the receiver'

type Yard = { daemon: Daemon; folder: string; file: string; rtsp: CameraServer; receiver: Receiver }
/** The methods that both servers have. */
type CameraServer = Awaited<ReturnType<typeof startGstServer>>
type StartServer = (options: Parameters<typeof startGstServer>[0]) => Promise<CameraServer>
type Teardown = { teardown(end: () => unknown): void }

/** Its door shows the empty hall for eight seconds once somebody looks, however long a busy machine takes to get there. */
async function startAtTheBeginning(options: Parameters<StartServer>[0]): Promise<CameraServer> {
  const server = await startRtspServer(options)
  const isWatched = server.waitFor(() => server.clients('door').playing > 0, 60_000)
  isWatched.then(
    () => server.seek('door', 0),
    () => undefined, // no one ever looked, and the test says so
  )
  return server
}

/** A daemon with a camera that sees the hall crossed (1), one on an empty hall (2) and one that is switched off (3). */
async function yard(t: Teardown, startServer: StartServer = startRtspServer): Promise<Yard> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-motion-'))
  const rtsp = await startServer({
    streams: { door: await footage('crossing'), empty: await footage('empty') },
    auth: { username: 'viewer', password: 'p@ss word' },
  })
  const receiver = await startReceiver({ secret })
  writeFileSync(join(folder, 'ca.pem'), receiver.caPem)
  writeFileSync(join(folder, 'camera-password'), 'p@ss word\n', { mode: 0o600 })
  const user = (name: string, role: string) =>
    `{ username: ${name}, role: ${role}, secretHash: "${cheapHash(`${name}-secret`)}" }`
  const camera = (id: number, path: string, more: string) =>
    `{ id: ${id}, url: "${rtsp.url(path)}", username: viewer, passwordFile: camera-password, ${more} }`
  const file = join(folder, 'gatehouse.yaml')
  writeFileSync(
    file,
    `site: { id: motion-test, url: ${site} }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [${user('ada', 'admin')}, ${user('owen', 'viewer')}, ${user('vic', 'viewer')}, ${user('sue', 'supervisor')}] }
rateLimit: { requestsPerMinute: 100000 }
webhooks: { allowNetworks: [127.0.0.0/8], caFile: ca.pem }
retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
cameras:
  - ${camera(1, 'door', 'owner: owen, viewers: [sue], slots: [A-01], motion: { preRecordSeconds: 2, postRecordSeconds: 1, cooldownSeconds: 1 }')}
  - ${camera(2, 'empty', 'motion: { preRecordSeconds: 2, postRecordSeconds: 1 }')}
  - ${camera(3, 'door', 'motion: { enabled: false }')}
`,
  )
  const daemon = await startDaemon(['--config', file], { cwd: folder })
  t.teardown(async () => {
    if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.end('SIGKILL')
    await rtsp.stop()
    await receiver.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return { daemon, folder, file, rtsp, receiver }
}

const headers = (name: string, more: Record<string, string> = {}) => ({
  Authorization: `Bearer ${name}-secret`,
  'X-Storage-Instance': site,
  'X-Storage-Username': name,
  'Content-Type': 'application/json',
  ...more,
})

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Seen = { status: number; body: any }

async function ask(daemon: Daemon, name: string, method: string, path: string, body?: unknown): Promise<Seen> {
  const init = { method, headers: headers(name), ...(body !== undefined && { body: JSON.stringify(body) }) }
  const answer = await fetch(`${daemon.url}${path}`, init)
  return { status: answer.status, body: await answer.json() }
}

t.test('from a person in front of the camera to a hashed clip in the ledger', async (t) => {
  const { daemon, folder, file, rtsp, receiver } = await yard(t, startAtTheBeginning)
  const get = (path: string, name = 'owen') => ask(daemon, name, 'GET', path)
  const hook = { url: receiver.url, events: ['motion.detected', 'event.created'], secret }
  t.equal((await ask(daemon, 'ada', 'POST', '/api/webhooks', hook)).status, 201)
  const fired = await receiver.waitFor((r) => r.type === 'motion.detected', 60_000)
  const id = Number(fired.event.data['id'])
  const created = await receiver.waitFor((r) => r.event.data['kind'] === 'motion.detected', 60_000)
  const { status, body: detection } = await get(`/api/iot/detection-events/${id}`)
  const url = `${daemon.url}${new URL(detection.clipUrls.playback).pathname}`
  const whole = await fetch(url, { headers: headers('owen') })
  const clip = Buffer.from(await whole.arrayBuffer())

  await t.test('the motion is told to the receivers, signed, and that it is in the ledger as well', async (t) => {
    t.ok(fired.signatureValid, 'motion.detected is signed')
    t.match(fired.event.data, {
      cctvId: 1,
      score: Number,
      sceneChange: false,
      clip: /\/api\/iot\/detection-events\/\d+\/clip$/,
    })
    t.ok(created.signatureValid, 'event.created is signed')
    t.match(created.event.data, {
      kind: 'motion.detected',
      event: { id, cctvId: 1, clipStatus: 'recorded', eventId: fired.event.id },
    })
  })

  await t.test('the detection says what it holds: a hashed clip, with what was before the motion', async (t) => {
    t.equal(status, 200)
    t.match(detection, {
      success: true,
      id,
      cctvId: 1,
      clipStatus: 'recorded',
      anchor: 'hashed',
      uploadStatus: 'not_configured',
    })
    t.ok(detection.preRollSeconds >= 1.5, `${detection.preRollSeconds} s before the motion`)
    t.ok(detection.duration >= 3, `${detection.duration} s in all`)
  })

  await t.test('the clip is that of the ledger, and plays to its end', async (t) => {
    t.match(whole.headers.get('content-type'), 'video/mp4')
    t.equal(
      createHash('sha256').update(clip).digest('hex'),
      detection.clipSha256,
      'the hash in the ledger is that of the bytes',
    )
    writeFileSync(join(folder, 'clip.mp4'), clip)
    const decoded = spawnSync(locateFfmpeg().path, ['-v', 'error', '-i', join(folder, 'clip.mp4'), '-f', 'null', '-'], {
      encoding: 'utf8',
    })
    t.match(decoded, { status: 0, stderr: /^$/ }, 'it plays to its end')
  })

  await t.test('a part of the clip is given by its range, and nothing behind its end', async (t) => {
    const range = (value: string) => fetch(url, { headers: headers('owen', { Range: value }) })
    const part = await range('bytes=10-19')
    t.equal(part.status, 206)
    t.equal(part.headers.get('content-range'), `bytes 10-19/${clip.length}`)
    t.ok(Buffer.from(await part.arrayBuffer()).equals(clip.subarray(10, 20)))
    t.ok(Buffer.from(await (await range('bytes=-5')).arrayBuffer()).equals(clip.subarray(-5)), 'the end of it')
    const beyond = await range(`bytes=${clip.length}-`)
    t.equal(beyond.status, 416)
    t.equal(beyond.headers.get('content-range'), `bytes */${clip.length}`)
    t.match(await beyond.json(), { success: false, error: { code: 'RANGE_NOT_SATISFIABLE' } })
  })

  await t.test('a clip that the player has already is not sent again', async (t) => {
    const etag = whole.headers.get('etag') ?? ''
    t.equal((await fetch(url, { headers: headers('owen', { 'If-None-Match': etag }) })).status, 304)
  })

  await t.test('the snapshot is that of the ledger', async (t) => {
    const snapshot = await fetch(`${daemon.url}/api/iot/detection-events/${id}/snapshot`, { headers: headers('owen') })
    const png = Buffer.from(await snapshot.arrayBuffer())
    t.equal(createHash('sha256').update(png).digest('hex'), detection.snapshotSha256)
    t.equal(png.subarray(1, 4).toString(), 'PNG')
  })

  await t.test('whoever the camera is not for sees none of it', async (t) => {
    t.match(await get('/api/iot/detection-events?cctvId=1'), {
      status: 200,
      body: { data: [{ cctvId: 1 }], pagination: { limit: 50 } },
    })
    for (const path of [
      `/api/iot/detection-events/${id}`,
      `/api/iot/detection-events/${id}/clip`,
      '/api/iot/detection-events?cctvId=1',
    ]) {
      t.match(await get(path, 'vic'), { status: 404, body: { error: { code: 'NOT_FOUND' } } }, `${path}: not for vic`)
    }
    t.strictSame((await get('/api/iot/detection-events', 'vic')).body.data, [], 'and vic sees none')
    t.match(await get('/api/iot/detection-events/999999'), { status: 404 })
  })

  await t.test('nothing happens in the empty hall, though it is watched', async (t) => {
    const empty = await eventually(
      () => ask(daemon, 'ada', 'GET', '/api/iot/detection/motion-stream?cctvId=2'),
      ({ body }) => body.frameCount > 20,
    )
    t.equal(empty.body.motionFrames.count, 0)
    t.strictSame(
      (await ask(daemon, 'ada', 'GET', '/api/iot/detection-events?cctvId=2')).body.data,
      [],
      'nothing happens in the empty hall',
    )
  })

  await t.test('a camera has one connection to bear', async (t) => {
    t.equal(rtsp.clients('door').mostAtOnce, 1, 'one connection a camera')
  })

  await t.test('the ledger verifies, the log tells no password, and nothing is left half done', async (t) => {
    const verified = await runToEnd(gatehouse, ['ledger', 'verify', '--config', file, '--json'], { cwd: folder })
    t.match(JSON.parse(verified.stdout), { ok: true, mismatches: { length: 0 } })
    t.equal(await daemon.end('SIGTERM'), 0)
    t.notMatch(daemon.log(), /p@ss|p%40ss/, 'no password in the log')
    t.strictSame(
      readdirSync(join(folder, 'state', 'clips')).filter((name) => /\.part|\.ts/.test(name)),
      [],
      'and nothing is left half done',
    )
  })
})

t.test('the cameras of a running gateway', async (t) => {
  const { daemon, folder, file, rtsp } = await yard(t)

  await t.test('cameras are seen by whom they are for, never with address or password', async (t) => {
    const cameras = async (name: string) => {
      const { body } = await ask(daemon, name, 'GET', '/api/iot/cctv')
      return body.data.map((camera: { id: number }) => camera.id)
    }
    t.strictSame(
      [await cameras('ada'), await cameras('owen'), await cameras('sue'), await cameras('vic')],
      [[1, 2, 3], [1], [1], []],
    )
    const live = await eventually(
      () => ask(daemon, 'owen', 'GET', '/api/iot/cctv'),
      ({ body }) => body.data[0].online,
    )
    t.match(live.body.data[0], {
      id: 1,
      name: 'Camera 1',
      state: 'live',
      problem: null,
      slots: ['A-01'],
      owner: 'owen',
      motion: { running: true },
    })
    t.notMatch(JSON.stringify(live.body), /rtsp|viewer"|p@ss|camera-password/)
  })

  await t.test('cameras obey their owner and who may see them, and nobody else', async (t) => {
    const post = (name: string, body: object) => ask(daemon, name, 'POST', '/api/iot/detection/motion-stream', body)
    t.match(await post('vic', { cctvId: 1, action: 'stop' }), { status: 404 })
    t.match(await post('owen', { cctvId: 99, action: 'stop' }), { status: 404 })
    for (const body of [
      { cctvId: 1 },
      { cctvId: 1, action: 'pause' },
      { cctvId: 1, action: 'start', sensitivity: 1.1 },
      { cctvId: 1, action: 'start', preRecordSeconds: 61 },
    ]) {
      t.match(await post('owen', body), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
    }
    t.match(await post('owen', { cctvId: 1, action: 'stop' }), {
      status: 200,
      body: { cctvId: 1, action: 'stop', running: false, changed: true },
    })
    t.match(
      await post('sue', { cctvId: 1, action: 'stop' }),
      { status: 200, body: { changed: false } },
      'twice is once',
    )
    await eventually(
      async () => ({ status: 0, body: rtsp.clients('door') }),
      ({ body }) => body.connected === 0,
    )
    t.match(await ask(daemon, 'owen', 'GET', '/api/iot/detection/motion-stream?cctvId=1'), {
      status: 200,
      body: { running: false, state: 'off', startedAt: null },
    })
    const started = await post('owen', { cctvId: 1, action: 'start', sensitivity: 0.5 })
    t.match(started, {
      status: 200,
      body: { running: true, changed: true, settings: { sensitivity: 0.5, preRecordSeconds: 2, cooldownSeconds: 1 } },
    })
    await eventually(
      () => ask(daemon, 'owen', 'GET', '/api/iot/detection/motion-stream?cctvId=1'),
      ({ body }) => body.frameCount > 5,
    )
    for (const path of ['/api/iot/detection/motion-stream', '/api/iot/detection/motion-stream?cctvId=x']) {
      t.match(await ask(daemon, 'owen', 'GET', path), { status: 400 })
    }
  })

  await t.test('a stop through the API outlives a restart, until the motion block in the config changes', async (t) => {
    await ask(daemon, 'owen', 'POST', '/api/iot/detection/motion-stream', { cctvId: 1, action: 'stop' })
    await daemon.end('SIGKILL')
    const again = await startDaemon(['--config', file], { cwd: folder })
    t.teardown(() => again.end('SIGKILL'))
    const running = async () =>
      (await ask(again, 'owen', 'GET', '/api/iot/detection/motion-stream?cctvId=1')).body.running
    t.equal(await running(), false)
    writeFileSync(file, readFileSync(file, 'utf8').replace('cooldownSeconds: 1 }', 'cooldownSeconds: 2 }'))
    again.child.kill('SIGHUP')
    await again.logged('config reloaded')
    t.equal(await running(), true, 'the config has the last word again')
  })
})

t.test('a daemon that was killed in the middle of a clip tells of it at its next start', async (t) => {
  const { daemon, folder, file } = await yard(t)
  const clips = join(folder, 'state', 'clips')
  const open = () => existsSync(clips) && readdirSync(clips).some((name) => name.endsWith('.ts.part'))
  await eventually(
    async () => ({ status: 0, body: open() }),
    ({ body }) => body,
  )
  await daemon.end('SIGKILL')
  const again = await startDaemon(['--config', file], { cwd: folder })
  t.teardown(() => again.end('SIGKILL'))
  const { body } = await eventually(
    () => ask(again, 'owen', 'GET', '/api/iot/detection-events'),
    (seen) => seen.body.data.length > 0,
  )
  t.match(body.data.at(-1), {
    cctvId: 1,
    clipStatus: 'recorded',
    reason: 'closed by restart',
    clipSha256: /^[0-9a-f]{64}$/,
  })
  const verified = await runToEnd(gatehouse, ['ledger', 'verify', '--config', file, '--json'], { cwd: folder })
  t.match(JSON.parse(verified.stdout), { ok: true })
})

t.test(
  "a camera that is not ours, GStreamer's, makes the same journey",
  needs("GStreamer's RTSP server"),
  async (t) => {
    const { daemon, folder, file, rtsp } = await yard(t, startGstServer)
    const { body } = await eventually(
      () => ask(daemon, 'owen', 'GET', '/api/iot/detection-events'),
      (seen) => seen.body.data.length > 0,
      { withinMs: 60_000 },
    )
    const detection = body.data.at(-1)
    t.match(detection, { cctvId: 1, clipStatus: 'recorded', clipSha256: /^[0-9a-f]{64}$/ })
    t.ok(detection.preRollSeconds >= 1, `${detection.preRollSeconds} s before the motion`)
    const clip = await fetch(`${daemon.url}/api/iot/detection-events/${detection.id}/clip`, {
      headers: headers('owen'),
    })
    const bytes = Buffer.from(await clip.arrayBuffer())
    t.equal(createHash('sha256').update(bytes).digest('hex'), detection.clipSha256)
    const empty = await ask(daemon, 'ada', 'GET', '/api/iot/detection/motion-stream?cctvId=2')
    t.equal(empty.body.motionFrames.count, 0, 'the empty hall is still')
    t.ok(rtsp.clients('door').mostAtOnce <= 2, 'one connection each of the two cameras that run')
    const verified = await runToEnd(gatehouse, ['ledger', 'verify', '--config', file, '--json'], { cwd: folder })
    t.match(JSON.parse(verified.stdout), { ok: true })
  },
)
