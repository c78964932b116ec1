import type { Database, Statement } from 'better-sqlite3'
import type { Query } from './sql.ts'

type Bindable = string | number | bigint | Buffer | Uint8Array | null
export type Parameters = readonly Bindable[]

/** A read: synchronous, on one snapshot of the ledger. */
export type ReadTx = {
  all<Row>(query: Query<Row>): Row[]
  get<Row>(query: Query<Row>): Row | undefined
  /**
   * For hot paths: plain SQL, prepared once. Bind against indexed columns as `=+?`, or SQLite prepares it anew each
   * time.
   */
  allOf<Row>(sql: string, parameters?: Parameters): Row[]
  oneOf<Row>(sql: string, parameters?: Parameters): Row | undefined
}

/** A write: reads, and changes. */
export type Tx = ReadTx & {
  run(query: Query<unknown>): { changes: number; lastId: number }
  runOf(sql: string, parameters?: Parameters): { changes: number; lastId: number }
}

const cachedStatements = 400

/**
 * Returns the synchronous executor of a connection, with a statement cache (Kysely's driver prepares at every
 * execution).
 */
export function executor(db: Database): Tx {
  const cache = new Map<string, Statement<unknown[], unknown>>()
  const prepare = (sql: string) => {
    const known = cache.get(sql)
    if (known) return known
    const made = db.prepare<unknown[], unknown>(sql)
    if (cache.size >= cachedStatements) cache.delete(cache.keys().next().value ?? '')
    cache.set(sql, made)
    return made
  }
  const write = (sql: string, parameters: readonly unknown[]) => {
    const done = prepare(sql).run(...parameters)
    return { changes: done.changes, lastId: Number(done.lastInsertRowid) }
  }
  return {
    allOf: <Row>(sql: string, parameters: Parameters = []) => prepare(sql).all(...parameters) as Row[],
    oneOf: <Row>(sql: string, parameters: Parameters = []) => prepare(sql).get(...parameters) as Row | undefined,
    all: <Row>(query: Query<Row>) => {
      const { sql, parameters } = query.compile()
      return prepare(sql).all(...parameters) as Row[]
    },
    get: <Row>(query: Query<Row>) => {
      const { sql, parameters } = query.compile()
      return prepare(sql).get(...parameters) as Row | undefined
    },
    run: (query) => {
      const { sql, parameters } = query.compile()
      return write(sql, parameters)
    },
    runOf: (sql, parameters = []) => write(sql, parameters),
  }
}
