import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import type { FromCameras } from '../../src/video/index.ts'
import { inFile } from '../support/cloud.ts'
import {
  furnish,
  heldPhoto,
  people,
  siteUrl,
  type TestGateway,
  type TestGatewayOptions,
  testGateway,
} from '../support/gateway.ts'
import { onSmallDisk, smallDisk } from '../support/small-disk.ts'

const dayMs = 86_400_000
const by = people.ada
const MiB = 1024 * 1024

const cameras = [
  { id: 7, url: 'rtsp://192.0.2.7/main', owner: 'vera', slots: ['A-01'] },
  { id: 8, url: 'rtsp://192.0.2.8/main', retentionDays: 3 },
]
const kept = { clips: { maxAgeDays: 10 }, minFreeBytes: '1B', ledgerReserveBytes: '1B' }

async function hall(t: Test, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config: { cameras, retention: kept, ...options.config }, ...options })
  t.teardown(() => gateway.end())
  return gateway
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const clipFile = (gateway: TestGateway, id: number) => join(gateway.live.config.dataDir, 'clips', `${id}.mp4`)
const snapshotFile = (gateway: TestGateway, id: number) => join(gateway.live.config.dataDir, 'clips', `${id}.png`)

/** A clip as the cameras thread leaves it: files on the disk, and its report. */
async function record(
  gateway: TestGateway,
  id: number,
  {
    cameraId = 7,
    atMs = gateway.clock.now(),
    sizeBytes = 1000,
  }: Partial<Record<'cameraId' | 'atMs' | 'sizeBytes', number>> = {},
): Promise<void> {
  const clip = Buffer.alloc(sizeBytes, id)
  const picture = Buffer.from(`picture ${id}`)
  mkdirSync(join(gateway.live.config.dataDir, 'clips'), { recursive: true })
  writeFileSync(clipFile(gateway, id), clip)
  writeFileSync(snapshotFile(gateway, id), picture)
  const closed: FromCameras = {
    ...{ type: 'clipClosed', detectionId: id, cameraId, motionAt: atMs, score: 0.5, sceneChange: false },
    ...{
      file: `${id}.mp4`,
      sha256: sha256(clip),
      sizeBytes: clip.length,
      startedAt: atMs - 3000,
      endedAt: atMs + 5000,
    },
    ...{ preRollSeconds: 3, askedPreRollSeconds: 3, durationSeconds: 8, pictures: 200, longestGapSeconds: 0.04 },
    ...{ original: true, width: 640, height: 360, peakScore: 0.5, closedBy: 'post-roll' },
    snapshot: { file: `${id}.png`, sha256: sha256(picture), sizeBytes: picture.length },
  }
  gateway.cameras.heard(closed)
  await gateway.audit('test.settled', {})
}

const left = (gateway: TestGateway, ids: readonly number[]) => ids.filter((id) => existsSync(clipFile(gateway, id)))
const detection = async (gateway: TestGateway, id: number) =>
  (await gateway.ask('GET', `/api/iot/detection-events/${id}`, { by })).body

t.test('a clip goes at the age that its camera has, or else at that of the site', async (t) => {
  const gateway = await hall(t)
  await record(gateway, 1)
  await record(gateway, 2, { cameraId: 8 })
  gateway.clock.advance(3 * dayMs - 1)
  await gateway.retention.look()
  t.strictSame(left(gateway, [1, 2]), [1, 2])
  gateway.clock.advance(1)
  await gateway.retention.look()
  t.strictSame(left(gateway, [1, 2]), [1])
  gateway.clock.advance(7 * dayMs)
  await gateway.retention.look()
  t.strictSame(left(gateway, [1, 2]), [])
  t.notOk(existsSync(snapshotFile(gateway, 1)), 'its snapshot goes with it')
})

