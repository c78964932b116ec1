import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { parse, stringify } from 'yaml'
import { loadConfig } from '../../src/config/index.ts'
import { databaseFile } from '../../src/database/index.ts'
import { heldPhoto, people, type TestGateway } from '../support/gateway.ts'
import { SimulatedUploads } from '../support/simulated-uploads.ts'
import { StorageServer } from '../support/storage-server.ts'
import {
  allAre,
  bytesOf,
  queue,
  type Row,
  record,
  settled,
  uploadConfig,
  uploader,
  uploading,
} from '../support/uploads.ts'
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

const retry = (gateway: TestGateway, id = 1) => gateway.ask('POST', `/api/uploads/${id}/retry`, { by })
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

t.test('a copy with other bytes is left as it is and reported, and the file is uploaded again beside it', async (t) => {
  const { server, gateway } = await uploaded(t)
  t.strictSame(holdsOf(gateway), [])
  server.dav.files.set(remote, Buffer.from('of somebody else'))
  await retry(gateway)
  const [row] = await settled(gateway, ([one]) => one?.attempts === 2 && one.status === 'uploaded')
  const second = remote.replace('.mp4', '-copy2.mp4')
  t.match(row, { parkedFor: null, verified: 'hash', lastError: null, path: second.replace('gatehouse-dc7', '') })
  t.ok(row.url.endsWith(second), row.url)
  t.equal(String(server.dav.files.get(remote)), 'of somebody else', 'nothing is overwritten')
  t.strictSame(server.dav.files.get(second), clip)
  t.match(JSON.parse(String(server.dav.files.get(second.replace('.mp4', '.json')))), { detectionId: 1 })
  t.strictSame(holdsOf(gateway), [], 'the file was held until it was there')
  t.match(await alerts(gateway), [
    {
      kind: 'upload.copy_changed',
      subject: 'uploads',
      message: /clip 1 .*_1\.mp4 has changed.*_1-copy2\.mp4\. Find out/,
    },
  ])
  const detection = await gateway.ask('GET', '/api/iot/detection-events/1', { by: people.vera })
  t.match(detection.body, { uploadStatus: 'uploaded', clipUrls: { storage: row.url } })
  server.dav.files.set(second, Buffer.from('of somebody else, again'))
  gateway.clock.advance(minuteMs)
  await retry(gateway)
  await settled(gateway, ([one]) => one?.attempts === 3 && one.status === 'uploaded')
  t.strictSame(server.dav.files.get(remote.replace('.mp4', '-copy3.mp4')), clip)
})

t.test(
  'a copy that is missing or changed while the file is gone from the box is parked, and the alert counts',
  async (t) => {
    const uploads = new SimulatedUploads()
    t.teardown(() => uploads.end())
    await uploads.start()
    for (const n of [1, 2]) {
      await uploads.add(`clip-${n}`)
      await uploads.ageOut(`clip-${n}`, 'free-space')
    }
    await uploads.pass(minuteMs)
    uploads.findsCopy = (path) =>
      path.endsWith('1') ? { kind: 'missing' } : { kind: 'different', error: 'the server has other bytes' }
    await uploads.pass(26 * dayMs)
    t.match(uploads.rows(), [
      {
        status: 'parked',
        parked_for: 'lost',
        path: 'clip-1',
        last_error: /missing on the storage server, and .* not on this box/,
      },
      { status: 'parked', parked_for: 'lost', path: 'clip-2', last_error: /other bytes, and .* not on this box/ },
    ])
    t.match(uploads.raised, [
      { kind: 'upload.lost', message: /clip-1 .* 1 file is parked for this/ },
      { kind: 'upload.lost', message: /clip-2 .* 2 files are parked for this/ },
    ])
  },
)

t.test('many copies that are gone or changed raise one alert of each kind', async (t) => {
  const { server, gateway } = await uploaded(t)
  await record(gateway, 2, bytesOf(20_000, 2))
  const rows = await settled(gateway, (all) => all.length === 2 && allAre('uploaded')(all))
  const copies = rows.map(({ path }) => `gatehouse-dc7${path}`)
  for (const copy of copies) server.dav.forget(copy)
  daysLater(gateway, 30)
  await settled(gateway, ([one]) => one?.attempts === 2 && one.status === 'uploaded')
  gateway.clock.advance(5000)
  gateway.uploadWorker.wake()
  await settled(gateway, ([, two]) => two?.attempts === 2 && two.status === 'uploaded')
  const kinds = async () => (await alerts(gateway)).map(({ kind, subject }: Row) => [kind, subject])
  t.strictSame(await kinds(), [['upload.copy_missing', 'uploads']])
  for (const copy of copies) server.dav.files.set(copy, Buffer.from('of somebody else'))
  await retry(gateway, 1)
  await settled(gateway, ([one]) => one?.attempts === 3 && one.status === 'uploaded')
  await retry(gateway, 2)
  gateway.clock.advance(5000)
  gateway.uploadWorker.wake()
  await settled(gateway, ([, two]) => two?.attempts === 3 && two.status === 'uploaded')
  t.strictSame(await kinds(), [
    ['upload.copy_changed', 'uploads'],
    ['upload.copy_missing', 'uploads'],
  ])
})

