import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { appendOnlyTriggers } from '../../src/database/append-only.ts'
import { databaseFile, type Head, openReader, openWriter, UnitOfWork } from '../../src/database/index.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { AppError, ExitError } from '../../src/errors/index.ts'
import { sql } from '../../src/warehouse/tables.ts'
import { needs } from '../support/needs.ts'
import { runOf } from '../support/plain-sql.ts'
import { waitUntil } from '../support/waiting.ts'

const nowMs = Date.UTC(2026, 2, 2)

type Test = { teardown(work: () => void): void }

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-db-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function open(t: Test) {
  const dataDir = folder(t)
  const writer = openWriter({ dataDir, nowMs })
  const reader = openReader(databaseFile(dataDir))
  t.teardown(() => {
    reader.close()
    writer.close()
  })
  return { dataDir, db: writer.db, close: writer.close, reader, work: new UnitOfWork({ writer: writer.db, reader }) }
}

const headOf = (save: () => number, restore: (saved: number) => void): Head => ({
  save,
  restore: (saved) => restore(saved as number),
})
const addWarehouse = (name: string) =>
  sql
    .insertInto('warehouse')
    .values({ name, timezone: 'UTC', lat: null, lng: null, created_at_ms: nowMs, updated_at_ms: nowMs })
const names = (work: UnitOfWork) =>
  work.read((tx) => tx.all(sql.selectFrom('warehouse').select('name').orderBy('id'))).map((w) => w.name)

t.test('acknowledged means on disk: the writer keeps a WAL and syncs it at every commit', async (t) => {
  const { db } = open(t)
  t.equal(db.pragma('journal_mode', { simple: true }), 'wal')
  t.equal(db.pragma('synchronous', { simple: true }), 2, 'FULL')
  t.equal(db.pragma('foreign_keys', { simple: true }), 1)
  t.equal(db.pragma('recursive_triggers', { simple: true }), 1)
})

t.test('every append-only table has its guards', async (t) => {
  const { db } = open(t)
  const tables = ['log_leaf', 'media', 'placement_event', 'audit_entry']
  const ofCounts = ['count_outcome', 'count_recount', 'count_scan', 'opening_list']
  const ofClips = ['clip_export', 'clip_export_decision', 'clip_redaction', 'clip_redaction_end']
  const guarded = db.prepare(`SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger'`).pluck().all()
  t.same(
    guarded.toSorted(),
    [
      ...tables,
      ...ofCounts,
      ...ofClips,
      'audit_digest',
      'audit_hash',
      'camera_clock',
      'camera_gap',
      'clock_state',
      'clock_step',
      'detection_event',
      'dispute_resolution',
      'incident_change',
      'log_checkpoint',
      'log_cosignature',
      'log_identity',
      'log_key',
      'log_tile',
      'log_timestamp',
      'witness_conflict',
      'witness_log',
      'media_removed',
      'report',
      'scale_reading',
      'slot',
      'unit_history',
    ].toSorted(),
  )
})

