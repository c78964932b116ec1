import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { partBytes } from '../../src/upload/parts.ts'
import { people, tinyPng } from '../support/gateway.ts'
import { allAre, bytesOf, queue, record, settled, sha256, uploading } from '../support/uploads.ts'
import { waitUntil } from '../support/waiting.ts'

const clip = bytesOf(50_000)
const path = '/gatehouse/test-site/clips/7/2026/03/02/2026-03-02T08-01-00.000Z_8s_1.mp4'
const remote = `gatehouse-dc7${path}`
const by = people.ada

t.test('a clip is copied with a JSON beside it, compared by hash, and shown as uploaded', async (t) => {
  const { server, gateway } = await uploading(t)
  await record(gateway, 1, clip)
  const [row] = await settled(gateway, allAre('uploaded'))
  t.match(row, { kind: 'clip', ref: '1', path, attempts: 1, lastError: null, verified: 'hash', nextAttemptAt: null })
  t.strictSame(server.dav.files.get(remote), clip)
  const about = JSON.parse(String(server.dav.files.get(remote.replace('.mp4', '.json'))))
  t.match(about, { cameraId: 7, timestamp: '2026-03-02T08:01:00.000Z', duration: 8, sha256: sha256(clip) })
  const puts = server.requests.filter(({ method }) => method === 'PUT')
  t.equal(puts.length, 2)
  for (const { headers, scheme } of puts) {
    t.match(headers, { 'if-none-match': '*', 'content-length': /^\d+$/, 'x-hash': 'sha256' })
    t.equal(headers['transfer-encoding'], undefined)
    t.equal(scheme, 'bearer')
  }
  const detection = await gateway.ask('GET', '/api/iot/detection-events/1', { by: people.vera })
  t.match(detection.body, {
    uploadStatus: 'uploaded',
    clipUrls: { storage: `${server.url}/remote.php/dav/files/${remote}` },
  })
})

t.test('a photo and a report go the same way', async (t) => {
  const { server, gateway } = await uploading(t)
  await gateway.ask('POST', '/api/whms/evidence/photos', {
    by,
    bytes: tinyPng,
    headers: { 'Content-Type': 'image/png' },
  })
  const period = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' }
  const report = await gateway.ask('POST', '/api/governance/reports', { by, body: period })
  t.equal(report.status, 201)
  const rows = await settled(gateway, (all) => all.length === 2 && allAre('uploaded')(all))
  t.match(rows, [
    { kind: 'photo', ref: sha256(tinyPng), path: `/gatehouse/test-site/photos/2026/03/02/${sha256(tinyPng)}.png` },
    { kind: 'report', ref: '1' },
  ])
  for (const row of rows) t.equal(sha256(server.dav.files.get(`gatehouse-dc7${row.path}`) as Buffer), row.sha256)
  await gateway.jobs.stop()
})

t.test(
  'a large file arrives in a folder that is not there yet, and its name is never taken from another file',
  async (t) => {
    const { server, gateway } = await uploading(t)
    const large = bytesOf(partBytes + 100)
    await record(gateway, 1, large)
    t.match(await settled(gateway, allAre('uploaded')), [{ attempts: 1, verified: 'hash' }])
    t.strictSame(server.dav.files.get(remote), large)
    const sent = server.requests.filter(({ path }) => !path.endsWith('.json'))
    const first = sent.findIndex(({ method, path }) => method === 'PUT' && path.endsWith('/00001'))
    t.ok(sent.slice(0, first).some(({ method, path }) => method === 'MKCOL' && path.endsWith('/2026/03/02')))
    const moves = sent.filter(({ method }) => method === 'MOVE')
    t.match(moves, { length: 1, 0: { headers: { overwrite: 'F', 'x-hash': 'sha256' } } })
    t.equal(moves[0]?.headers['if-none-match'], undefined, 'it would be held against the parts')
    server.dav.files.set(remote.replace('08-01-00.000Z_8s_1', '08-02-00.000Z_8s_2'), Buffer.from('of somebody else'))
    await record(gateway, 2, bytesOf(partBytes + 200))
    const [, second] = await settled(gateway, (rows) => rows[1]?.status === 'parked')
    t.match(second, { parkedFor: 'hash', lastError: /other bytes under this name/ })
  },
)

t.test('a large file goes in parts, and a cut connection costs one part', async (t) => {
  const { server, gateway } = await uploading(t)
  const large = bytesOf(2 * partBytes + 1000)
  let cuts = 0
  server.fate = (method, path) => {
    if (method !== 'PUT' || !path.endsWith('/00002') || cuts > 0) return undefined
    cuts += 1
    return 'cut'
  }
  await record(gateway, 1, large)
  await settled(gateway, ([row]) => row?.attempts === 1)
  gateway.clock.advance(10_000)
  gateway.uploadWorker.wake()
  t.match(await settled(gateway, allAre('uploaded')), [{ attempts: 2, verified: 'hash' }])
  t.strictSame(server.dav.files.get(remote), large)
  const parts = server.requests.filter(({ method, path }) => method === 'PUT' && path.includes('/uploads/'))
  t.strictSame(
    parts.map((request) => request.path.split('/').at(-1)),
    ['00001', '00002', '00002', '00003'],
  )
})

