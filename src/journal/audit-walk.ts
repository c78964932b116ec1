import { integer, maybe, type ReadTx, type RowOf, statement, statements } from '../database/index.ts'
import type { TimePlace } from '../http/index.ts'
import type { Meant } from '../log/index.ts'
import type { AuditEntity } from './entities.ts'
import { tables } from './tables.ts'

const columns = {
  ...tables.audit_entry,
  /** `person.id`s; null where no person is named, or the person was erased. */
  operator_id: maybe(integer),
  actor_id: maybe(integer),
}

/** An entry; `log_id` is null in rows of version 1. */
export type AuditRow = Readonly<RowOf<typeof columns>>

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
 * Returns the next entries after `from`, out of `looked` rows that the strongest condition finds by its index. A filter that few
 * rows pass costs many steps, never a long one. `place` is undefined when there are no more.
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

const behindEntry = statement({ columns, sql: `${select} WHERE a.id > +? ORDER BY a.id LIMIT ?` })

function inOrder(tx: ReadTx, { afterId = 0 }: AuditFilter, from: TimePlace | undefined, looked: number): AuditRow[] {
  return tx.all(behindEntry, [from?.id ?? afterId, looked])
}

/** Returns the newest `looked` rows of all sources; each source reads as many. */
function newestFirst(tx: ReadTx, filter: AuditFilter, from: TimePlace | undefined, looked: number): AuditRow[] {
  const found = sourcesOf(tx, filter).map((source) => newestOf(source, filter, from, looked))
  if (found.length === 0) return []
  const values = [...found.flatMap((one) => one.values), looked]
  return tx.all(newestOfAll(found.map(({ sql }) => sql)), values)
}

/** A source of rows; `id` is its column of the entry's id. */
type Source = Part & { readonly id: 'id' | 'entry_id' }

function newestOf({ id, sql, values }: Source, filter: AuditFilter, from: TimePlace | undefined, looked: number): Part {
  const bounds = boundsOf(filter, from, id)
  return {
    sql: `SELECT id FROM (SELECT ${id} AS id ${sql}${bounds.sql} ORDER BY timestamp_ms DESC, ${id} DESC LIMIT ?)`,
    values: [...values, ...bounds.values, looked],
  }
}

/** Returns the indexes that find the fewest rows: one, or for a person several without common rows. */
function sourcesOf(tx: ReadTx, filter: AuditFilter): Source[] {
  const { entity, entityId, person, action } = filter
  if (entity !== undefined && entityId !== undefined) return [ofThing(entity, entityId)]
  if (person !== undefined) return sourcesOfPerson(person)
  if (entity !== undefined && entity !== 'event') return [ofKind(entity)]
  if (action !== undefined && !isAboutEvents(tx, action)) return [ofAction(action)]
  return [everyEntry()]
}

const entries = (index: string, where: string, ...values: (string | number)[]): Source => ({
  id: 'id',
  sql: `FROM main.audit_entry INDEXED BY ${index} WHERE ${where}`,
  values,
})
const ofThing = (entity: string, id: string) =>
  entries('audit_entry_entity', 'entity = +? AND entity_id = +?', entity, id)
const ofKind = (entity: string) => entries('audit_entry_kind', `entity = +? AND entity <> 'event'`, entity)
const ofAction = (action: string) => entries('audit_entry_action', `action = +? AND entity <> 'event'`, action)
const everyEntry = () => entries('audit_entry_time', 'timestamp_ms IS NOT NULL')

const sourcesOfPerson = (person: Meant): Source[] => [
  ...version1Sources(person),
  ...person.ids.flatMap((id) => linkedSources(id, person)),
]

/** Returns the sources of rows of version 1, which hold the person's one commitment. */
function version1Sources({ commitment }: Meant): Source[] {
  if (commitment === undefined) return []
  const own = (index: string, where: string, ...values: string[]) =>
    entries(index, `log_id IS NULL AND ${where}`, ...values)
  return [
    own('audit_entry_actor', 'actor_commitment = +?', commitment),
    own('audit_entry_operator', 'operator_commitment = +? AND actor_commitment IS NOT +?', commitment, commitment),
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
  return tx.get(notAboutEvents, [action]) === undefined
}

const notAboutEvents = statement({
  columns: { found: integer },
  sql: `SELECT 1 AS found FROM main.audit_entry WHERE action = +? AND entity <> 'event' LIMIT 1`,
})

/**
 * Returns one upper bound only, the lower of the two. With both, SQLite seeks by the end of the span and steps over every row
 * between that and the place, again in each slice.
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

const sampleSources = (from: TimePlace | undefined) =>
  [
    ...[ofThing('slot', '1'), ofKind('slot'), ofAction('slot.created'), everyEntry()],
    ...sourcesOfPerson({ commitment: '', ids: [1, 2] }),
  ].map((source) => newestOf(source, { fromMs: 0, toMs: 1 }, from, 1).sql)

const newestOfAll = statements({
  columns,
  sql: (sources: readonly string[]) => `${select} WHERE a.id IN (${sources.join(' UNION ALL ')})
    ORDER BY a.timestamp_ms DESC, a.id DESC LIMIT ?`,
  samples: [[sampleSources(undefined)], [sampleSources({ timestampMs: 1, id: 1 })]],
})
