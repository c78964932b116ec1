import { type NotNull, sql as raw } from 'kysely'
import {
  blob,
  built,
  integer,
  maybe,
  pick,
  type ReadTx,
  type RowOf,
  statement,
  statements,
  type Tx,
  text,
  word,
} from '../database/index.ts'
import { linkedColumns, linkedLeavesSql, linkedRowsSql, nameSql, openedAs, statedSql } from '../log/index.ts'
import { sql, tables, type UnitHistoryRow } from './tables.ts'

const newRow = built(tables.unit_history, (row) => sql.insertInto('unit_history').values(row))
const newPhoto = built(tables.unit_photo, (row) => sql.insertInto('unit_photo').orIgnore().values(row))
const lastRow = built({}, () =>
  sql.selectFrom('unit_history').select(['row', 'received_at_ms']).orderBy('row', 'desc').limit(1),
)
const stages = built(pick(tables.unit_history, 'unit_id'), ({ unit_id }) =>
  sql.selectFrom('unit_history').select('stage').where('unit_id', '=', unit_id).orderBy('row'),
)
const clientEvent = built(pick(tables.unit_client_event, 'caller', 'client_event_id'), ({ caller, client_event_id }) =>
  sql
    .selectFrom('unit_client_event as k')
    .innerJoin('unit_history as h', 'h.row', 'k.row')
    .select(['h.unit_id', 'k.request_sha256'])
    .where('k.caller', '=', caller)
    .where('k.client_event_id', '=', client_event_id),
)
const newClientEvent = built(tables.unit_client_event, (row) => sql.insertInto('unit_client_event').values(row))

const asked = statedSql('unit_history', 'unit-history')