t.test('nobody changes or removes a row of an append-only table, not even with a plain connection', async (t) => {
  const { dataDir, db } = open(t)
  db.exec(`INSERT INTO audit_entry (id, timestamp_ms, action, entity) VALUES (1, 1, 'a', 'slot')`)
  db.exec(`INSERT INTO media VALUES (1, 'aa', 'photo', 'image/png', 1, 1, NULL)`)
  db.exec(`INSERT INTO log_identity (id, log_id, site_id, created_at_ms) VALUES (1, 'log-1', 'dc-7', 1)`)
  db.exec(`INSERT INTO log_leaf VALUES (1, 1, 1, 'placement', '1', x'00', zeroblob(32))`)
  db.exec(`INSERT INTO log_key VALUES (1, 'k-1', 'a', 'b', 'c', 'd', 1, 1, 1, 2, 'aa')`)
  db.exec(`INSERT INTO audit_hash VALUES (1, x'00')`)
  db.exec(`INSERT INTO audit_digest VALUES (1, 'd-1', 1, 1, 1, 'aa', 1, 1, 1, 2, 'aa')`)
  const outsider = new BetterSqlite3(databaseFile(dataDir))
  t.teardown(() => outsider.close())
  const attacks = [
    `UPDATE audit_hash SET hash = x'01'`,
    'DELETE FROM audit_hash',
    `REPLACE INTO audit_hash VALUES (1, x'01')`,
    `UPDATE audit_digest SET root = 'bb'`,
    'DELETE FROM audit_digest',
    `REPLACE INTO audit_digest VALUES (1, 'd-1', 1, 1, 1, 'bb', 1, 1, 1, 2, 'aa')`,
    `INSERT INTO audit_digest VALUES (2, 'd-2', 1, 1, 1, 'aa', 1, 1, 2, 2, 'aa')`,
    `INSERT INTO audit_digest VALUES (2, 'd-2', 3, 3, 1, 'aa', 1, 1, 2, 2, 'aa')`,
    `UPDATE audit_entry SET action = 'b'`,
    'DELETE FROM audit_entry',
    `INSERT OR REPLACE INTO audit_entry (id, timestamp_ms, action, entity) VALUES (1, 1, 'b', 'slot')`,
    `INSERT INTO audit_entry (id, timestamp_ms, action, entity) VALUES (1, 1, 'b', 'slot') ON CONFLICT (id) DO UPDATE SET action = 'b'`,
    `INSERT INTO audit_entry (id, timestamp_ms, action, entity) VALUES (-1, 1, 'b', 'slot')`,
    `INSERT INTO audit_entry (id, timestamp_ms, action, entity) VALUES (7, 1, 'b', 'slot')`,
    `INSERT INTO audit_entry (timestamp_ms, action, entity) VALUES (1, 'b', 'slot')`,
    `INSERT OR REPLACE INTO media VALUES (2, 'aa', 'photo', 'image/png', 1, 1, NULL)`,
    `UPDATE log_leaf SET bytes = x'01'`,
    `DELETE FROM log_leaf`,
    `REPLACE INTO log_leaf VALUES (1, 1, 1, 'placement', '1', x'01', zeroblob(32))`,
    `REPLACE INTO log_leaf VALUES (2, 1, 1, 'placement', '1', x'01', zeroblob(32))`,
    `REPLACE INTO log_leaf VALUES (1, 1, 2, 'placement', '1', x'01', zeroblob(32))`,
    `INSERT INTO log_leaf VALUES (2, 1, 3, 'placement', '1', x'01', zeroblob(32))`,
    `INSERT INTO log_leaf VALUES (2, 2, 1, 'placement', '1', x'01', zeroblob(32))`,
    `UPDATE log_key SET ed25519 = 'x'`,
    'DELETE FROM log_key',
    `UPDATE log_identity SET log_id = 'log-2'`,
    'DELETE FROM log_identity',
    `REPLACE INTO log_identity (id, log_id, site_id, created_at_ms) VALUES (1, 'log-2', 'dc-7', 1)`,
    `REPLACE INTO log_identity (id, log_id, site_id, created_at_ms) VALUES (2, 'log-1', 'dc-7', 1)`,
  ]
  for (const attack of attacks) t.throws(() => outsider.exec(attack), /append-only/, attack)
  t.same(outsider.prepare('SELECT action FROM audit_entry').pluck().all(), ['a'], 'nothing has changed')
  t.same(outsider.prepare('SELECT hex(bytes) FROM log_leaf').pluck().all(), ['00'])
})

