import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../src/platform/index.ts'
import { authorizationsOf, DavFolder, type DavFolderLimits, remoteByHttp } from '../../src/upload/index.ts'
import { partBytes } from '../../src/upload/parts.ts'
import { StorageServer } from '../support/storage-server.ts'
import { allAre, bytesOf, record, settled, sha256, uploader, uploading } from '../support/uploads.ts'
import { waitUntil } from '../support/waiting.ts'

const silenceMs = 60_000
const answerMs = 30_000
const segment = bytesOf(60_000)

/** A clock whose timers fire when the test says so. */
class HeldClock implements Clock {
  readonly #timers = new Set<{ readonly ms: number; readonly call: () => void }>()
  /** How often a timer was set, by its delay. */
  readonly set = new Map<number, number>()
  readonly now = systemClock.now
  readonly monotonic = systemClock.monotonic

  after(ms: number, call: () => void): () => void {
    const timer = { ms, call }
    this.#timers.add(timer)
    this.set.set(ms, (this.set.get(ms) ?? 0) + 1)
    return () => this.#timers.delete(timer)
  }

  fire(ms: number): void {
    for (const timer of this.#timers) {
      if (timer.ms !== ms) continue
      this.#timers.delete(timer)
      timer.call()
    }
  }
}

/** A server with one segment, the way to it by HTTP, and a reader of its folder. */
async function storage(t: Test, limits: Partial<DavFolderLimits> = {}) {
  const server = await StorageServer.start({ users: [{ ...uploader }] })
  t.teardown(() => server.stop())
  server.dav.files.set(`${uploader.id}/segments`, 'folder')
  server.dav.files.set(`${uploader.id}/segments/1.seg`, segment)
  const [password = ''] = uploader.appPasswords
  const account = { instance: { url: server.url, caFile: null }, username: uploader.id, password }
  const clock = new HeldClock()
  const remote = remoteByHttp({ clock, version: '0.0.0-test', maxBytesPerSecond: () => null })
  const access = {
    url: `${server.url}/remote.php/dav/files/${uploader.id}`,
    authorizations: authorizationsOf(uploader.id, password),
    ...{ caFile: null, version: '0.0.0-test' },
  }
  return { server, account, clock, remote, reader: new DavFolder(access, limits) }
}

t.test('what the head of an answer says counts, also when its body stops', async (t) => {
  const { server, account, clock, remote } = await storage(t)
  const file = join(t.testdir(), 'clip.mp4')
  const clip = bytesOf(50_000)
  writeFileSync(file, clip)
  server.fate = (method) => (method === 'PUT' ? 'stall' : undefined)
  const job = { path: '/clip.mp4', file, sha256: sha256(clip), sizeBytes: clip.length, about: null, urgent: false }
  const running = remote.connect({ flavor: 'nextcloud', scheme: 'bearer', account }).run(job)
  await waitUntil('the head has come', () => clock.set.has(answerMs))
  clock.fire(silenceMs)
  t.match(await running, { kind: 'uploaded', verified: 'hash' })
  t.equal(server.requests.length, 1, 'it is sent once')
})

t.test('an answer of which a byte comes now and then ends at the limit of a whole answer', async (t) => {
  const { server, account, clock, remote } = await storage(t)
  server.fate = () => 'drip'
  const probing = remote.probe(account)
  await waitUntil('bytes come', () => (clock.set.get(silenceMs) ?? 0) > 5)
  clock.fire(answerMs)
  t.strictSame(await probing, { kind: 'pause', error: 'the answer did not end within 30 s', afterMs: null })
  server.fate = undefined
  t.match(await remote.probe(account), { kind: 'up', flavor: 'nextcloud' })
})

t.test('a list of parts that stops in the middle is no list: the file waits, and its parts are not lost', async (t) => {
  const path = 'gatehouse/test-site/clips/7/2026/03/02/2026-03-02T08-01-00.000Z_8s_1.mp4'
  const { server, gateway } = await uploading(t)
  const large = bytesOf(2 * partBytes + 1000)
  server.fate = (method, at) => (method === 'PUT' && at.endsWith('/00003') ? 'cut' : undefined)
  await record(gateway, 1, large)
  await settled(gateway, ([row]) => row?.attempts === 1)
  server.fate = (method, at) => (method === 'PROPFIND' && at.startsWith('uploads/') ? 'stall' : undefined)
  gateway.clock.advance(10_000)
  gateway.uploadWorker.tryNow()
  await waitUntil('the silence ended it', () => {
    const isDown = gateway.uploadWorker.line.kind === 'down'
    const last = server.requests.at(-1)
    const isAsked = last?.method === 'PROPFIND' && last.path.includes('/uploads/')
    if (!isDown && isAsked) gateway.clock.advance(silenceMs)
    return isDown
  })
  const [row] = await settled(gateway, (rows) => rows[0]?.status === 'pending')
  t.match(row, { status: 'pending', lastError: 'nothing for 60 s', attempts: 1 })
  t.strictSame(readFileSync(join(gateway.live.config.dataDir, 'clips/1.mp4')), large, 'it is still here')
  server.fate = undefined
  gateway.uploadWorker.tryNow()
  await settled(gateway, allAre('uploaded'))
  t.strictSame(server.dav.files.get(`${uploader.id}/${path}`), large)
  const parts = server.requests.filter((one) => one.method === 'PUT' && one.path.includes('/uploads/'))
  t.strictSame(
    parts.map((one) => one.path.split('/').at(-1)),
    ['00001', '00002', '00003', '00003'],
    'what had arrived is not sent again',
  )
})

t.test('a segment, and a list, whose bytes stop in the middle are asked for again and come whole', async (t) => {
  const { server, reader } = await storage(t, { silenceMs: 300, waitsMs: [0, 1] })
  const asked = (method: string) => server.requests.filter((one) => one.method === method).length
  server.fate = (method) => (asked(method) === 1 ? 'stall' : undefined)
  t.equal(sha256(await reader.read('segments/1.seg')), sha256(segment))
  t.equal(asked('GET'), 2)
  t.strictSame(await reader.list('segments'), ['1.seg'])
  t.equal(asked('PROPFIND'), 2)
})

t.test('a list of which a byte comes now and then is not asked for again', async (t) => {
  const { server, reader } = await storage(t, { otherMs: 300, waitsMs: [0, 1, 1] })
  server.fate = () => 'drip'
  await t.rejects(reader.list('segments'), /its answer did not end within 0.3 s/)
  t.equal(server.requests.length, 1)
})

t.test('a server that never sends the whole of a file is reported with the limit that it met', async (t) => {
  for (const [fate, limits, words] of [
    ['stall', { silenceMs: 300 }, 'nothing came from it for 0.3 s'],
    ['drip', { fileMs: 300, leastBytesPerSecond: Number.POSITIVE_INFINITY }, 'its answer did not end within 0.3 s'],
  ] as const) {
    const { server, reader } = await storage(t, { waitsMs: [0], ...limits })
    const here = t.testdir()
    const to = join(here, 'copy.seg')
    server.fate = (method) => (method === 'GET' ? fate : undefined)
    await t.rejects(reader.read('segments/1.seg'), { message: `${reader.name} does not answer: ${words}` }, fate)
    const copying = reader.download('segments/1.seg', to, () => {})
    await t.rejects(copying, { message: words }, fate)
    t.strictSame(readdirSync(here), [], 'nothing is left of half a copy')
    server.fate = undefined
    await reader.download('segments/1.seg', to, () => {})
    t.equal(sha256(readFileSync(to)), sha256(segment), 'the next try is whole')
  }
})
