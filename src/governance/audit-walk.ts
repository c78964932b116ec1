import type { ReadTx } from '../database/index.ts'
import type { TimePlace } from '../http/index.ts'
import type { AuditEntity } from '../journal/index.ts'

export type AuditRow = {
  readonly id: number
  readonly timestamp_ms: number
  readonly operator_commitment: string | null
  readonly actor_commitment: string | null
  readonly action: string
  readonly entity: AuditEntity
  readonly entity_id: string | null
  readonly changes: string | null
  readonly request_id: string | null
  readonly address: string | null
  readonly auth_mode: string | null
}

export type AuditFilter = {
  readonly entity?: AuditEntity | undefined
  readonly entityId?: string | undefined
  /** Commitment of a person, as operator or as actor. */
  readonly person?: string | undefined
  readonly action?: string | undefined
  /** Inclusive. */
  readonly fromMs?: number | undefined
  /** Exclusive. */
  readonly toMs?: number | undefined
  /** Only entries behind this one, and then in their order instead of newest first. */
  readonly afterId?: number | undefined
}

type Part = { readonly sql: string; readonly values: readonly (string | number)[] }

/**
 * The next entries behind `from`, out of `looked` rows that the strongest condition finds by its index: a filter that
 * few rows pass costs many steps, never a long one. `place` is undefined when there are no more.
 */
export function auditStep(
  tx: ReadTx,
  filter: AuditFilter,
  from: TimePlace | undefined,
  looked: number,
): { rows: AuditRow[]; place: TimePlace | undefined } {
  const found = filter.afterId === undefined ? newestFirst(tx, filter, from, looked) : inOrder(tx, filter, from, looked)
  const last = found.at(-1)
  return {
    rows: found.filter((row) => passes(row, filter)),
    place: last && found.length === looked ? { timestampMs: last.timestamp_ms, id: last.id } : undefined,
  }
}

function inOrder(tx: ReadTx, { afterId = 0 }: AuditFilter, from: TimePlace | undefined, looked: number): AuditRow[] {
  return tx.allOf<AuditRow>('SELECT * FROM main.audit_entry WHERE id > +? ORDER BY id LIMIT ?', [
    from?.id ?? afterId,
    looked,
  ])
}

function newestFirst(tx: ReadTx, filter: AuditFilter, from: TimePlace | undefined, looked: number): AuditRow[] {
  const bounds = boundsOf(filter, from)
  const steps = sourcesOf(tx, filter).map(({ sql, values }) => ({
    sql: `SELECT * FROM (SELECT * FROM main.audit_entry ${sql}${bounds.sql} ORDER BY timestamp_ms DESC, id DESC LIMIT ?)`,
    values: [...values, ...bounds.values, looked],
  }))
  return tx.allOf<AuditRow>(
    `${steps.map((step) => step.sql).join(' UNION ALL ')} ORDER BY timestamp_ms DESC, id DESC LIMIT ?`,
    [...steps.flatMap((step) => step.values), looked],
  )
}

/** The indexes that find the fewest rows: one, or for a person two that have no row in common. */
function sourcesOf(tx: ReadTx, filter: AuditFilter): Part[] {
  const { entity, entityId, person, action } = filter
  if (entity !== undefined && entityId !== undefined) {
    const sql = 'INDEXED BY audit_entry_entity WHERE entity = +? AND entity_id = +?'
    return [{ sql, values: [entity, entityId] }]
  }
  if (person !== undefined) {
    const other = 'INDEXED BY audit_entry_operator WHERE operator_commitment = +? AND actor_commitment IS NOT +?'
    return [
      { sql: 'INDEXED BY audit_entry_actor WHERE actor_commitment = +?', values: [person] },
      { sql: other, values: [person, person] },
    ]
  }
  if (entity !== undefined && entity !== 'event') {
    return [{ sql: `INDEXED BY audit_entry_kind WHERE entity = +? AND entity <> 'event'`, values: [entity] }]
  }
  if (action !== undefined && !isAboutEvents(tx, action)) {
    return [{ sql: `INDEXED BY audit_entry_action WHERE action = +? AND entity <> 'event'`, values: [action] }]
  }
  return [{ sql: 'INDEXED BY audit_entry_time WHERE timestamp_ms IS NOT NULL', values: [] }]
}

/** An action is about one kind of entity; those about events stand in no index of their own, being most of the trail. */
function isAboutEvents(tx: ReadTx, action: string): boolean {
  return (
    tx.oneOf(`SELECT 1 FROM main.audit_entry WHERE action = +? AND entity <> 'event' LIMIT 1`, [action]) === undefined
  )
}

/**
 * One upper bound alone, the lower of the two: with both, SQLite seeks by the end of the span and steps over every row
 * between that and the place, in each slice anew.
 */
function boundsOf({ fromMs, toMs }: AuditFilter, from: TimePlace | undefined): Part {
  const isBehindSpan = from !== undefined && (toMs === undefined || from.timestampMs < toMs)
  const upper = isBehindSpan ? from : toMs === undefined ? undefined : { timestampMs: toMs, id: 0 }
  const parts = [
    ...(fromMs === undefined ? [] : [{ sql: ' AND timestamp_ms >= +?', values: [fromMs] }]),
    ...(upper ? [{ sql: ' AND (timestamp_ms, id) < (+?, +?)', values: [upper.timestampMs, upper.id] }] : []),
  ]
  return { sql: parts.map((part) => part.sql).join(''), values: parts.flatMap((part) => part.values) }
}

function passes(row: AuditRow, { entity, entityId, person, action, fromMs, toMs }: AuditFilter): boolean {
  return (
    (entity === undefined || row.entity === entity) &&
    (entityId === undefined || row.entity_id === entityId) &&
    (person === undefined || row.operator_commitment === person || row.actor_commitment === person) &&
    (action === undefined || row.action === action) &&
    (fromMs === undefined || row.timestamp_ms >= fromMs) &&
    (toMs === undefined || row.timestamp_ms < toMs)
  )
}