t.test('when the answer is lost, the gateway asks and concludes, and sends nothing again', async (t) => {
  for (const [what, method, bytes] of [
    ['a small file', 'PUT', clip],
    ['a large file', 'MOVE', bytesOf(partBytes + 1)],
  ] as const) {
    const { server, gateway } = await uploading(t)
    server.fate = (asked, path) =>
      asked === method && !path.endsWith('.json') && server.requests.filter((one) => one.method === method).length === 1
        ? 'lost answer'
        : undefined
    await record(gateway, 1, bytes)
    await settled(gateway, ([row]) => row?.lastError !== null)
    gateway.clock.advance(10_000)
    gateway.uploadWorker.wake()
    t.match(await settled(gateway, allAre('uploaded')), [{ verified: 'hash' }], what)
    t.strictSame(server.dav.files.get(remote), bytes)
    const again = server.requests.filter((one) => one.method === 'PATCH')
    t.equal(again.length, 1, 'it asked for the hash of what is there')
    if (method === 'MOVE') t.equal(server.requests.filter(({ path }) => path.endsWith('/00001')).length, 1)
  }
})

t.test('a file that the server stored wrongly is parked with an alert, and nothing is removed', async (t) => {
  const { server, gateway } = await uploading(t)
  server.dav.saysHash = 'ab'.repeat(32)
  await record(gateway, 1, clip)
  const [row] = await settled(gateway, allAre('parked'))
  t.match(row, { verified: null, url: null, lastError: /other bytes under this name: their SHA-256 is abab/ })
  t.ok(server.dav.files.has(remote))
  t.notOk(server.requests.some(({ method }) => method === 'DELETE'))
  const alerts = await gateway.ask('GET', '/api/alerts', { by })
  t.match(alerts.body.data, [{ kind: 'upload.mismatch', subject: '1' }])
  const detection = await gateway.ask('GET', '/api/iot/detection-events/1', { by: people.vera })
  t.match(detection.body, { uploadStatus: 'parked', clipUrls: { storage: null } })
})

t.test('files that are refused for one reason raise one alert, and follow when one of them is taken', async (t) => {
  const { server, gateway } = await uploading(t)
  server.fate = (method) => (method === 'PUT' ? { status: 403 } : undefined)
  for (const id of [1, 2, 3]) await record(gateway, id, clip.subarray(0, 20_000 + id))
  const refused = await settled(gateway, (all) => all.length === 3 && allAre('parked')(all))
  t.ok(refused.every(({ parkedFor, lastError }) => parkedFor === 'refused' && lastError.includes('HTTP 403')))
  server.fate = (method) => (method === 'PUT' ? { status: 413 } : undefined)
  await record(gateway, 4, clip)
  await settled(gateway, (all) => all.length === 4 && allAre('parked')(all))
  const { body } = await gateway.ask('GET', '/api/alerts', { by })
  const kinds = body.data.map(({ kind, subject }: { kind: string; subject: string }) => `${kind} ${subject}`)
  t.strictSame(kinds, ['upload.refused 4', 'upload.refused 1'], 'one for each reason')
  t.match(
    body.data[1].message,
    /permissions of the account, and retry upload 1; uploads that were refused alike follow/,
  )
  server.fate = undefined
  await gateway.ask('POST', '/api/uploads/2/retry', { by })
  const status = (id: number) => (row: { id: number; status: string }) => row.id === id && row.status === 'uploaded'
  const after = await settled(gateway, (all) => [1, 2, 3].every((id) => all.some(status(id))))
  t.match(
    after.find(({ id }) => id === 4),
    { status: 'parked' },
    'what had another reason does not',
  )
})

t.test('a file of this name that is not ours is never overwritten', async (t) => {
  const { server, gateway } = await uploading(t)
  server.dav.files.set(remote, Buffer.from('of somebody else'))
  await record(gateway, 1, clip)
  t.match(await settled(gateway, allAre('parked')), [{ lastError: /other bytes/ }])
  t.equal(String(server.dav.files.get(remote)), 'of somebody else')
})

t.test('without room on the server a file is parked with one alert, and goes on when there is room', async (t) => {
  const { server, gateway } = await uploading(t)
  server.dav.quotaBytes = 1000
  await record(gateway, 1, clip)
  await record(gateway, 2, clip.subarray(0, 40_000))
  await settled(gateway, (all) => all.length === 2 && allAre('parked')(all))
  const alerts = await gateway.ask('GET', '/api/alerts', { by })
  t.match(alerts.body.data, [{ kind: 'upload.no_room' }])
  t.equal(alerts.body.data.length, 1)
  server.dav.quotaBytes = 1_000_000
  const retried = await gateway.ask('POST', '/api/uploads/1/retry', { by })
  t.match(retried, { status: 200, body: { id: 1, status: 'pending' } })
  await settled(gateway, allAre('uploaded'))
  const audit = await gateway.ask('GET', '/api/governance/audit?entity=upload', { by })
  t.match(audit.body.data, [{ action: 'upload.retried', entityId: '1', actor: /ada/ }])
  t.equal((await gateway.ask('POST', '/api/uploads/77/retry', { by })).status, 404)
})

