import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile, executor } from '../../src/database/index.ts'
import { holdsOn } from '../../src/log/index.ts'
import { Throttle } from '../../src/upload/dav/throttle.ts'
import { isUploaded } from '../../src/upload/index.ts'
import { nextOf, paused, unknownLine } from '../../src/upload/line.ts'
import { people, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { SimulatedUploads } from '../support/simulated-uploads.ts'
import { allAre, begin, bytesOf, queue, record, settled, sha256, uploadConfig, uploading } from '../support/uploads.ts'
import { waitUntil } from '../support/waiting.ts'

const by = people.ada
const clip = bytesOf(1000)
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** Returns the answers that retention needs before it removes a file. */
function retentionSees(gateway: TestGateway, hash: string) {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const tx = executor(db)
  const seen = {
    holds: holdsOn(tx, hash).map(({ reason, ref }) => `${reason} ${ref}`),
    isUploaded: isUploaded(tx, hash),
  }
  db.close()
  return seen
}

t.test('a clip is queued and held in the commit of its row, and the hold ends with the upload', async (t) => {
  const { server, gateway } = await uploading(t)
  server.fate = () => 'hang'
  await record(gateway, 1, clip)
  t.strictSame(retentionSees(gateway, sha256(clip)), { holds: ['upload clip:1'], isUploaded: false })
  const detection = await gateway.ask('GET', '/api/iot/detection-events/1', { by })
  t.match(detection.body, { uploadStatus: 'pending', clipUrls: { storage: null } })
  const status = () => gateway.ask('GET', '/api/iot/detection/motion-stream?cctvId=7', { by })
  t.match((await status()).body, { pendingUploads: 1 })
  server.fate = undefined
  gateway.clock.advance(60_000)
  await waitUntil('the silence was noticed', () => gateway.uploadWorker.line.kind === 'down')
  gateway.uploadWorker.tryNow()
  await settled(gateway, allAre('uploaded'))
  t.strictSame(retentionSees(gateway, sha256(clip)), { holds: [], isUploaded: true })
  t.match((await status()).body, { pendingUploads: 0 })
})

t.test('a camera whose clips are not to be uploaded has none in the queue', async (t) => {
  const { gateway } = await uploading(t)
  const body = { cctvId: 7, action: 'start', uploadToStorage: false }
  await gateway.ask('POST', '/api/iot/detection/motion-stream', { by, body })
  await record(gateway, 1, clip)
  await gateway.ask('POST', '/api/iot/detection/motion-stream', { by, body: { ...body, uploadToStorage: true } })
  await record(gateway, 2, bytesOf(1000, 2))
  t.match(await settled(gateway, allAre('uploaded')), [{ ref: '2' }])
  gateway.uploadWorker.onReload()
  await gateway.audit('test.settled', {})
  t.equal((await queue(gateway)).length, 1, 'also after the backlog was read again')
  const detection = await gateway.ask('GET', '/api/iot/detection-events/1', { by })
  t.match(detection.body, { uploadStatus: 'not_configured' })
})

t.test('what was recorded before uploads were set is uploaded once they are', async (t) => {
  const folder = t.testdir()
  const { cameras } = uploadConfig(folder, 'http://127.0.0.1:1')
  const before = await testGateway({ folder, config: { cameras } })
  await record(before, 1, clip)
  await before.ask('POST', '/api/whms/evidence/photos', {
    by,
    bytes: tinyPng,
    headers: { 'Content-Type': 'image/png' },
  })
  t.match((await before.ask('GET', '/api/iot/detection-events/1', { by })).body, { uploadStatus: 'not_configured' })
  t.strictSame(await queue(before), [])
  before.close()
  const gateway = await testGateway({ folder, config: uploadConfig(folder, 'http://127.0.0.1:1') })
  await begin(t, gateway)
  t.match(await settled(gateway, (rows) => rows.length === 2), [{ kind: 'clip' }, { kind: 'photo' }])
  t.strictSame(retentionSees(gateway, sha256(clip)).holds, ['upload clip:1'])
})

t.test('the clip of an incident waits for no other', async (t) => {
  const { server, gateway } = await uploading(t)
  server.misbehave('maintenance')
  for (const id of [1, 2, 3]) await record(gateway, id, bytesOf(1000, id))
  const body = { severity: 'high', category: 'theft', evidenceReferences: [{ type: 'detection_event', id: '3' }] }
  t.equal((await gateway.ask('POST', '/api/governance/incidents', { by, body })).status, 201)
  t.match(await queue(gateway, '?status=pending&kind=clip'), [
    { ref: '3', urgent: true },
    { urgent: false },
    { urgent: false },
  ])
  server.misbehave(undefined)
  gateway.uploadWorker.tryNow()
  await settled(gateway, allAre('uploaded'))
  // Two at once: one in order, and the urgent one.
  const sent = server.requests.filter(({ method }) => method === 'PUT').map(({ path }) => path)
  t.ok(
    sent.slice(0, 2).some((path) => path.endsWith('_3.mp4')),
    sent.join(' '),
  )
})

t.test('a week without a line costs no attempt, and everything follows in its order', async (t) => {
  const uploads = new SimulatedUploads()
  t.teardown(() => uploads.end())
  uploads.isUp = false
  await uploads.start()
  for (let hour = 0; hour < 7 * 24; hour += 1) {
    await uploads.add(`clip-${hour}`)
    await uploads.pass(60 * minuteMs)
  }
  t.ok(uploads.probes > 1900 && uploads.probes < 2100, `asked every 5 minutes: ${uploads.probes}`)
  t.strictSame(uploads.sent, [], 'and nothing was sent in vain')
  await uploads.add('of-an-incident', true)
  uploads.isUp = true
  await uploads.pass(5 * minuteMs)
  const rows = uploads.rows()
  t.ok(rows.every(({ status, attempts }) => status === 'uploaded' && attempts === 1))
  t.equal(rows.length, 7 * 24 + 1)
  t.strictSame(
    uploads.sent.map(({ path }) => path.slice('/gatehouse/'.length)),
    ['of-an-incident', ...Array.from({ length: 7 * 24 }, (_, hour) => `clip-${hour}`)],
  )
})

t.test('a slow file keeps no incident waiting, and at most two are under way', async (t) => {
  const uploads = new SimulatedUploads()
  t.teardown(() => uploads.end())
  uploads.takes = (path) => (path.endsWith('slow') ? 60 * minuteMs : 1000)
  await uploads.start()
  for (const name of ['slow', 'next']) await uploads.add(name)
  await uploads.pass(minuteMs)
  for (const name of ['urgent-1', 'urgent-2', 'urgent-3']) await uploads.add(name, true)
  await uploads.pass(minuteMs)
  t.match(
    uploads.rows().map(({ ref, status }) => [ref, status]),
    [
      ['slow', 'uploading'],
      ['next', 'pending'],
      ['urgent-1', 'uploaded'],
      ['urgent-2', 'uploaded'],
      ['urgent-3', 'uploaded'],
    ],
  )
  t.equal(Math.max(...uploads.sent.map(({ beside }) => beside)), 1)
})

t.test('what was under way when the gateway was killed goes on at the next start', async (t) => {
  const uploads = new SimulatedUploads()
  t.teardown(() => uploads.end())
  uploads.takes = () => 60 * minuteMs
  await uploads.start()
  await uploads.add('clip')
  await uploads.pass(minuteMs)
  t.match(uploads.rows(), [{ status: 'uploading' }])
  await uploads.start()
  await uploads.pass(dayMs)
  t.match(uploads.rows(), [{ status: 'uploaded', attempts: 1 }])
})

t.test('a server that does not answer is asked after 10 s, and then ever later up to 5 minutes', async (t) => {
  let line = paused(unknownLine, 'ENETUNREACH', null, 0)
  const waits: number[] = []
  let nowMs = 0
  for (let i = 0; i < 7; i += 1) {
    const next = nextOf(line, nowMs)
    if (next.kind !== 'wait') throw new Error(next.kind)
    waits.push(next.ms / 1000)
    nowMs += next.ms
    t.equal(nextOf(line, nowMs).kind, 'probe')
    line = paused(line, 'ENETUNREACH', null, nowMs)
  }
  t.strictSame(waits, [10, 20, 40, 80, 160, 300, 300])
})

/** Lets one transfer take bytes until it has them all; returns the seconds. */
async function secondsFor(clock: SimulatedClock, throttle: Throttle, bytes: number, urgent: boolean): Promise<number> {
  const startMs = clock.monotonic()
  for (let sent = 0; sent < bytes; sent += 16_384) {
    let isThere = false
    void throttle.take(16_384, urgent).then(() => {
      isThere = true
    })
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      if (isThere) break
      clock.advance(10)
    }
  }
  return (clock.monotonic() - startMs) / 1000
}

t.test('uploads stay within the limit, and an incident has nearly all of it', async (t) => {
  const clock = new SimulatedClock()
  const limit = 100 * 1024
  const throttle = new Throttle({ clock, limit: () => limit })
  const alone = await secondsFor(clock, throttle, 60 * limit, false)
  t.ok(alone > 58 && alone < 61, `${alone} s for what takes a minute`)
  const over = throttle.hurry()
  let rest = 0
  const others = async () => {
    for (;;) {
      await throttle.take(16_384, false)
      rest += 16_384
    }
  }
  void others()
  const urgent = await secondsFor(clock, throttle, 30 * limit, true)
  t.ok(urgent < 34, `${urgent} s for what takes half a minute`)
  t.ok(rest > 0 && rest < 0.15 * 30 * limit, `and ${rest} bytes of others beside it`)
  over()
})
