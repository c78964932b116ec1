import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { checkpointText, newSigner, noteOf } from '../support/evidence/forge.ts'
import { testGateway } from '../support/gateway.ts'
import { place, rewriteEvent, signedLedger, withoutGuards } from '../support/tamper.ts'

/** Returns the mismatches of `ledger verify`, as `place: what`. */
const found = (dataDir: string) => verifyLedger(dataDir).mismatches.map(({ where, what }) => `${where}: ${what}`)

type Tampering = { readonly title: string; readonly change: (db: Database) => void; readonly says: readonly RegExp[] }

const swapLeaves = (db: Database) => {
  const [second, fourth] = [2, 4].map((seq) => db.prepare('SELECT * FROM log_leaf WHERE seq = ?').get(seq)) as {
    row: number
  }[]
  const put = db.prepare('UPDATE log_leaf SET kind = @kind, ref = @ref, bytes = @bytes, hash = @hash WHERE row = @row')
  put.run({ ...fourth, row: second?.row })
  put.run({ ...second, row: fourth?.row })
}

/** Done to the database of a signed ledger; the guards stand again when it is verified. */
const inDatabase: readonly Tampering[] = [
  {
    title: 'an edited row is named with its keys',
    change: (db) => db.exec(`UPDATE placement_event SET asset_barcode = 'P-9', asset_key = 'P-9' WHERE id = 3`),
    says: [/^event 3 \(leaf 3\): the row differs from its leaf in assetBarcode, assetKey$/],
  },
  {
    title: 'a changed time is named with its event',
    change: (db) => db.exec('UPDATE placement_event SET timestamp_ms = timestamp_ms - 60000 WHERE id = 2'),
    says: [/^event 2 \(leaf 2\): the row differs from its leaf in timestamp$/],
  },
  {
    title: 'two rows that were exchanged are both named',
    change: (db) =>
      db.exec(`UPDATE placement_event SET leaf_seq = CASE id WHEN 2 THEN 104 ELSE 102 END WHERE id IN (2, 4);
        UPDATE placement_event SET leaf_seq = leaf_seq - 100 WHERE leaf_seq > 100`),
    says: [/^event 4 \(leaf 2\): the leaf states event 2$/, /^event 2 \(leaf 4\): the leaf states event 4$/],
  },
  {
    title: 'two leaves that were exchanged are named, and so is the checkpoint over them',
    change: swapLeaves,
    says: [
      /^leaf 2: says seq 4, expected 2$/,
      /^leaf 4: says seq 2, expected 4$/,
      /^checkpoint over 4 leaves of log .*: was signed over another root$/,
    ],
  },
  {
    title: 'a row that was removed with its leaf leaves a gap',
    change: (db) => db.exec('DELETE FROM placement_event WHERE id = 3; DELETE FROM log_leaf WHERE seq = 3'),
    says: [/^leaf 3: is missing up to 3$/, /^checkpoint over 7 leaves of log .*: covers leaves that are missing$/],
  },
  {
    title: 'leaves that were numbered anew after a removal still say their old numbers',
    change: (db) =>
      db.exec(`DELETE FROM placement_event WHERE id = 3; DELETE FROM log_leaf WHERE seq = 3;
        UPDATE log_leaf SET seq = seq - 1 WHERE seq > 3; UPDATE placement_event SET leaf_seq = leaf_seq - 1 WHERE id > 3`),
    says: [
      /^leaf 3: says seq 4, expected 3$/,
      /^checkpoint over 7 leaves of log .*: was signed, but the log has only 6 leaves$/,
      /^keys\/log\.head: 7 leaves of log .* were signed, the log has only 6$/,
    ],
  },
  {
    title: 'an event that was written anew with its leaf and all hashes does not fit the checkpoints',
    change: (db) => rewriteEvent(db, 3, { assetBarcode: 'P-9' }, `asset_barcode = 'P-9'`),
    says: [
      /^checkpoint over 4 leaves of log .*: was signed over another root$/,
      /^keys\/log\.head: was signed over 7 leaves of log .* with another root$/,
    ],
  },
  {
    title: 'a tail that was cut off with its rows and checkpoints is missing behind keys/log.head',
    change: (db) =>
      db.exec(`DELETE FROM placement_event WHERE id > 4; DELETE FROM detection_event; DELETE FROM log_leaf WHERE seq > 4;
        DELETE FROM log_checkpoint WHERE size > 4`),
    says: [/^keys\/log\.head: 7 leaves of log .* were signed, the log has only 4$/],
  },
  {
    title: 'a forged opening does not open its commitment',
    change: (db) => db.exec(`UPDATE opening SET value = 'nothing wrong' WHERE value = 'note 3'`),
    says: [/^opening [0-9a-f]{16}…: does not open its commitment$/],
  },
  {
    title: 'an audit entry that was changed is named by its number',
    change: (db) => db.exec(`UPDATE audit_entry SET entity_id = '9' WHERE id = 3`),
    says: [/^audit entry 3: does not have its hash/],
  },
  {
    title: 'a row of a checkpoint with another root is named',
    change: (db) => db.exec('UPDATE log_checkpoint SET root = zeroblob(32) WHERE size = 4'),
    says: [/^checkpoint over 4 leaves of log .*: was signed over another root$/],
  },
  {
    title: 'a row of a checkpoint with another time is named',
    change: (db) => db.exec('UPDATE log_checkpoint SET signed_at_ms = signed_at_ms - 3600000 WHERE size = 4'),
    says: [/^checkpoint over 4 leaves of log .*: its row names another time than its signature$/],
  },
]

