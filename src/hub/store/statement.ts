import {
  type Compilable,
  type DeleteResult,
  DummyDriver,
  type InsertResult,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql as raw,
  type UpdateResult,
} from 'kysely'
import type { tables } from './tables.ts'

/** A statement of the head office. `name` is also that of the plan that the server keeps for a connection. */
export type HubStatement = { readonly name: string; readonly text: string }

declare const gives: unique symbol

/** A statement that the builder has typed: what a run gives it by name, and its rows. */
export type BuiltStatement<Row, Given> = HubStatement & {
  readonly valuesOf: (given: Given) => readonly unknown[]
  readonly [gives]: Row
}

const every = new Map<string, HubStatement>()

/** Makes a statement. Make it at the top of a file: a test prepares each one and holds it against what Citus refuses. */
export function hubStatement(name: string, text: string): HubStatement {
  return noted({ name, text })
}

function noted<Made extends HubStatement>(made: Made): Made {
  if (every.has(made.name)) throw new Error(`there are two statements named ${made.name}`)
  every.set(made.name, made)
  return made
}

/** Returns all statements that were made. */
export const everyStatement = (): readonly HubStatement[] => [...every.values()]

/** JavaScript types that the driver reads and takes for each SQL type. JSON is written as text. */
type ValuesOf = {
  text: { read: string; given: string }
  uuid: { read: string; given: string }
  'text[]': { read: string[]; given: readonly string[] }
  bigint: { read: string; given: number | string }
  integer: { read: number; given: number }
  smallint: { read: number; given: number }
  boolean: { read: boolean; given: boolean }
  timestamptz: { read: Date; given: string }
  date: { read: Date; given: string }
  bytea: { read: Buffer; given: Uint8Array }
  jsonb: { read: unknown; given: string }
  '"char"': { read: string; given: string }
}
type Type = keyof ValuesOf | `${keyof ValuesOf}?`
type Read<Of> = Of extends `${infer Name extends keyof ValuesOf}?`
  ? ValuesOf[Name]['read'] | null
  : Of extends keyof ValuesOf
    ? ValuesOf[Of]['read']
    : never
type GivenFor<Of> = Of extends `${infer Name extends keyof ValuesOf}?`
  ? ValuesOf[Name]['given'] | null
  : Of extends keyof ValuesOf
    ? ValuesOf[Of]['given']
    : never

type Tables = {
  [Table in keyof typeof tables]: {
    [Column in keyof (typeof tables)[Table]]: Read<(typeof tables)[Table][Column]>
  }
}
type Types = Readonly<Record<string, Type>>
type Given<Of extends Types> = { readonly [Name in keyof Of]: GivenFor<Of[Name]> }
/** To the builder a place is what the driver reads there. */
export type Places<Of extends Types> = { readonly [Name in keyof Of]: RawBuilder<Read<Of[Name]>> }
type RowsOf<Result> = Result extends InsertResult | UpdateResult | DeleteResult ? never : Result

/** Builds SQL over the tables of the head office. It is connected to nothing: `builtStatement` compiles what it builds. */
export const sql = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

/** Is the place for a value that is given at each run. */
class Place {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/**
 * Makes a plain statement, compiled once, when its file is read. `types` says what each run gives; the builder has it as places:
 *
 *   builtStatement('site-of-log', { logId: 'uuid' }, ({ logId }) => sql.selectFrom('log').select('site_id').where('log_id', '=', logId))
 */
export function builtStatement<const Of extends Types, Result>(
  name: string,
  types: Of,
  make: (places: Places<Of>) => Compilable<Result>,
): BuiltStatement<RowsOf<Result>, Given<Of>> {
  const places = Object.fromEntries(Object.keys(types).map((place) => [place, raw`${new Place(place)}`]))
  const { sql: text, parameters } = make(places as Places<Of>).compile()
  const valuesOf = (given: Given<Of>) =>
    parameters.map((value) => (value instanceof Place ? given[value.name as keyof Of] : value))
  // `gives` exists for the compiler alone.
  return noted({ name, text, valuesOf } as unknown as BuiltStatement<RowsOf<Result>, Given<Of>>)
}

/**
 * FROM of a write with arrays. It names log_head: on Citus that keeps the write on the one worker that has the log. With `SELECT $1`
 * instead, the rows would travel over the coordinator and every feed would become a two-phase commit.
 */
export const fromHead = (columns: string) => `FROM log_head h, unnest(${columns}) AS x`