/** Has a gateway upload to a second server from now on. */
async function moveToSecond(t: Test, gateway: TestGateway): Promise<StorageServer> {
  const second = await StorageServer.start({ users: [{ ...uploader }] })
  t.teardown(() => second.stop())
  const { storage } = uploadConfig(gateway.folder, second.url) as { storage: object }
  const file = join(gateway.folder, 'gatehouse.yaml')
  writeFileSync(file, stringify({ ...parse(readFileSync(file, 'utf8')), storage }))
  gateway.live.config = loadConfig(file).config
  gateway.uploadWorker.onReload()
  return second
}

t.test('a copy on another server than the present one is not missed there', async (t) => {
  const { server, gateway } = await uploaded(t)
  const second = await moveToSecond(t, gateway)
  await record(gateway, 2, clip)
  await settled(gateway, allAre('uploaded'))
  const asked = server.requests.length
  daysLater(gateway, 30)
  const now = new Date(gateway.clock.now()).toISOString()
  const rows = await settled(gateway, ([, newer]) => newer?.comparedAt === now)
  t.match(rows, [
    { status: 'uploaded', attempts: 1, url: `${server.url}/remote.php/dav/files/${remote}` },
    { status: 'uploaded', attempts: 1 },
  ])
  t.strictSame(await alerts(gateway), [])
  t.equal(server.requests.length, asked)
  t.notOk(second.dav.files.has(remote))
})

t.test('a retry of a file whose copy is on a former server uploads it to the present one', async (t) => {
  const { server, gateway } = await uploaded(t)
  const second = await moveToSecond(t, gateway)
  const answer = await retry(gateway)
  t.match(answer, { status: 200, body: { status: 'pending', url: null } })
  t.match(answer.body.lastError, `${server.url}/remote.php/dav/files/${remote}`, 'it says where the copy is')
  const [row] = await settled(gateway, allAre('uploaded'))
  t.match(row, { attempts: 2, verified: 'hash', url: `${second.url}/remote.php/dav/files/${remote}` })
  t.strictSame(second.dav.files.get(remote), clip)
  t.strictSame(server.dav.files.get(remote), clip, 'the copy on the former server stays')
  t.strictSame([holdsOf(gateway), await alerts(gateway)], [[], []])
  const { body } = await gateway.ask('GET', '/api/governance/audit?entity=upload', { by })
  t.match(body.data, [{ action: 'upload.retried', changes: { status: { from: 'uploaded', to: 'pending' } } }])
})

t.test('a retry of a file that is only on a former server says where its copy is', async (t) => {
  const { server, gateway } = await uploading(t)
  await heldPhoto(gateway)
  const [photo] = await settled(gateway, allAre('uploaded'))
  await moveToSecond(t, gateway)
  gateway.clock.setWall(gateway.clock.now() + 91 * dayMs)
  await gateway.retention.look()
  const refused = { status: 400, body: { error: { code: 'INVALID_TRANSITION', details: photo.url } } }
  t.match(await retry(gateway), refused)
  t.match(photo.url, server.url)
  t.match(await queue(gateway), [{ status: 'uploaded', url: photo.url }], 'the address of the copy stays')
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

t.test('a clip that retention removed by age costs no wait, and stays ended after a restart', async (t) => {
  const uploads = new SimulatedUploads()
  t.teardown(() => uploads.end())
  await uploads.start()
  for (let n = 1; n <= 20; n += 1) {
    await uploads.add(`clip-${n}`)
    await uploads.ageOut(`clip-${n}`)
  }
  await uploads.pass(minuteMs)
  await uploads.add('clip-21')
  await uploads.pass(minuteMs)
  const uploadedMs = uploads.clock.monotonic()
  await uploads.pass(25 * dayMs)
  t.match(uploads.compared, [{ path: '/gatehouse/clip-21' }])
  t.ok((uploads.compared[0]?.atMs ?? Number.POSITIVE_INFINITY) <= uploadedMs + 25 * dayMs)
  t.equal(uploads.due, 0)
  await uploads.start()
  t.equal(uploads.due, 0)
  t.equal(uploads.compared.length, 1)
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