t.test('an event cannot be slipped in under a leaf that another one has, or behind a later leaf', async (t) => {
  const { dataDir, db } = open(t)
  db.exec(`INSERT INTO warehouse (id, name, timezone, created_at_ms, updated_at_ms) VALUES (1, 'Hall', 'UTC', 1, 1)`)
  db.exec(`INSERT INTO slot (id, slot_id, warehouse_id, zone, floor_plan_polygon, created_at_ms, updated_at_ms)
    VALUES (1, 'A', 1, 'S', '[]', 1, 1)`)
  db.exec(`INSERT INTO log_identity (id, log_id, site_id, created_at_ms) VALUES (1, 'log-1', 'dc-7', 1)`)
  for (const seq of [1, 2, 3])
    db.exec(`INSERT INTO log_leaf VALUES (${seq}, 1, ${seq}, 'placement', '${seq}', x'00', zeroblob(32))`)
  const columns = `id, event_id, log_id, leaf_seq, leaf_version, event_type, slot_id, slot_code, asset_barcode, asset_key, operator_commitment,
    actor_commitment, timestamp_ms, received_at_ms, time_quality, warnings, evidence_hash`
  const event = (id: number, leafSeq: number, how = 'INSERT', log = 1) =>
    `${how} INTO placement_event (${columns}) VALUES (${id}, 'e${id}', ${log}, ${leafSeq}, 2, 'REMOVED', 1, 'A', 'P', 'P', 'o', 'a', 1, 1, 'synced', '[]', 'h')`
  db.exec(event(1, 2))
  const outsider = new BetterSqlite3(databaseFile(dataDir))
  t.teardown(() => outsider.close())
  for (const attack of [event(2, 2), event(2, 1), event(2, 2, 'INSERT OR REPLACE')]) {
    t.throws(() => outsider.exec(attack), /append-only: leaf_seq must be higher/, attack)
  }
  outsider.exec(event(2, 3))
  t.same(outsider.prepare('SELECT leaf_seq FROM placement_event ORDER BY id').pluck().all(), [2, 3])
  // A log that continues the first one begins at 1 again, and closes the first one.
  outsider.exec(`INSERT INTO log_identity VALUES (2, 'log-2', 'dc-7', 'log-1', 3, 1)`)
  const leaf = (row: number, log: number, seq: number) =>
    outsider.exec(`INSERT INTO log_leaf VALUES (${row}, ${log}, ${seq}, 'placement', '${row}', x'00', zeroblob(32))`)
  t.throws(() => leaf(4, 1, 4), /append-only: the newest log grows/)
  t.throws(() => leaf(4, 2, 4), /append-only: the newest log grows/)
  leaf(4, 2, 1)
  outsider.exec(event(3, 1, 'INSERT', 2))
  t.throws(() => outsider.exec(event(4, 1, 'INSERT', 2)), /append-only: leaf_seq must be higher/)
})

t.test(
  'an auditor can look into the file with the sqlite3 command, and cannot change it with that either',
  needs('sqlite3'),
  async (t) => {
    const { dataDir, db } = open(t)
    db.exec(`INSERT INTO audit_entry (id, timestamp_ms, action, entity) VALUES (1, 1, 'a', 'slot')`)
    const shell = (statement: string) => spawnSync('sqlite3', [databaseFile(dataDir), statement], { encoding: 'utf8' })
    t.match(shell('SELECT action FROM audit_entry').stdout, /^a$/m)
    t.match(shell('SELECT asset_barcode, evidence_hash FROM placement_event'), { status: 0, stderr: '' })
    t.match(shell('DELETE FROM audit_entry').stderr, /append-only/)
  },
)

t.test('somebody who looks in with sqlite3 takes nothing from under a running gateway', needs('sqlite3'), async (t) => {
  const { dataDir, work } = open(t)
  const wal = () => statSync(`${databaseFile(dataDir)}-wal`, { throwIfNoEntry: false })?.ino
  await work.write((tx) => tx.run(addWarehouse('before')))
  const inUse = wal()
  const look = () =>
    execFileSync('sqlite3', [databaseFile(dataDir), 'SELECT name FROM warehouse ORDER BY id'], { encoding: 'utf8' })
  t.equal(look(), 'before\n')
  t.equal(wal(), inUse, 'the write-ahead log is still the one in use')
  await work.write((tx) => tx.run(addWarehouse('after')))
  t.equal(look(), 'before\nafter\n', 'and what is written goes where others see it')
})

t.test(
  'uniqueness of an append-only table is its guards’ business, since REPLACE would delete through a UNIQUE index',
  async (t) => {
    const db = new BetterSqlite3(':memory:')
    db.exec('CREATE TABLE thing (id INTEGER PRIMARY KEY, code TEXT NOT NULL) STRICT')
    for (const trigger of appendOnlyTriggers('thing', 'id', [['code']])) db.exec(trigger)
    db.exec(`INSERT INTO thing VALUES (1, 'a')`)
    t.throws(() => db.exec(`INSERT OR REPLACE INTO thing VALUES (2, 'a')`), /code stands there already/)
    t.throws(() => db.exec(`INSERT INTO thing VALUES (NULL, 'b')`), /id must be the next one/)
    const unique = (migrations[0]?.statements ?? []).filter(
      (s) => /TABLE (log_leaf|media|placement_event|audit_entry) /.test(s) && /UNIQUE/.test(s),
    )
    t.same(unique, [], 'no append-only table has a UNIQUE constraint')
  },
)