t.test('of an expired clip everybody is told what became of it', async (t) => {
  const gateway = await hall(t)
  await record(gateway, 1)
  const before = await detection(gateway, 1)
  gateway.clock.advance(10 * dayMs)
  await gateway.retention.look()
  const reason = /^removed at 2026-.* because of its age \(retention\.clips\.maxAgeDays: 10\)$/
  const removal = {
    ...{ removedAt: /^2026-.*Z$/, cause: 'age', policy: 'retention.clips.maxAgeDays: 10', keptDays: 10 },
  }
  const expired = { clipStatus: 'expired', reason, removal, clipUrls: { playback: null, snapshot: null } }
  t.match(await detection(gateway, 1), { ...expired, clipSha256: before.clipSha256, evidenceHash: before.evidenceHash })
  for (const query of ['', '?after_seq=0']) {
    t.match((await gateway.ask('GET', `/api/iot/detection-events${query}`, { by })).body.data, [expired])
  }
  for (const kind of ['clip', 'snapshot']) {
    t.match(await gateway.ask('GET', `/api/iot/detection-events/1/${kind}`, { by }), {
      status: 404,
      body: { error: { code: 'NOT_FOUND', message: `The ${kind} was removed`, details: reason, removal } },
    })
  }
})

t.test('a removal is a leaf and an audit entry, and the ledger verifies without the file', async (t) => {
  const gateway = await hall(t)
  await record(gateway, 1)
  await record(gateway, 2, { atMs: gateway.clock.now() + 5 * dayMs })
  gateway.clock.advance(10 * dayMs)
  await gateway.retention.look()
  const leaves = inFile<{ bytes: Buffer }>(
    gateway,
    "SELECT bytes FROM log_leaf WHERE kind = 'media-removed' ORDER BY seq",
  )
  const why = { cause: 'age', policy: 'retention.clips.maxAgeDays: 10' }
  t.match(
    leaves.map(({ bytes }) => JSON.parse(bytes.toString())),
    [
      { mediaKind: 'clip', detectionId: 1, sha256: sha256(Buffer.alloc(1000, 1)), ...why },
      { mediaKind: 'snapshot', detectionId: 1, sha256: sha256(Buffer.from('picture 1')), ...why },
    ],
  )
  const { data } = (await gateway.ask('GET', '/api/governance/audit?action=media.removed', { by })).body
  t.match(data, [{ entity: 'detection_event', entityId: '1', actor: null, changes: why }])
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, removals: 2, mismatches: { length: 0 } })
})

t.test('a file that is missing without a removal is a finding', async (t) => {
  const gateway = await hall(t)
  await record(gateway, 1)
  await record(gateway, 2, { cameraId: 8 })
  gateway.clock.advance(3 * dayMs)
  await gateway.retention.look()
  rmSync(clipFile(gateway, 1))
  t.match(verifyLedger(gateway.live.config.dataDir), {
    ok: false,
    mismatches: [{ where: 'clip of detection 1', what: 'its file is not there' }],
  })
})

t.test('what an incident refers to stays, and goes once the incident is resolved', async (t) => {
  const gateway = await hall(t)
  await record(gateway, 1)
  await record(gateway, 2)
  const body = { severity: 'high', category: 'theft', evidenceReferences: ['detection_event:1'] }
  const { id } = (await gateway.ask('POST', '/api/governance/incidents', { by, body })).body
  gateway.clock.advance(20 * dayMs)
  await gateway.retention.look()
  t.strictSame(left(gateway, [1, 2]), [1])
  t.match(await detection(gateway, 1), { clipStatus: 'recorded' })
  const resolved = { body: { resolution: 'found' }, by }
  t.equal((await gateway.ask('POST', `/api/governance/incidents/${id}/resolve`, resolved)).status, 200)
  await gateway.retention.look()
  t.strictSame(left(gateway, [1, 2]), [])
})

