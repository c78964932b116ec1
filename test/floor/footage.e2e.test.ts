/** The film of an event through the API, with a real camera and a real daemon. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { countersIn } from '../support/footage/counter.ts'
import { footage } from '../support/footage.ts'
import { cheapHash } from '../support/gateway.ts'
import { gatehouse, runToEnd, startDaemon } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { eventually, waitUntil } from '../support/waiting.ts'

t.setTimeout(240_000)

const site = 'http://127.0.0.1:8480'
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-footage-'))
const hall = await footage('counted-uneven')
const rtsp = await startRtspServer({ streams: { hall } })
const user = (name: string, role: string) =>
  `{ username: ${name}, role: ${role}, secretHash: "${cheapHash(`${name}-secret`)}" }`
writeFileSync(
  join(folder, 'gatehouse.yaml'),
  `site: { id: footage-test, url: ${site} }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [${user('ada', 'admin')}, ${user('sue', 'supervisor')}, ${user('olga', 'operator')}] }
rateLimit: { requestsPerMinute: 100000 }
retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
cameras:
  - { id: 1, url: "${rtsp.url('hall')}", slots: [A-01], motion: { enabled: false }, history: { hours: 1, stream: main } }
  - { id: 2, url: "${rtsp.url('hall')}", slots: [B-01], viewers: [sue], motion: { enabled: false } }
`,
)
let daemon = await startDaemon(['--config', 'gatehouse.yaml'], { cwd: folder })
t.teardown(async () => {
  if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.end('SIGKILL')
  await rtsp.stop()
  rmSync(folder, { recursive: true, force: true })
})

const headers = (name: string) => ({
  Authorization: `Bearer ${name}-secret`,
  'X-Storage-Instance': site,
  'X-Storage-Username': name,
  'Content-Type': 'application/json',
})

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Seen = { status: number; body: any }

async function ask(name: string, method: string, path: string, body?: unknown): Promise<Seen> {
  const init = { method, headers: headers(name), ...(body !== undefined && { body: JSON.stringify(body) }) }
  const answer = await fetch(`${daemon.url}${path}`, init)
  return { status: answer.status, body: await answer.json() }
}

const footageOf = (id: number, name = 'ada') => ask(name, 'GET', `/api/whms/events/${id}/footage`)
const made = (id: number) =>
  eventually(
    () => footageOf(id),
    ({ body }) => body.reason !== 'pending',
  )

/** Removes a pallet, which needs no photo; at a time, or now. */
async function remove(slot: string, atMs?: number): Promise<{ id: number; atMs: number }> {
  const event = { event_type: 'REMOVED', slot_code: slot, asset_barcode: 'P-1' }
  const timestamp = atMs === undefined ? {} : { timestamp: new Date(atMs).toISOString() }
  const { status, body } = await ask('olga', 'POST', '/api/whms/events', { ...event, ...timestamp })
  t.equal(status, 201)
  return { id: body.id, atMs: Date.parse(body.timestamp) }
}

const polygon = [0, 1, 2].map((x) => ({ x, y: x * x }))
for (const slot_id of ['A-01', 'B-01', 'C-01']) {
  if (slot_id === 'A-01') {
    await ask('ada', 'POST', '/api/whms/warehouses', { name: 'Hall', timezone: 'UTC', location: { lat: 0, lng: 0 } })
    await ask('ada', 'POST', '/api/whms/zones', { name: 'A', zone_type: 'storage', color: '#112233', warehouseId: 1 })
  }
  await ask('ada', 'POST', '/api/whms/slots', { slot_id, zone: 'A', floor_plan_polygon: polygon })
}
await eventually(
  () => ask('ada', 'GET', '/api/iot/cctv'),
  ({ body }) => body.data[0].state === 'live',
)
/** The end of the first film. */
let filmedUntilMs = 0

