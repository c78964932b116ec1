/**
 * Tries to change the past with write access to the database file, but without gatehouse:
 *
 *   node tampering.ts DATABASE
 *
 * It uses a separate plain connection and, where it is installed, the sqlite3 command. Prints the outcome as JSON.
 * A successful change stays in the file.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import BetterSqlite3, { type Database } from 'better-sqlite3'

type Attempt = { readonly table: string; readonly what: string; readonly sql: string }

export type Tried = {
  /** better-sqlite3, sqlite3 3.40.1 */
  readonly by: string
  /** PRAGMA recursive_triggers of that connection: with 0, REPLACE deletes rows without the DELETE trigger. */
  readonly recursiveTriggers: number
  /** Rows that the same connection could change in a table that may change (rolled back): it really can write. */
  readonly writableElsewhere: number
  readonly attempts: readonly { readonly table: string; readonly what: string; readonly refusal: string | null }[]
}

export type Tampering = {
  readonly tried: readonly Tried[]
  /** Why the sqlite3 command was left out; null when it was not. */
  readonly leftOut: string | null
  /** SHA-256 over all rows that were there at first, by table; an empty table has none. */
  readonly before: Readonly<Record<string, string>>
  readonly after: Readonly<Record<string, string>>
  /**
   * Whether the write-ahead log is still the same file. SQLite removes it when the last connection closes. If
   * others could not see the gateway's connection, the gateway would lose its later writes at its end.
   */
  readonly walStayed: boolean
}

/** Each with its key, and a column of which every row could tell another story. Empty ones are passed over. */
const tables = [
  { table: 'placement_event', key: 'id', column: 'asset_barcode', value: `'FORGED'` },
  { table: 'log_leaf', key: 'row', column: 'bytes', value: `x'7b7d'` },
  { table: 'detection_event', key: 'row', column: 'clip_sha256', value: `'FORGED'` },
  { table: 'audit_entry', key: 'id', column: 'action', value: `'nothing.happened'` },
] as const

const busyMs = 10_000
/** STRICT tables are known from here on. */
const oldestSqlite = [3, 37] as const
const harmless = 'BEGIN IMMEDIATE; UPDATE zone SET color = color; SELECT changes(); ROLLBACK;'

if (import.meta.main) process.stdout.write(`${JSON.stringify(tamper(process.argv[2] ?? ''))}\n`)

function tamper(file: string): Tampering {
  const walBefore = walOf(file)
  const { ends, before, attempts, byLibrary } = withConnection(file, (db) => {
    const filled = endsOf(db)
    const list = attemptsOn(db, filled)
    return { ends: filled, attempts: list, before: contents(db, filled), byLibrary: tryWithLibrary(db, list) }
  })
  // Without a connection of ours beside it: only the gateway's own locks then tell SQLite that the file is in use.
  const command = sqliteCommand()
  const byCommand = 'version' in command ? [tryWithCommand(file, command.version, attempts)] : []
  return {
    tried: [byLibrary, ...byCommand],
    leftOut: 'leftOut' in command ? command.leftOut : null,
    before,
    after: withConnection(file, (db) => contents(db, ends)),
    walStayed: walBefore !== undefined && walOf(file) === walBefore,
  }
}

function withConnection<T>(file: string, work: (db: Database) => T): T {
  const db = new BetterSqlite3(file, { fileMustExist: true, timeout: busyMs })
  try {
    // Their checks would only be in the way of the attempts.
    db.pragma('foreign_keys = OFF')
    return work(db)
  } finally {
    db.close()
  }
}

type End = (typeof tables)[number] & { readonly last: number }

/** The tables that are not empty, each with its last key. */
function endsOf(db: Database): End[] {
  return tables.flatMap((one) => {
    const last = db.prepare(`SELECT max(${one.key}) FROM ${one.table}`).pluck().get() as number | null
    return last === null ? [] : [{ ...one, last }]
  })
}

/** Which file the write-ahead log is; undefined when there is none. */
function walOf(file: string): number | undefined {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.ino
}