t.test('an account without a free byte is no matter of permissions, and its files go on by themselves', async (t) => {
  const { server, gateway } = await uploading(t)
  server.dav.files.set('gatehouse-dc7/full', Buffer.alloc(1000))
  server.dav.quotaBytes = 1000
  for (const id of [1, 2]) await record(gateway, id, clip.subarray(0, 20_000 + id))
  const parked = await settled(gateway, (all) => all.length === 2 && allAre('parked')(all))
  for (const row of parked) t.match(row, { parkedFor: 'quota', lastError: /HTTP 403 .*has room for 0 bytes/ })
  const { body } = await gateway.ask('GET', '/api/alerts', { by })
  t.match(body.data, { length: 1, 0: { kind: 'upload.no_room', message: /raise the quota/ } })
  server.dav.quotaBytes = 1_000_000
  gateway.clock.advance(10 * 60_000)
  t.match(await settled(gateway, allAre('uploaded')), [{ attempts: 2 }, { attempts: 2 }])
})

t.test('a server that is being written to, or that fails, is tried again later', async (t) => {
  for (const status of [423, 500, 502, 504]) {
    const { server, gateway } = await uploading(t)
    server.fate = (method) => (method === 'PUT' ? { status } : undefined)
    await record(gateway, 1, clip)
    const nextAttemptAt = new Date(gateway.clock.now() + 10_000).toISOString()
    t.match(await settled(gateway, ([row]) => row?.attempts === 1), [{ status: 'pending', nextAttemptAt }], `${status}`)
    server.fate = undefined
    gateway.clock.advance(10_000)
    await settled(gateway, allAre('uploaded'))
  }
})

t.test('a server in maintenance costs no attempt, and is asked again after 10 s', async (t) => {
  const { server, gateway } = await uploading(t)
  server.misbehave('maintenance')
  await record(gateway, 1, clip)
  await waitUntil('the server was asked', () => gateway.uploadWorker.line.kind === 'down')
  server.misbehave(undefined)
  gateway.clock.advance(10_000)
  t.match(await settled(gateway, allAre('uploaded')), [{ attempts: 1 }])
})

t.test('a server that says when to come again is asked then', async (t) => {
  const { server, gateway } = await uploading(t)
  server.misbehave({ status: 503, headers: { 'Retry-After': '120' } })
  await record(gateway, 1, clip)
  await waitUntil('the server was asked', () => gateway.uploadWorker.line.kind === 'down')
  const asked = server.requests.length
  server.misbehave(undefined)
  gateway.clock.advance(119_000)
  t.equal(server.requests.length, asked, 'Retry-After was 120 s')
  gateway.clock.advance(1000)
  t.match(await settled(gateway, allAre('uploaded')), [{ attempts: 1 }])
})

t.test('a refused password is said, and the corrected one is used after a reload', async (t) => {
  const { server, gateway } = await uploading(t)
  const file = join(gateway.folder, 'cloud-password')
  writeFileSync(file, 'wrong')
  await record(gateway, 1, clip)
  await waitUntil('it is refused', () => gateway.uploadWorker.line.kind === 'refused')
  t.strictSame(
    server.requests.map(({ scheme }) => scheme),
    ['bearer', 'basic'],
  )
  await gateway.health.look()
  const health = await gateway.ask('GET', '/api/health', { by: people.ada })
  t.match(health.body.checks.storage, { status: 'degraded' })
  const alerts = await gateway.ask('GET', '/api/alerts', { by })
  t.match(alerts.body.data, [{ kind: 'uploads.refused' }])
  writeFileSync(file, 'app-password-of-dc7')
  gateway.uploadWorker.onReload()
  await settled(gateway, allAre('uploaded'))
  t.notMatch(JSON.stringify([alerts.body, await queue(gateway)]), /app-password|wrong/)
})

t.test('a server that takes no bearer tokens gets Basic', async (t) => {
  const { server, gateway } = await uploading(t, {
    server: { users: [{ id: 'gatehouse-dc7', groups: [], password: 'app-password-of-dc7' }] },
  })
  await record(gateway, 1, clip)
  await settled(gateway, allAre('uploaded'))
  t.strictSame(
    [...new Set(server.requests.map(({ method, scheme }) => `${method} ${scheme}`))],
    ['PROPFIND bearer', 'PROPFIND basic', 'GET basic', 'PUT basic'],
  )
})

t.test('a redirect is never followed', async (t) => {
  const { server, gateway } = await uploading(t, { server: { redirectTo: '/elsewhere' } })
  server.misbehave('redirect')
  await record(gateway, 1, clip)
  await waitUntil('it waits', () => gateway.uploadWorker.line.kind === 'down')
  t.notOk(server.requests.some(({ path }) => path === '/elsewhere'))
})