t.test(
  'writes that arrive together share a commit, and one that fails takes nothing of the others with it',
  async (t) => {
    const { work } = open(t)
    let commits = 0
    work.onCommit(() => {
      commits += 1
    })
    const results = await Promise.allSettled([
      work.write((tx) => tx.run(addWarehouse('a'))),
      work.write((tx) => {
        tx.run(addWarehouse('lost'))
        throw new AppError('VALIDATION_ERROR', 'no')
      }),
      work.write((tx) => tx.run(addWarehouse('b'))),
    ])
    t.same(
      results.map((r) => r.status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    t.match(results[1], { reason: { code: 'VALIDATION_ERROR' } })
    t.same(names(work), ['a', 'b'])
    t.equal(commits, 1, 'one commit for all three')
  },
)

t.test(
  'among many clients a commit waits for requests that are being read, and a client that is alone waits for none',
  async (t) => {
    const { work } = open(t)
    let commits = 0
    work.onCommit(() => {
      commits += 1
    })
    const add = (name: string) => work.write((tx) => tx.run(addWarehouse(name)))
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
    /** The second request is read in the turn after the first, before its commit. */
    const oneAfterTheOther = async (first: string, second: string) => {
      const before = commits
      const one = add(first)
      await turn()
      await Promise.all([one, add(second)])
      return commits - before
    }
    t.equal(await oneAfterTheOther('a', 'b'), 2)
    // A slow machine may divide them: a group ends after 15 ms.
    for (let before = 0; commits !== before + 1; ) {
      before = commits
      await Promise.all(['c', 'd', 'e', 'f'].map(add))
    }
    t.equal(await oneAfterTheOther('g', 'h'), 1)
    t.equal(await oneAfterTheOther('i', 'j'), 2, 'the group before had two members')
    t.equal(names(work).length, 10)
  },
)

t.test('values in memory follow the commits: a failed member is put back, the others stay', async (t) => {
  const { work } = open(t)
  let size = 0
  work.follow(
    headOf(
      () => size,
      (saved) => {
        size = saved
      },
    ),
  )
  const grow = (fail: boolean) =>
    work.write((tx) => {
      size += 1
      tx.run(addWarehouse(`w${size}`))
      if (fail) throw new Error('no')
      return size
    })
  const grown = await Promise.allSettled([grow(false), grow(true), grow(false)])
  t.match(grown, [{ value: 1 }, { status: 'rejected' }, { value: 2 }])
  t.equal(size, 2)
  t.same(names(work), ['w1', 'w2'])
})

/** Adds a warehouse under the next number of a head in memory, and counts its runs. */
function growing(t: Test) {
  const { work, db } = open(t)
  let size = 0
  work.follow(
    headOf(
      () => size,
      (saved) => {
        size = saved
      },
    ),
  )
  const runs: string[] = []
  const grow = (name: string, how: 'write' | 'writeRepeatable', fails = false) =>
    work[how]((tx) => {
      runs.push(name)
      size += 1
      tx.run(addWarehouse(`${name}${size}`))
      if (fails) throw new AppError('CONSTRAINT_VIOLATED', name)
      return size
    })
  return { work, db, grow, runs, sizeNow: () => size }
}

t.test('of writes that may run again one is refused: the others are stored once, in their order', async (t) => {
  const { work, grow, runs, sizeNow } = growing(t)
  const many = (fails: string) =>
    Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => grow(name, 'writeRepeatable', name === fails)))
  t.match(await many('c'), [{ value: 1 }, { value: 2 }, { reason: { code: 'CONSTRAINT_VIOLATED' } }, { value: 3 }])
  t.strictSame(runs, ['a', 'b', 'c', 'a', 'b', 'c', 'd'], 'the group runs again, as a whole')
  t.equal(sizeNow(), 3)
  t.same(names(work), ['a1', 'b2', 'd3'])
  runs.length = 0
  t.match(await many('b'), [{ value: 4 }, { status: 'rejected' }, { value: 5 }, { value: 6 }])
  t.strictSame(runs, ['a', 'b', 'c', 'd'], 'refusals that follow one another cost one group a second run')
  t.same(names(work).slice(3), ['a4', 'c5', 'd6'])
})

