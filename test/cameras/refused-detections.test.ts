/** Detections that the database refuses, though the disk takes writes. */
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { AppError } from '../../src/errors/index.ts'
import { clipsToComeOf, holdMedia, releaseMedia } from '../../src/log/index.ts'
import type { ClipClosed, ClipLost, FromCameras, ToCameras } from '../../src/video/index.ts'
import { people, type TestGateway, testGateway } from '../support/gateway.ts'

const camera = { id: 7, url: 'rtsp://192.0.2.7/main', owner: 'vera', retentionDays: 3, motion: {} }
const motionAt = Date.UTC(2026, 2, 2, 8)
const facts = { cameraId: 7, motionAt, score: 0.42, sceneChange: false }

function closed(detectionId: number): ClipClosed {
  return {
    ...{ ...facts, type: 'clipClosed', detectionId, file: `${detectionId}.mp4` },
    ...{ sha256: String(detectionId).repeat(64), sizeBytes: 1000, snapshot: null },
    ...{ startedAt: motionAt - 3000, endedAt: motionAt + 5000, preRollSeconds: 3, askedPreRollSeconds: 3 },
    ...{ durationSeconds: 8, pictures: 121, longestGapSeconds: 0.07, original: true, width: 640, height: 360 },
    ...{ peakScore: 0.8, closedBy: 'post-roll' },
  }
}

async function hear(gateway: TestGateway, ...messages: FromCameras[]): Promise<void> {
  for (const message of messages) gateway.cameras.heard(message)
  for (let i = 0; i < 3; i += 1) await gateway.audit('test.settled', {})
}

/** Lets the time of so many attempts pass. */
async function attempts(gateway: TestGateway, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    gateway.clock.advance(10_000)
    await hear(gateway)
  }
}

function change(gateway: TestGateway, sql: string): void {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  db.exec(sql)
  db.close()
}

const refuse = (id: number, status: string) => `CREATE TRIGGER refused BEFORE INSERT ON detection_event
  WHEN NEW.id = ${id} AND NEW.clip_status = '${status}'
  BEGIN SELECT RAISE(ABORT, 'this row is refused'); END`
const fired = (detectionId: number): FromCameras => ({ ...facts, type: 'motionFired', detectionId, clip: true })
const ask = async (gateway: TestGateway, path: string) => (await gateway.ask('GET', path, { by: people.ada })).body
const detections = async (gateway: TestGateway) => (await ask(gateway, '/api/iot/detection-events')).data

async function newestAlert(gateway: TestGateway) {
  await gateway.health.look()
  return (await ask(gateway, '/api/alerts')).data[0]
}

/** A gateway after a restart, whose last run left motion 1, 2 and 3. */
async function hall(t: Test): Promise<{ gateway: TestGateway; readonly confirmed: number[] }> {
  const first = await testGateway({ config: { cameras: [camera] } })
  await hear(first, fired(1), fired(2), fired(3))
  const made = { gateway: await first.restart(), confirmed: [] as number[] }
  t.teardown(() => made.gateway.end())
  made.gateway.camerasThread.send = (message: ToCameras) => {
    if (message.type === 'recorded') made.confirmed.push(message.detectionId)
  }
  made.gateway.cameras.threadStarted()
  return made
}

