import {
  type Compilable,
  type Driver,
  Kysely,
  type KyselyConfig,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Columns, TableOf } from './columns.ts'

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

const config: KyselyConfig = {
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new NoDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
}

type Builder<Tables extends Readonly<Record<string, Columns>>> = Kysely<{
  [Name in keyof Tables]: TableOf<Tables[Name]>
}>

/** Builds SQL over these tables and knows no others. It is connected to nothing: hand what it builds to a transaction. */
export function builderOver<Tables extends Readonly<Record<string, Columns>>>(_tables: Tables): Builder<Tables> {
  return new Kysely(config)
}

export type Query<Row> = Compilable<Row>