for (const { title, change, says } of inDatabase) {
  t.test(title, async (t) => {
    const { dataDir } = await signedLedger(t)
    t.strictSame(found(dataDir), [], 'untouched, it verifies')
    withoutGuards(dataDir, change)
    const mismatches = found(dataDir)
    for (const expected of says)
      t.ok(
        mismatches.some((one) => expected.test(one)),
        `${expected}\n${mismatches.join('\n')}`,
      )
    t.notOk(
      mismatches.some((one) => one.startsWith('schema')),
      'the guards are whole',
    )
  })
}

t.test('bytes of a leaf that are no UTF-8 are found, also where readers show the same text for them', async (t) => {
  const gateway = await signedLedger(t)
  const { dataDir } = gateway
  await place(gateway, 7, { work_order_ref: 'order \ufffd' })
  t.strictSame(found(dataDir), [], 'the character itself is sound')
  // The first three bytes of a sequence of four are shown as one U+FFFD, like the three bytes of U+FFFD itself.
  withoutGuards(dataDir, (db) => {
    const swapped = `replace(hex(bytes), 'EFBFBD', 'F09080')`
    const { changes } = db.prepare(`UPDATE log_leaf SET bytes = unhex(${swapped}) WHERE seq = 8`).run()
    t.equal(changes, 1)
  })
  t.strictSame(found(dataDir), [
    'leaf 8: its bytes do not have its hash',
    'leaf 8: its bytes are not canonical JSON',
    'event 7 (leaf 8): its evidence_hash is not that of the leaf',
    'event 7 (leaf 8): the row differs from its leaf',
  ])
})

t.test('a clip that was swapped and a photo that was replaced are named', async (t) => {
  const { dataDir } = await signedLedger(t)
  const db = new BetterSqlite3(databaseFile(dataDir), { readonly: true })
  const hash = db.prepare(`SELECT sha256 FROM media WHERE kind = 'photo'`).pluck().get() as string
  db.close()
  writeFileSync(join(dataDir, 'clips', '1.mp4'), 'a clap')
  writeFileSync(join(dataDir, 'photos', hash.slice(0, 2), `${hash}.png`), 'another photo')
  t.strictSame(found(dataDir), [
    `photo ${hash.slice(0, 16)}…: its file has other bytes`,
    'clip of detection 1: its file has other bytes',
  ])
})

t.test('guards that were dropped and put back with other words are named', async (t) => {
  const { dataDir } = await signedLedger(t)
  const db = new BetterSqlite3(databaseFile(dataDir))
  const sql = db.prepare(`SELECT sql FROM sqlite_master WHERE name = 'log_leaf_no_delete'`).pluck().get() as string
  db.exec('DROP TRIGGER log_leaf_no_delete; DROP TRIGGER log_checkpoint_no_update')
  db.exec(sql.replace('BEFORE DELETE ON log_leaf', 'BEFORE DELETE ON log_leaf WHEN OLD.seq <> 3'))
  db.close()
  t.strictSame(found(dataDir), [
    'schema: guard log_leaf_no_delete is missing or changed',
    'schema: guard log_checkpoint_no_update is missing or changed',
  ])
})

t.test('a checkpoint that somebody else signed, or that was put in between, is named', async (t) => {
  const { dataDir, logIdentity } = await signedLedger(t)
  const origin = `gatehouse/test-site/${logIdentity.logId}`
  withoutGuards(dataDir, (db) => {
    const { root } = db.prepare('SELECT root FROM log_checkpoint WHERE size = 4').get() as { root: Buffer }
    const forged = noteOf(checkpointText(origin, 4, root), [newSigner(origin, 1), newSigner(origin, 6)])
    db.prepare('UPDATE log_checkpoint SET note = ? WHERE size = 4').run(forged)
    db.exec(`UPDATE log_checkpoint SET note = replace(note, '— ', '—  ') WHERE size = 0`)
  })
  t.strictSame(found(dataDir), [
    `checkpoint over 0 leaves of log ${logIdentity.logId}: its note says something else than its row`,
    `checkpoint over 4 leaves of log ${logIdentity.logId}: was signed by no key that this log has had`,
    `checkpoint over 0 leaves of log ${logIdentity.logId}: was signed by no key that this log has had`,
  ])
})

