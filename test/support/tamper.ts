import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { databaseFile } from '../../src/database/index.ts'
import { canonical } from './evidence/bundle.ts'
import { leafHash, sha256 } from './evidence/merkle.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from './gateway.ts'

/** Somebody with the rights of root and the schema at hand: drops every guard, changes the file, puts each back word for word. */
export function withoutGuards(dataDir: string, change: (db: Database) => void): void {
  const db = new BetterSqlite3(databaseFile(dataDir))
  const guards = db.prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid`).all() as {
    name: string
    sql: string
  }[]
  db.pragma('foreign_keys = OFF')
  for (const { name } of guards) db.exec(`DROP TRIGGER ${name}`)
  change(db)
  for (const { sql } of guards) db.exec(sql)
  db.close()
}

/** The clip that the ledger below has. */
export const clipBytes = Buffer.from('a clip')

/** Six events with a photo and notes, one detection with its clip; signed over 0, 4 and 7 leaves. */
export async function signedLedger(t: {
  teardown(work: () => unknown): void
}): Promise<TestGateway & { readonly dataDir: string }> {
  const gateway = await testGateway({ config: { cameras: [{ id: 7, url: 'rtsp://192.0.2.7/main' }] } })
  t.teardown(() => gateway.end())
  const { dataDir } = gateway.live.config
  await furnish(gateway, ['A', 'B'])
  await gateway.checkpoints.make()
  for (let n = 1; n <= 6; n += 1) {
    await place(gateway, n)
    if (n === 4) await gateway.checkpoints.make()
  }
  await closeClip(gateway, dataDir)
  await gateway.checkpoints.make()
  return { ...gateway, dataDir }
}

/** Records that pallet P-`n` was placed. */
export async function place(
  gateway: TestGateway,
  n: number,
  also: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const photo_url = await heldPhoto(gateway)
  const body = { event_type: 'PLACED', slot_code: n % 2 ? 'A' : 'B', asset_barcode: `P-${n}`, photo_url }
  const notes = { verification_notes: `note ${n}` }
  const { status } = await gateway.ask('POST', '/api/whms/events', {
    by: people.olga,
    body: { ...body, ...notes, ...also },
  })
  if (status !== 201) throw new Error(`event ${n} was answered ${status}`)
}

/** Has camera 7 close a clip of these bytes, as detection 1. */
export async function closeClip(gateway: TestGateway, dataDir: string, bytes: Buffer = clipBytes): Promise<void> {
  mkdirSync(join(dataDir, 'clips'), { recursive: true })
  writeFileSync(join(dataDir, 'clips', '1.mp4'), bytes)
  const motionAt = gateway.clock.now()
  gateway.cameras.heard({
    type: 'clipClosed',
    detectionId: 1,
    cameraId: 7,
    motionAt,
    score: 0.4,
    sceneChange: false,
    file: '1.mp4',
    sha256: sha256(bytes).toString('hex'),
    sizeBytes: bytes.length,
    startedAt: motionAt - 2000,
    endedAt: motionAt + 1000,
    preRollSeconds: 2,
    durationSeconds: 3,
    width: 640,
    height: 360,
    peakScore: 0.5,
    snapshot: null,
    closedBy: 'post-roll',
    askedPreRollSeconds: 2,
    pictures: 45,
    longestGapSeconds: 0.07,
    original: true,
  })
  await gateway.audit('test.settled', {})
}

/** Writes one event anew with everything that belongs to it: its row, its leaf and both hashes. */
export function rewriteEvent(
  db: Database,
  id: number,
  facts: Readonly<Record<string, unknown>>,
  columns: string,
): void {
  const { seq, bytes } = db.prepare('SELECT seq, bytes FROM log_leaf WHERE seq = ?').get(id) as {
    seq: number
    bytes: Buffer
  }
  const leaf = Buffer.from(canonical({ ...(JSON.parse(bytes.toString('utf8')) as object), ...facts }))
  db.prepare('UPDATE log_leaf SET bytes = ?, hash = ? WHERE seq = ?').run(leaf, leafHash(leaf), seq)
  const hash = sha256(leaf).toString('hex')
  db.prepare(`UPDATE placement_event SET ${columns}, evidence_hash = ? WHERE id = ?`).run(hash, id)
}

/** Forgets every signature inside the database: heads, tiles, digests of nothing. */
export function forgetSignatures(db: Database): void {
  for (const table of ['log_checkpoint', 'log_cosignature', 'log_timestamp', 'log_tile'])
    db.exec(`DELETE FROM ${table}`)
}
