import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { watchedShare } from '../../src/cameras/gaps/gaps.ts'
import type { Config } from '../../src/config/index.ts'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { type CameraStatus, type FromCameras, impairments, type Problem } from '../../src/video/index.ts'
import { plainWords } from '../../src/video/problems.ts'
import { furnish, people, type TestGateway, type TestGatewayOptions, testGateway } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

/** A Monday, 08:00 in UTC. */
const startMs = Date.UTC(2026, 2, 2, 8)
const camera = { id: 7, name: 'Dock', url: 'rtsp://192.0.2.7/main', owner: 'vera' }
const at = (seconds: number) => new Date(startMs + seconds * 1000).toISOString()

type Hall = TestGateway & {
  live7(): Promise<void>
  bad7(problem: Problem, pictureAgoMs?: number): Promise<void>
  status7(impairment: CameraStatus['impairment']): Promise<void>
  settle(): Promise<void>
}

const statusOf7: CameraStatus = {
  ...{ type: 'status', cameraId: 7, state: 'live', pictureAgoMs: 0, frameCount: 0, lastFrameAt: null },
  motionFrames: { count: 0, percentage: 0, lastScore: 0, maxScore: 0 },
  ...{ fps: 5, streamFps: 15, restarts: 0, droppedFrames: 0, suppressedSceneChanges: 0, stillSeconds: 0 },
  ...{
    scene: { state: 'normal', forSeconds: 0 },
    ringBytes: 0,
    heldSeconds: 5,
    preRollProblem: null,
    keyFrameSeconds: 1,
  },
}

/** A gateway whose cameras thread is this test. */
function hall(gateway: TestGateway): Hall {
  // A message is committed in the group after the next, because the keeper writes while the first is under way.
  const settle = async () => {
    for (const _ of [1, 2, 3]) await gateway.audit('test.settled', {})
  }
  const state = async (one: Omit<Extract<FromCameras, { type: 'state' }>, 'type' | 'cameraId' | 'at'>) => {
    gateway.cameras.heard({ ...one, type: 'state', cameraId: 7, at: gateway.clock.now() })
    await settle()
  }
  return {
    ...gateway,
    settle,
    live7: () => state({ state: 'live', problem: null, words: null, pictureAgoMs: 0 }),
    async status7(impairment) {
      gateway.cameras.heard({ ...statusOf7, impairment })
      await settle()
    },
    bad7: (problem, pictureAgoMs = 0) =>
      state({ state: 'backing-off', problem, words: plainWords(problem), pictureAgoMs }),
  }
}

async function open(t: Test, more: Record<string, unknown> = {}, options: TestGatewayOptions = {}): Promise<Hall> {
  const gateway = await testGateway({ ...options, config: { cameras: [{ ...camera, ...more }] } })
  t.teardown(() => gateway.end())
  gateway.cameras.threadStarted()
  return hall(gateway)
}

const gapsOf = async (gateway: TestGateway, query = '') =>
  (await gateway.ask('GET', `/api/iot/cctv/7/gaps${query}`, { by: people.vera })).body.data

const watched = async (gateway: TestGateway, from: string, to: string) =>
  (await gateway.ask('GET', `/api/iot/cctv/7/watched?from=${from}&to=${to}`, { by: people.vera })).body

/** `cause from-to` in seconds since the start. */
const brief = (gaps: { cause: string; from: string; to: string | null }[]) =>
  gaps.map(({ cause, from, to }) => {
    const seconds = (time: string | null) => (time === null ? '' : String((Date.parse(time) - startMs) / 1000))
    return `${cause} ${seconds(from)}-${seconds(to)}`
  })

function read<T>(gateway: TestGateway, sql: string): T[] {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const rows = db.prepare(sql).pluck().all() as T[]
  db.close()
  return rows
}

t.test('an outage is a gap from the last picture to the first one after it, with its cause', async (t) => {
  const gateway = await open(t)
  await gateway.live7()
  gateway.clock.advance(60_000)
  await gateway.bad7('frozen', 5000)
  t.match(await gapsOf(gateway), [{ id: null, cctvId: 7, from: at(55), to: null, cause: 'stalled', detail: /frozen/ }])
  gateway.clock.advance(10_000)
  await gateway.live7()
  t.match(await gapsOf(gateway), [{ id: 1, from: at(55), to: at(70), cause: 'stalled', seq: 1 }])
})

