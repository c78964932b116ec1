import type { Database, Statement as Prepared } from 'better-sqlite3'
import type { Query } from './sql.ts'
import type { Change, Statement } from './statement.ts'

/** Arguments of a run of a statement; none where the statement binds nothing. */
type Handed<Given> = Given extends readonly unknown[]
  ? [given?: Given]
  : keyof Given extends never
    ? []
    : [given: Given]

/** A read: synchronous, on one snapshot of the ledger. */
export type ReadTx = {
  all<Row, Given>(statement: Statement<Row, Given>, ...given: Handed<Given>): Row[]
  all<Row>(query: Query<Row>): Row[]
  get<Row, Given>(statement: Statement<Row, Given>, ...given: Handed<Given>): Row | undefined
  get<Row>(query: Query<Row>): Row | undefined
}

type Done = { changes: number; lastId: number }

/** A write: reads, and changes. */
export type Tx = ReadTx & {
  run<Given>(change: Change<Given>, ...given: Handed<Given>): Done
  run(query: Query<unknown>): Done
}

const cachedStatements = 600

function compiled(query: Query<unknown>): { sql: string; valuesOf: () => readonly unknown[] } {
  const { sql, parameters } = query.compile()
  return { sql, valuesOf: () => parameters }
}

type Runnable = Pick<Statement<unknown, unknown>, 'sql' | 'valuesOf'> | Query<unknown>

/**
 * Returns the synchronous executor of a connection, with a statement cache (Kysely's driver prepares at every
 * execution).
 */
export function executor(db: Database): Tx {
  const cache = new Map<string, Prepared<unknown[], unknown>>()
  const prepare = (sql: string) => {
    const known = cache.get(sql)
    if (known) return known
    const made = db.prepare<unknown[], unknown>(sql)
    if (cache.size >= cachedStatements) cache.delete(cache.keys().next().value ?? '')
    cache.set(sql, made)
    return made
  }
  /** A query of the builder is compiled here, at each run. */
  const asStatement = (one: Runnable) => ('compile' in one ? compiled(one) : one)
  const all = (one: Runnable, given?: unknown) => {
    const { sql, valuesOf } = asStatement(one)
    return prepare(sql).all(...valuesOf(given))
  }
  const get = (one: Runnable, given?: unknown) => {
    const { sql, valuesOf } = asStatement(one)
    return prepare(sql).get(...valuesOf(given))
  }
  const run = (one: Runnable, given?: unknown): Done => {
    const { sql, valuesOf } = asStatement(one)
    const done = prepare(sql).run(...valuesOf(given))
    return { changes: done.changes, lastId: Number(done.lastInsertRowid) }
  }
  return { all, get, run } as unknown as Tx
}

/** `T`, and a type error when it is a promise: an await inside would let other requests into the same transaction. */
export type NoPromise<T> = [T] extends [never]
  ? []
  : T extends PromiseLike<unknown>
    ? ['a write is synchronous: no await, no promise']
    : []
