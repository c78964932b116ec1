import { type Compilable, type DeleteResult, type InsertResult, sql as raw, type UpdateResult } from 'kysely'
import type { Column, Columns } from './columns.ts'

export type Bindable = string | number | bigint | Buffer | Uint8Array | null
/** The values of a hand-written statement, in the order of its question marks. */
export type Parameters = readonly Bindable[]

declare const gives: unique symbol

/** A fixed SQL text, with the types of its parameters and rows. Only the functions of this file make it. */
export type Statement<Row, Given = Parameters> = {
  readonly sql: string
  readonly valuesOf: (given: Given) => readonly unknown[]
  readonly [gives]: Row
}

/** A statement that gives no rows. */
export type Change<Given = Parameters> = Statement<never, Given>

type ColumnsOf<Row> = { readonly [Name in keyof Row]: Column<Row[Name]> }

/** One text of a statement, and the columns that it must give; none for a change, or when the builder has typed them. */
export type Registered = { readonly sql: string; readonly columns: Columns | undefined }

const registered: (() => readonly Registered[])[] = []

/** Returns every statement that exists now; one with variants once for each of its samples. */
export function registeredStatements(): Registered[] {
  return registered.flatMap((one) => one())
}

const asGiven = (given: Parameters = []): Parameters => given
const written = <Row>(sql: string) => ({ sql, valuesOf: asGiven }) as unknown as Statement<Row>

/** Makes a read. Bind against indexed columns as `=+?`, or SQLite prepares it anew each time. */
export function statement<Row>({ columns, sql }: { columns: ColumnsOf<Row>; sql: string }): Statement<Row> {
  registered.push(() => [{ sql, columns }])
  return written(sql)
}

/** Makes a read whose SQL depends on its arguments. `samples`: arguments that bring every part into the text once. */
export function statements<Row, Args extends readonly unknown[]>(parts: {
  columns: ColumnsOf<Row>
  sql: (...args: Args) => string
  samples: readonly NoInfer<Args>[]
}): (...args: Args) => Statement<Row> {
  const { columns, sql, samples } = parts
  registered.push(() => samples.map((args) => ({ sql: sql(...args), columns })))
  return madeOnce((...args) => written(sql(...args)))
}

/** Makes a write. */
export function change(sql: string): Change {
  registered.push(() => [{ sql, columns: undefined }])
  return written(sql)
}

/** Makes a write whose SQL depends on its arguments; see `statements`. */
export function changes<Args extends readonly unknown[]>(parts: {
  sql: (...args: Args) => string
  samples: readonly NoInfer<Args>[]
}): (...args: Args) => Change {
  registered.push(() => parts.samples.map((args) => ({ sql: parts.sql(...args), columns: undefined })))
  return madeOnce((...args) => written(parts.sql(...args)))
}

/** Further texts are not cached, because they come from callers' values. */
const keptTexts = 50

/**
 * Caches the result for a single argument. At each run, the cache of prepared statements reads a newly built text from end to end,
 * which takes longer than most seeks.
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
 * Makes a statement of the builder, compiled once. `given` has the type of each bound value; the builder gets them as `places`:
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
