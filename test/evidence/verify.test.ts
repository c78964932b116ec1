import { readFileSync, statSync, writeFileSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { type VerifyPart, verifyInTwoThreads, verifyLedger, verifyWithOutsiders } from '../../src/evidence/index.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { closeClip } from '../support/tamper.ts'

/** A ledger of six events with a photo, names and notes. */
async function filled(t: { teardown(end: () => void): void }): Promise<TestGateway & { dataDir: string }> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const photo_url = await heldPhoto(gateway)
  for (const [i, slot_code] of ['A', 'B', 'A', 'B', 'A', 'B'].entries()) {
    const body = {
      event_type: 'PLACED',
      slot_code,
      asset_barcode: `P-${i}`,
      photo_url,
      verification_notes: `note ${i}`,
      scale_weight_kg: 0.1 + i,
    }
    await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  }
  return { ...gateway, dataDir: gateway.live.config.dataDir }
}

t.test('an untouched ledger verifies, while the daemon has it open, and its root is that of its leaves', async (t) => {
  const { dataDir } = await filled(t)
  const first = verifyLedger(dataDir)
  t.match(first, { ok: true, siteId: 'test-site', size: 6, events: 6, media: 1, mismatches: { length: 0 } })
  t.match(first.root, /^[0-9a-f]{64}$/)
  t.equal(verifyLedger(dataDir).root, first.root)
})

t.test('an erased person is forgotten, and the log still verifies', async (t) => {
  const gateway = await filled(t)
  const before = verifyLedger(gateway.dataDir)
  await gateway.erasePerson({ name: 'olga', texts: false }, 'root')
  t.match(verifyLedger(gateway.dataDir), { ok: true, root: before.root, mismatches: { length: 0 } })
  const { body } = await gateway.ask('GET', '/api/whms/events/1', { by: people.vera })
  t.match(body, { operator: 'erased', actor: 'erased', verification_notes: 'note 0' })
})

const drop = `DROP TRIGGER placement_event_no_update; DROP TRIGGER placement_event_no_delete; DROP TRIGGER log_leaf_no_update; DROP TRIGGER log_leaf_no_delete;`

/** Changes in the file, and the mismatch that each gives. */
const alteredRows: { what: string; sql: string; where: RegExp; says: RegExp }[] = [
  {
    what: 'a row',
    sql: `UPDATE placement_event SET asset_barcode = 'P-9' WHERE id = 3`,
    where: /^event 3 \(leaf 3\)$/,
    says: /differs from its leaf in assetBarcode/,
  },
  {
    what: 'a time',
    sql: 'UPDATE placement_event SET timestamp_ms = timestamp_ms + 1 WHERE id = 2',
    where: /^event 2 /,
    says: /timestamp/,
  },
  {
    what: 'an evidence hash',
    sql: `UPDATE placement_event SET evidence_hash = '${'0'.repeat(64)}' WHERE id = 4`,
    where: /^event 4 /,
    says: /evidence_hash/,
  },
  {
    what: "a leaf's bytes",
    sql: `UPDATE log_leaf SET bytes = CAST(replace(CAST(bytes AS TEXT), 'P-1', 'P-7') AS BLOB) WHERE seq = 2`,
    where: /^leaf 2$/,
    says: /do not have its hash/,
  },
  {
    what: "a leaf's hash",
    sql: 'UPDATE log_leaf SET hash = zeroblob(32) WHERE seq = 5',
    where: /^leaf 5$/,
    says: /do not have its hash/,
  },
  {
    what: 'a removed leaf',
    sql: 'PRAGMA foreign_keys = OFF; DELETE FROM log_leaf WHERE seq = 3',
    where: /^leaf 3$/,
    says: /missing/,
  },
  {
    what: 'a removed row',
    sql: 'PRAGMA foreign_keys = OFF; DELETE FROM placement_event WHERE id = 3',
    where: /^leaf 3$/,
    says: /states event 3, which is not there/,
  },
  {
    what: 'a name',
    sql: `UPDATE person SET name = 'piet' WHERE name = 'olga'`,
    where: /^event 1$/,
    says: /is linked to somebody else as its operator/,
  },
  {
    what: 'the instance of a name',
    sql: `UPDATE person SET instance = 'https://cloud.example.com' WHERE name = 'olga'`,
    where: /^event 6$/,
    says: /is linked to somebody else as its actor/,
  },
  {
    what: 'whose event it is',
    sql: `UPDATE placement_person SET actor_id = (SELECT id FROM person WHERE name = 'ada') WHERE event_id = 4`,
    where: /^event 4$/,
    says: /is linked to somebody else as its actor/,
  },
  {
    what: 'whose act an entry of the audit trail tells',
    sql: `UPDATE audit_person SET actor_id = (SELECT id FROM person WHERE name = 'olga') WHERE entry_id = 2`,
    where: /^audit entry 2$/,
    says: /is linked to somebody else as its actor/,
  },
  {
    what: 'who brought a photo',
    sql: `UPDATE person_link SET person_id = (SELECT id FROM person WHERE name = 'olga') WHERE subject = 'media'`,
    where: /^file 1$/,
    says: /is linked to somebody else as its actor/,
  },
  {
    what: 'a note',
    sql: `UPDATE opening SET value = 'note 9' WHERE value = 'note 3'`,
    where: /^opening /,
    says: /does not open/,
  },
]

