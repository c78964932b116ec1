import type { Generated } from 'kysely'

declare const holds: unique symbol

/** A column: its type in SQLite, and its type in the program. */
export type Column<in Value> = {
  readonly type: 'INTEGER' | 'REAL' | 'TEXT' | 'BLOB'
  readonly isNullable: boolean
  readonly [holds]?: (value: Value) => void
}

/** A column with a default for new rows. */
export type Defaulted<Value> = Column<Value> & { readonly hasDefault: true }

/** The columns of a table or of a statement's rows, by name. */
export type Columns = Readonly<Record<string, Column<never>>>

type ValueOf<One> = One extends Column<infer Value> ? Value : never

/** A row as it is read. */
export type RowOf<Of extends Columns> = { [Name in keyof Of]: ValueOf<Of[Name]> }

/** A table as kysely sees it. */
export type TableOf<Of extends Columns> = {
  [Name in keyof Of]: Of[Name] extends { readonly hasDefault: true } ? Generated<ValueOf<Of[Name]>> : ValueOf<Of[Name]>
}

export const integer: Column<number> = { type: 'INTEGER', isNullable: false }
export const real: Column<number> = { type: 'REAL', isNullable: false }
export const text: Column<string> = { type: 'TEXT', isNullable: false }
export const blob: Column<Buffer> = { type: 'BLOB', isNullable: false }

/** A text that is one of these: `word<'open' | 'closed'>()`. */
export const word = <Value extends string>(): Column<Value> => text

/** May be null. */
export const maybe = <Value>(column: Column<Value>): Column<Value | null> =>
  ({ ...column, isNullable: true }) as Column<Value | null>

export const defaulted = <Value>(column: Column<Value>): Defaulted<Value> => ({ ...column, hasDefault: true })

/** Some columns of many. */
export function pick<Of extends Columns, Name extends keyof Of & string>(
  columns: Of,
  ...names: readonly Name[]
): Pick<Of, Name> {
  return Object.fromEntries(names.map((name) => [name, columns[name]])) as unknown as Pick<Of, Name>
}