t.test('pictures that never came are a gap of an open stream, and say so', async (t) => {
  const gateway = await open(t)
  await gateway.live7()
  gateway.clock.advance(60_000)
  gateway.cameras.heard({ type: 'picturesMissing', cameraId: 7, fromAgoMs: 9000, toAgoMs: 4000 })
  await gateway.settle()
  t.match(await gapsOf(gateway), [{ from: at(51), to: at(56), cause: 'stalled', detail: /stream was open/, seq: 1 }])
  t.match(await watched(gateway, at(50), at(60)), { watchedShare: 0.5 })
})

t.test('a camera that is covered did not watch, though its pictures come, and the statement says so', async (t) => {
  const gateway = await open(t, { slots: ['A'] })
  await furnish(gateway, ['A'])
  await gateway.live7()
  gateway.clock.advance(60_000)
  await gateway.status7({ why: null, agoMs: 60_000 })
  t.match(await watched(gateway, at(0), at(60)), { watchedShare: 1, gaps: { length: 0 } })
  gateway.clock.advance(20_000)
  await gateway.status7({ why: 'covered', agoMs: 10_000 })
  t.match(await gapsOf(gateway), [{ id: null, from: at(70), to: null, cause: 'covered', detail: /a cover, dirt/ }])
  gateway.clock.advance(20_000)
  await gateway.status7({ why: 'covered', agoMs: 30_000 })
  t.match(await watched(gateway, at(60), at(100)), {
    watchedShare: 0.25,
    gaps: [{ cause: 'covered' }],
    detections: { length: 0 },
  })
  await gateway.status7({ why: null, agoMs: 5000 })
  const ended = { id: 1, from: at(70), to: at(95), cause: 'covered', seq: /./ }
  t.match(await gapsOf(gateway), [ended])
  t.match(await watched(gateway, at(0), at(100)), { watchedShare: 0.75, gaps: [ended] })
  const note = await gateway.ask('GET', `/api/whms/slots/A/untouched?from=${at(0)}&to=${at(100)}`, {
    by: people.ada,
  })
  t.match(note.body, { watchedShare: 0.75, gaps: [ended] })
})

t.test('each reason why motion cannot be found has a cause and words', async (t) => {
  const gateway = await open(t)
  await gateway.live7()
  for (const why of impairments) {
    gateway.clock.advance(10_000)
    await gateway.status7({ why, agoMs: 10_000 })
  }
  gateway.clock.advance(10_000)
  await gateway.status7({ why: null, agoMs: 0 })
  const gaps = await gapsOf(gateway)
  t.strictSame(brief(gaps), [
    'no_events 60-70',
    'too_busy 50-60',
    'few_pictures 40-50',
    'turned 30-40',
    'covered 20-30',
    'still 0-20',
  ])
  for (const { detail } of gaps) t.match(detail, /^[A-Zg].{40,}\.$/)
})

t.test('a gap that has ended is a leaf, is told to the receivers, and is verified', async (t) => {
  const gateway = await open(t)
  await gateway.live7()
  await gateway.bad7('refused')
  gateway.clock.advance(30_000)
  await gateway.live7()
  const [gap] = await gapsOf(gateway)
  const [leaf] = read<Buffer>(gateway, `SELECT bytes FROM log_leaf WHERE kind = 'camera-gap'`)
  t.match(JSON.parse(String(leaf)), { cctvId: 7, from: at(0), to: at(30), cause: 'refused', detail: gap.detail, id: 1 })
  const notifications = read<Buffer>(gateway, 'SELECT body FROM outbox').map((body) => JSON.parse(String(body)))
  t.match(notifications, [{ type: 'event.created', data: { kind: 'camera.gap', event: gap } }])
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, cameraGaps: 1 })
})

t.test('a gap whose row was changed by hand is found out', async (t) => {
  const gateway = await open(t)
  await gateway.live7()
  await gateway.bad7('refused')
  gateway.clock.advance(30_000)
  await gateway.live7()
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  const { sql } = db.prepare(`SELECT sql FROM sqlite_master WHERE name = 'camera_gap_no_update'`).get() as {
    sql: string
  }
  db.exec(`DROP TRIGGER camera_gap_no_update; UPDATE camera_gap SET cause = 'offline'; ${sql}`)
  db.close()
  const { ok, mismatches } = verifyLedger(gateway.live.config.dataDir)
  t.notOk(ok)
  t.match(JSON.stringify(mismatches), /gap 1 of camera 7.*differs from its leaf in cause/)
})

