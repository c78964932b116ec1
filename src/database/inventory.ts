import type { Database } from 'better-sqlite3'

/** Structure of a database, without content. */
export type Inventory = {
  readonly schema: number
  readonly sqlite: string
  readonly bytes: number
  readonly tables: readonly { readonly name: string; readonly rows: number }[]
  readonly indexes: readonly string[]
  readonly triggers: readonly string[]
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

const namesOf = (db: Database, type: string): string[] =>
  db.prepare('SELECT name FROM sqlite_master WHERE type = ? ORDER BY name').pluck().all(type) as string[]

/** Counts the rows of every table. Reads the whole file, some 100 MB a second. */
export function inventoryOf(db: Database): Inventory {
  const number = (pragma: string) => Number(db.pragma(pragma, { simple: true }))
  return {
    schema: number('user_version'),
    sqlite: db.prepare('SELECT sqlite_version()').pluck().get() as string,
    bytes: number('page_count') * number('page_size'),
    tables: namesOf(db, 'table').map((name) => ({
      name,
      rows: db
        .prepare(`SELECT count(*) FROM ${quoted(name)}`)
        .pluck()
        .get() as number,
    })),
    indexes: namesOf(db, 'index'),
    triggers: namesOf(db, 'trigger'),
  }
}

/** Most values that are read of one column. */
const mostValues = 20_000

/** Returns the different texts of all columns of a name. `only`: in these tables; default: in all. */
export function textsOf(db: Database, column: string, only?: readonly string[]): string[] {
  const tables = namesOf(db, 'table').filter((name) => !only || only.includes(name))
  const having = tables.filter((name) =>
    db.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(name, column),
  )
  return having.flatMap(
    (name) =>
      db
        .prepare(
          `SELECT DISTINCT ${quoted(column)} FROM ${quoted(name)} WHERE typeof(${quoted(column)}) = 'text' LIMIT ?`,
        )
        .pluck()
        .all(mostValues) as string[],
  )
}
