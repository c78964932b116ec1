import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { entriesOf, hashAnew, hashOfEntry, rootOver, withoutGuards } from '../support/audit-hashes.ts'
import { furnish, heldPhoto, people, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const minuteMs = 60_000

type Test = { teardown(end: () => unknown): void }

/** A gateway whose trail has `entries` entries: the acts of a first day, and then reloads of the config. */
async function gatewayWith(t: Test, entries: number): Promise<TestGateway & { dataDir: string }> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const photo_url = await heldPhoto(gateway)
  const body = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url }
  await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  while (count(gateway) < entries) await gateway.audit('config.reloaded', { live: ['ledger'] })
  return { ...gateway, dataDir: gateway.live.config.dataDir }
}

function inFile<T>({ live }: TestGateway, look: (db: Database) => T): T {
  const db = new BetterSqlite3(databaseFile(live.config.dataDir))
  try {
    return look(db)
  } finally {
    db.close()
  }
}

const count = (gateway: TestGateway) =>
  inFile(gateway, (db) => db.prepare('SELECT max(id) FROM audit_entry').pluck().get() as number)

const digests = (gateway: TestGateway) =>
  inFile(gateway, (db) =>
    db.prepare(`SELECT bytes FROM log_leaf WHERE kind = 'audit-digest' ORDER BY seq`).pluck().all(),
  ).map((bytes) => JSON.parse(String(bytes)) as Record<string, unknown>)

t.test('a hundred entries of the audit trail become one leaf, made of nothing but their stored columns', async (t) => {
  const gateway = await gatewayWith(t, 99)
  gateway.auditDigests.start()
  t.teardown(() => gateway.auditDigests.stop())
  await gateway.auditDigests.look()
  t.strictSame(digests(gateway), [], 'not yet')
  await gateway.audit('config.reloaded', { live: [] })
  gateway.clock.advance(1000)
  await gateway.auditDigests.look()
  const root = inFile(gateway, (db) => rootOver(entriesOf(db, 1, 100).map(hashOfEntry))).toString('hex')
  const [leaf, ...more] = digests(gateway)
  const { logId: _, eventId, ...facts } = leaf ?? {}
  t.strictSame(facts, {
    v: 2,
    kind: 'audit-digest',
    siteId: 'test-site',
    seq: 2,
    id: 1,
    from: 1,
    to: 100,
    count: 100,
    root,
    madeAt: new Date(gateway.clock.now()).toISOString(),
  })
  t.match(eventId, /^[0-9a-f-]{36}$/)
  t.strictSame(more, [])
  const { ok, auditTrail } = verifyLedger(gateway.live.config.dataDir)
  t.strictSame({ ok, auditTrail }, { ok: true, auditTrail: { entries: 100, digests: 1, coveredTo: 100 } })
})

t.test('fewer entries wait an hour, over a restart too, and no longer when the clock is set back', async (t) => {
  const first = await gatewayWith(t, 20)
  first.auditDigests.start()
  first.clock.advance(40 * minuteMs)
  await first.auditDigests.stop()
  const second = await first.restart()
  t.teardown(() => second.close())
  second.auditDigests.start()
  second.clock.advance(19 * minuteMs)
  await second.auditDigests.look()
  t.strictSame(digests(second), [])
  second.clock.advance(minuteMs)
  await second.auditDigests.look()
  t.match(digests(second), [{ from: 1, to: 20, count: 20 }])
  await second.audit('config.reloaded', {})
  second.clock.advance(1000)
  await second.auditDigests.look()
  second.clock.setWall(second.clock.now() - 24 * 60 * minuteMs)
  for (let minute = 0; minute < 61; minute += 1) {
    second.clock.advance(minuteMs)
    await second.auditDigests.look()
  }
  t.match(digests(second), [{ to: 20 }, { from: 21, to: 21, count: 1 }])
  await second.auditDigests.stop()
  t.ok(verifyLedger(second.live.config.dataDir).ok)
})

t.test('entries from before digests are stated first, in order, a few at a time beside other work', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-old-trail-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(new URL('../fixtures/db/v1/', import.meta.url), join(folder, 'state'), { recursive: true })
  const config = { site: { id: 'dc-7', url: siteUrl } }
  const clock = new SimulatedClock(Date.UTC(2026, 5, 1))
  const before = await testGateway({ folder, clock, config })
  before.close()
  inFile(before, (db) => {
    const old = db.prepare('INSERT INTO audit_entry (id, timestamp_ms, action, entity) VALUES (?, 1, ?, ?)')
    const last = db.prepare('SELECT max(id) FROM audit_entry').pluck().get() as number
    for (let id = last + 1; id <= 950; id += 1) old.run(id, 'slot.updated', 'slot')
  })
  const gateway = await testGateway({ folder, clock, config })
  t.teardown(() => gateway.close())
  await gateway.audit('config.reloaded', {})
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, auditTrail: { entries: 951, coveredTo: 0 } })
  const order: string[] = []
  const others = (async () => {
    for (let n = 0; n < 3; n += 1) {
      await gateway.audit('config.reloaded', {})
      order.push('another write')
    }
  })()
  await Promise.all([gateway.auditDigests.look().then(() => order.push('digested')), others])
  t.strictSame(order, ['another write', 'another write', 'another write', 'digested'])
  const spans = digests(gateway).map(({ from, to }) => [from, to])
  t.strictSame(spans.slice(0, 2).concat(spans.slice(-2)), [
    [1, 100],
    [101, 200],
    [801, 900],
    [901, 954],
  ])
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, auditTrail: { entries: 954, coveredTo: 954 } })
})

