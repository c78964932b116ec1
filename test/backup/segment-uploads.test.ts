import { join } from 'node:path'
import t, { type Test } from 'tap'
import { restoreSegments } from '../../src/backup/index.ts'
import { systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import { authorizationsOf, DavFolder } from '../../src/upload/index.ts'
import { barcodes, newFolder, opened, place } from '../support/backups.ts'
import { furnish, people, type TestGateway } from '../support/gateway.ts'
import { filesBelow, recoveryKeyOf, written } from '../support/segments.ts'
import type { StorageServer } from '../support/storage-server.ts'
import { allAre, queue, settled, uploader, uploading } from '../support/uploads.ts'

const day = 24 * 3_600_000
const config = { backup: { segments: { to: 'storage' } } }

/** A gateway with slot A and one pallet, that uploads its segments. */
async function stockedWithServer(t: Test): Promise<{ gateway: TestGateway; server: StorageServer }> {
  const { gateway, server } = await uploading(t, { upload: { root: '/gatehouse' }, gateway: { config } })
  t.teardown(() => gateway.segmentJobs.stop())
  t.teardown(() => gateway.backupJobs.stop())
  await furnish(gateway, ['A'])
  await place(gateway, 1)
  return { gateway, server }
}

const below = (server: StorageServer) => [...server.dav.files.keys()].filter((path) => /\.(seg|sealed)$/.test(path))
const out = (gateway: TestGateway) => join(gateway.live.config.dataDir, 'segments', 'out')
const folderAt = (server: StorageServer, password = uploader.appPasswords[0] ?? '') =>
  new DavFolder({
    url: `${server.url}/remote.php/dav/files/${uploader.id}/gatehouse`,
    authorizations: authorizationsOf(uploader.id, password),
    ...{ caFile: null, version: '0.0.0-test' },
  })

function restoredFromServer(folder: DavFolder, dataDir: string, recoveryKey: Buffer) {
  const nowMs = Date.parse('2026-03-02T20:00:00Z')
  return restoreSegments({
    ...{ source: folder, dataDir, siteId: 'test-site', recoveryKey, asFarAsWhole: false, acceptFork: false },
    ...{ reserveBytes: 0, nowMs, makeId: uuidv7Maker({ now: () => nowMs }, systemRandom), erase: async () => {} },
  })
}

t.test('segments go to the storage server, and a new box comes back from its address', async (t) => {
  const { gateway, server } = await stockedWithServer(t)
  await written(gateway)
  t.equal(gateway.segments.seen().rehearsedMs, null, 'not before all of it is on the server')
  await settled(gateway, allAre('uploaded'))
  gateway.clock.advance(60_000)
  await place(gateway, 2)
  await written(gateway)
  await gateway.segments.rehearsed()
  const isOurs = ({ kind }: { kind: string }) => kind === 'segment' || kind === 'snapshot'
  const all = await settled(gateway, (rows) => rows.filter(isOurs).length === 3 && allAre('uploaded')(rows))
  const rows = all.filter(isOurs)
  t.same(
    rows.map(({ kind, verified }) => [kind, verified]),
    [
      ['snapshot', 'hash'],
      ['segment', 'hash'],
      ['segment', 'hash'],
    ],
  )
  t.ok(below(server).every((path) => path.startsWith(`${uploader.id}/gatehouse/test-site/segments/`)))
  gateway.clock.advance(60_000)
  await written(gateway)
  t.same(filesBelow(out(gateway)), [], 'what is on the server is removed here')
  await gateway.segments.rehearsed()
  t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.backup, {
    segmentsAt: '2026-03-02T08:02:00.000Z',
    segmentsRehearsedAt: '2026-03-02T08:01:00.000Z',
  })
  const box = newFolder(t)
  const recoveryKey = recoveryKeyOf(gateway)
  const state = join(box, 'state')
  await t.rejects(restoredFromServer(folderAt(server, 'wrong'), state, recoveryKey), { message: /HTTP 401/ })
  t.match(await restoredFromServer(folderAt(server), state, recoveryKey), { segments: 2, events: 2 })
  t.same(await barcodes(await opened(t, box)), ['P-1', 'P-2'])
})

