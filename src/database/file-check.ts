import { integer, text } from './columns.ts'
import { statement } from './statement.ts'
import type { ReadTx } from './transaction.ts'

/** Problem that SQLite's own checks found in a file. `where` is `file`, or a table and a row. */
export type FileProblem = { readonly where: string; readonly what: string }

/**
 * Compares every index with its table, and every reference between rows. Reads the whole file. `quick_check` is not enough: it
 * compares no index, and a row that an index hides is never read.
 */
export function fileProblems(tx: ReadTx): FileProblem[] {
  const damage = tx.all(integrity).map(({ integrity_check }) => integrity_check)
  return [
    ...damage.filter((what) => what !== 'ok').map((what) => ({ where: 'file', what })),
    ...tx.all(strangers).map((row) => ({
      where: `${row.table} ${row.rowid}`,
      what: 'refers to a row that is not there',
    })),
  ]
}

const integrity = statement({ columns: { integrity_check: text }, sql: 'PRAGMA integrity_check(10)' })
const strangers = statement({
  columns: { table: text, rowid: integer, parent: text, fkid: integer },
  sql: 'PRAGMA foreign_key_check',
})
