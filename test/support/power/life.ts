/**
 * The life of a gateway that a test cuts off: `node life.ts FOLDER [prepare]`, under the shim. It writes what was acknowledged into
 * `FOLDER/.marks`. `prepare` makes the furnished state that the life begins with. BREAK=synchronous-off or synchronous-normal breaks
 * the durability of the database, to show that a test finds it.
 */
import { hash } from 'node:crypto'
import { mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { makeFolder } from '../../../src/platform/index.ts'
import { rehearseUpgrade } from '../../../src/upgrade/index.ts'
import { makeDurable, writeDurably } from '../../../src/video/clips/durable.ts'
import { restored } from '../backups.ts'
import { furnish, people, siteUrl, type TestGateway, testGateway, tinyPng } from '../gateway.ts'
import { allOf } from '../plain-sql.ts'
import { type Acknowledged, backupsFolder, secondBox, segmentsFolder } from './acknowledged.ts'
import { lifeConfig } from './config.ts'

const [folder = '', isPreparing] = process.argv.slice(2)
const sha256 = (bytes: Buffer) => hash('sha256', bytes)

const level = { 'synchronous-off': 'OFF', 'synchronous-normal': 'NORMAL' }[process.env['BREAK'] ?? '']
if (level) {
  const real = BetterSqlite3.prototype.pragma
  BetterSqlite3.prototype.pragma = function pragma(text: string, ...rest: never[]) {
    return real.call(this, text.replace('synchronous = FULL', `synchronous = ${level}`), ...rest)
  }
}

const config = lifeConfig(folder)
let gateway = await testGateway({ folder, config, onlyWhenOwed: true })
if (isPreparing) {
  await furnish(gateway, ['A-1', 'A-2', 'A-3'])
  await gateway.checkpoints.make()
  gateway.close()
  for (const name of [backupsFolder, segmentsFolder, secondBox]) mkdirSync(join(folder, name))
  process.exit(0)
}

const marks = openSync(join(folder, '.marks'), 'a')
const acknowledge = (facts: Acknowledged) => writeSync(marks, `${JSON.stringify(facts)}\n`)
const must = <T extends { status: number; text: string }>(answer: T): T => {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

let events = 0
async function scan(): Promise<void> {
  events += 1
  const n = events
  const bytes = Buffer.concat([tinyPng, Buffer.from(`photo ${n}`)])
  const stored = must(
    await gateway.ask('POST', '/api/whms/evidence/photos', {
      by: people.ada,
      bytes,
      headers: { 'Content-Type': 'image/png' },
    }),
  )
  acknowledge({ kind: 'photo', path: new URL(stored.body.url).pathname, sha256: sha256(bytes) })
  const body = {
    ...{ event_type: 'PLACED', slot_code: `A-${1 + (n % 3)}`, asset_barcode: `P-${n % 7}` },
    ...{ photo_url: stored.body.url, client_event_id: `scan-${n}` },
  }
  const { id, evidence_hash } = must(await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })).body
  acknowledge({ kind: 'event', id, clientId: `scan-${n}`, hash: evidence_hash })
  gateway.clock.advance(1000)
}

const scans = (count: number) => Promise.all(Array.from({ length: count }, scan))

async function checkpoint(): Promise<void> {
  const { size, root } = await gateway.checkpoints.make()
  acknowledge({ kind: 'checkpoint', log: gateway.logIdentity.number, size, root: root.toString('hex') })
}

/** The steps of the cameras thread for one clip, without ffmpeg: facts, video, row, and the end of the facts. */
async function clip(id: number): Promise<void> {
  const clips = join(gateway.live.config.dataDir, 'clips')
  await makeFolder(clips)
  const facts = { detectionId: id, cameraId: 7, motionAt: gateway.clock.now(), score: 0.5, sceneChange: false }
  await writeDurably(join(clips, `${id}.json`), JSON.stringify({ facts }))
  acknowledge({ kind: 'clip begun', id })
  const video = Buffer.alloc(9000, `video ${id} `)
  writeFileSync(join(clips, `${id}.mp4.part`), video)
  await makeDurable(join(clips, `${id}.mp4.part`), join(clips, `${id}.mp4`))
  acknowledge({ kind: 'clip finished', id, sha256: sha256(video) })
  gateway.cameras.heard({
    ...{ type: 'clipClosed', ...facts, file: `${id}.mp4`, sha256: sha256(video), sizeBytes: video.length },
    ...{ startedAt: facts.motionAt - 500, endedAt: facts.motionAt + 2900, preRollSeconds: 0.5 },
    ...{ askedPreRollSeconds: 0.5, durationSeconds: 3.4, pictures: 52, longestGapSeconds: 0.07, original: true },
    ...{ width: 320, height: 180, peakScore: 0.6, snapshot: null, closedBy: 'post-roll' },
  })
  await gateway.audit('test.settled', {})
  acknowledge({ kind: 'clip recorded', id, sha256: sha256(video) })
  rmSync(join(clips, `${id}.json`))
  owed()
}

