import { type NotNull, sql as raw } from 'kysely'
import {
  blob,
  built,
  type Condition,
  integer,
  listings,
  pick,
  type ReadTx,
  statement,
  type Tx,
} from '../database/index.ts'
import type { TimePlace } from '../http/index.ts'
import { linkedColumns, linkedLeavesSql, linkedRowsSql, statedSql } from '../log/index.ts'
import { type IncidentChangeRow, sql, tables } from './tables.ts'

const newChange = built(tables.incident_change, (row) => sql.insertInto('incident_change').values(row))
const lastChange = built({}, () =>
  sql
    .selectFrom('incident_change')
    .select(({ selectFrom }) => [
      ...(['id', 'timestamp_ms'] as const),
      selectFrom('incident_change as every')
        .select(({ fn }) => fn.max('every.incident_id').as('incident'))
        .as('incidents'),
    ])
    .orderBy('id', 'desc')
    .limit(raw.lit(1)),
)
const changesById = built(pick(tables.incident_change, 'incident_id'), ({ incident_id }) =>
  sql.selectFrom('incident_change').selectAll().where('incident_id', '=', incident_id).orderBy('id'),
)
const changesBefore = built({ log: integer, size: integer, to_ms: integer }, ({ log, size, to_ms }) =>
  sql
    .selectFrom('incident_change')
    .selectAll()
    .where(({ eb, refTuple, tuple }) => eb(refTuple('log_id', 'leaf_seq'), '<=', tuple(log, size)))
    .where('timestamp_ms', '<', to_ms)
    .orderBy('id'),
)
// An index of the openings is found by this word, so it is no value.
const open = raw.lit('open' as const)
const changesBehind = built({ id: integer, limit: integer }, ({ id, limit }) =>
  sql
    .selectFrom('incident_change as n')
    .innerJoin('incident_change as o', (join) =>
      join.onRef('o.incident_id', '=', 'n.incident_id').on('o.status', '=', open),
    )
    .select(['n.incident_id', 'n.status', 'o.warehouse_id', 'o.severity'])
    .where('n.id', '>', id)
    .orderBy('n.id')
    .limit(limit)
    // An opening names it.
    .$narrowType<{ severity: NotNull }>(),
)
const opening = built(pick(tables.incident_change, 'incident_id'), ({ incident_id }) =>
  sql
    .selectFrom('incident_change')
    .select('warehouse_id')
    .where('incident_id', '=', incident_id)
    .where('status', '=', open),
)

const asked = statedSql('incident_change', 'incident-change')

/** The rows that leaves state, for verification. */
export const statedIncidentChanges = {
  between: statement({ columns: tables.incident_change, sql: asked.between }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

/** People linked to the rows, for verification. */
export const linksOfIncidents = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ table: 'incident_change', id: 'id', field: 'actor', column: 'actor_commitment', hasLeaf: true }),
})

/** Leaves of the changes that are linked to a person. */
export const leavesOfIncidents = statement({ columns: { bytes: blob }, sql: linkedLeavesSql('incident_change', 'id') })

export function append(tx: Tx, row: IncidentChangeRow): void {
  tx.run(newChange, row)
}

/** Returns the newest id and time of the changes, and the newest incident. */
export function endOfChanges(tx: ReadTx): { id: number; timestampMs: number; incidentId: number } {
  const end = tx.get(lastChange)
  return { id: end?.id ?? 0, timestampMs: end?.timestamp_ms ?? 0, incidentId: end?.incidents ?? 0 }
}

/** Returns all changes of an incident, oldest first; none for an unknown incident. */
export function changesOf(tx: ReadTx, incidentId: number): IncidentChangeRow[] {
  return tx.all(changesById, { incident_id: incidentId })
}

/** Returns the incidents of the changes behind one, oldest change first, each with its status after the change. */
export function incidentsBehindChange(tx: ReadTx, change: number, limit: number) {
  return tx.all(changesBehind, { id: change, limit })
}

/** Changes of the time before `toMs`, within the first `logSize` leaves of a log. */
export function changesWithin(tx: ReadTx, log: number, logSize: number, toMs: number): IncidentChangeRow[] {
  return tx.all(changesBefore, { log, size: logSize, to_ms: toMs })
}

/** Returns the warehouse of an incident; undefined where it has none, or there is no such incident. */
export function warehouseOfIncident(tx: ReadTx, incidentId: number): number | undefined {
  return tx.get(opening, { incident_id: incidentId })?.warehouse_id ?? undefined
}

export type IncidentFilter = {
  readonly status?: string | undefined
  readonly severity?: string | undefined
  readonly category?: string | undefined
  /** Time of the opening: inclusive, exclusive. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly hiddenWarehouses: readonly number[]
  /** Only those that refer to one of these, each as `type:id`. */
  readonly references?: readonly string[] | undefined
}

export type IncidentPage = { readonly limit: number; readonly offset: number; readonly before?: TimePlace | undefined }

/** External references have no id, and are equal to nothing. */
const refersTo = `EXISTS (SELECT 1 FROM json_each(o.evidence) e
  WHERE e.value ->> 'type' || ':' || (e.value ->> 'id') IN (SELECT value FROM json_each(?)))`

/** The openings in their order; its key is the time and the incident. */
export const openingsOf = listings(
  ({ status, severity, category, from, to, hiddenWarehouses, references }: IncidentFilter) => {
    const newest =
      '(SELECT status FROM main.incident_change n WHERE n.incident_id = o.incident_id ORDER BY n.id DESC LIMIT 1)'
    const holes = hiddenWarehouses.map(() => '?').join(', ')
    return {
      from: 'main.incident_change o',
      key: ['o.timestamp_ms', 'o.incident_id'],
      behind: to === undefined ? undefined : [to, 0],
      within: [{ sql: `o.status = 'open'`, values: [] }, ...given('o.timestamp_ms >= +?', from)],
      passing: [
        ...given('o.severity = ?', severity),
        ...given('o.category = ?', category),
        ...given(`${newest} = ?`, status),
        ...given(refersTo, references && JSON.stringify(references)),
        ...(holes === '' ? [] : [{ sql: `coalesce(o.warehouse_id NOT IN (${holes}), 1)`, values: hiddenWarehouses }]),
      ],
    }
  },
  [
    [{ hiddenWarehouses: [] }],
    [{ status: '', severity: '', category: '', from: 0, to: 1, hiddenWarehouses: [1, 2], references: [] }],
  ],
)

function given(condition: string, value: string | number | undefined): Condition[] {
  return value === undefined ? [] : [{ sql: condition, values: [value] }]
}