t.test('what must run once runs once, whatever fails before and behind it in its group', async (t) => {
  const { work, grow, runs, sizeNow } = growing(t)
  const done = await Promise.allSettled([
    grow('a', 'writeRepeatable'),
    grow('once', 'write'),
    grow('b', 'writeRepeatable', true),
    grow('c', 'writeRepeatable'),
  ])
  t.match(done, [{ value: 1 }, { value: 2 }, { status: 'rejected' }, { value: 3 }])
  t.strictSame(runs, ['a', 'once', 'b', 'c'])
  runs.length = 0
  const before = await Promise.allSettled([grow('d', 'writeRepeatable', true), grow('once', 'write')])
  t.match(before, [{ status: 'rejected' }, { value: 4 }])
  t.equal(runs.filter((name) => name === 'once').length, 1)
  t.equal(sizeNow(), 4)
  t.same(names(work), ['a1', 'once2', 'c3', 'once4'])
})

t.test('writes that may run again are all taken back by a full disk, and by a stop they are stored', async (t) => {
  const { work, db, grow, sizeNow } = growing(t)
  db.pragma(`max_page_count = ${(db.pragma('page_count', { simple: true }) as number) + 4}`)
  const long = 'x'.repeat(40_000)
  const full = await Promise.allSettled([grow('a', 'writeRepeatable'), grow(long, 'writeRepeatable')])
  t.ok(full.some((one) => one.status === 'rejected' && one.reason.code === 'STORAGE_FULL'))
  db.pragma('max_page_count = 1000000')
  t.equal(names(work).length, sizeNow())
  const stopped = Promise.allSettled([grow('b', 'writeRepeatable', true), grow('c', 'writeRepeatable')])
  work.close()
  t.match(await stopped, [{ reason: { code: 'CONSTRAINT_VIOLATED' } }, { status: 'fulfilled' }])
})

t.test(
  'a write that is alone in its commit leaves nothing behind when it fails, and the next one is stored',
  async (t) => {
    const { work } = open(t)
    let size = 0
    work.follow(
      headOf(
        () => size,
        (saved) => {
          size = saved
        },
      ),
    )
    const grow = (fail: boolean) =>
      work.write((tx) => {
        size += 1
        tx.run(addWarehouse(`w${size}`))
        if (fail) throw new Error('no')
        return size
      })
    await t.rejects(grow(true), /^no$/)
    t.equal(size, 0)
    t.same(names(work), [])
    t.equal(await grow(false), 1)
    t.same(names(work), ['w1'])
  },
)

t.test(
  'a full disk is told as such, nothing of the group stays, and writing goes on once there is space',
  async (t) => {
    const { work, db } = open(t)
    let size = 0
    work.follow(
      headOf(
        () => size,
        (saved) => {
          size = saved
        },
      ),
    )
    const big = (name: string) =>
      work.write((tx) => {
        size += 1
        return tx.run(addWarehouse(name.padEnd(40_000, 'x')))
      })
    db.pragma(`max_page_count = ${(db.pragma('page_count', { simple: true }) as number) + 8}`)
    const results = await Promise.allSettled([big('a'), big('b')])
    t.match(results, [{ reason: { code: 'STORAGE_FULL', status: 503 } }, { reason: { code: 'STORAGE_FULL' } }])
    t.equal(size, 0, 'the head in memory is back')
    t.same(names(work), [], 'reads go on, and nothing was stored')
    t.match(work.diskFault, { code: 'STORAGE_FULL', details: 'SQLITE_FULL' })
    await work.write((tx) => runOf(tx, 'DELETE FROM warehouse'))
    t.ok(work.diskFault, 'a commit that changed nothing says nothing about the disk')
    db.pragma('max_page_count = 1000000')
    await big('c')
    t.equal(names(work).length, 1)
    t.equal(work.diskFault, undefined)
  },
)

t.test('a read inside a read sees what the outer one sees', async (t) => {
  const { work, db } = open(t)
  await work.write((tx) => tx.run(addWarehouse('first')))
  const seen = work.read(() => {
    const before = names(work)
    db.exec(`INSERT INTO warehouse (name, timezone, created_at_ms, updated_at_ms) VALUES ('second', 'UTC', 1, 1)`)
    return [before, names(work)]
  })
  t.strictSame(seen, [['first'], ['first']], 'one snapshot for both')
  t.same(names(work), ['first', 'second'], 'and the next read sees what was committed meanwhile')
})

