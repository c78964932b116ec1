import { type Compilable, type DeleteResult, type InsertResult, sql as raw, type UpdateResult } from 'kysely'
import type { Column, Columns } from './columns.ts'

export type Bindable = string | number | bigint | Buffer | Uint8Array | null
/** The values of a hand-written statement, in the order of its question marks. */
export type Parameters = readonly Bindable[]

declare const gives: unique symbol

/** SQL that is written once, with what it is given and the rows that it gives. Made by the functions of this file alone. */
export type Statement<Row, Given = Parameters> = {
  readonly sql: string
  readonly valuesOf: (given: Given) => readonly unknown[]
  readonly [gives]: Row
}

/** A statement that gives no rows. */
export type Change<Given = Parameters> = Statement<never, Given>

type ColumnsOf<Row> = { readonly [Name in keyof Row]: Column<Row[Name]> }

/** One text of a statement, and the columns that it must give; none for a change, and for what the builder has typed. */
export type Registered = { readonly sql: string; readonly columns: Columns | undefined }

const registered: (() => readonly Registered[])[] = []

/** Every statement that was made until now; one with variants once for each of its samples. */
export function registeredStatements(): Registered[] {
  return registered.flatMap((one) => one())
}

const asGiven = (given: Parameters = []): Parameters => given
const written = <Row>(sql: string) => ({ sql, valuesOf: asGiven }) as unknown as Statement<Row>

/** Reads. Bind against indexed columns as `=+?`, or SQLite prepares it anew each time. */
export function statement<Row>({ columns, sql }: { columns: ColumnsOf<Row>; sql: string }): Statement<Row> {
  registered.push(() => [{ sql, columns }])
  return written(sql)
}

/** Reads, in words that depend on what is asked for. `samples`: arguments that bring every word into the text once. */
export function statements<Row, Args extends readonly unknown[]>(parts: {
  columns: ColumnsOf<Row>
  sql: (...args: Args) => string
  samples: readonly NoInfer<Args>[]
}): (...args: Args) => Statement<Row> {
  const { columns, sql, samples } = parts
  registered.push(() => samples.map((args) => ({ sql: sql(...args), columns })))
  return madeOnce((...args) => written(sql(...args)))
}

/** Writes. */
export function change(sql: string): Change {
  registered.push(() => [{ sql, columns: undefined }])
  return written(sql)
}

/** Writes, in words that depend on what is asked for; see `statements`. */
export function changes<Args extends readonly unknown[]>(parts: {
  sql: (...args: Args) => string
  samples: readonly NoInfer<Args>[]
}): (...args: Args) => Change {
  registered.push(() => parts.samples.map((args) => ({ sql: parts.sql(...args), columns: undefined })))
  return madeOnce((...args) => written(parts.sql(...args)))
}

/** More words than this are not kept: they come from what a caller asks for. */
const keptTexts = 50

/**
 * Keeps what is made for a single word. To put a text together anew takes longer at each run than most seeks, for the cache of
 * prepared statements then has to read it from end to end.
 */
function madeOnce<Args extends readonly unknown[], Made>(make: (...args: Args) => Made): (...args: Args) => Made {
  const kept = new Map<unknown, Made>()
  return (...args) => {
    const [word] = args
    if (args.length !== 1 || typeof word === 'object') return make(...args)
    const known = kept.get(word)
    if (known !== undefined) return known
    const made = make(...args)
    if (kept.size < keptTexts) kept.set(word, made)
    return made
  }
}

/** Is the place in a built statement for a value that is given at each run. */
class Place {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

const placeFor = (name: string) => raw`+${new Place(name)}`
type Places<Given> = { readonly [Name in keyof Given]: ReturnType<typeof raw<Given[Name]>> }
/** Bytes are bound as whatever holds them, and read as a Buffer. */
type AnyBytes<Value> = Value extends Buffer ? Uint8Array : Value
type Bound<Given> = { readonly [Name in keyof Given]: AnyBytes<Given[Name]> }
type RowsOf<Result> = Result extends InsertResult | UpdateResult | DeleteResult ? never : Result

/**
 * A statement of the builder, compiled once. `given` says what each run binds; the builder has it as `places`:
 *
 *   built({ id: integer }, ({ id }) => sql.selectFrom('device').selectAll().where('id', '=', id))
 */
export function built<Given extends object, Result>(
  given: ColumnsOf<Given>,
  make: (places: Places<Given>) => Compilable<Result>,
): Statement<RowsOf<Result>, Bound<Given>> {
  let made: Compiled | undefined
  // At its first run: there are hundreds, a command runs few of them, and compiling all takes a tenth of a start.
  const compiled = () => {
    made ??= compiledOf(
      make(Object.fromEntries(Object.keys(given).map((name) => [name, placeFor(name)])) as Places<Given>),
    )
    return made
  }
  registered.push(() => [{ sql: compiled().sql, columns: undefined }])
  const statement = {
    get sql() {
      return compiled().sql
    },
    get valuesOf() {
      return compiled().valuesOf
    },
  }
  return statement as unknown as Statement<RowsOf<Result>, Bound<Given>>
}

type Compiled = { readonly sql: string; readonly valuesOf: (given: Values) => readonly unknown[] }

function compiledOf(query: Compilable<unknown>): Compiled {
  const { sql, parameters } = query.compile()
  return { sql, valuesOf: binderOf(parameters) }
}

type Values = Readonly<Record<string, unknown>>

/** Runs at every call: no more work than a list written by hand. */
function binderOf(parameters: readonly unknown[]): (given: Values) => readonly unknown[] {
  const [first] = parameters
  if (parameters.length === 0) return () => []
  if (parameters.length === 1 && first instanceof Place) {
    const { name } = first
    return (given) => [given[name]]
  }
  const names = parameters.map((value) => (value instanceof Place ? value.name : undefined))
  return (given) => {
    const values = new Array<unknown>(names.length)
    for (let i = 0; i < names.length; i += 1) {
      const name = names[i]
      values[i] = name === undefined ? parameters[i] : given[name]
    }
    return values
  }
}