t.test(
  'an event in a watched slot has the film of its moment, under the address that it had from the start',
  async (t) => {
    const { id, atMs } = await remove('A-01')
    const before = await footageOf(id)
    // Motion is not looked for in this hall.
    const gaps = { length: 1, 0: { cause: 'disarmed' } }
    t.match(before, { status: 200, body: { cameras: [1], clips: { length: 0 }, gaps, reason: 'pending' } })
    const list = await ask('ada', 'POST', '/api/governance/incidents', {
      ...{ severity: 'high', category: 'damage', evidenceReferences: [{ type: 'event', id }] },
    })
    t.equal(list.status, 201)
    const [{ detectionId, url }] = before.body.pending
    const early = await ask('ada', 'GET', new URL(url).pathname)
    t.match(early, { status: 503, body: { error: { code: 'CLIP_PENDING' } } })

    const { body } = await made(id)
    t.match(body, {
      cameras: [1],
      reason: null,
      clips: [{ detectionId, cctvId: 1, url }],
    })
    const [film] = body.clips
    const [fromMs, toMs] = [Date.parse(film.from), Date.parse(film.to)]
    filmedUntilMs = toMs
    t.ok(fromMs < atMs && toMs >= atMs + 9000, `${fromMs - atMs} to ${toMs - atMs} ms`)
    const bytes = Buffer.from(
      await (await fetch(`${daemon.url}${new URL(film.url).pathname}`, { headers: headers('ada') })).arrayBuffer(),
    )
    t.equal(createHash('sha256').update(bytes).digest('hex'), film.sha256, 'the film is the one of the hash')
    const file = join(folder, 'film.mp4')
    writeFileSync(file, bytes)
    const times = [...hall.timesMs].sort((a, b) => a - b)
    const last = (await countersIn(file, locateFfmpeg().path)).at(-1) ?? -1
    const offMs = rtsp.takenAt('hall', times[last] ?? -1).map((takenMs) => Math.abs(toMs - takenMs))
    t.ok(Math.min(...offMs) <= 700, `its last picture is off by ${Math.min(...offMs)} ms`)
    t.match(await ask('ada', 'GET', `/api/iot/detection-events/${detectionId}`), {
      body: { trigger: 'event', clipStatus: 'recorded', score: 0 },
    })
  },
)

t.test('a scanner that was offline: the film of its event is made of continuous video', async (t) => {
  const happenedAtMs = filmedUntilMs + 5000
  await waitUntil('half a minute after it', () => Date.now() > happenedAtMs + 30_000, { everyMs: 200 })
  const { id, atMs } = await remove('A-01', happenedAtMs)
  t.equal(atMs, happenedAtMs)
  const [coming] = (await footageOf(id)).body.pending
  const { body } = await made(id)
  t.match(body, { cameras: [1], reason: null, pending: { length: 0 }, clips: [coming] })
  const film = body.clips[0]
  t.ok(Date.parse(film?.from) <= atMs && Date.parse(film?.to) >= atMs, JSON.stringify(body))
})

t.test('why there is no film is said', async (t) => {
  const nowhere = await remove('C-01')
  t.match((await footageOf(nowhere.id)).body, { cameras: { length: 0 }, clips: { length: 0 }, reason: 'no_camera' })
  const unwatched = await remove('B-01')
  t.match(
    (await footageOf(unwatched.id, 'sue')).body,
    { cameras: [2], clips: { length: 0 }, reason: 'gap' },
    'its camera is off',
  )
  t.match((await footageOf(unwatched.id, 'olga')).body, {
    cameras: { length: 0 },
    clips: { length: 0 },
    gaps: { length: 0 },
    reason: 'camera_not_visible',
  })
})

t.test('a gateway that is killed while it films has the film after its next start', async (t) => {
  const { id } = await remove('A-01')
  const clips = join(folder, 'state', 'clips')
  const bytesOpen = () => {
    const name = readdirSync(clips).find((one) => one.endsWith('.ts.part'))
    return name === undefined ? 0 : (statSync(join(clips, name), { throwIfNoEntry: false })?.size ?? 0)
  }
  const first = await eventually(bytesOpen, (bytes) => bytes > 0)
  await waitUntil('about a second more of the film is on the disk', () => bytesOpen() > first + 60_000)
  await daemon.end('SIGKILL')
  daemon = await startDaemon(['--config', 'gatehouse.yaml'], { cwd: folder })
  const { body } = await made(id)
  t.match(body, { reason: null, clips: [{ cctvId: 1 }] })
  const verified = await runToEnd(gatehouse, ['ledger', 'verify', '--config', 'gatehouse.yaml', '--json'], {
    cwd: folder,
  })
  t.match(JSON.parse(verified.stdout), { ok: true, mismatches: { length: 0 } })
})
