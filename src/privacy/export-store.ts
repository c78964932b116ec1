import { built, listings, pick, type ReadTx, statement, type Tx } from '../database/index.ts'
import { linkedColumns, linkedRowsSql } from '../log/index.ts'
import { type DecisionRow, type ExportRow, sql, tables } from './tables.ts'

/** An export with the decision of the second person, once there is one. */
export type Export = { readonly row: ExportRow; readonly decision: DecisionRow | undefined }

const newExport = built(tables.clip_export, (row) => sql.insertInto('clip_export').values(row))
const newDecision = built(tables.clip_export_decision, (row) => sql.insertInto('clip_export_decision').values(row))
const lastExport = built({}, () =>
  sql.selectFrom('clip_export').select(({ fn }) => fn.max<number | null>('id').as('id')),
)
const lastDecision = built({}, () =>
  sql.selectFrom('clip_export_decision').select(({ fn }) => fn.max<number | null>('id').as('id')),
)
const byId = built(pick(tables.clip_export, 'id'), ({ id }) =>
  sql.selectFrom('clip_export').selectAll().where('id', '=', id),
)
const decisionOn = built(pick(tables.clip_export_decision, 'export_id'), ({ export_id }) =>
  sql.selectFrom('clip_export_decision').selectAll().where('export_id', '=', export_id),
)

const linked = { id: 'id', field: 'actor', column: 'actor_commitment', hasLeaf: false }
/** People who requested exports or decided on them, for verification. */
export const linksOfExports = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ ...linked, table: 'clip_export' }),
})
export const linksOfDecisions = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ ...linked, table: 'clip_export_decision' }),
})

/** Newest first, of the cameras that are named. */
export const newestExports = listings(
  (cameras: readonly number[]) => ({
    from: 'main.clip_export',
    key: ['id'],
    within: cameras.length === 0 ? [{ sql: '0', values: [] }] : [],
    passing:
      cameras.length === 0 ? [] : [{ sql: `cctv_id IN (${cameras.map(() => '+?').join(', ')})`, values: [...cameras] }],
  }),
  [[[]], [[1, 2]]],
)

export function nextExportId(tx: ReadTx): number {
  return (tx.get(lastExport)?.id ?? 0) + 1
}

export function nextDecisionId(tx: ReadTx): number {
  return (tx.get(lastDecision)?.id ?? 0) + 1
}

export function appendExport(tx: Tx, row: ExportRow): void {
  tx.run(newExport, row)
}

export function appendDecision(tx: Tx, row: DecisionRow): void {
  tx.run(newDecision, row)
}

export function findExport(tx: ReadTx, id: number): Export | undefined {
  const row = tx.get(byId, { id })
  return row && { row, decision: tx.get(decisionOn, { export_id: id }) }
}