t.test('a signature of the right key over something else is named', async (t) => {
  const { dataDir, logIdentity } = await signedLedger(t)
  withoutGuards(dataDir, (db) => {
    const [four, seven] = db
      .prepare('SELECT note FROM log_checkpoint WHERE size > 0 ORDER BY size')
      .pluck()
      .all() as string[]
    const lines = (note = '') => note.slice(note.indexOf('\n\n'))
    const text = four?.slice(0, four.indexOf('\n\n'))
    db.prepare('UPDATE log_checkpoint SET note = ? WHERE size = 4').run(`${text}${lines(seven)}`)
  })
  t.strictSame(found(dataDir), [
    `checkpoint over 4 leaves of log ${logIdentity.logId}: its Ed25519 signature does not verify`,
    `checkpoint over 4 leaves of log ${logIdentity.logId}: its ML-DSA-44 signature does not verify`,
  ])
})

t.test(
  'keys and the file of the last checkpoint are missed when they are gone, and a damaged one is named',
  async (t) => {
    const { dataDir } = await signedLedger(t)
    const head = join(dataDir, 'keys', 'log.head')
    const stored = readFileSync(head, 'utf8')
    rmSync(head)
    t.strictSame(found(dataDir), ['keys/log.head: is missing, although the log was signed'])
    writeFileSync(head, '{}')
    t.strictSame(found(dataDir), ['keys/log.head: is damaged'])
    writeFileSync(head, stored.replace('"size":7', '"size":4'))
    t.match(found(dataDir).join('\n'), /^keys\/log\.head: was signed over 4 leaves of log .* with another root$/m)
    t.match(found(dataDir).join('\n'), /^keys\/log\.head: names 4 leaves of log .*, but 7 of log .* were signed$/m)
    writeFileSync(head, stored)
    rmSync(join(dataDir, 'keys', 'log.key'))
    t.match(found(dataDir).join('\n'), /^keys\/log\.key: .* is missing, although the log was signed$/)
  },
)

t.test('a database that was put back by hand is named by verification and refused at the start', async (t) => {
  const gateway = await signedLedger(t)
  const { dataDir } = gateway
  const file = databaseFile(dataDir)
  const db = new BetterSqlite3(file)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  const old = readFileSync(file)
  await place(gateway, 8)
  await gateway.checkpoints.make()
  gateway.close()
  for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
  writeFileSync(file, old)
  t.match(found(dataDir).join('\n'), /^keys\/log\.head: 8 leaves of log .* were signed, the log has only 7$/)
  await t.rejects(testGateway({ clock: gateway.clock, folder: gateway.folder }), {
    exitCode: 78,
    message: /8 leaves of the log were signed, but the database has only 7/,
  })
})

t.test('a changed tile is named by level and number, also when the hash of its leaf was changed with it', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await gateway.checkpoints.make()
  await manyLeaves(gateway)
  const { size } = await gateway.checkpoints.make()
  t.equal(size, 257)
  const { dataDir } = gateway.live.config
  const { logId } = gateway.logIdentity
  t.strictSame(found(dataDir), [])
  withoutGuards(dataDir, (db) => {
    db.exec(`UPDATE log_tile SET hashes = CAST(zeroblob(32) || substr(hashes, 33) AS BLOB);
      UPDATE log_leaf SET hash = zeroblob(32) WHERE seq = 1`)
    db.prepare('INSERT INTO log_tile SELECT 2, log_id, 0, 1, hashes, root FROM log_tile').run()
  })
  t.strictSame(found(dataDir), [
    'leaf 1: its bytes do not have its hash',
    `tile 0/0 of log ${logId}: does not have the hashes of its leaves`,
    `tile 0/1 of log ${logId}: is stored, but the log has only 257 leaves`,
  ])
  withoutGuards(dataDir, (db) => db.exec('DELETE FROM log_tile'))
})

/** 257 leaves, by changes of incidents: the shortest way to a full tile. */
async function manyLeaves(gateway: Awaited<ReturnType<typeof testGateway>>): Promise<void> {
  const by = { username: 'sven', role: 'supervisor' } as const
  for (let n = 0; n < 257; n += 1) {
    await gateway.ask('POST', '/api/governance/incidents', { by, body: { severity: 'low', category: 'noise' } })
  }
}