t.test('erasing a person changes no digest', async (t) => {
  const gateway = await gatewayWith(t, 100)
  await gateway.auditDigests.look()
  const before = digests(gateway)
  await gateway.erasePerson({ name: 'olga', texts: true }, 'root')
  t.match(verifyLedger(gateway.dataDir), { ok: true, auditTrail: { coveredTo: 100 } })
  t.strictSame(digests(gateway), before)
})

/** A trail of 210 entries, of which digests cover 200. Made once; each test changes a copy. */
let original = ''
t.before(async () => {
  original = mkdtempSync(join(tmpdir(), 'gatehouse-trail-'))
  t.teardown(() => rmSync(original, { recursive: true, force: true }))
  const gateway = await gatewayWith({ teardown: (end) => t.teardown(end) }, 210)
  await gateway.auditDigests.look()
  gateway.close()
  cpSync(gateway.dataDir, original, { recursive: true })
})

function verifiedAfter(t: Test, change: (db: Database) => void) {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-forged-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  cpSync(original, dataDir, { recursive: true })
  const db = new BetterSqlite3(databaseFile(dataDir))
  withoutGuards(db, () => change(db))
  db.close()
  return verifyLedger(dataDir)
}

const changed = 'was changed: the log covers another hash'
const root = 'do not have the root in the log: at least one was changed, removed, added or exchanged, with its hash'
const without = 'does not have its hash, and no digest covers it: one of the two was changed'
const edit = (id: number) => `UPDATE audit_entry SET action = 'nothing.happened' WHERE id = ${id}`
const exchange = `UPDATE audit_entry SET id = -1 WHERE id = 41; UPDATE audit_entry SET id = 41 WHERE id = 42;
  UPDATE audit_entry SET id = 42 WHERE id = -1`
const shift = `UPDATE audit_entry SET id = -id - 1 WHERE id > 41; UPDATE audit_entry SET id = -id WHERE id < 0`
const close = `UPDATE audit_entry SET id = -id + 1 WHERE id > 41; UPDATE audit_entry SET id = -id WHERE id < 0`

