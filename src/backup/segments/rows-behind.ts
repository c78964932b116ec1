import { hash } from 'node:crypto'
import { type Cell, countUpTo, largestOf, type openReader, readRows, type TableShape } from '../../database/index.ts'
import { erasedTables, inventory } from './inventory.ts'
import { rowsLine } from './payload.ts'
import type { SeriesState } from './state.ts'

const rowsOfLine = 256

type Chunks = Record<string, Record<string, string>>

type Database = ReturnType<typeof openReader>

/** The rows that a series does not have yet. */
export class RowsBehind {
  /** Contents of the series after `write`. */
  readonly last: Record<string, number> = {}
  readonly chunks: Chunks = {}
  /** Rows up to `last`, of tables without a number. */
  readonly counted: Record<string, number> = {}
  readonly columns: Record<string, string[]> = {}
  readonly #db: Database
  readonly #shapes: ReadonlyMap<string, TableShape>
  readonly #state: SeriesState | undefined

  constructor(db: Database, shapes: ReadonlyMap<string, TableShape>, state: SeriesState | undefined) {
    this.#db = db
    this.#shapes = shapes
    this.#state = state
  }

  /** Returns whether somebody was erased since, or a growing table has lost earlier rows. */
  hasErasures(): boolean {
    const counted = Object.entries(this.#state?.counted ?? {})
    return (
      [...erasedTables].some((table) => this.#differs(table)) ||
      counted.some(([table, rows]) => countUpTo(this.#db, table, 'rowid', this.#state?.last[table] ?? 0) !== rows)
    )
  }

  /** Returns whether there is a reason for a segment. */
  hasChanges(): boolean {
    return Object.entries(inventory).some(([table, kept]) => {
      return this.grew(table) || (kept.how === 'changes' && !kept.quiet && this.#differs(table))
    })
  }

  /** Returns whether a table that grows has rows that the series lacks. */
  grew(table: string): boolean {
    const kept = inventory[table]
    return kept?.how === 'grows' && largestOf(this.#db, table, kept.by) !== (this.#state?.last[table] ?? 0)
  }

  /** Yields the lines, table by table. */
  *lines(): Generator<string> {
    for (const [table, kept] of Object.entries(inventory)) {
      const shape = this.#shapes.get(table)
      if (!shape) throw new Error(`the table ${table} is not in the ledger`)
      if (kept.how === 'grows') yield* this.#grown(shape, kept.by)
      if (kept.how === 'changes') yield* this.#changed(shape, kept)
    }
  }

  *#grown(shape: TableShape, column: string): Generator<string> {
    const { name, columns } = shape
    const after = this.#state?.last[name] ?? 0
    this.last[name] = largestOf(this.#db, name, column)
    // SQLite may give a rowid again, and VACUUM may give all of them anew.
    if (column === 'rowid') this.counted[name] = countUpTo(this.#db, name, column, this.last[name])
    let rows: Cell[][] = []
    const asked = { where: `${column} > ?`, values: [after], orderBy: column }
    for (const row of readRows(this.#db, shape, asked)) {
      this.columns[name] = [...columns]
      rows.push(row)
      if (rows.length < rowsOfLine) continue
      yield rowsLine({ table: name, rows })
      rows = []
    }
    if (rows.length > 0) yield rowsLine({ table: name, rows })
  }

  *#changed(shape: TableShape, kept: { chunk: string; where?: string }): Generator<string> {
    const { name, columns } = shape
    const before = this.#state?.chunks[name] ?? {}
    const now: Record<string, string> = {}
    for (const { chunk, line } of this.#chunksOf(shape, kept)) {
      now[chunk] = hash('sha256', line).slice(0, 32)
      if (now[chunk] === before[chunk]) continue
      this.columns[name] = [...columns]
      yield line
    }
    for (const chunk of Object.keys(before)) if (!(chunk in now)) yield rowsLine({ table: name, chunk, rows: [] })
    this.chunks[name] = now
  }

  *#chunksOf(shape: TableShape, kept: { chunk: string; where?: string }): Generator<{ chunk: string; line: string }> {
    let chunk: string | undefined
    let rows: Cell[][] = []
    // By all columns, so that the same rows always give the same line.
    const orderBy = ['1', ...shape.columns.map((_, i) => String(i + 2))].join(', ')
    const asked = { where: kept.where, orderBy, lead: kept.chunk }
    for (const [lead, ...row] of readRows(this.#db, shape, asked)) {
      const name = String(lead)
      if (chunk !== undefined && name !== chunk) {
        yield { chunk, line: rowsLine({ table: shape.name, chunk, rows }) }
        rows = []
      }
      chunk = name
      rows.push(row)
    }
    if (chunk !== undefined) yield { chunk, line: rowsLine({ table: shape.name, chunk, rows }) }
  }

  #differs(table: string): boolean {
    const kept = inventory[table]
    const shape = this.#shapes.get(table)
    if (kept?.how !== 'changes' || !shape) return false
    const before = this.#state?.chunks[table] ?? {}
    let found = 0
    for (const { chunk, line } of this.#chunksOf(shape, kept)) {
      if (hash('sha256', line).slice(0, 32) !== before[chunk]) return true
      found += 1
    }
    return found !== Object.keys(before).length
  }
}
