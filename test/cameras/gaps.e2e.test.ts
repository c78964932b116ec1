import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { smallestGapMs } from '../../src/cameras/watch.ts'
import { databaseFile } from '../../src/database/index.ts'
import { footage } from '../support/footage.ts'
import { cheapHash } from '../support/gateway.ts'
import { type Daemon, gatehouse, runToEnd, startDaemon } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { eventually, waitUntil } from '../support/waiting.ts'

t.setTimeout(180_000)

const site = 'http://127.0.0.1:8480'
const headers = { Authorization: 'Bearer ada-secret', 'X-Storage-Instance': site, 'X-Storage-Username': 'ada' }

/** The view is learned from twenty looks, one a second, before it is compared. */
const learnedAfterFrames = 110

type Gap = { id: number | null; cause: string; from: string; to: string | null }

const get = async (daemon: Daemon, path: string) => (await fetch(`${daemon.url}${path}`, { headers })).json()

/** Waits until the newest gap has ended and has this cause. */
async function ended(daemon: Daemon, cause: string): Promise<Gap> {
  const newest = async () => ((await get(daemon, '/api/iot/cctv/1/gaps')) as { data: Gap[] }).data[0]
  return (await eventually(newest, (gap) => gap?.cause === cause && gap.to !== null)) as Gap
}

/** A camera that shows the empty hall, and the config of a box with it. */
async function hall(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-gaps-'))
  const rtsp = await startRtspServer({ streams: { hall: await footage('empty') } })
  const file = join(folder, 'gatehouse.yaml')
  writeFileSync(
    file,
    `site: { id: gap-test, url: ${site} }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [{ username: ada, role: admin, secretHash: "${cheapHash('ada-secret')}" }] }
rateLimit: { requestsPerMinute: 100000 }
retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
cameras: [{ id: 1, url: "${rtsp.url('hall')}" }]
`,
  )
  t.teardown(async () => {
    await rtsp.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return { folder, rtsp, file }
}

async function isOnline(daemon: Daemon): Promise<void> {
  const online = async () => ((await get(daemon, '/api/iot/cctv')) as { data: { online: boolean }[] }).data[0]?.online
  await eventually(online, (one) => one === true)
}

t.test('a pulled cable and a killed box are gaps with their causes, in the log of the box', async (t) => {
  const { folder, rtsp, file } = await hall(t)
  let daemon = await startDaemon(['--config', file], { cwd: folder })
  t.teardown(async () => {
    if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.end('SIGKILL')
  })
  await isOnline(daemon)
  const pulledAt = Date.now()
  await rtsp.unplug()
  await daemon.logged('Nothing answers at the address')
  const backAt = Date.now()
  await rtsp.plugIn()
  const outage = await ended(daemon, 'offline')
  // The last picture came up to one interval of the small pictures before the cable was pulled.
  t.ok(Date.parse(outage.from) >= pulledAt - 1000 && Date.parse(outage.from) <= backAt, `${outage.from}`)
  t.ok(Date.parse(outage.to ?? '') >= backAt, `${outage.to}`)

  // Killed once it is known to have lived on after the outage.
  const db = new BetterSqlite3(databaseFile(join(folder, 'state')), { readonly: true })
  const lived = () => (db.prepare('SELECT at_ms FROM camera_heartbeat').get() as { at_ms: number }).at_ms
  await eventually(lived, (atMs) => atMs > Date.parse(outage.to ?? ''))
  db.close()
  const killedAt = Date.now()
  await daemon.end('SIGKILL')
  await waitUntil('it is down for longer than what is no gap', () => Date.now() > killedAt + smallestGapMs)
  daemon = await startDaemon(['--config', file], { cwd: folder })
  const down = await ended(daemon, 'daemon_down')
  t.ok(
    Date.parse(down.from) <= killedAt && Date.parse(down.from) >= Date.parse(outage.to ?? ''),
    'since its last heartbeat',
  )
  t.ok(Date.parse(down.to ?? '') > killedAt)
  const between = `from=${outage.to}&to=${down.from}`
  t.match(await get(daemon, `/api/iot/cctv/1/watched?${between}`), {
    watchedShare: 1,
    gaps: { length: 0 },
    detections: { length: 0 },
  })
  // Until its first picture the camera has one more gap when that takes over two seconds.
  const { data: gaps } = (await get(daemon, '/api/iot/cctv/1/gaps')) as { data: Gap[] }
  const verified = await runToEnd(gatehouse, ['ledger', 'verify', '--config', file, '--json'], { cwd: folder })
  t.match(JSON.parse(verified.stdout), { ok: true, cameraGaps: gaps.length, mismatches: { length: 0 } })
})

t.test('a lens that somebody covered is a gap until the cover is gone, though the camera sends pictures', async (t) => {
  const { folder, rtsp, file } = await hall(t)
  const daemon = await startDaemon(['--config', file], { cwd: folder })
  t.teardown(() => daemon.end('SIGKILL'))
  await isOnline(daemon)
  const scored = async () => {
    const status = await get(daemon, '/api/iot/detection/motion-stream?cctvId=1')
    return (status as { frameCount: number }).frameCount
  }
  await eventually(scored, (frames) => frames > learnedAfterFrames)
  const coveredAt = new Date().toISOString()
  rtsp.switchTo('hall', await footage('covered'))
  const gaps = async () => ((await get(daemon, '/api/iot/cctv/1/gaps')) as { data: Gap[] }).data
  await eventually(gaps, ([gap]) => gap?.cause === 'covered' && gap.to === null)
  const watched = () => get(daemon, `/api/iot/cctv/1/watched?from=${coveredAt}&to=${new Date().toISOString()}`)
  t.match(await watched(), { gaps: [{ cause: 'covered', to: null, detail: /a cover, dirt/ }] })
  const { watchedShare } = (await watched()) as { watchedShare: number }
  t.ok(watchedShare < 0.5, `${watchedShare}: the gap begins when the lens was covered, not when that was noticed`)
  const uncoveredAt = Date.now()
  rtsp.switchTo('hall', await footage('empty'))
  const gap = await ended(daemon, 'covered')
  t.ok(Date.parse(gap.to ?? '') >= uncoveredAt, `${gap.to}`)
})