t.test('a clip that the database refuses holds up no other one, and stays to be tried at the next start', async (t) => {
  const made = await hall(t)
  change(made.gateway, refuse(1, 'recorded'))
  await hear(made.gateway, closed(1), { type: 'leftoversDone', count: 1, kept: [3] })
  await attempts(made.gateway, 3)
  t.same(await detections(made.gateway), [], 'it may have been a moment')
  await attempts(made.gateway, 2)
  t.match(await detections(made.gateway), [{ id: 2, clipStatus: 'lost' }], 'the refused one is not lost')
  t.same(made.confirmed, [])
  const message =
    /^The database refuses to record 1 detection: clips\/1\.mp4\. The files stay where they are as long as clips are kept/
  t.match(await newestAlert(made.gateway), { kind: 'clips.refused', message })
  t.match((await ask(made.gateway, '/api/health')).checks.cameras, { status: 'degraded', reason: /files are kept/ })
  t.match(await made.gateway.metricsText(), 'gatehouse_health_troubles{kind="clips.refused"} 1')
  change(made.gateway, 'DROP TRIGGER refused')
  made.gateway = await made.gateway.restart()
  made.gateway.cameras.threadStarted()
  t.match(await newestAlert(made.gateway), { kind: 'clips.refused' }, 'it was not tried yet')
  await hear(made.gateway, closed(1), { type: 'leftoversDone', count: 1, kept: [3] })
  t.match(await detections(made.gateway), [
    { id: 2, clipStatus: 'lost' },
    { id: 1, clipStatus: 'recorded' },
  ])
  t.match(await newestAlert(made.gateway), { kind: 'clips.recovered' })
})

t.test('a loss that the database refuses keeps no other loss from being recorded', async (t) => {
  const { gateway } = await hall(t)
  change(gateway, refuse(1, 'lost'))
  await hear(gateway, { type: 'leftoversDone', count: 0, kept: [] })
  t.match(await detections(gateway), [
    { id: 3, clipStatus: 'lost' },
    { id: 2, clipStatus: 'lost' },
  ])
  await attempts(gateway, 5)
  t.match(await newestAlert(gateway), { kind: 'clips.refused', message: / 1 detection: detection 1 \(no clip\)\. / })
})

/** Returns the function that lists which clips the thread is to give up from now on. */
function givenUpBy(gateway: TestGateway) {
  const sent: ToCameras[] = []
  const { send } = gateway.camerasThread
  gateway.camerasThread.send = (message: ToCameras) => {
    sent.push(message)
    send(message)
  }
  return () => sent.filter((message) => message.type === 'giveUpClip')
}

/** A clip that the database refuses until retention lets it go, and what it says of that. */
async function letGo(made: Awaited<ReturnType<typeof hall>>): Promise<ClipLost> {
  const { gateway } = made
  await hear(gateway, closed(1), { type: 'leftoversDone', count: 1, kept: [] })
  await attempts(gateway, 5)
  const givenUp = givenUpBy(gateway)
  await gateway.retention.look()
  t.same(givenUp(), [], 'not before it is too old')
  gateway.clock.advance(3 * 86_400_000)
  await gateway.retention.look()
  const [message] = givenUp()
  if (!message) throw new Error('it is not let go')
  const { facts, words } = message
  return { ...facts, type: 'clipLost', reason: 'given-up', words, endedAt: motionAt + 5000 }
}

t.test(
  'a clip that the database refuses until it is too old to be kept is recorded as lost, with the reason',
  async (t) => {
    const made = await hall(t)
    change(made.gateway, refuse(1, 'recorded'))
    const loss = await letGo(made)
    await hear(made.gateway, loss)
    const reason = 'The database refused to record it until it was too old to be kept (cameras[7].retentionDays: 3).'
    const recorded = (await detections(made.gateway)).find(({ id }: { id: number }) => id === 1)
    t.match(recorded, { clipStatus: 'lost', reason })
    t.ok(made.confirmed.includes(1))
    t.same(made.gateway.cameras.clipsRefused(), [])
  },
)

t.test('a loss that the database refuses too is written by a later start, with the reason of retention', async (t) => {
  const made = await hall(t)
  change(made.gateway, refuse(1, 'recorded'))
  change(made.gateway, refuse(1, 'lost').replace('TRIGGER refused', 'TRIGGER refused_too'))
  const loss = await letGo(made)
  made.gateway.cameras.heard(loss)
  await attempts(made.gateway, 5)
  t.notOk(made.confirmed.includes(1), 'what is noted of it stays')
  t.match(made.gateway.cameras.clipsRefused(), [{ detectionId: 1, file: null }])
  change(made.gateway, 'DROP TRIGGER refused; DROP TRIGGER refused_too')
  made.gateway = await made.gateway.restart()
  made.gateway.cameras.threadStarted()
  await hear(made.gateway, loss, { type: 'leftoversDone', count: 1, kept: [] })
  const recorded = (await detections(made.gateway)).find(({ id }: { id: number }) => id === 1)
  t.match(recorded, { clipStatus: 'lost', reason: loss.words })
  t.same(made.gateway.cameras.clipsRefused(), [])
})