const forgeries: { what: string; change: (db: Database) => void; found: { where: string; what: string }[] }[] = [
  {
    what: 'a changed entry',
    change: (db) => db.exec(edit(41)),
    found: [{ where: 'audit entry 41', what: changed }],
  },
  {
    what: 'a changed entry with its hash',
    change: (db) => {
      db.exec(edit(141))
      hashAnew(db, 141, 141)
    },
    found: [{ where: 'audit entries 101-200', what: root }],
  },
  {
    what: 'a changed hash',
    change: (db) => db.exec('UPDATE audit_hash SET hash = zeroblob(32) WHERE entry_id = 41'),
    found: [{ where: 'hash of audit entry 41', what: 'was changed; the entry is what the log covers' }],
  },
  {
    what: 'a hash that became longer and one that became shorter, so that the bytes of all are as many as before',
    change: (db) => {
      db.exec('UPDATE audit_hash SET hash = zeroblob(33) WHERE entry_id = 41')
      db.exec('UPDATE audit_hash SET hash = zeroblob(31) WHERE entry_id = 42')
    },
    found: [41, 42].map((id) => ({
      where: `hash of audit entry ${id}`,
      what: 'was changed; the entry is what the log covers',
    })),
  },
  {
    what: 'hashes that became one byte each',
    change: (db) => db.exec(`UPDATE audit_hash SET hash = x'00' WHERE entry_id BETWEEN 101 AND 200`),
    found: Array.from({ length: 100 }, (_, i) => ({
      where: `hash of audit entry ${101 + i}`,
      what: 'was changed; the entry is what the log covers',
    })),
  },
  {
    what: 'a removed hash',
    change: (db) => db.exec('DELETE FROM audit_hash WHERE entry_id IN (41, 205)'),
    found: [
      { where: 'audit entry 41', what: 'its hash is missing' },
      { where: 'audit entry 205', what: 'its hash is missing' },
    ],
  },
  {
    what: 'a removed entry',
    change: (db) => db.exec('DELETE FROM audit_entry WHERE id = 41'),
    found: [
      { where: 'audit_hash 41', what: 'refers to a row that is not there' },
      { where: 'audit entry 41', what: 'is missing' },
    ],
  },
  {
    what: 'a removed entry with its hash',
    change: (db) => db.exec('DELETE FROM audit_entry WHERE id = 41; DELETE FROM audit_hash WHERE entry_id = 41'),
    found: [
      { where: 'audit entry 41', what: 'is missing' },
      { where: 'audit entries 1-100', what: root },
    ],
  },
  {
    what: 'two entries exchanged',
    change: (db) => db.exec(exchange),
    found: [
      { where: 'audit entry 41', what: changed },
      { where: 'audit entry 42', what: changed },
    ],
  },
  {
    what: 'two entries exchanged with their hashes',
    change: (db) => {
      db.exec(exchange)
      hashAnew(db, 41, 42)
    },
    found: [{ where: 'audit entries 1-100', what: root }],
  },
  {
    what: 'an entry slipped in between, all others renumbered with their hashes',
    change: (db) => {
      db.exec(`${shift}; INSERT INTO audit_entry SELECT 42, timestamp_ms, operator_commitment, actor_commitment, action, entity,
        entity_id, changes, request_id, address, auth_mode, log_id FROM audit_entry WHERE id = 41`)
      hashAnew(db, 41, 211)
    },
    found: [
      { where: 'audit entries 1-100', what: root },
      { where: 'audit entries 101-200', what: root },
    ],
  },
  {
    what: 'an entry taken out, all others renumbered with their hashes',
    change: (db) => {
      db.exec(`DELETE FROM audit_entry WHERE id = 41; ${close}`)
      hashAnew(db, 41, 210)
    },
    found: [
      { where: 'audit entries 1-100', what: root },
      { where: 'audit entries 101-200', what: root },
    ],
  },
  {
    what: 'the entries of a digest cut off with all behind them',
    change: (db) => db.exec('DELETE FROM audit_entry WHERE id > 190; DELETE FROM audit_hash WHERE entry_id > 190'),
    found: [
      { where: 'audit entries 191-200', what: 'are missing' },
      { where: 'audit entries 101-200', what: root },
    ],
  },
  {
    what: 'a changed entry that no digest covers yet',
    change: (db) => db.exec(edit(205)),
    found: [{ where: 'audit entry 205', what: without }],
  },
  {
    what: 'the row of a digest',
    change: (db) => db.exec(`UPDATE audit_digest SET root = '00' WHERE id = 2`),
    found: [{ where: 'audit digest 2 (leaf 3)', what: 'the row differs from its leaf in root' }],
  },
  {
    what: 'a digest removed with its leaf',
    change: (db) => db.exec('DELETE FROM audit_digest WHERE id = 1; DELETE FROM log_leaf WHERE seq = 2'),
    found: [
      { where: 'leaf 2', what: 'is missing up to 2' },
      { where: 'digest of audit entries 101-200', what: 'does not go on from audit entry 1' },
    ],
  },
]

for (const { what, change, found } of forgeries)
  t.test(`a forged audit trail is found, and where: ${what}`, async (t) => {
    t.strictSame(verifiedAfter(t, change).mismatches, found)
  })

t.test('entries that no leaf covers yet are not missed when they are changed with their hashes', async (t) => {
  const change = (db: Database) => {
    db.exec(edit(205))
    hashAnew(db, 205, 205)
  }
  t.strictSame(verifiedAfter(t, change).mismatches, [])
})

t.test('a change of any column of an entry is found', async (t) => {
  const columns = inOriginal((db) => db.prepare(`SELECT name, type FROM pragma_table_info('audit_entry')`).all())
  t.ok(columns.length >= 12)
  for (const { name, type } of columns as { name: string; type: string }[]) {
    if (name === 'id') continue
    const other = type === 'INTEGER' ? `coalesce(${name}, 0) + 1` : `coalesce(${name}, '') || 'x'`
    const { mismatches } = verifiedAfter(t, (db) => db.exec(`UPDATE audit_entry SET ${name} = ${other} WHERE id = 150`))
    t.ok(
      mismatches.some(({ where, what }) => where === 'audit entry 150' && what === changed),
      name,
    )
  }
})

t.test('entries of events that are cut off behind the newest digest are missed by their events', async (t) => {
  const cut = 'DELETE FROM audit_digest; DELETE FROM audit_hash; DELETE FROM audit_entry'
  const { mismatches } = verifiedAfter(t, (db) => db.exec(`${cut}; DELETE FROM log_leaf WHERE kind = 'audit-digest'`))
  t.strictSame(mismatches, [{ where: 'audit trail', what: '1 events without an entry' }])
})

function inOriginal<T>(look: (db: Database) => T): T {
  const db = new BetterSqlite3(databaseFile(original), { readonly: true })
  try {
    return look(db)
  } finally {
    db.close()
  }
}
