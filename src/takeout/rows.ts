import type { Database } from 'better-sqlite3'
import { type Cell, executor, type ReadTx, readRows, type TableShape } from '../database/index.ts'
import { type Identity, identityText, personById, personIn } from '../log/index.ts'
import type { Treatment } from './treatments.ts'

type Rows = Extract<Treatment, { how: 'rows' }>

/** Columns whose commitment hides a person or a text, but that are not named so. */
const commitments = new Set(['created_by', 'closed_by'])

/** A row for JSON. */
export type RowObject = Record<string, string | number | null>

/** Yields the rows of a table in the order of their key, with the names and texts behind commitments. */
export function* rowObjects(
  db: Database,
  shapes: ReadonlyMap<string, TableShape>,
  shape: TableShape,
  { withheld, texts, people }: Rows,
): Generator<RowObject> {
  const tx = executor(db)
  const columns = shape.columns.filter((name) => !withheld.includes(name))
  const beside = people === undefined ? undefined : peopleBeside(db, tx, shapes.get(people))
  const number = columns.findIndex((name) => name === 'row' || name === 'id')
  try {
    for (const cells of readRows(db, { name: shape.name, columns }, { orderBy: '1' })) {
      const row: RowObject = {}
      for (const [i, name] of columns.entries()) {
        // SQLite's own number of a row says nothing.
        if (name !== 'rowid') row[name] = shown(cells[i] ?? null, texts.includes(name))
      }
      const id = cells[number]
      if (typeof id === 'number') Object.assign(row, opened(tx, shape.name, id, row), beside?.of(id))
      yield row
    }
  } finally {
    beside?.close()
  }
}

function shown(cell: Cell, isText: boolean): string | number | null {
  if (!Buffer.isBuffer(cell)) return cell
  return cell.toString(isText ? 'utf8' : 'base64')
}

/** Returns what opens the commitments of a row: `operator_commitment` as `operator`, `created_by` as `created_by_name`. */
function opened(tx: ReadTx, subject: string, id: number, row: RowObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(row).flatMap(([column, commitment]) => {
      const field = column.endsWith('_commitment') ? column.slice(0, -'_commitment'.length) : column
      if ((field === column && !commitments.has(column)) || typeof commitment !== 'string') return []
      const known = personIn(tx, { subject, row: id, field }, commitment)
      const name = field === column ? `${column}_name` : field
      return known && !Object.hasOwn(row, name) ? [[name, identityText(known)]] : []
    }),
  )
}

/**
 * Returns a function that gives the people of a row from the table beside it. Both tables are read once, in the order of the row's
 * number.
 */
function peopleBeside(db: Database, tx: ReadTx, shape: TableShape | undefined) {
  if (!shape) return undefined
  const [key = ''] = shape.columns
  const rows = readRows(db, { name: shape.name, columns: [key, 'operator_id', 'actor_id'] }, { orderBy: '1' })
  const nameOf = (id: Cell | undefined): string | undefined => {
    const known: Identity | undefined = typeof id === 'number' ? personById(tx, id) : undefined
    return known && identityText(known)
  }
  let next = rows.next()
  const of = (id: number): Record<string, string> => {
    while (!next.done && Number(next.value[0]) < id) next = rows.next()
    if (next.done || next.value[0] !== id) return {}
    const operator = nameOf(next.value[1])
    const actor = nameOf(next.value[2])
    return { ...(operator !== undefined && { operator }), ...(actor !== undefined && { actor }) }
  }
  return { of, close: () => rows.return(undefined) }
}