t.test('what was watched is exact, and nothing that happened is proved by it', async (t) => {
  const gateway = await open(t)
  await gateway.live7()
  gateway.clock.advance(100_000)
  t.match(await watched(gateway, at(0), at(100)), {
    watchedShare: 1,
    gaps: { length: 0 },
    detections: { length: 0 },
    knownSince: at(0),
  })
  await gateway.bad7('closed')
  gateway.clock.advance(50_000)
  t.match(await watched(gateway, at(0), at(1000)), { watchedShare: 2 / 3, to: at(150), gaps: [{ to: null }] })
  await gateway.live7()
  const fired = {
    type: 'motionFired',
    cameraId: 7,
    detectionId: 1,
    motionAt: startMs + 160_000,
    score: 1,
    sceneChange: false,
    clip: true,
  } as const
  gateway.cameras.heard(fired)
  gateway.clock.advance(50_000)
  await gateway.settle()
  t.match(await watched(gateway, at(125), at(175)), {
    watchedShare: 0.5,
    gaps: [{ from: at(100), to: at(150) }],
    detections: [1],
  })
  t.match(
    await watched(gateway, at(-50), at(50)),
    { watchedShare: 0.5, gaps: { length: 0 } },
    'nobody watched before it was there',
  )
})

t.test('a share counts each moment once, whatever gaps there are', async (t) => {
  const span = { fromMs: 1000, toMs: 2000 }
  t.equal(watchedShare(span, 0, []), 1)
  t.equal(
    watchedShare(span, 0, [
      { fromMs: 0, toMs: 1250 },
      { fromMs: 1750, toMs: 9000 },
    ]),
    0.5,
  )
  t.equal(
    watchedShare(span, 0, [
      { fromMs: 1500, toMs: 1700 },
      { fromMs: 1100, toMs: 1600 },
    ]),
    0.4,
  )
  t.equal(watchedShare(span, 1600, [{ fromMs: 1500, toMs: 1700 }]), 0.3)
  t.equal(watchedShare(span, null, []), 0, 'a camera that was never known')
})

t.test('a box that was killed was down from its last sign of life to the first picture', async (t) => {
  const clock = new SimulatedClock(startMs)
  let gateway = await open(t, {}, { clock })
  await gateway.live7()
  for (const ms of [15_000, 15_000]) {
    clock.advance(ms)
    await gateway.settle()
  }
  clock.advance(10_000)
  gateway = hall(await gateway.restart())
  clock.advance(600_000)
  gateway.cameras.threadStarted()
  clock.advance(3000)
  await gateway.live7()
  t.strictSame(brief(await gapsOf(gateway)), ['daemon_down 30-643'])
})

t.test('a box that starts again without its ffmpeg watches nothing, and says so', async (t) => {
  const clock = new SimulatedClock(startMs)
  let gateway = await open(t, {}, { clock })
  await gateway.live7()
  gateway = hall(await gateway.restart())
  clock.advance(60_000)
  gateway.cameras.start()
  clock.advance(5000)
  gateway.cameras.threadEnded()
  await gateway.settle()
  t.strictSame(brief(await gapsOf(gateway)), ['restarted 60-', 'daemon_down 0-60'])
  t.match(await watched(gateway, at(0), at(65)), { watchedShare: 0 })
})

t.test('what was started through the API is started after a restart', async (t) => {
  const clock = new SimulatedClock(startMs)
  let gateway = await open(t, { motion: { enabled: false } }, { clock })
  const body = { cctvId: 7, action: 'start' }
  await gateway.ask('POST', '/api/iot/detection/motion-stream', { by: people.vera, body })
  gateway = hall(await gateway.restart())
  gateway.cameras.threadStarted()
  const status = await gateway.ask('GET', '/api/iot/detection/motion-stream?cctvId=7', { by: people.vera })
  t.match(status.body, { running: true })
})

