/** Replays stored cells of motion detection: a real camera, a real daemon, a pulled cable and a killed box. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { footage } from '../support/footage.ts'
import { cheapHash } from '../support/gateway.ts'
import { type Daemon, startDaemon } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { eventually } from '../support/waiting.ts'

t.setTimeout(240_000)

const site = 'http://127.0.0.1:8480'
/** Time that a killed box may lose: ten seconds of frames, and the second until they arrive. */
const lostAtMostMs = 11_000
const everything = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 1, y: 1 },
  { x: 0, y: 1 },
]

type Detection = { id: number; timestamp: string; score: number; clipEnd: string | null }
type WhatIf = {
  events: { timestamp: string; score: number; detectionId?: number }[]
  recorded: number
  lost: number[]
  merged: number[]
  undecided: number[]
  added: number
  unknown: { from: string; to: string }[]
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-scores-'))
const rtsp = await startRtspServer({ streams: { hall: await footage('passer') } })
const file = join(folder, 'gatehouse.yaml')
const user = (name: string, role: string) =>
  `{ username: ${name}, role: ${role}, secretHash: "${cheapHash(`${name}-secret`)}" }`
writeFileSync(
  file,
  `site: { id: score-test, url: ${site} }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [${user('ada', 'admin')}, ${user('owen', 'viewer')}, ${user('vic', 'viewer')}, ${user('nil', 'viewer')}] }
rateLimit: { requestsPerMinute: 100000 }
retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
cameras:
  - { id: 1, url: "${rtsp.url('hall')}", owner: owen, viewers: [vic], motion: { cooldownSeconds: 1, preRecordSeconds: 1, postRecordSeconds: 1 } }
`,
)
let daemon: Daemon = await startDaemon(['--config', file], { cwd: folder })
t.teardown(async () => {
  if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.end('SIGKILL')
  await rtsp.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function ask<Answer>(path: string, body?: unknown, by = 'owen'): Promise<Answer & { status: number }> {
  const headers = {
    Authorization: `Bearer ${by}-secret`,
    'X-Storage-Instance': site,
    'X-Storage-Username': by,
    'Content-Type': 'application/json',
  }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(`${daemon.url}${path}`, init)
  return { ...((await answer.json()) as Answer), status: answer.status }
}

const detections = async (): Promise<Detection[]> =>
  (await ask<{ data: Detection[] }>('/api/iot/detection-events?limit=500')).data.toReversed()

/** Waits until so many more detections are recorded than there were. */
async function more(count: number): Promise<void> {
  const before = (await detections()).length
  await eventually(detections, (all) => all.length >= before + count)
}

const iso = (ms: number) => new Date(ms).toISOString()
const whatIf = (fromMs: number, toMs: number, tried: object, by?: string) =>
  ask<WhatIf>('/api/iot/cctv/1/what-if', { from: iso(fromMs), to: iso(toMs), ...tried }, by)

/** Pulls the cable for some seconds. Returns when it was out for certain. */
async function outage(): Promise<{ fromMs: number; toMs: number }> {
  await rtsp.unplug()
  const fromMs = Date.now()
  await daemon.logged('Nothing answers at the address')
  await eventually(
    () => Date.now(),
    (now) => now > fromMs + 4000,
  )
  const toMs = Date.now()
  await rtsp.plugIn()
  return { fromMs, toMs }
}

const startedAt = Date.now()
await more(3)
const pulled = await outage()
await more(3)
const killedAt = Date.now()
await daemon.end('SIGKILL')
daemon = await startDaemon(['--config', file], { cwd: folder })
const backAt = Date.now()
await more(3)
const endedAt = Date.now()
await more(2) // what began before is recorded by now
const recorded = (await detections()).filter(({ timestamp }) => Date.parse(timestamp) < endedAt)

t.test('the settings of the camera find again what was recorded, through an outage and a killed box', async (t) => {
  const found = await whatIf(startedAt, endedAt, {})
  t.equal(found.recorded, recorded.length)
  t.match(
    { lost: found.lost, merged: found.merged, added: found.added },
    { lost: { length: 0 }, merged: { length: 0 }, added: 0 },
  )
  const known = recorded.filter(({ id }) => !found.undecided.includes(id))
  t.same(
    found.events.map(({ detectionId }) => detectionId),
    known.map(({ id }) => id),
  )
  for (const id of found.undecided) {
    const atMs = Date.parse(recorded.find((one) => one.id === id)?.timestamp ?? '')
    t.ok(
      atMs > killedAt - lostAtMostMs && atMs <= killedAt,
      'only the last seconds before the box was killed are missing',
    )
  }
  for (const [i, { timestamp, score }] of found.events.entries()) {
    const one = known[i] as Detection
    t.ok(Math.abs(Date.parse(timestamp) - Date.parse(one.timestamp)) <= 50, `${timestamp} is ${one.timestamp}`)
    // A detection from the last seconds before the kill has only a part of its cells stored.
    const isWhole = one.clipEnd !== null && Date.parse(one.clipEnd) < killedAt - lostAtMostMs
    if (isWhole || Date.parse(one.timestamp) > killedAt)
      t.ok(Math.abs(score - one.score) <= 0.0001, `${score} is ${one.score}`)
  }
})

t.test('a higher sensitivity value or a mask says which detections would be gone', async (t) => {
  const before = await whatIf(startedAt, endedAt, {})
  const known = before.events.map(({ detectionId }) => detectionId)
  for (const tried of [{ sensitivity: 1 }, { masks: [everything] }, { zones: [everything], masks: [everything] }]) {
    const found = await whatIf(startedAt, endedAt, tried)
    t.same(found.events, [], JSON.stringify(tried))
    t.same(found.lost, known, JSON.stringify(tried))
    t.same(found.unknown, before.unknown, 'what was seen does not depend on what counts')
  }
  t.same((await whatIf(startedAt, endedAt, { zones: [everything] })).lost, [])
})

t.test('a time without pictures is unknown, not quiet', async (t) => {
  const { unknown } = await whatIf(startedAt, endedAt, {})
  const covers = (fromMs: number, toMs: number) =>
    unknown.some(({ from, to }) => Date.parse(from) <= fromMs && Date.parse(to) >= toMs)
  t.ok(covers(pulled.fromMs + 500, pulled.toMs), 'the pulled cable')
  t.ok(covers(killedAt, backAt - 1000), 'the killed box')
  const query = `from=${iso(pulled.fromMs - 3000)}&to=${iso(pulled.toMs)}&cells=true`
  const { intervalMs, cells, scores } = await ask<{
    intervalMs: number
    cells: { columns: number; rows: number; bytes: string }
    scores: (number | null)[]
  }>(`/api/iot/cctv/1/scores?${query}`)
  t.match({ intervalMs, columns: cells.columns, rows: cells.rows }, { intervalMs: 200, columns: 16, rows: 9 })
  t.equal(scores.length, Math.ceil((pulled.toMs - pulled.fromMs + 3000) / 200))
  t.ok(scores.slice(0, 10).every((score) => score !== null && score >= 0 && score <= 1))
  t.ok(scores.slice(-15).every((score) => score === null))
  const bytes = Buffer.from(cells.bytes, 'base64')
  t.equal(bytes.length, 144 * scores.length)
  t.ok(bytes.subarray(0, 1440).every((share) => share <= 100))
  t.ok(bytes.subarray(-144 * 15).every((share) => share === 255))
})

t.test('who sees the camera reads its scores; its owner tries other settings', async (t) => {
  const scores = `/api/iot/cctv/1/scores?from=${iso(startedAt)}&to=${iso(endedAt)}`
  t.match(await ask(scores, undefined, 'vic'), { status: 200 })
  t.match(await ask(scores, undefined, 'nil'), { status: 404 })
  t.match(await whatIf(startedAt, endedAt, {}, 'vic'), { status: 403 })
  t.match(await whatIf(startedAt, endedAt, {}, 'nil'), { status: 404 })
  t.match(await whatIf(startedAt, endedAt, {}, 'ada'), { status: 200 })
  const day = 24 * 3_600_000
  t.match(await whatIf(startedAt - 2 * day, startedAt - day, {}), { status: 200, events: { length: 0 }, recorded: 0 })
  t.match(await whatIf(startedAt - 2 * day, startedAt, {}), { status: 400 })
  t.match(await ask(`/api/iot/cctv/1/scores?from=${iso(startedAt - day)}&to=${iso(startedAt)}`), { status: 400 })
})
