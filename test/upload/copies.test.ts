import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import { SimulatedUploads } from '../support/simulated-uploads.ts'
import { allAre, bytesOf, queue, record, settled, uploading } from '../support/uploads.ts'
import { waitUntil } from '../support/waiting.ts'

const by = people.ada
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const clip = bytesOf(20_000)
const remote = 'gatehouse-dc7/gatehouse/test-site/clips/7/2026/03/02/2026-03-02T08-01-00.000Z_8s_1.mp4'

async function uploaded(t: Test) {
  const both = await uploading(t)
  await record(both.gateway, 1, clip)
  await settled(both.gateway, allAre('uploaded'))
  return both
}

/** Lets days pass of which only the wall clock tells, as while a box is off. */
function daysLater(gateway: TestGateway, days: number): void {
  gateway.clock.setWall(gateway.clock.now() + days * dayMs)
  gateway.uploadWorker.wake()
}

const retry = (gateway: TestGateway) => gateway.ask('POST', '/api/uploads/1/retry', { by })
const alerts = async (gateway: TestGateway) => (await gateway.ask('GET', '/api/alerts', { by })).body.data

const holdsOf = (gateway: TestGateway) => {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const rows = db.prepare('SELECT reason, ref FROM media_hold').all()
  db.close()
  return rows
}

t.test('a copy that is gone from the server is noticed within a month, reported, and uploaded again', async (t) => {
  const { server, gateway } = await uploaded(t)
  server.dav.forget(remote)
  daysLater(gateway, 30)
  const [row] = await settled(gateway, ([one]) => one?.attempts === 2 && one.status === 'uploaded')
  t.match(row, { verified: 'hash', lastError: null })
  t.strictSame(server.dav.files.get(remote), clip)
  t.match(await alerts(gateway), [{ kind: 'upload.copy_missing', message: /clip 1 .* It is uploaded again/ }])
})

t.test('a retry of an uploaded file compares its copy at once', async (t) => {
  const { server, gateway } = await uploaded(t)
  gateway.clock.advance(minuteMs)
  t.match(await retry(gateway), { status: 200, body: { status: 'uploaded' } })
  const comparedAt = new Date(gateway.clock.now()).toISOString()
  t.match(await settled(gateway, ([row]) => row?.comparedAt === comparedAt), [{ status: 'uploaded', attempts: 1 }])
  t.equal(server.requests.filter(({ method }) => method === 'PATCH').length, 1)
  server.dav.forget(remote)
  gateway.clock.advance(minuteMs)
  t.match(await retry(gateway), { status: 200 })
  await settled(gateway, ([row]) => row?.attempts === 2 && row.status === 'uploaded')
  t.strictSame(server.dav.files.get(remote), clip)
  const { body } = await gateway.ask('GET', '/api/governance/audit?entity=upload', { by })
  t.equal(body.data.length, 2)
})

t.test('a copy with other bytes is parked with an alert, and nothing is overwritten', async (t) => {
  const { server, gateway } = await uploaded(t)
  t.strictSame(holdsOf(gateway), [])
  server.dav.files.set(remote, Buffer.from('of somebody else'))
  await retry(gateway)
  const [row] = await settled(gateway, allAre('parked'))
  t.match(row, { parkedFor: 'hash', url: null, verified: null, lastError: /other bytes under this name/ })
  t.equal(String(server.dav.files.get(remote)), 'of somebody else')
  t.strictSame(holdsOf(gateway), [{ reason: 'upload', ref: 'clip:1' }], 'the file stays on this box')
  t.match(await alerts(gateway), [{ kind: 'upload.mismatch' }])
  server.dav.forget(remote)
  await retry(gateway)
  await settled(gateway, allAre('uploaded'))
  t.strictSame(server.dav.files.get(remote), clip)
})

t.test('a server that is away, or a folder that is withdrawn, is no missing copy', async (t) => {
  const { server, gateway } = await uploaded(t)
  server.misbehave('maintenance')
  daysLater(gateway, 26)
  await waitUntil('the server was asked', () => gateway.uploadWorker.line.kind === 'down')
  t.match(await queue(gateway), [{ status: 'uploaded' }])
  server.misbehave(undefined)
  server.dav.forget('gatehouse-dc7/gatehouse')
  daysLater(gateway, 1)
  gateway.uploadWorker.tryNow()
  await waitUntil('the folder is missed', () => gateway.uploadWorker.line.kind === 'refused')
  t.match(await queue(gateway), [{ status: 'uploaded' }])
})

t.test('each copy is compared once a month, one at a time, and never in a hurry', async (t) => {
  const uploads = new SimulatedUploads()
  t.teardown(() => uploads.end())
  await uploads.start()
  for (let n = 0; n < 50; n += 1) await uploads.add(`clip-${n}`)
  await uploads.pass(minuteMs)
  await uploads.pass(31 * dayMs)
  t.equal(new Set(uploads.compared.map(({ path }) => path)).size, 50)
  t.equal(uploads.compared.length, 50)
  const gaps = uploads.compared.slice(1).map(({ atMs }, i) => atMs - (uploads.compared[i]?.atMs ?? 0))
  t.ok(Math.min(...gaps) >= 5000, `${Math.min(...gaps)} ms apart`)
})

t.test('a comparison that fails is made again in an hour, and files go before it', async (t) => {
  const uploads = new SimulatedUploads()
  t.teardown(() => uploads.end())
  await uploads.start()
  await uploads.add('clip-1')
  await uploads.pass(minuteMs)
  uploads.findsCopy = () => ({ kind: 'wait', error: 'HTTP 500' })
  await uploads.pass(25 * dayMs)
  await uploads.add('clip-2')
  await uploads.pass(minuteMs)
  t.match(uploads.rows(), [{ status: 'uploaded' }, { status: 'uploaded' }])
  await uploads.pass(24 * 60 * minuteMs)
  t.ok(uploads.compared.length > 20 && uploads.compared.length < 26, `${uploads.compared.length} in a day`)
})