t.test('a clean stop writes the exact time, and an outage before it keeps its own cause', async (t) => {
  const clock = new SimulatedClock(startMs)
  let gateway = await open(t, {}, { clock })
  await gateway.live7()
  clock.advance(10_000)
  await gateway.bad7('unreachable')
  clock.advance(7000)
  await gateway.cameras.stop()
  gateway = hall(await gateway.restart())
  clock.advance(100_000)
  gateway.cameras.threadStarted()
  await gateway.bad7('unreachable')
  clock.advance(20_000)
  await gateway.live7()
  t.strictSame(brief(await gapsOf(gateway)), ['offline 117-137', 'daemon_down 17-117', 'offline 10-17'])
})

t.test('a step of the wall clock makes no gap longer, negative or doubled', async (t) => {
  const gateway = await open(t)
  await gateway.live7()
  gateway.clock.advance(60_000)
  await gateway.bad7('closed')
  gateway.clock.advance(10_000)
  gateway.clock.setWall(startMs - 3_600_000)
  gateway.clock.advance(20_000)
  await gateway.live7()
  t.strictSame(brief(await gapsOf(gateway)), ['offline 60-90'])
  gateway.clock.setWall(startMs + 70_000)
  await gateway.bad7('closed')
  gateway.clock.advance(40_000)
  await gateway.live7()
  t.strictSame(brief(await gapsOf(gateway)), ['offline 90-110', 'offline 60-90'], 'what is told is not told again')
})

t.test('a stop through the API and a camera that is taken out of the config are gaps as well', async (t) => {
  const gateway = await open(t)
  await gateway.live7()
  const motion = (action: string) =>
    gateway.ask('POST', '/api/iot/detection/motion-stream', { by: people.vera, body: { cctvId: 7, action } })
  gateway.clock.advance(10_000)
  await motion('stop')
  gateway.clock.advance(10_000)
  await motion('start')
  gateway.clock.advance(3000)
  await gateway.live7()
  const config = gateway.live.config
  gateway.live.config = { ...config, cameras: [] } as Config
  gateway.cameras.onReload()
  gateway.clock.advance(10_000)
  t.match(await gateway.ask('GET', '/api/iot/cctv/7/gaps', { by: people.vera }), { status: 404 })
  gateway.live.config = config
  gateway.cameras.onReload()
  gateway.clock.advance(1000)
  await gateway.live7()
  t.strictSame(brief(await gapsOf(gateway)), ['disarmed 23-34', 'disarmed 10-23'])
  t.match(await watched(gateway, at(0), at(34)), { watchedShare: 10 / 34 })
})

t.test('outside its recording hours a camera is off, says so, and is on again on time', async (t) => {
  const gateway = await testGateway({ config: { cameras: [{ ...camera, recordingHours: ['Mo-Fr 09:01-09:03'] }] } })
  t.teardown(() => gateway.end())
  // 08:00 in UTC is 09:00 in the hall, which is in Berlin.
  await furnish(gateway, [])
  const { live7, settle } = hall(gateway)
  gateway.cameras.threadStarted()
  gateway.cameras.start()
  const status = async () =>
    (await gateway.ask('GET', '/api/iot/detection/motion-stream?cctvId=7', { by: people.vera })).body
  const words = /outside the recording hours \(Mo-Fr 09:01-09:03 in Europe\/Berlin\)/
  t.match(await status(), { state: 'off', problem: words })
  t.strictSame(gateway.cameras.cameraHealth(), [], 'it is not missed')
  gateway.clock.advance(60_000)
  t.match(await status(), { state: 'offline', problem: null })
  gateway.clock.advance(2000)
  await live7()
  gateway.clock.advance(118_000)
  await settle()
  t.match(await status(), { state: 'off', problem: words })
  t.strictSame(brief(await gapsOf(gateway)), ['outside_hours 180-', 'outside_hours 0-62'])
})