/** The rows that leaves state, for verification. */
export const statedSteps = {
  between: statement({ columns: tables.unit_history, sql: asked.between }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

const linked = { table: 'unit_history', id: 'row', hasLeaf: true }

/** People linked to the rows, for verification. */
export const linksOfSteps = {
  operator: statement({
    columns: linkedColumns,
    sql: linkedRowsSql({ ...linked, field: 'operator', column: 'operator_commitment' }),
  }),
  actor: statement({
    columns: linkedColumns,
    sql: linkedRowsSql({ ...linked, field: 'actor', column: 'actor_commitment' }),
  }),
}

/** Leaves of the steps that are linked to a person. */
export const leavesOfSteps = statement({ columns: { bytes: blob }, sql: linkedLeavesSql('unit_history', 'row') })

export function append(tx: Tx, row: UnitHistoryRow): void {
  tx.run(newRow, row)
}

/** Stores that a photo belongs to a unit of this warehouse, so that callers who may see the unit may see the photo. */
export function keepPhoto(tx: Tx, sha256: string, warehouseId: number): void {
  tx.run(newPhoto, { sha256, warehouse_id: warehouseId })
}

/** Returns the last row of the history of all units, and its receipt time. */
export function endOfHistory(tx: ReadTx): { row: number; receivedAtMs: number } {
  const last = tx.get(lastRow)
  return { row: last?.row ?? 0, receivedAtMs: last?.received_at_ms ?? 0 }
}

// An index of the first steps is found by this word, so it is no value.
const created = raw.lit('created' as const)
const stepsBehind = built({ row: integer, limit: integer }, ({ row, limit }) =>
  sql
    .selectFrom('unit_history as h')
    .innerJoin('unit_history as c', (join) => join.onRef('c.unit_id', '=', 'h.unit_id').on('c.action', '=', created))
    .select(['h.unit_id', 'h.stage', 'h.status', 'c.warehouse_id'])
    .where('h.row', '>', row)
    .orderBy('h.row')
    .limit(limit)
    // The first step names it.
    .$narrowType<{ warehouse_id: NotNull }>(),
)

/** Returns the units of the rows behind one, oldest row first, each with its stage and status after the row. */
export function unitsBehindRow(tx: ReadTx, row: number, limit: number) {
  return tx.all(stepsBehind, { row, limit })
}

/** A row with the names and texts of its commitments, null where they are erased. */
const openedColumns = {
  ...tables.unit_history,
  operator: maybe(text),
  actor: maybe(text),
  note: maybe(text),
  reason: maybe(text),
  vehicle: maybe(text),
}
export type OpenedRow = RowOf<typeof openedColumns>

const openedRows = statement({
  columns: openedColumns,
  sql: `SELECT h.*, ${nameSql('unit_history', 'h.row', 'operator', 'h.operator_commitment')} AS operator,
      ${nameSql('unit_history', 'h.row', 'actor', 'h.actor_commitment')} AS actor,
      n.value AS note, r.value AS reason, v.value AS vehicle
    FROM main.unit_history h
    ${openedAs('n', 'h.note_commitment')}
    ${openedAs('r', 'h.reason_commitment')}
    ${openedAs('v', 'h.vehicle_commitment')}
    WHERE h.unit_id = +? ORDER BY h.row`,
})

/** Returns the history of a unit, oldest first; empty when there is no such unit. */
export function historyOf(tx: ReadTx, unitId: string): OpenedRow[] {
  return tx.all(openedRows, [unitId])
}

/** A unit in the list: facts of its first row, and stage and status of its newest one. */
const unitColumns = {
  row: integer,
  unit_id: text,
  reference: text,
  sscc: maybe(text),
  direction: word<'inbound' | 'outbound'>(),
  warehouse_id: integer,
  carrier: maybe(text),
  vehicle: maybe(text),
  stage: text,
  status: word<UnitHistoryRow['status']>(),
  created_at_ms: integer,
  updated_at_ms: integer,
  completed_at_ms: maybe(integer),
}
export type UnitRow = RowOf<typeof unitColumns>

const unitsBehind = statements({
  columns: unitColumns,
  sql: (strong: string) => `SELECT c.row, c.unit_id, c.reference, c.sscc, c.direction, c.warehouse_id, c.carrier,
      v.value AS vehicle, n.stage, n.status, c.timestamp_ms AS created_at_ms, n.received_at_ms AS updated_at_ms,
      CASE n.status WHEN 'completed' THEN
        (SELECT e.timestamp_ms FROM main.unit_history e WHERE e.unit_id = c.unit_id AND e.status = 'completed'
         ORDER BY e.row LIMIT 1)
      END AS completed_at_ms
    FROM (SELECT * FROM main.unit_history WHERE action = 'created' AND row > +?${strong} ORDER BY row LIMIT ?) c
    JOIN main.unit_history n ON n.row = (SELECT max(m.row) FROM main.unit_history m WHERE m.unit_id = c.unit_id)
    ${openedAs('v', 'c.vehicle_commitment')}
    ORDER BY c.row`,
  samples: [[''], [' AND unit_id = +?'], [' AND sscc = +?'], [' AND reference = +?']],
})

/** Filters that have an index; all others are compared in memory. */
export type StrongFilter = {
  readonly reference?: string | undefined
  readonly sscc?: string | undefined
  readonly unitId?: string | undefined
}

/** Units in the order in which they were registered, `limit` of them behind row `afterRow`. */
export function listUnits(tx: ReadTx, afterRow: number, limit: number, filter: StrongFilter = {}): UnitRow[] {
  const { reference, sscc, unitId } = filter
  const strong =
    unitId !== undefined
      ? ' AND unit_id = +?'
      : sscc !== undefined
        ? ' AND sscc = +?'
        : reference !== undefined
          ? ' AND reference = +?'
          : ''
  const value = unitId ?? sscc ?? reference
  return tx.all(unitsBehind(strong), [afterRow, ...(value === undefined ? [] : [value]), limit])
}

/** Returns the stages that a unit was in, in order. */
export function visitedStages(tx: ReadTx, unitId: string): string[] {
  return tx.all(stages, { unit_id: unitId }).map(({ stage }) => stage)
}

/** Returns what this caller recorded under the id of the client. */
export function findByClientEventId(tx: ReadTx, mark: string, clientEventId: string) {
  return tx.get(clientEvent, { caller: mark, client_event_id: clientEventId })
}

export function keepClientEventId(tx: Tx, mark: string, clientEventId: string, row: number, requestSha256: string) {
  tx.run(newClientEvent, { caller: mark, client_event_id: clientEventId, row, request_sha256: requestSha256 })
}
