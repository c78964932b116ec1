import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import type { FromCameras, ToCameras } from '../../src/video/index.ts'
import { type Answer, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'

const cameras = [{ id: 7, url: 'rtsp://192.0.2.7/main', owner: 'vera', motion: { preRecordSeconds: 3 } }]
const motionAt = Date.UTC(2026, 2, 2, 8)
const facts = { cameraId: 7, motionAt, score: 0.42, sceneChange: false }

const closed: Extract<FromCameras, { type: 'clipClosed' }> = {
  ...facts,
  type: 'clipClosed',
  detectionId: 1,
  file: '1.mp4',
  sha256: 'ab'.repeat(32),
  sizeBytes: 1000,
  startedAt: motionAt - 3000,
  endedAt: motionAt + 5000,
  preRollSeconds: 3,
  durationSeconds: 8,
  width: 640,
  height: 360,
  peakScore: 0.8,
  snapshot: { file: '1.png', sha256: 'cd'.repeat(32), sizeBytes: 10 },
  closedBy: 'post-roll',
  askedPreRollSeconds: 3,
  pictures: 121,
  longestGapSeconds: 0.07,
  original: true,
}

/** Everything that the thread's message led to is committed when the next writes are. */
async function hear(gateway: TestGateway, ...messages: FromCameras[]): Promise<void> {
  for (const message of messages) gateway.cameras.heard(message)
  await settle(gateway)
}

async function settle(gateway: TestGateway): Promise<void> {
  for (let i = 0; i < 3; i += 1) await gateway.audit('test.settled', {})
}

function sentOf(gateway: TestGateway): { type: string; data: Record<string, unknown> }[] {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const bodies = db.prepare('SELECT body FROM outbox ORDER BY seq').pluck().all() as Buffer[]
  db.close()
  return bodies.map((body) => JSON.parse(body.toString()))
}

const detections = async (gateway: TestGateway) =>
  (await gateway.ask('GET', '/api/iot/detection-events', { by: people.vera })).body.data

t.test('motion is told when it fires, and its detection when the clip is closed, each once', async (t) => {
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  await gateway.checkpoints.make()
  const fired: FromCameras = { ...facts, type: 'motionFired', detectionId: 1, clip: true }
  await hear(gateway, fired, fired)
  t.match(sentOf(gateway), [{ type: 'motion.detected', data: { id: 1, cctvId: 7, score: 0.42, clip: /\/1\/clip$/ } }])
  t.equal(sentOf(gateway).length, 1)
  const pending = await gateway.ask('GET', '/api/iot/detection-events/1/clip', { by: people.vera })
  t.match(pending, { status: 503, body: { error: { code: 'CLIP_PENDING' } } })
  t.ok(pending.headers.get('retry-after'))
  await hear(gateway, closed, closed)
  t.strictSame(
    sentOf(gateway).map((event) => event.type),
    ['motion.detected', 'event.created'],
  )
  const [detection, ...others] = await detections(gateway)
  t.strictSame(others, [])
  t.match(detection, {
    id: 1,
    score: 0.8,
    clipStatus: 'recorded',
    duration: 8,
    preRollSeconds: 3,
    clipSha256: 'ab'.repeat(32),
  })
  const { evidence, ...stated } = detection
  t.match(sentOf(gateway)[1]?.data, { kind: 'motion.detected', event: stated })
  t.same(evidence, { state: 'recorded' })
  const { signed_at_ms } = await gateway.checkpoints.make()
  t.match(await detections(gateway), [{ evidence: { state: 'signed' } }])
  const one = await gateway.ask('GET', '/api/iot/detection-events/1', { by: people.vera })
  const signedAt = new Date(signed_at_ms).toISOString()
  t.same(one.body.evidence, { state: 'signed', checkpointSize: 1, signedAt, witnesses: [], timestampedAt: null })
})

t.test('a lens that is covered while a clip is open is a detection of its own, told once with that clip', async (t) => {
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  const fired: FromCameras = { ...facts, type: 'motionFired', detectionId: 1, clip: true }
  const shownIn = { ...facts, detectionId: 1 }
  const covered = { ...facts, sceneChange: true, motionAt: motionAt + 3000, score: 1, shownIn }
  const changed = { ...covered, type: 'sceneChanged', detectionId: 2 } as const
  await hear(gateway, fired, changed, changed)
  const clip = /\/1\/clip$/
  const timestamp = new Date(motionAt + 3000).toISOString()
  t.match(sentOf(gateway), [
    { type: 'motion.detected', data: { id: 1, sceneChange: false, score: 0.42, clip } },
    { type: 'motion.detected', data: { id: 2, cctvId: 7, sceneChange: true, score: 1, timestamp, clip } },
    { type: 'event.created', data: { event: { id: 2, sceneChange: true } } },
  ])
  t.notOk('reason' in (sentOf(gateway)[1]?.data ?? {}), 'there is a clip of it')
  t.equal(sentOf(gateway).length, 3)
  t.not((sentOf(gateway)[0] as { id?: string }).id, (sentOf(gateway)[1] as { id?: string }).id, 'each has its own id')
  await hear(gateway, closed, changed)
  t.equal(sentOf(gateway).length, 4)
  t.match(await detections(gateway), [
    { id: 2, sceneChange: true, timestamp, clipStatus: 'cooldown', reason: 'the clip of detection 1 shows it' },
    { id: 1, sceneChange: false, timestamp: new Date(motionAt).toISOString(), clipStatus: 'recorded', score: 0.8 },
  ])
  await hear(gateway, { ...changed, detectionId: 4, shownIn: { ...shownIn, detectionId: 3 } })
  t.match(
    sentOf(gateway).slice(4),
    [
      { type: 'motion.detected', data: { id: 3, sceneChange: false, clip: /\/3\/clip$/ } },
      { type: 'motion.detected', data: { id: 4, sceneChange: true, clip: /\/3\/clip$/ } },
      { type: 'event.created', data: { event: { id: 4 } } },
    ],
    'also when the first report is lost',
  )
})

t.test('motion in the cooldown is a detection without a clip', async (t) => {
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  await hear(gateway, { ...facts, type: 'motionFired', detectionId: 1, clip: false })
  t.match(sentOf(gateway)[0], { type: 'motion.detected', data: { clip: null, reason: 'cooldown' } })
  t.match(await detections(gateway), [{ id: 1, clipStatus: 'cooldown', clipUrls: { playback: null, snapshot: null } }])
  t.match(await gateway.ask('GET', '/api/iot/detection-events/1/clip', { by: people.vera }), { status: 404 })
})

t.test('detections are read page by page while new ones come in, and followed in the order of the log', async (t) => {
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  // Two at one moment; the fourth is older than the others and was recorded last.
  const times = [0, 1000, 1000, -5000]
  for (const [n, laterMs] of times.entries())
    await hear(gateway, {
      ...facts,
      motionAt: motionAt + laterMs,
      type: 'motionFired',
      detectionId: n + 1,
      clip: false,
    })
  const ask = async (query: string, by: Person = people.vera) =>
    gateway.ask('GET', `/api/iot/detection-events?${query}`, { by })
  const ids = ({ body }: Answer) => body.data.map((one: { id: number }) => one.id)
  const first = await ask('limit=2')
  t.strictSame(ids(first), [3, 2])
  await hear(gateway, { ...facts, motionAt: motionAt + 9000, type: 'motionFired', detectionId: 5, clip: false })
  const second = await ask(`limit=2&cursor=${first.body.pagination.nextCursor}`)
  t.strictSame(ids(second), [1, 4], 'what came meanwhile moves no page')
  t.match(second.body.pagination, { hasMore: false, nextCursor: null })
  const followed = await ask('after_seq=0&limit=3')
  t.strictSame(ids(followed), [1, 2, 3])
  t.match(followed.body.pagination, { hasMore: true, nextCursor: null, total: 5 })
  t.strictSame(
    ids(await ask(`after_seq=${followed.body.data[2].seq}`)),
    [4, 5],
    'nothing is missed, nothing comes twice',
  )
  const at = (laterMs: number) => encodeURIComponent(new Date(motionAt + laterMs).toISOString())
  t.strictSame(ids(await ask(`after_seq=1&from=${at(0)}&to=${at(9000)}`)), [2, 3])
  t.strictSame(ids(await ask(`from=${at(0)}&to=${at(1000)}`)), [1])
  t.strictSame(ids(await ask(`from=${at(1000)}&cctvId=${facts.cameraId}`)), [5, 3, 2])
  t.strictSame(ids(await ask('after_seq=0', people.olga)), [], 'of cameras of others nothing is told')
  t.match(await ask('cursor=what'), { status: 400, body: { error: { fields: [{ path: 'cursor' }] } } })
})

t.test('what fired and never came to anything is lost, and said to be', async (t) => {
  let gateway = await testGateway({ config: { cameras } })
  await hear(gateway, { ...facts, type: 'motionFired', detectionId: 1, clip: true })
  await hear(gateway, { ...facts, type: 'motionFired', detectionId: 2, clip: true })
  gateway = await gateway.restart()
  t.teardown(() => gateway.end())
  await hear(gateway, { ...closed, closedBy: 'restart' }, { type: 'leftoversDone', count: 1, kept: [] })
  t.match(await detections(gateway), [
    { id: 2, clipStatus: 'lost', reason: /before anything of the clip was on disk/ },
    { id: 1, clipStatus: 'recorded', reason: 'closed by restart' },
  ])
})

t.test('of what fired, only that is lost of which there is no video and which nobody records now', async (t) => {
  let gateway = await testGateway({ config: { cameras } })
  await hear(gateway, { type: 'idsWanted', count: 3 })
  for (const detectionId of [1, 2]) await hear(gateway, { ...facts, type: 'motionFired', detectionId, clip: true })
  gateway = await gateway.restart()
  t.teardown(() => gateway.end())
  gateway.cameras.threadStarted()
  await hear(gateway, { type: 'idsWanted', count: 3 })
  await hear(gateway, { ...facts, type: 'motionFired', detectionId: 4, clip: true })
  await hear(gateway, { type: 'leftoversDone', count: 0, kept: null })
  t.same(await detections(gateway), [], 'a folder that could not be read says nothing')
  await hear(gateway, { type: 'leftoversDone', count: 0, kept: [2] })
  t.match(await detections(gateway), [{ id: 1, clipStatus: 'lost' }])
  for (const id of [2, 4]) {
    const clip = await gateway.ask('GET', `/api/iot/detection-events/${id}/clip`, { by: people.vera })
    t.match(clip, { status: 503, body: { error: { code: 'CLIP_PENDING' } } })
  }
  await hear(gateway, { ...closed, detectionId: 2, closedBy: 'restart' })
  t.match(
    (await detections(gateway)).find(({ id }: { id: number }) => id === 2),
    { clipStatus: 'recorded' },
  )
})

t.test('a clip whose row the disk did not take at first is not called lost meanwhile', async (t) => {
  let gateway = await testGateway({ config: { cameras } })
  await hear(gateway, { ...facts, type: 'motionFired', detectionId: 1, clip: true })
  gateway = await gateway.restart()
  t.teardown(() => gateway.end())
  const { write } = gateway.work
  gateway.work.write = async () => {
    throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' })
  }
  gateway.cameras.heard(closed)
  gateway.work.write = write
  await hear(gateway, { type: 'leftoversDone', count: 1, kept: [] })
  t.same(await detections(gateway), [])
  gateway.clock.advance(10_000)
  await settle(gateway)
  t.match(await detections(gateway), [{ id: 1, clipStatus: 'recorded' }])
})

t.test(
  'the cameras thread hears every minute whether the clock is right, so that nothing is removed by a wrong one',
  async (t) => {
    const sent: ToCameras[] = []
    const gateway = await testGateway({ config: { cameras } })
    t.teardown(() => gateway.end())
    gateway.camerasThread.send = (message: ToCameras) => sent.push(message)
    const sentOf = () => sent.splice(0).flatMap((one) => (one.type === 'clock' ? [one.isTrusted] : []))
    gateway.cameras.start()
    gateway.cameras.threadStarted()
    t.same(sentOf(), [true])
    gateway.clock.setWall(0)
    gateway.clock.advance(60_000)
    t.same(sentOf(), [false])
  },
)

t.test('a clip of which nobody was told before the crash is told now, with its motion', async (t) => {
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  await hear(gateway, { ...facts, type: 'clipLost', detectionId: 5, reason: 'disk-full', words: 'The disk was full.' })
  t.match(sentOf(gateway), [
    { type: 'motion.detected' },
    { type: 'event.created', data: { event: { id: 5, clipStatus: 'lost', reason: 'The disk was full.' } } },
  ])
})

t.test('a clip that shows less than was asked for says what, in the row and in the log', async (t) => {
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  await hear(
    gateway,
    closed,
    { ...closed, detectionId: 2, preRollSeconds: 1.24, startedAt: motionAt - 1240, closedBy: 'stream-ended' },
    { ...closed, detectionId: 3, preRollSeconds: 0, startedAt: motionAt + 1700 },
    { ...closed, detectionId: 4, longestGapSeconds: 3.04, original: false },
    { ...closed, detectionId: 5, preRollSeconds: 2.95, askedPreRollSeconds: null, closedBy: 'restart' },
    { ...closed, detectionId: 6, closedBy: 'restarted' },
  )
  const [anew, restart, gap, late, short, whole] = await detections(gateway)
  t.match(whole, { reason: null, closedBy: 'post-roll', original: true, pictures: 121, askedPreRollSeconds: 3 })
  t.match(short, {
    reason: 'closed by stream-ended; begins 1.2 s before the motion, not 3 s',
    closedBy: 'stream-ended',
  })
  t.match(late, { reason: 'begins 1.7 s after the motion did', preRollSeconds: 0 })
  t.match(gap, { reason: /^no picture for 3 s in the middle; encoded again as H.264/, original: false })
  t.match(gap, { longestGapSeconds: 3.04 })
  t.match(restart, { reason: 'closed by restart', askedPreRollSeconds: null })
  t.match(anew, { reason: 'the stream was opened anew with other settings', closedBy: 'restarted' })
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const leaves = db
    .prepare("SELECT bytes FROM log_leaf WHERE kind = 'detection' ORDER BY seq")
    .pluck()
    .all() as Buffer[]
  db.close()
  t.match(JSON.parse(String(leaves[3])), {
    ...{ id: 4, reason: gap.reason, askedPreRollSeconds: 3, pictures: 121, longestGapSeconds: 3.04 },
    ...{ original: false, closedBy: 'post-roll' },
  })
})

t.test('ids that were given out are never given out again, also after a restart', async (t) => {
  let gateway = await testGateway({ config: { cameras } })
  const db = () => new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const next = () => {
    const file = db()
    const value = file.prepare('SELECT next FROM detection_id').pluck().get()
    file.close()
    return value
  }
  await hear(gateway, { type: 'idsWanted', count: 16 })
  t.equal(next(), 17)
  gateway = await gateway.restart()
  t.teardown(() => gateway.end())
  await hear(gateway, { type: 'idsWanted', count: 4 })
  t.equal(next(), 21)
})