t.test('motion of which there is no clip is a gap with its reason, and covers no other gap', async (t) => {
  const gateway = await open(t)
  await gateway.live7()
  const facts = { cameraId: 7, score: 1, sceneChange: false }
  gateway.clock.advance(10_000)
  gateway.cameras.heard({
    ...facts,
    type: 'motionFired',
    detectionId: 1,
    motionAt: startMs + 9000,
    clip: false,
    cooldownUntil: startMs + 12_000,
  })
  await gateway.settle()
  t.strictSame(brief(await gapsOf(gateway)), ['cooldown 9-'])
  gateway.clock.advance(10_000)
  const lost = { ...facts, type: 'clipLost', reason: 'disk-full', words: 'The disk is full.' } as const
  gateway.cameras.heard({ ...lost, detectionId: 2, motionAt: startMs + 11_000, endedAt: startMs + 18_000 })
  await gateway.bad7('closed', 3000)
  gateway.cameras.heard({
    ...lost,
    detectionId: 3,
    motionAt: startMs + 16_000,
    endedAt: startMs + 25_000,
    reason: 'no-video',
  })
  gateway.clock.advance(10_000)
  await gateway.live7()
  t.strictSame(brief(await gapsOf(gateway)), ['offline 18-30', 'disk_full 12-18', 'cooldown 9-12'])
})

t.test('what a killed gateway lost of a clip is a gap, however long the camera has watched again since', async (t) => {
  const clock = new SimulatedClock(startMs)
  let gateway = await open(t, {}, { clock })
  await gateway.live7()
  const fired = { type: 'motionFired', cameraId: 7, score: 1, sceneChange: false, clip: true } as const
  clock.advance(20_000)
  gateway.cameras.heard({ ...fired, detectionId: 1, motionAt: startMs + 20_000 })
  clock.advance(15_000)
  await gateway.settle()
  clock.advance(5000)
  gateway.cameras.heard({ ...fired, detectionId: 2, motionAt: startMs + 40_000 })
  await gateway.settle()
  gateway = hall(await gateway.restart())
  clock.advance(60_000)
  gateway.cameras.threadStarted()
  await gateway.live7()
  const missed = ['daemon_down 35-100']
  t.strictSame(brief(await gapsOf(gateway)), missed)
  clock.advance(50_000)
  await gateway.bad7('closed')
  gateway.cameras.heard({ type: 'leftoversDone', count: 0, kept: [] })
  await gateway.settle()
  t.strictSame(brief(await gapsOf(gateway)), ['offline 150-', ...missed, 'daemon_down 20-35'])
})

t.test('gaps are read page by page, and only those of the time that is asked for', async (t) => {
  const gateway = await open(t)
  for (const _ of [1, 2, 3]) {
    await gateway.live7()
    gateway.clock.advance(10_000)
    await gateway.bad7('closed')
    gateway.clock.advance(10_000)
  }
  const all = ['offline 50-', 'offline 30-40', 'offline 10-20']
  t.strictSame(brief(await gapsOf(gateway)), all)
  const page = async (query: string) =>
    (await gateway.ask('GET', `/api/iot/cctv/7/gaps?${query}`, { by: people.vera })).body
  const first = await page('limit=1')
  t.match(first.pagination, { total: 3, hasMore: true })
  const second = await page(`limit=1&cursor=${first.pagination.nextCursor}`)
  const third = await page(`limit=5&cursor=${second.pagination.nextCursor}`)
  t.strictSame(brief([...first.data, ...second.data, ...third.data]), all)
  t.strictSame(brief((await page('limit=2&offset=1')).data), all.slice(1))
  t.strictSame(brief(await gapsOf(gateway, `?from=${at(15)}&to=${at(30)}`)), ['offline 10-20'])
  t.strictSame(brief(await gapsOf(gateway, `?from=${at(20)}&to=${at(31)}`)), ['offline 30-40'])
})

t.test('the gaps of a camera are for whom the camera is, and a time has to make sense', async (t) => {
  const gateway = await open(t)
  const ask = (path: string, by = people.vera as (typeof people)[keyof typeof people]) =>
    gateway.ask('GET', path, { by })
  gateway.clock.advance(1000)
  for (const path of ['gaps', `watched?from=${at(0)}&to=${at(1)}`]) {
    t.match(await ask(`/api/iot/cctv/7/${path}`), { status: 200 })
    t.match(await ask(`/api/iot/cctv/7/${path}`, people.sven), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
    t.match(await ask(`/api/iot/cctv/8/${path}`, people.ada), { status: 404 })
    t.match(await ask(`/api/iot/cctv/x/${path}`, people.ada), { status: 404 })
  }
  const wrong = [`from=${at(1)}&to=${at(1)}`, `from=${at(2)}&to=${at(3)}`, `from=${at(0)}`, 'from=what&to=ever']
  for (const query of wrong) t.match(await ask(`/api/iot/cctv/7/watched?${query}`), { status: 400 }, query)
})
