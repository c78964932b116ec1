import type { ReadTx } from '../database/index.ts'
import type { TimePlace } from '../http/index.ts'
import type { AuditEntity } from '../journal/index.ts'
import type { Meant } from '../log/index.ts'

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
  /** Null in rows of version 1. */
  readonly log_id: number | null
  /** `person.id`s; null without a person, or when the person was erased. */
  readonly operator_id: number | null
  readonly actor_id: number | null
}

export type AuditFilter = {
  readonly entity?: AuditEntity | undefined
  readonly entityId?: string | undefined
  /** As operator or as actor. */
  readonly person?: Meant | undefined
  readonly action?: string | undefined
  /** Inclusive. */
  readonly fromMs?: number | undefined
  /** Exclusive. */
  readonly toMs?: number | undefined
  /** Only entries after this one, oldest first. */
  readonly afterId?: number | undefined
}

type Part = { readonly sql: string; readonly values: readonly (string | number)[] }

/**
 * Returns the next entries after `from`, out of `looked` rows that the strongest condition finds by its index: a filter
 * that few rows pass costs many steps, never a long one. `place` is undefined when there are no more.
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

const select = `SELECT a.*, p.operator_id, p.actor_id FROM main.audit_entry a
  LEFT JOIN main.audit_person p ON p.entry_id = a.id`

function inOrder(tx: ReadTx, { afterId = 0 }: AuditFilter, from: TimePlace | undefined, looked: number): AuditRow[] {
  return tx.allOf<AuditRow>(`${select} WHERE a.id > +? ORDER BY a.id LIMIT ?`, [from?.id ?? afterId, looked])
}

/** Returns the newest `looked` rows of all sources; each source reads as many. */
function newestFirst(tx: ReadTx, filter: AuditFilter, from: TimePlace | undefined, looked: number): AuditRow[] {
  const found = sourcesOf(tx, filter).map((source) => {
    const bounds = boundsOf(filter, from, source.id)
    return {
      sql: `SELECT id FROM (SELECT ${source.id} AS id ${source.sql}${bounds.sql} ORDER BY timestamp_ms DESC, ${source.id} DESC LIMIT ?)`,
      values: [...source.values, ...bounds.values, looked],
    }
  })
  if (found.length === 0) return []
  return tx.allOf<AuditRow>(
    `${select} WHERE a.id IN (${found.map(({ sql }) => sql).join(' UNION ALL ')})
     ORDER BY a.timestamp_ms DESC, a.id DESC LIMIT ?`,
    [...found.flatMap(({ values }) => values), looked],
  )
}

/** A source of rows; `id` is its column of the entry's id. */
type Source = Part & { readonly id: 'id' | 'entry_id' }

/** Returns the indexes that find the fewest rows: one, or for a person several without common rows. */
function sourcesOf(tx: ReadTx, filter: AuditFilter): Source[] {
  const { entity, entityId, person, action } = filter
  const entries = (index: string, where: string, ...values: (string | number)[]): Source => ({
    id: 'id',
    sql: `FROM main.audit_entry INDEXED BY ${index} WHERE ${where}`,
    values,
  })
  if (entity !== undefined && entityId !== undefined) {
    return [entries('audit_entry_entity', 'entity = +? AND entity_id = +?', entity, entityId)]
  }
  if (person !== undefined)
    return [...version1Sources(person), ...person.ids.flatMap((id) => linkedSources(id, person))]
  if (entity !== undefined && entity !== 'event') {
    return [entries('audit_entry_kind', `entity = +? AND entity <> 'event'`, entity)]
  }
  if (action !== undefined && !isAboutEvents(tx, action)) {
    return [entries('audit_entry_action', `action = +? AND entity <> 'event'`, action)]
  }
  return [entries('audit_entry_time', 'timestamp_ms IS NOT NULL')]
}

/** Returns the sources of rows of version 1, which hold the person's one commitment. */
function version1Sources({ commitment }: Meant): Source[] {
  if (commitment === undefined) return []
  const entries = (index: string, where: string, values: string[]): Source => ({
    id: 'id',
    sql: `FROM main.audit_entry INDEXED BY ${index} WHERE log_id IS NULL AND ${where}`,
    values,
  })
  return [
    entries('audit_entry_actor', 'actor_commitment = +?', [commitment]),
    entries('audit_entry_operator', 'operator_commitment = +? AND actor_commitment IS NOT +?', [
      commitment,
      commitment,
    ]),
  ]
}

/** Returns the sources of later rows: linked as the actor or, where the actor is another person, as the operator. */
function linkedSources(id: number, { ids }: Meant): Source[] {
  const others = ids.map(() => '+?').join(', ')
  const links = (index: string, where: string, values: readonly number[]): Source => ({
    id: 'entry_id',
    sql: `FROM main.audit_person INDEXED BY ${index} WHERE ${where}`,
    values,
  })
  return [
    links('audit_person_actor', 'actor_id = +?', [id]),
    links('audit_person_operator', `operator_id = +? AND coalesce(actor_id NOT IN (${others}), 1)`, [id, ...ids]),
  ]
}

/** Says whether an action is about events, which have no separate index because they are most of the trail. */
function isAboutEvents(tx: ReadTx, action: string): boolean {
  return (
    tx.oneOf(`SELECT 1 FROM main.audit_entry WHERE action = +? AND entity <> 'event' LIMIT 1`, [action]) === undefined
  )
}

/**
 * Returns one upper bound only, the lower of the two: with both, SQLite seeks by the end of the span and steps over
 * every row between that and the place, again in each slice.
 */
function boundsOf({ fromMs, toMs }: AuditFilter, from: TimePlace | undefined, id: Source['id']): Part {
  const isBehindSpan = from !== undefined && (toMs === undefined || from.timestampMs < toMs)
  const upper = isBehindSpan ? from : toMs === undefined ? undefined : { timestampMs: toMs, id: 0 }
  const parts = [
    ...(fromMs === undefined ? [] : [{ sql: ' AND timestamp_ms >= +?', values: [fromMs] }]),
    ...(upper ? [{ sql: ` AND (timestamp_ms, ${id}) < (+?, +?)`, values: [upper.timestampMs, upper.id] }] : []),
  ]
  return { sql: parts.map((part) => part.sql).join(''), values: parts.flatMap((part) => part.values) }
}

function passes(row: AuditRow, { entity, entityId, person, action, fromMs, toMs }: AuditFilter): boolean {
  return (
    (entity === undefined || row.entity === entity) &&
    (entityId === undefined || row.entity_id === entityId) &&
    (person === undefined || isBy(row, person)) &&
    (action === undefined || row.action === action) &&
    (fromMs === undefined || row.timestamp_ms >= fromMs) &&
    (toMs === undefined || row.timestamp_ms < toMs)
  )
}

function isBy(row: AuditRow, { commitment, ids }: Meant): boolean {
  if (row.log_id === null)
    return [row.operator_commitment, row.actor_commitment].some((c) => c !== null && c === commitment)
  return [row.operator_id, row.actor_id].some((id) => id !== null && ids.includes(id))
}
