import type { Database } from 'better-sqlite3'

/** A value of a row, as SQLite has it. */
export type Cell = string | number | Buffer | null

/** A table as its rows are copied. */
export type TableShape = {
  readonly name: string
  /** Its columns; `rowid` comes first where it is no alias of a column and the table has one. */
  readonly columns: readonly string[]
}

/** Which rows of a table to read. SQL of the program, never of a caller. */
export type RowsAsked = {
  /** A condition; question marks take `values`. */
  readonly where?: string | undefined
  readonly values?: readonly Cell[]
  readonly orderBy: string
  /** An expression whose value comes in front of each row. */
  readonly lead?: string
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Returns every table of a database, by name; `sqlite_sequence` is one of them. */
export function tableShapes(db: Database): Map<string, TableShape> {
  const tables = db
    .prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    .all() as {
    name: string
    wr: number
  }[]
  const kept = tables.filter(({ name }) => !name.startsWith('sqlite_') || name === 'sqlite_sequence')
  return new Map(kept.map(({ name, wr }) => [name, { name, columns: columnsOf(db, name, wr === 1) }]))
}

function columnsOf(db: Database, table: string, isWithoutRowid: boolean): string[] {
  const columns = db.prepare('SELECT name, type, pk FROM pragma_table_info(?)').all(table) as {
    name: string
    type: string
    pk: number
  }[]
  const keys = columns.filter(({ pk }) => pk > 0)
  const isAlias = keys.length === 1 && keys[0]?.type === 'INTEGER'
  const names = columns.map(({ name }) => name)
  return isWithoutRowid || isAlias ? names : ['rowid', ...names]
}

/** Reads rows of a table one by one, as lists of their cells in the order of `columns`. */
export function* readRows(db: Database, { name, columns }: TableShape, asked: RowsAsked): Generator<Cell[]> {
  const { where = '1', values = [], orderBy, lead } = asked
  const list = [...(lead === undefined ? [] : [lead]), ...columns.map(quoted)].join(', ')
  const rows = db.prepare(`SELECT ${list} FROM ${quoted(name)} WHERE ${where} ORDER BY ${orderBy}`).raw()
  yield* rows.iterate(...values) as IterableIterator<Cell[]>
}

/** Returns the largest value of a column that counts up; 0 for an empty table. */
export function largestOf(db: Database, table: string, column: string): number {
  return db
    .prepare(`SELECT coalesce(max(${column}), 0) FROM ${quoted(table)}`)
    .pluck()
    .get() as number
}

/** Returns how many rows have a column that is not larger. */
export function countUpTo(db: Database, table: string, column: string, most: number): number {
  const count = db.prepare(`SELECT count(*) FROM ${quoted(table)} WHERE ${column} <= ?`)
  return count.pluck().get(most) as number
}

/**
 * Returns a function that adds rows to a table, in the order in which they were made: the guards of the table check each. Throws
 * SQLite's error for a row that does not belong there.
 */
export function rowAdder(db: Database, table: string, columns: readonly string[]): (row: readonly Cell[]) => void {
  const places = columns.map(() => '?').join(', ')
  const statement = db.prepare(`INSERT INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) VALUES (${places})`)
  return (row) => {
    statement.run(...row)
  }
}

/** Removes the rows that a new database begins with. */
export function emptyTable(db: Database, table: string): void {
  if (db.prepare(`SELECT 1 FROM ${quoted(table)} LIMIT 1`).get()) db.prepare(`DELETE FROM ${quoted(table)}`).run()
}

/** Does work while one moment of the database is read, whatever others write meanwhile. */
export function atOneMoment<T>(db: Database, work: () => T): T {
  db.exec('BEGIN')
  try {
    // The moment is that of the first read.
    db.prepare('SELECT count(*) FROM sqlite_master').get()
    return work()
  } finally {
    db.exec('ROLLBACK')
  }
}