t.test('films of a disputed placement stay until the dispute is settled', async (t) => {
  const gateway = await hall(t)
  await furnish(gateway, ['A-01'])
  await record(gateway, 1, { atMs: gateway.clock.now() - 3_600_000 })
  await record(gateway, 2)
  await record(gateway, 3)
  const post = async (event_type: string, more: object = {}) => {
    const body = { event_type, slot_code: 'A-01', asset_barcode: 'P-1', ...more }
    t.equal((await gateway.ask('POST', '/api/whms/events', { by, body })).status, 201)
  }
  const clip = (id: number) => `${siteUrl}/api/iot/detection-events/${id}/clip`
  await post('PLACED', { photo_url: await heldPhoto(gateway), cctv_clip_url: clip(1) })
  gateway.clock.advance(dayMs)
  await record(gateway, 4)
  await post('DISPUTED')
  const holds = () => inFile<{ sha256: string }>(gateway, "SELECT sha256 FROM media_hold WHERE reason = 'dispute'")
  t.equal(holds().length, 9, 'the photo, and four clips with their snapshots')
  gateway.clock.advance(30 * dayMs)
  await gateway.retention.look()
  t.strictSame(left(gateway, [1, 2, 3, 4]), [1, 2, 3, 4])
  await post('VERIFIED')
  t.strictSame(holds(), [])
  await gateway.retention.look()
  t.strictSame(left(gateway, [1, 2, 3, 4]), [])
})

t.test('killed between the row and the file: the next start unlinks it', async (t) => {
  let gateway = await testGateway({ config: { cameras, retention: kept } })
  await record(gateway, 1)
  const bytes = Buffer.alloc(1000, 1)
  gateway.clock.advance(10 * dayMs)
  await gateway.retention.look()
  // As it was when only the row had been committed.
  writeFileSync(clipFile(gateway, 1), bytes)
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  db.prepare("INSERT INTO media_unlink SELECT id, 'clips/1.mp4' FROM media_removed WHERE media_kind = 'clip'").run()
  db.close()
  gateway = await gateway.restart()
  t.teardown(() => gateway.end())
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true }, 'what is left of it is no finding')
  await gateway.retention.look()
  t.strictSame(left(gateway, [1]), [])
  t.strictSame(inFile(gateway, 'SELECT * FROM media_unlink'), [])
})

t.test('a clock that is not synchronised makes nothing old', async (t) => {
  const gateway = await hall(t)
  await record(gateway, 1, { atMs: Date.UTC(2024, 0, 1) })
  // A clock that lost its battery: the gateway was built later than this.
  gateway.clock.setWall(Date.UTC(2025, 0, 1))
  await gateway.retention.look()
  t.strictSame(left(gateway, [1]), [1])
})

t.test('on a small disk the oldest clips make room, but for the one that a theft needs', onSmallDisk, async (t) => {
  const disk = smallDisk(32)
  const retention = { clips: { maxAgeDays: 1000 }, minFreeBytes: '12MiB', ledgerReserveBytes: '2MiB' }
  const gateway = await testGateway({ folder: disk.folder, config: { cameras, retention } })
  t.teardown(() => {
    gateway.close()
    disk.end()
  })
  for (const id of [1, 2, 3, 4, 5, 6]) {
    await record(gateway, id, { sizeBytes: 2 * MiB, cameraId: id % 2 ? 7 : 8 })
    gateway.clock.advance(60_000)
  }
  const body = { severity: 'high', category: 'theft', evidenceReferences: ['detection_event:2'] }
  await gateway.ask('POST', '/api/governance/incidents', { by, body })
  await gateway.retention.look()
  t.strictSame(left(gateway, [1, 2, 3, 4, 5, 6]), [1, 2, 3, 4, 5, 6], 'there is room enough')
  disk.fill(9 * MiB)
  await gateway.retention.look()
  t.strictSame(left(gateway, [1, 2, 3, 4, 5, 6]), [2, 4, 5, 6])
  t.match(await detection(gateway, 3), {
    clipStatus: 'expired',
    reason: /the disk was nearly full \(retention\.minFree/,
  })
  await gateway.health.look()
  t.equal(
    (await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.disk.status,
    'healthy',
    'there is nothing to alert of',
  )

  disk.empty()
  disk.fill(3 * MiB)
  await gateway.retention.look()
  t.strictSame(left(gateway, [1, 2, 3, 4, 5, 6]), [2])
  await gateway.health.look()
  t.match((await gateway.ask('GET', '/api/alerts', { by })).body.data, [
    { kind: 'disk.held', message: /hold all clips that are left \(1, 2 MiB\)\. Resolve/ },
  ])
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, removals: 10 })
})
