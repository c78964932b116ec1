import { type Compilable, type Driver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Tables } from './tables.ts'

class NoDriver implements Driver {
  async init() {}
  async acquireConnection(): Promise<never> {
    throw new Error('queries run through a transaction (tx.all, tx.get, tx.run), never through execute()')
  }
  async beginTransaction() {}
  async commitTransaction() {}
  async rollbackTransaction() {}
  async releaseConnection() {}
  async destroy() {}
}

/** Builds and types SQL without a connection. Pass its queries to a transaction. */
export const sql = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new NoDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

export type Query<Row> = Compilable<Row>
