import { blob, built, integer, maybe, type ReadTx, type RowOf, statement, type Tx, text } from '../database/index.ts'
import {
  linkedColumns,
  linkedLeavesSql,
  linkedRowsSql,
  nameSql,
  openedAs,
  shownWithout,
  statedSql,
} from '../log/index.ts'
import { type ResolutionRow, sql, tables } from './tables.ts'

const table = 'dispute_resolution'
const openedColumns = { ...tables.dispute_resolution, actor: maybe(text), note: maybe(text) }

/** A resolution of a dispute with its note, and the name of its supervisor or a placeholder. The note is null once it was erased. */
export type OpenedResolution = RowOf<typeof openedColumns> & { readonly actor: string }

const newResolution = built(tables.dispute_resolution, (row) => sql.insertInto(table).values(row))
const lastResolution = statement({
  columns: { id: integer, timestamp_ms: integer },
  sql: `SELECT coalesce(max(id), 0) AS id, coalesce(max(timestamp_ms), 0) AS timestamp_ms FROM main.${table}
    WHERE id = (SELECT max(id) FROM main.${table})`,
})
const byDispute = built({ dispute_event_id: integer }, ({ dispute_event_id }) =>
  sql.selectFrom(table).select('timestamp_ms').where('dispute_event_id', '=', dispute_event_id),
)
const openedBehind = statement({
  columns: openedColumns,
  sql: `SELECT r.*, ${nameSql(table, 'r.id', 'actor', 'r.actor_commitment')} AS actor, n.value AS note
    FROM main.${table} r ${openedAs('n', 'r.note_commitment')} WHERE r.id > +? ORDER BY r.id LIMIT ?`,
})
const asked = statedSql(table, 'dispute-resolution')

/** The rows that leaves state, for verification. */
export const statedResolutions = {
  between: statement({ columns: tables.dispute_resolution, sql: asked.between }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

/** People linked to the rows, for verification. */
export const linksOfResolutions = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ table, id: 'id', field: 'actor', column: 'actor_commitment', hasLeaf: true }),
})

/** Leaves of the resolutions that are linked to a person. */
export const leavesOfResolutions = statement({ columns: { bytes: blob }, sql: linkedLeavesSql(table, 'id') })

export function appendResolution(tx: Tx, row: ResolutionRow): void {
  tx.run(newResolution, row)
}

/** Returns the newest id and time; zeros before the first. */
export function endOfResolutions(tx: ReadTx): { id: number; timestamp_ms: number } {
  return tx.get(lastResolution) ?? { id: 0, timestamp_ms: 0 }
}

/** Returns the time at which a dispute was resolved; undefined for one that was not. */
export function resolutionOf(tx: ReadTx, disputeId: number): { readonly timestamp_ms: number } | undefined {
  return tx.get(byDispute, { dispute_event_id: disputeId })
}

/** Returns the resolutions behind one, oldest first. */
export function resolutionsBehind(tx: ReadTx, id: number, limit: number): OpenedResolution[] {
  return tx.all(openedBehind, [id, limit]).map((row) => ({
    ...row,
    actor: row.actor ?? shownWithout(row.leaf_version, row.actor_commitment),
  }))
}
