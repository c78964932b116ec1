import type { IncidentChangeRow, ReadTx, Tx } from '../database/index.ts'
import { countLimit, type TimePlace } from '../http/index.ts'

const columns = [
  'id',
  'event_id',
  'log_id',
  'leaf_seq',
  'leaf_version',
  'incident_id',
  'status',
  'severity',
  'category',
  'warehouse_id',
  'title_commitment',
  'description_commitment',
  'evidence',
  'resolution_commitment',
  'actor_commitment',
  'timestamp_ms',
  'evidence_hash',
] as const satisfies readonly (keyof IncidentChangeRow)[]

export function append(tx: Tx, row: IncidentChangeRow): void {
  tx.runOf(
    `INSERT INTO main.incident_change (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    columns.map((column) => row[column]),
  )
}

/** Returns the newest id and time of the changes, and the newest incident. */
export function endOfChanges(tx: ReadTx): { id: number; timestampMs: number; incidentId: number } {
  const end = tx.oneOf<{ id: number; timestamp_ms: number; incidents: number }>(
    `SELECT id, timestamp_ms, (SELECT max(incident_id) FROM main.incident_change) AS incidents
     FROM main.incident_change ORDER BY id DESC LIMIT 1`,
  )
  return { id: end?.id ?? 0, timestampMs: end?.timestamp_ms ?? 0, incidentId: end?.incidents ?? 0 }
}

/** Returns all changes of an incident, oldest first; none for an unknown incident. */
export function changesOf(tx: ReadTx, incidentId: number): IncidentChangeRow[] {
  return tx.allOf('SELECT * FROM main.incident_change WHERE incident_id = +? ORDER BY id', [incidentId])
}

export type IncidentFilter = {
  readonly status?: string | undefined
  readonly severity?: string | undefined
  readonly category?: string | undefined
  /** Of the opening: inclusive, exclusive. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly hiddenWarehouses: readonly number[]
}

export type IncidentPage = { readonly limit: number; readonly offset: number; readonly before?: TimePlace | undefined }

/** Lists ids and times of openings, newest first. */
export function listIncidents(tx: ReadTx, filter: IncidentFilter, page: IncidentPage) {
  const { sql, values } = conditionOf(filter)
  const behind = page.before ? ' AND (timestamp_ms, incident_id) < (+?, +?)' : ''
  const rows = tx.allOf<{ id: number; timestampMs: number }>(
    `SELECT incident_id AS id, timestamp_ms AS timestampMs FROM main.incident_change o WHERE ${sql}${behind}
     ORDER BY timestamp_ms DESC, incident_id DESC LIMIT ? OFFSET ?`,
    [...values, ...(page.before ? [page.before.timestampMs, page.before.id] : []), page.limit + 1, page.offset],
  )
  const counted = tx.oneOf<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM main.incident_change o WHERE ${sql} LIMIT ${countLimit + 1})`,
    values,
  )
  const total = counted && counted.n <= countLimit ? counted.n : null
  return { rows: rows.slice(0, page.limit), hasMore: rows.length > page.limit, total }
}

function conditionOf({ status, severity, category, from, to, hiddenWarehouses }: IncidentFilter) {
  const newest =
    '(SELECT status FROM main.incident_change n WHERE n.incident_id = o.incident_id ORDER BY n.id DESC LIMIT 1)'
  const holes = hiddenWarehouses.map(() => '?').join(', ')
  const parts: [string, ...(string | number)[]][] = [
    [`o.status = 'open'`],
    ...(from === undefined ? [] : [['o.timestamp_ms >= +?', from] as [string, number]]),
    ...(to === undefined ? [] : [['o.timestamp_ms < +?', to] as [string, number]]),
    ...(severity === undefined ? [] : [['o.severity = +?', severity] as [string, string]]),
    ...(category === undefined ? [] : [['o.category = +?', category] as [string, string]]),
    ...(status === undefined ? [] : [[`${newest} = +?`, status] as [string, string]]),
    ...(holes === ''
      ? []
      : [[`coalesce(o.warehouse_id NOT IN (${holes}), 1)`, ...hiddenWarehouses] as [string, ...number[]]]),
  ]
  return { sql: parts.map(([part]) => part).join(' AND '), values: parts.flatMap(([, ...values]) => values) }
}