function owed(): void {
  const rows = gateway.work.read((tx) => allOf<{ path: string; sha256: string }>(tx, 'SELECT path, sha256 FROM upload'))
  for (const { path, sha256 } of rows) acknowledge({ kind: 'upload owed', path, sha256 })
}

async function session(): Promise<void> {
  const credentials = { username: 'olga', secret: 'olga-secret', instance: siteUrl }
  const answer = must(await gateway.ask('POST', '/api/session', { body: credentials }))
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  acknowledge({ kind: 'session', cookie, isSignedIn: true })
  await scans(2)
  if (events % 2 === 0) return
  const headers = { Cookie: cookie, 'X-CSRF-Token': answer.body.csrfToken }
  must(await gateway.ask('DELETE', '/api/session', { headers }))
  acknowledge({ kind: 'session', cookie, isSignedIn: false })
}

async function setting(slot_id: string): Promise<void> {
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  must(
    await gateway.ask('POST', '/api/whms/slots', { by: people.ada, body: { slot_id, zone: 'S', floor_plan_polygon } }),
  )
  acknowledge({ kind: 'setting', slot: slot_id })
}

async function rotation(): Promise<void> {
  const { keys } = await gateway.rotateKeys('root')
  acknowledge({ kind: 'keys', vkeys: keys })
  await checkpoint()
}

async function segments(): Promise<void> {
  await gateway.segments.look()
  const { fault } = gateway.segments.seen()
  if (fault !== null) throw new Error(fault)
  const files = readdirSync(join(folder, segmentsFolder), { recursive: true }) as string[]
  acknowledge({ kind: 'segments', count: files.filter((name) => name.endsWith('.seg')).length })
}

async function backup(name: string): Promise<string> {
  const target = join(folder, backupsFolder, name)
  await gateway.backup({ target, media: true }, 'root')
  acknowledge({ kind: 'backup', name, sha256: sha256(readFileSync(target)) })
  return target
}

async function rehearsal(): Promise<void> {
  const { dataDir } = gateway.live.config
  const order = { dataDir, reserveBytes: 1, nowMs: gateway.clock.now(), windowMs: 86_400_000, mostEvents: 100 }
  const { ok, reasons } = await rehearseUpgrade({ ...order, limitMs: 120_000, previous: undefined })
  if (!ok) throw new Error(reasons.join('; '))
}

async function restart(): Promise<TestGateway> {
  await gateway.checkpoints.stop()
  await Promise.all([gateway.jobs, gateway.backupJobs, gateway.segmentJobs].map((jobs) => jobs.stop()))
  return gateway.restart()
}

const chapters: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['scans', () => scans(12)],
  ['checkpoint', checkpoint],
  ['clip 1', () => clip(1)],
  ['session', session],
  ['scans beside a clip', () => Promise.all([scans(6), clip(2)])],
  ['setting', () => setting('B-1')],
  ['segments', segments],
  ['rotation', rotation],
  ['scans under new keys', () => scans(8)],
  ['clean stop and start', async () => (gateway = await restart())],
  ['second session', session],
  ['backup', () => backup('one.tar')],
  ['clip 3', () => clip(3)],
  ['later segments', segments],
  ['rehearsal', rehearsal],
  ['second backup', () => backup('two.tar')],
  [
    'restore in place',
    async () => {
      await checkpoint()
      const file = await backup('three.tar')
      await gateway.checkpoints.stop()
      await Promise.all([gateway.jobs, gateway.backupJobs, gateway.segmentJobs].map((jobs) => jobs.stop()))
      gateway.close()
      await restored(file, join(folder, 'state'))
      gateway = await testGateway({ folder, config, clock: gateway.clock, onlyWhenOwed: true })
    },
  ],
  ['restore on another box', () => restored(join(folder, backupsFolder, 'one.tar'), join(folder, secondBox, 'state'))],
  ['scans after a restore', () => scans(6)],
  ['last checkpoint', checkpoint],
  ['last scans', () => scans(4)],
]
for (const [name, act] of chapters) {
  await act()
  acknowledge({ kind: 'chapter', name })
}
await restart().then((last) => last.close())
acknowledge({ kind: 'chapter', name: 'stop' })
process.exit(0)
