import { text } from './columns.ts'
import { statement } from './statement.ts'
import type { ReadTx } from './transaction.ts'

/** A column, with the comment that the schema has beside it; empty: none. */
export type ColumnNote = { readonly name: string; readonly type: string; readonly note: string }

const createdBy = statement({
  columns: { sql: text },
  sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = +?",
})
const columnsOf = statement({
  columns: { name: text, type: text },
  sql: 'SELECT name, type FROM pragma_table_info(?)',
})

/**
 * Returns the columns of a table with the comments of its CREATE TABLE, which SQLite stores with it. A comment after `--` belongs to
 * the first column of its line, one in `/* … *\/` to the column before it.
 */
export function columnNotes(tx: ReadTx, table: string): ColumnNote[] {
  const sql = tx.get(createdBy, [table])?.sql ?? ''
  const columns = tx.all(columnsOf, [table])
  const notes = new Map<string, string[]>()
  const isColumn = new Set(columns.map(({ name }) => name))
  let before: string | undefined
  for (const line of sql.split('\n')) {
    const { first, last, blocks } = columnsIn(line, isColumn)
    for (const [name, note] of blocks) notes.set(name, [...(notes.get(name) ?? []), note])
    const [, note] = line.match(/--\s*(.*)$/) ?? []
    // A line with a comment alone goes on with the one above it.
    const name = first ?? (/^\s*--/.test(line) ? before : undefined)
    if (note !== undefined && name !== undefined) notes.set(name, [...(notes.get(name) ?? []), note.trim()])
    before = last ?? before
  }
  return columns.map(({ name, type }) => ({ name, type, note: (notes.get(name) ?? []).join(' ') }))
}

function columnsIn(line: string, isColumn: ReadonlySet<string>) {
  const blocks: (readonly [name: string, note: string])[] = []
  let first: string | undefined
  let last: string | undefined
  for (const [, word = '', , block] of line
    .replace(/--.*$/, '')
    .matchAll(/(\w+) (TEXT|INTEGER|REAL|BLOB)|\/\*(.*?)\*\//g)) {
    if (isColumn.has(word)) {
      first ??= word
      last = word
    }
    if (block !== undefined && last !== undefined) blocks.push([last, block.trim()])
  }
  return { first, last, blocks }
}
