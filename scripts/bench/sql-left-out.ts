import BetterSqlite3 from 'better-sqlite3'
import { databaseFile } from '../../src/database/index.ts'

type Row = Record<string, unknown>
type Answers = {
  get: (...parameters: unknown[]) => unknown
  all: (...parameters: unknown[]) => unknown[]
  run: (...parameters: unknown[]) => { changes: number; lastInsertRowid: number }
}

const done = { changes: 1, lastInsertRowid: 1 }
const nothing: Answers = { get: () => undefined, all: () => [], run: () => done }

/**
 * Keeps every later statement of this process away from SQLite. Each is answered at once from maps, which are filled from the
 * database in `dataDir`. The maps store only the newest move of each slot and pallet. So placements and removals are judged,
 * hashed and answered exactly as usual.
 */
export function leaveSqlOut(dataDir: string): void {
  const db = new BetterSqlite3(databaseFile(dataDir), { readonly: true })
  const answersTo = memoryOf((key, sql) => new Map((db.prepare(sql).all() as Row[]).map((row) => [row[key], row])))
  const statements = Object.getPrototypeOf(db.prepare('SELECT 1')) as Answers
  db.close()
  const answers = new WeakMap<object, Answers>()
  const of = (statement: object) => {
    const known = answers.get(statement)
    if (known) return known
    const made = answersTo((statement as { source: string }).source)
    answers.set(statement, made)
    return made
  }
  statements.get = function (this: object, ...parameters) {
    return of(this).get(...parameters)
  }
  statements.all = function (this: object, ...parameters) {
    return of(this).all(...parameters)
  }
  statements.run = function (this: object, ...parameters) {
    return of(this).run(...parameters)
  }
  BetterSqlite3.prototype.exec = function exec() {
    return this
  }
}

/** @param rowsBy all rows of a query, by one of their columns */
function memoryOf(rowsBy: (key: string, sql: string) => Map<unknown, Row>): (sql: string) => Answers {
  const lookUp = (rows: ReadonlyMap<unknown, Row>): Answers => ({ ...nothing, get: (key) => rows.get(key) })
  const slot = 'SELECT slot.*, zone.zone_type AS type_of_zone FROM slot LEFT JOIN zone ON zone.id = slot.zone_id'
  const inSlot = new Map<unknown, Row>()
  const ofAsset = new Map<unknown, Row>()
  const timeOf = (row: Row | undefined) => row?.['timestamp_ms'] ?? 0
  const newest = (slot: unknown, _slot: unknown, asset: unknown) => {
    return { a: timeOf(inSlot.get(slot)), b: 0, c: timeOf(ofAsset.get(asset)), d: 0 }
  }
  const known: readonly (readonly [RegExp, Answers])[] = [
    [/^SELECT coalesce\(\(SELECT timestamp_ms FROM main\.placement_event /, { ...nothing, get: newest }],
    [/FROM slot LEFT JOIN zone .* WHERE slot\.id = /, lookUp(rowsBy('id', slot))],
    [/FROM slot LEFT JOIN zone .* WHERE slot\.slot_id = /, lookUp(rowsBy('slot_id', slot))],
    // No tile may be missing: a checkpoint that lacks the hashes of leaves, which are not stored here, would fail the commit
    // of others.
    [
      /AS n FROM main\.log_tile WHERE log_id = \+\? AND level = /,
      { ...nothing, get: () => ({ n: Number.MAX_SAFE_INTEGER }) },
    ],
    [/from asset where asset_key = /, lookUp(rowsBy('asset_key', 'SELECT * FROM asset'))],
    [/from media where sha256 = /, lookUp(rowsBy('sha256', 'SELECT * FROM media'))],
    [/FROM person WHERE name = /, lookUp(rowsBy('name', 'SELECT * FROM person'))],
    [/FROM main\.placement_event\s+WHERE slot_id = \+\? AND event_type IN \('PLACED'/, lookUp(inSlot)],
    [/FROM main\.placement_event\s+WHERE asset_key = \+\? AND event_type IN \('PLACED'/, lookUp(ofAsset)],
  ]
  const keep = (columns: readonly string[]): Answers => ({
    ...nothing,
    run: (...values) => {
      const row = Object.fromEntries(columns.map((column, i) => [column, values[i]]))
      inSlot.set(row['slot_id'], row)
      ofAsset.set(row['asset_key'], row)
      return done
    },
  })
  return (text) => {
    // The builder quotes every name.
    const sql = text.replaceAll('"', '')
    if (sql.startsWith('insert into placement_event ')) return keep(columnsOf(sql))
    return known.find(([form]) => form.test(sql))?.[1] ?? nothing
  }
}

function columnsOf(insert: string): string[] {
  return insert.match(/\(([^)]*)\)/)?.[1]?.split(', ') ?? []
}