t.test('a clip whose motion the database refuses too is let go, unless clips of its camera are held', async (t) => {
  const { gateway } = await hall(t)
  change(
    gateway,
    `CREATE TRIGGER refused BEFORE INSERT ON detection_reservation WHEN NEW.id >= 4
      BEGIN SELECT RAISE(ABORT, 'this row is refused'); END`,
  )
  const waits = { type: 'clipWaits', detectionId: 5, words: 'ffmpeg could not be run.', sizeBytes: 2000 } as const
  await hear(gateway, closed(4), { ...waits, facts: { ...facts, detectionId: 5 } })
  await attempts(gateway, 5)
  const waiting = { cctvId: 7, firedAtMs: motionAt, isHeld: false }
  t.same(gateway.cameras.waitingClips(), [
    { ...waiting, id: 4, sizeBytes: 1000, isRefused: true },
    { ...waiting, id: 5, sizeBytes: 2000, isRefused: false },
  ])
  const givenUp = givenUpBy(gateway)
  gateway.clock.advance(3 * 86_400_000)
  const hold = { sha256: clipsToComeOf(7), reason: 'incident', ref: 'one' }
  await gateway.work.write((tx) => holdMedia(tx, hold, motionAt))
  t.match(gateway.cameras.waitingClips(), [{ isHeld: true }, { isHeld: true }])
  for (const id of [4, 5]) gateway.cameras.giveUpClip(id, 'Too old.')
  t.same(givenUp(), [])
  await gateway.work.write((tx) => releaseMedia(tx, 'incident', 'one'))
  await gateway.retention.look()
  t.match(givenUp(), [
    { facts: { ...facts, detectionId: 4 }, isRefused: true },
    { facts: { ...facts, detectionId: 5 }, isRefused: false },
  ])
})

t.test('a refused clip is not let go while a new thread makes the database try it again', async (t) => {
  const { gateway } = await hall(t)
  change(gateway, refuse(1, 'recorded'))
  await hear(gateway, closed(1), { type: 'leftoversDone', count: 1, kept: [] })
  await attempts(gateway, 5)
  gateway.clock.advance(3 * 86_400_000)
  gateway.cameras.threadEnded()
  gateway.cameras.threadStarted()
  const givenUp = givenUpBy(gateway)
  await gateway.retention.look()
  t.same(givenUp(), [], 'the thread has not reported it yet')
  t.match(gateway.cameras.clipsRefused(), [{ detectionId: 1 }])
  await hear(gateway, closed(1))
  await gateway.retention.look()
  t.same(givenUp(), [], 'it may be recorded now')
  await attempts(gateway, 5)
  await gateway.retention.look()
  t.match(givenUp(), [{ facts: { detectionId: 1 }, isRefused: true }])
})

for (const code of ['STORAGE_FULL', 'NOT_READY'] as const) {
  t.test(`a detection waits as long as the database answers ${code}`, async (t) => {
    const { gateway } = await hall(t)
    const { write } = gateway.work
    gateway.work.write = async () => {
      throw new AppError(code, 'Not now')
    }
    gateway.cameras.heard(closed(1))
    for (let i = 0; i < 20; i += 1) {
      await new Promise(setImmediate)
      gateway.clock.advance(10_000)
    }
    gateway.work.write = write
    await attempts(gateway, 1)
    t.match(await detections(gateway), [{ id: 1, clipStatus: 'recorded' }])
    t.not((await newestAlert(gateway))?.kind, 'clips.refused')
  })
}