t.test('a storage server that answers without an end fills no memory', async (t) => {
  const { server } = await stockedWithServer(t)
  server.misbehave('huge')
  await t.rejects(folderAt(server).list('test-site/segments'), { message: /answers with more than 33554432 bytes/ })
  server.misbehave(undefined)
  t.same(await folderAt(server).list('test-site/nothing'), [])
})

t.test('while the server is away what is new stays new, and few files wait', async (t) => {
  const { gateway, server } = await stockedWithServer(t)
  server.misbehave('maintenance')
  for (let n = 2; n < 14; n++) {
    gateway.clock.advance(60_000)
    await place(gateway, n)
    await written(gateway)
  }
  const waiting = (await queue(gateway)).filter(({ kind }) => kind !== 'photo')
  t.ok(waiting.length <= 9, `${waiting.length} files wait`)
  t.equal(filesBelow(out(gateway)).length, waiting.length)
  await gateway.health.look()
  const { checks } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  t.match(checks.backup, { status: 'degraded', segmentsAt: null })
  server.misbehave(undefined)
  gateway.uploadWorker.tryNow()
  await settled(gateway, allAre('uploaded'))
  await written(gateway)
  await settled(gateway, allAre('uploaded'))
  const box = newFolder(t)
  await restoredFromServer(folderAt(server), join(box, 'state'), recoveryKeyOf(gateway))
  t.equal((await barcodes(await opened(t, box))).length, 13)
})

t.test('a series with an erased name goes from the server after its time, and nothing else does', async (t) => {
  const { gateway, server } = await stockedWithServer(t)
  await place(gateway, 2, { operator: 'Dana Dock' })
  await written(gateway)
  await settled(gateway, allAre('uploaded'))
  const old = below(server)
  server.dav.files.set(`${uploader.id}/gatehouse/test-site/clips`, 'folder')
  server.dav.files.set(`${uploader.id}/gatehouse/test-site/clips/1.mp4`, Buffer.from('a clip'))
  gateway.clock.advance(60_000)
  await gateway.erasePerson({ name: 'Dana Dock', texts: true }, 'root')
  await written(gateway)
  await settled(gateway, allAre('uploaded'))
  t.ok(old.every((path) => server.dav.files.has(path)))
  gateway.clock.advance(15 * day)
  await written(gateway)
  t.notOk(old.some((path) => server.dav.files.has(path)))
  t.ok(below(server).length >= 2, 'the series without the name')
  t.ok(server.dav.files.has(`${uploader.id}/gatehouse/test-site/clips/1.mp4`))
  t.equal((await gateway.ask('GET', '/api/alerts', { by: people.ada })).body.data.length, 0)
})

t.test('an older series stays, however old, until the one that follows it is on the server', async (t) => {
  const { gateway, server } = await stockedWithServer(t)
  await place(gateway, 2, { operator: 'Dana Dock' })
  await written(gateway)
  await settled(gateway, allAre('uploaded'))
  const old = below(server)
  const isOld = (path: string) => old.some((one) => path.endsWith(one))
  server.fate = (method, path) => (method === 'PUT' && !isOld(path) ? { status: 503 } : undefined)
  gateway.clock.advance(60_000)
  await gateway.erasePerson({ name: 'Dana Dock', texts: true }, 'root')
  await written(gateway)
  gateway.clock.advance(15 * day)
  await written(gateway)
  t.same(below(server), old, 'the only ones from which the box would come back')
  server.fate = undefined
  gateway.uploadWorker.tryNow()
  await settled(gateway, allAre('uploaded'))
  await written(gateway)
  t.notOk(old.some((path) => server.dav.files.has(path)))
  t.ok(below(server).length >= 2, 'the series without the name')
})