for (const { what, sql, where, says } of alteredRows)
  t.test(`whatever is altered in the file is found, and where: ${what}`, async (t) => {
    const { dataDir } = await filled(t)
    const db = new BetterSqlite3(databaseFile(dataDir))
    const triggers = db
      .prepare(
        `SELECT sql FROM sqlite_master WHERE type = 'trigger' AND (name LIKE 'placement_event_no%' OR name LIKE 'log_leaf_no%')`,
      )
      .pluck()
      .all() as string[]
    db.exec(drop)
    db.exec(sql)
    // Put back, so that the alteration itself is found and not just the missing guard.
    for (const trigger of triggers) db.exec(trigger)
    db.close()
    const { ok, mismatches } = verifyLedger(dataDir)
    t.notOk(ok)
    t.ok(
      mismatches.some((m) => where.test(m.where) && says.test(m.what)),
      JSON.stringify(mismatches),
    )
    t.notOk(
      mismatches.some((m) => m.where === 'schema'),
      'the guards are whole',
    )
  })

const withoutTriggers = (sql: string, names: string) => (db: BetterSqlite3.Database) => {
  const triggers = db
    .prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE ?`)
    .all(names) as { name: string; sql: string }[]
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
  db.exec(sql)
  for (const trigger of triggers) db.exec(trigger.sql)
}
const hide = (statement: string) => (db: BetterSqlite3.Database) => {
  db.unsafeMode()
  db.pragma('writable_schema = ON')
  db.exec(statement)
  db.pragma('writable_schema = OFF')
}

const alter = (dataDir: string, steps: readonly ((db: BetterSqlite3.Database) => unknown)[]) => {
  for (const step of steps) {
    const db = new BetterSqlite3(databaseFile(dataDir))
    step(db)
    db.close()
  }
}

/** Leaves an event out of an index without changing its row. */
const hiddenRow: readonly ((db: BetterSqlite3.Database) => unknown)[] = [
  hide(`UPDATE sqlite_master SET sql = replace(sql, '''REMOVED'')', '''REMOVED'') AND id <> 3')
            WHERE name = 'placement_event_occupancy'`),
  (db) => db.exec('REINDEX placement_event_occupancy'),
  hide(`UPDATE sqlite_master SET sql = replace(sql, ' AND id <> 3', '') WHERE name = 'placement_event_occupancy'`),
]

/** Changes around the ledger, and the mismatch that each gives. */
const alterationsAround: {
  what: string
  forge: readonly ((db: BetterSqlite3.Database) => void)[]
  where: RegExp
  says: RegExp
}[] = [
  {
    what: 'a trigger that swallows events',
    forge: [(db) => db.exec('CREATE TRIGGER quiet BEFORE INSERT ON log_leaf BEGIN SELECT RAISE(IGNORE); END')],
    where: /^schema$/,
    says: /quiet is not the gateway/,
  },
  {
    what: 'a view',
    forge: [(db) => db.exec('CREATE VIEW glance AS SELECT * FROM placement_event')],
    where: /^schema$/,
    says: /glance is not the gateway/,
  },
  {
    what: 'a row that an index hides',
    forge: hiddenRow,
    where: /^file$/,
    says: /missing from index placement_event_occupancy/,
  },
  {
    what: 'swapped labels of slots',
    forge: [
      withoutTriggers(
        `UPDATE slot SET slot_id = 'T' WHERE id = 1; UPDATE slot SET slot_id = 'A' WHERE id = 2;
         UPDATE slot SET slot_id = 'B' WHERE id = 1`,
        'slot_no_%',
      ),
    ],
    where: /^slot 1$/,
    says: /is called B, and was A/,
  },
  {
    what: 'a held photo that is none',
    forge: [withoutTriggers(`UPDATE media SET kind = 'snapshot'`, 'media_%')],
    where: /^event 1$/,
    says: /its photo is held, but no such photo/,
  },
]

for (const { what, forge, where, says } of alterationsAround)
  t.test(`what is altered around the ledger is found too: ${what}`, async (t) => {
    const { dataDir } = await filled(t)
    alter(dataDir, forge)
    const { ok, mismatches } = verifyLedger(dataDir)
    t.notOk(ok)
    t.ok(
      mismatches.some((m) => where.test(m.where) && says.test(m.what)),
      JSON.stringify(mismatches),
    )
  })

t.test(
  'the file and the people of a large ledger, which a second thread checks, are checked as those of a small one',
  async (t) => {
    const { dataDir } = await filled(t)
    const grow = (db: BetterSqlite3.Database) =>
      db.exec('CREATE TABLE padding (bytes BLOB); INSERT INTO padding VALUES (zeroblob(20000000)); DROP TABLE padding')
    alter(dataDir, [grow])
    t.ok(statSync(databaseFile(dataDir)).size > 16 * 1024 * 1024)
    const nobody = { witnesses: [], authorities: [] }
    const parts: VerifyPart[] = []
    const verify = () =>
      verifyInTwoThreads(dataDir, (part) => {
        parts.push(part)
        return verifyWithOutsiders(dataDir, nobody, { part })
      })
    t.match(await verify(), { ok: true, events: 6, mismatches: { length: 0 }, truncated: false })
    const anotherName = withoutTriggers(`UPDATE person SET name = 'piet' WHERE name = 'olga'`, 'person_%')
    alter(dataDir, [...hiddenRow, anotherName])
    const { ok, mismatches } = await verify()
    t.notOk(ok)
    t.strictSame(parts, ['leaves', 'leaves'])
    t.match(mismatches, [
      { where: 'file', what: /missing from index placement_event_occupancy/ },
      { where: 'event 1', what: /is linked to somebody else as its operator/ },
    ])
  },
)

t.test('a missing guard, a missing photo and one with other bytes are told', async (t) => {
  const gateway = await filled(t)
  const db = new BetterSqlite3(databaseFile(gateway.dataDir))
  db.exec('DROP TRIGGER audit_entry_no_delete')
  const hash = db.prepare('SELECT sha256 FROM media').pluck().get() as string
  db.close()
  const photo = `${gateway.dataDir}/photos/${hash.slice(0, 2)}/${hash}.png`
  writeFileSync(photo, Buffer.concat([readFileSync(photo), Buffer.of(0)]))
  t.match(verifyLedger(gateway.dataDir).mismatches, [
    { where: 'schema', what: /audit_entry_no_delete/ },
    { where: `photo ${hash.slice(0, 16)}…`, what: /other bytes/ },
  ])
})

t.test('a detection is held to its leaf and its clip to its hash, as an event is', async (t) => {
  const gateway = await testGateway({ config: { cameras: [{ id: 7, url: 'rtsp://192.0.2.7/main' }] } })
  t.teardown(() => gateway.end())
  const { dataDir } = gateway.live.config
  await closeClip(gateway, dataDir, Buffer.from('a clip'))
  t.match(verifyLedger(dataDir), { ok: true, size: 1, events: 0, detections: 1, media: 1 })
  writeFileSync(`${dataDir}/clips/1.mp4`, 'a clap')
  t.strictSame(verifyLedger(dataDir).mismatches, [{ where: 'clip of detection 1', what: 'its file has other bytes' }])
  writeFileSync(`${dataDir}/clips/1.mp4`, 'a clip')
  const db = new BetterSqlite3(databaseFile(dataDir))
  const guard = db
    .prepare(`SELECT sql FROM sqlite_master WHERE name = 'detection_event_no_update'`)
    .pluck()
    .get() as string
  db.exec(`DROP TRIGGER detection_event_no_update; UPDATE detection_event SET cctv_id = 8; ${guard}`)
  db.close()
  t.match(verifyLedger(dataDir).mismatches, [
    { where: 'detection 1 (leaf 1)', what: /differs from its leaf in cctvId/ },
  ])
})