t.test('a slot keeps its number and its label for ever: the ledger shows them', async (t) => {
  const { dataDir, db } = open(t)
  db.exec(`INSERT INTO warehouse (id, name, timezone, created_at_ms, updated_at_ms) VALUES (1, 'W', 'UTC', 1, 1);
    INSERT INTO slot (slot_id, warehouse_id, zone, floor_plan_polygon, created_at_ms, updated_at_ms) VALUES ('A', 1, 'S', '[]', 1, 1)`)
  const outsider = new BetterSqlite3(databaseFile(dataDir))
  t.teardown(() => outsider.close())
  const columns = 'warehouse_id, zone, floor_plan_polygon, created_at_ms, updated_at_ms'
  for (const attack of [
    `UPDATE slot SET slot_id = 'B'`,
    'UPDATE slot SET id = 2',
    'DELETE FROM slot',
    `INSERT OR REPLACE INTO slot (id, slot_id, ${columns}) VALUES (1, 'B', 1, 'S', '[]', 1, 1)`,
    `INSERT OR REPLACE INTO slot (id, slot_id, ${columns}) VALUES (2, 'A', 1, 'S', '[]', 1, 1)`,
  ]) {
    t.throws(() => outsider.exec(attack), /keeps its id and its label/, attack)
  }
  outsider.exec(`UPDATE slot SET zone = 'T', slot_id = slot_id`)
  t.same(outsider.prepare('SELECT id, slot_id, zone FROM slot').all(), [{ id: 1, slot_id: 'A', zone: 'T' }])
})

/** Starts another program that holds the write lock until `release`. */
async function lockedByAnother(dataDir: string): Promise<{ release: () => Promise<void> }> {
  const other = spawn('sqlite3', [databaseFile(dataDir)], { stdio: ['pipe', 'pipe', 'inherit'] })
  other.stdin.write(`BEGIN IMMEDIATE;\nSELECT 'locked';\n`)
  await new Promise((resolve) => other.stdout.once('data', resolve))
  return {
    release: () =>
      new Promise((resolve) => {
        other.once('close', () => resolve())
        other.stdin.end('COMMIT;\n')
      }),
  }
}

t.test(
  'while another program holds the write lock, reading goes on, and what waits is written afterwards',
  needs('sqlite3'),
  async (t) => {
    const { dataDir, work } = open(t)
    await work.write((tx) => tx.run(addWarehouse('before')))
    const other = await lockedByAnother(dataDir)
    let longestMs = 0
    let lastMs = performance.now()
    let looks = 0
    const watch = setInterval(() => {
      looks += 1
      longestMs = Math.max(longestMs, performance.now() - lastMs)
      lastMs = performance.now()
      t.same(names(work), ['before'])
    }, 10)
    const written = Promise.all(['a', 'b'].map((name) => work.write((tx) => tx.run(addWarehouse(name)))))
    await waitUntil('the rows are read fifty times', () => looks >= 50)
    clearInterval(watch)
    t.ok(longestMs < 500, `nothing waited longer than ${Math.round(longestMs)} ms`)
    await other.release()
    await written
    t.same(names(work), ['before', 'a', 'b'])
  },
)

t.test(
  'a write that cannot get past another program’s lock is refused for now, and later ones succeed',
  needs('sqlite3'),
  async (t) => {
    const { dataDir, db, reader } = open(t)
    const work = new UnitOfWork({ writer: db, reader, lockPatienceMs: 100 })
    const other = await lockedByAnother(dataDir)
    await t.rejects(
      work.write((tx) => tx.run(addWarehouse('a'))),
      { code: 'NOT_READY', status: 503, retryAfterSeconds: Number },
    )
    await other.release()
    await work.write((tx) => tx.run(addWarehouse('b')))
    t.same(names(work), ['b'])
  },
)

t.test('a query that is executed instead of handed to a transaction fails loudly', async (t) => {
  await t.rejects(sql.selectFrom('warehouse').selectAll().execute(), /through a transaction/)
})

t.test('a reader cannot write', async (t) => {
  const { reader } = open(t)
  t.throws(
    () => reader.exec(`INSERT INTO local_account VALUES ('a', 'admin', 'h', 1)`),
    /readonly|read-only|not authorized|query_only/i,
  )
})

const writeFile = (dataDir: string, bytes: Buffer | string) => writeFileSync(databaseFile(dataDir), bytes)

