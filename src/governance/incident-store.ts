import type { Condition, IncidentChangeRow, Listing, ReadTx, Tx } from '../database/index.ts'
import type { TimePlace } from '../http/index.ts'

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

/** The openings in their order; its key is the time and the incident. */
export function openingsOf({ status, severity, category, from, to, hiddenWarehouses }: IncidentFilter): Listing {
  const newest =
    '(SELECT status FROM main.incident_change n WHERE n.incident_id = o.incident_id ORDER BY n.id DESC LIMIT 1)'
  const holes = hiddenWarehouses.map(() => '?').join(', ')
  const given = (sql: string, value: string | number | undefined): Condition[] =>
    value === undefined ? [] : [{ sql, values: [value] }]
  return {
    from: 'main.incident_change o',
    key: ['o.timestamp_ms', 'o.incident_id'],
    behind: to === undefined ? undefined : [to, 0],
    within: [{ sql: `o.status = 'open'`, values: [] }, ...given('o.timestamp_ms >= +?', from)],
    passing: [
      ...given('o.severity = ?', severity),
      ...given('o.category = ?', category),
      ...given(`${newest} = ?`, status),
      ...(holes === '' ? [] : [{ sql: `coalesce(o.warehouse_id NOT IN (${holes}), 1)`, values: hiddenWarehouses }]),
    ],
  }
}