function attemptsOn(db: Database, ends: readonly End[]): Attempt[] {
  const onEach = ends.flatMap(({ table, key, column, value }) => {
    const columns = columnsOf(db, table)
    const first = `${key} = (SELECT min(${key}) FROM ${table})`
    const forged = columns.map((name) => (name === column ? value : name)).join(', ')
    const again = `INTO ${table} (${columns.join(', ')}) SELECT ${forged} FROM ${table} WHERE ${first}`
    return [
      { table, what: 'UPDATE', sql: `UPDATE ${table} SET ${column} = ${value} WHERE ${first}` },
      { table, what: 'UPDATE of all', sql: `UPDATE ${table} SET ${column} = ${value}` },
      { table, what: 'DELETE', sql: `DELETE FROM ${table} WHERE ${first}` },
      {
        table,
        what: 'DELETE of the newest',
        sql: `DELETE FROM ${table} WHERE ${key} = (SELECT max(${key}) FROM ${table})`,
      },
      { table, what: 'INSERT OR REPLACE', sql: `INSERT OR REPLACE ${again}` },
      { table, what: 'upsert', sql: `INSERT ${again} ON CONFLICT DO UPDATE SET ${column} = excluded.${column}` },
    ]
  })
  return [...onEach, replacing(db, 'event_id'), replacing(db, 'leaf_seq')]
}

/** A row with the next id, as an honest one has, that collides with the first event in another column only. */
function replacing(db: Database, collides: 'event_id' | 'leaf_seq'): Attempt {
  const instead: Record<string, string> = {
    id: '(SELECT max(id) + 1 FROM placement_event)',
    event_id: `'another'`,
    leaf_seq: '(SELECT max(seq) + 1 FROM log_leaf WHERE log_id = 1)',
    asset_barcode: `'FORGED'`,
  }
  const columns = columnsOf(db, 'placement_event')
  const values = columns.map((name) => (name === collides ? name : (instead[name] ?? name))).join(', ')
  const sql = `INSERT OR REPLACE INTO placement_event (${columns.join(', ')}) SELECT ${values} FROM placement_event WHERE id = 1`
  return { table: 'placement_event', what: `INSERT OR REPLACE through ${collides}, with the next id`, sql }
}

function columnsOf(db: Database, table: string): string[] {
  return (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name)
}

function tryWithLibrary(db: Database, attempts: readonly Attempt[]): Tried {
  const refusalOf = (sql: string) => {
    try {
      db.exec(sql)
      return null
    } catch (error) {
      return (error as Error).message
    }
  }
  db.exec('BEGIN IMMEDIATE')
  const writableElsewhere = db.prepare('UPDATE zone SET color = color').run().changes
  db.exec('ROLLBACK')
  return {
    by: 'better-sqlite3',
    recursiveTriggers: db.pragma('recursive_triggers', { simple: true }) as number,
    writableElsewhere,
    attempts: attempts.map(({ table, what, sql }) => ({ table, what, refusal: refusalOf(sql) })),
  }
}

function tryWithCommand(file: string, version: string, attempts: readonly Attempt[]): Tried {
  const refusalOf = (sql: string) => {
    const { code, stderr } = sqlite(file, `${sql};`)
    return code === 0 ? null : stderr.trim()
  }
  return {
    by: `sqlite3 ${version}`,
    recursiveTriggers: Number(sqlite(file, 'PRAGMA recursive_triggers;').stdout),
    writableElsewhere: Number(sqlite(file, harmless).stdout),
    attempts: attempts.map(({ table, what, sql }) => ({ table, what, refusal: refusalOf(sql) })),
  }
}

function sqlite(file: string, sql: string): { code: number | null; stdout: string; stderr: string } {
  const args = ['-batch', '-bail', '-init', '/dev/null', '-cmd', `.timeout ${busyMs}`, file]
  const { status, stdout, stderr } = spawnSync('sqlite3', args, { input: sql, encoding: 'utf8', timeout: 2 * busyMs })
  return { code: status, stdout, stderr }
}

function sqliteCommand(): { version: string } | { leftOut: string } {
  const { status, stdout } = spawnSync('sqlite3', ['--version'], { encoding: 'utf8', timeout: busyMs })
  const [, version, major, minor] = stdout?.match(/^((\d+)\.(\d+)[\d.]*)/) ?? []
  if (status !== 0 || !version) return { leftOut: 'there is no sqlite3 command here' }
  const isOld =
    Number(major) < oldestSqlite[0] || (Number(major) === oldestSqlite[0] && Number(minor) < oldestSqlite[1])
  return isOld ? { leftOut: `sqlite3 ${version} is too old to open the file` } : { version }
}

/** Hashes only the rows up to `ends`, because the gateway writes meanwhile. */
function contents(db: Database, ends: readonly End[]): Record<string, string> {
  return Object.fromEntries(
    ends.map(({ table, key, last }) => {
      const hash = createHash('sha256')
      const rows = db.prepare(`SELECT * FROM ${table} WHERE ${key} <= ? ORDER BY ${key}`).raw()
      for (const row of rows.iterate(last)) hash.update(JSON.stringify(row))
      return [table, hash.digest('hex')]
    }),
  )
}