/** Files that are not our database, or not whole, and the error that the admin reads. */
const unfitFiles: { what: string; make: (dataDir: string) => void; says: RegExp }[] = [
  {
    what: 'a text file',
    make: (d) => writeFile(d, 'hello, this is no database at all'),
    says: /not an SQLite database/,
  },
  {
    what: "another program's database",
    make: (d) => {
      const other = new BetterSqlite3(databaseFile(d))
      other.exec('CREATE TABLE song (id INTEGER)')
      other.close()
    },
    says: /another program/,
  },
  {
    what: 'a file with a damaged page',
    make: (d) => {
      openWriter({ dataDir: d, nowMs }).close()
      const fd = openSync(databaseFile(d), 'r+')
      for (let page = 4; page < 30; page += 1) writeSync(fd, Buffer.alloc(2000, 0xa5), 0, 2000, page * 4096)
    },
    says: /damaged|malformed/,
  },
  {
    what: 'a file whose guards were dropped',
    make: (d) => {
      const { db, close } = openWriter({ dataDir: d, nowMs })
      db.exec('DROP TRIGGER placement_event_no_delete')
      close()
    },
    says: /guards \(placement_event_no_delete\)/,
  },
  {
    what: 'a file with a trigger of somebody else, that swallows what is written',
    make: (d) => {
      const { db, close } = openWriter({ dataDir: d, nowMs })
      db.exec('CREATE TRIGGER quiet BEFORE INSERT ON placement_event BEGIN SELECT RAISE(IGNORE); END')
      close()
    },
    says: /of somebody else \(quiet\)/,
  },
  {
    what: 'a file with a view and an index of somebody else',
    make: (d) => {
      const { db, close } = openWriter({ dataDir: d, nowMs })
      db.exec('CREATE VIEW glance AS SELECT id FROM placement_event; CREATE INDEX mine ON asset (type)')
      close()
    },
    says: /of somebody else \((glance, mine|mine, glance)\)/,
  },
  {
    what: 'a file with an index that leaves out a row',
    make: (d) => {
      const { db, close } = openWriter({ dataDir: d, nowMs })
      db.exec(`DROP INDEX placement_event_history;
        CREATE INDEX placement_event_history ON placement_event (timestamp_ms, id) WHERE id <> 3`)
      close()
    },
    says: /guards \(placement_event_history\)/,
  },
  {
    what: 'a file of a version that this one cannot read',
    make: (d) => {
      const { db, close } = openWriter({ dataDir: d, nowMs })
      db.exec(`INSERT INTO schema_migration VALUES (99, 'later', 50, 1)`)
      db.pragma('user_version = 99')
      close()
    },
    says: /schema 99.*at least schema 50/,
  },
  {
    what: 'a folder where the file should be',
    make: (d) => execFileSync('mkdir', [databaseFile(d)]),
    says: /not a file|directory/,
  },
]

for (const { what, make, says } of unfitFiles)
  t.test(`what is not our database, or not whole, is refused with a sentence for the admin: ${what}`, async (t) => {
    const dataDir = folder(t)
    make(dataDir)
    t.throws(() => openWriter({ dataDir, nowMs }), says)
    try {
      openWriter({ dataDir, nowMs })
    } catch (error) {
      t.type(error, ExitError, 'as a failure of the command')
    }
  })

t.test('a newer file that names this version as still able to read is opened', async (t) => {
  const dataDir = folder(t)
  const { db, close } = openWriter({ dataDir, nowMs })
  db.exec(
    'CREATE TABLE later_thing (id INTEGER PRIMARY KEY, name TEXT) STRICT; CREATE INDEX later ON later_thing (name)',
  )
  db.exec(`INSERT INTO schema_migration VALUES (99, 'later', 1, 1)`)
  db.pragma('user_version = 99')
  close()
  const again = openWriter({ dataDir, nowMs })
  t.equal(again.db.pragma('user_version', { simple: true }), 99, 'and is not migrated')
  again.close()
})

t.test('a second gatehouse on the same folder is refused, also through another path', async (t) => {
  const { dataDir } = open(t)
  t.throws(() => openWriter({ dataDir, nowMs }), /another gatehouse/)
  t.throws(
    () => openWriter({ dataDir: join(dataDir, '..', dataDir.split('/').at(-1) ?? ''), nowMs }),
    /another gatehouse/,
  )
})

t.test('a folder that cannot be made is refused', async (t) => {
  const dataDir = folder(t)
  writeFileSync(join(dataDir, 'file'), '')
  chmodSync(join(dataDir, 'file'), 0o600)
  t.throws(() => openWriter({ dataDir: join(dataDir, 'file', 'state'), nowMs }), /cannot be written/)
})
