import { createHmac } from 'node:crypto'
import {
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
} from '../database/index.ts'
import type { Caller } from '../http/index.ts'
import { auditEntries } from '../journal/index.ts'
import {
  type Identity,
  leaves,
  openedAs,
  openings,
  type Person,
  people,
  personAs,
  shownWithout,
  statedSql,
} from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import { slots } from '../warehouse/index.ts'
import type { PlacementEvent } from './schema.ts'
import { type PlacementEventRow, sql, tables } from './tables.ts'
import { explain, type WarningCode } from './warnings.ts'

const newEvent = built(tables.placement_event, (row) => sql.insertInto('placement_event').values(row))
const newPeople = built(tables.placement_person, (row) => sql.insertInto('placement_person').values(row))

export function append(tx: Tx, row: PlacementEventRow): void {
  tx.run(newEvent, row)
}

/** Links an event to its people, in the side table that may be erased. */
export function linkPeople(
  tx: Tx,
  row: Pick<PlacementEventRow, 'id' | 'timestamp_ms'>,
  { operator, actor }: { operator: Person; actor: Person },
): void {
  const { id, timestamp_ms } = row
  tx.run(newPeople, { event_id: id, timestamp_ms, operator_id: operator.id, actor_id: actor.id })
}

const openedColumns = {
  ...tables.placement_event,
  operator: maybe(text),
  actor: maybe(text),
  /** `person.id`s of rows since version 2; null once erased. */
  operator_id: maybe(integer),
  actor_id: maybe(integer),
  notes: maybe(text),
  /** For opening stock: the time when a count first recorded this pallet. */
  counted_at_ms: maybe(integer),
}

/** A row with the names and texts that its commitments open to, as far as they are not erased. */
export type OpenedRow = RowOf<typeof openedColumns>

/** SQL for the warehouses of the events that hold a photo; naming a hash is not enough. */
export const warehousesOfPhotoSql = `SELECT l.warehouse_id FROM placement_event e CROSS JOIN ${slots} l ON l.id = e.slot_id
  WHERE e.photo_sha256 = +? AND e.photo_evidence = 'held'`

const openedSelect = `SELECT e.*, coalesce(po.name, o.value) AS operator, coalesce(pa.name, a.value) AS actor,
    l.operator_id, l.actor_id, n.value AS notes,
    CASE WHEN e.opening_list IS NOT NULL THEN (
      SELECT min(c.received_at_ms) FROM main.placement_event c
      WHERE c.count_id IS NOT NULL AND c.asset_key = e.asset_key AND c.id > e.id) END AS counted_at_ms
  FROM main.placement_event e
  LEFT JOIN placement_person l ON l.event_id = e.id
  ${personAs('po', 'l.operator_id')}
  ${personAs('pa', 'l.actor_id')}
  ${openedAs('o', 'e.operator_commitment', 'e.leaf_version = 1')}
  ${openedAs('a', 'e.actor_commitment', 'e.leaf_version = 1')}
  ${openedAs('n', 'e.notes_commitment')}`

/** As SQL on the table `e`. */
export const inOrder = {
  'newest first': 'e.timestamp_ms DESC, e.id DESC',
  'oldest first': 'e.timestamp_ms, e.id',
  log: 'e.id',
} as const

/** Newest or oldest first by the order (timestamp, id), or in the order of the log, which is that of the ids. */
export type Order = keyof typeof inOrder

const openedEvent = statement({ columns: openedColumns, sql: `${openedSelect} WHERE e.id = +?` })
const openedEvents = statements({
  columns: openedColumns,
  sql: (order: Order) => `${openedSelect} WHERE e.id IN (SELECT value FROM json_each(?)) ORDER BY ${inOrder[order]}`,
  samples: [['newest first'], ['oldest first'], ['log']],
})
const keyOfMarks = built({}, () => sql.selectFrom('caller_key').select('key'))
const clientEvent = statement({
  columns: pick(tables.client_event, 'event_id', 'request_sha256'),
  sql: 'SELECT event_id, request_sha256 FROM client_event WHERE caller IN (?, ?) AND client_event_id = ?',
})
const newClientEvent = built(tables.client_event, (row) => sql.insertInto('client_event').values(row))
const identityColumns = { name: text, instance: maybe(text) }
const linkedPlacers = statement({
  columns: identityColumns,
  sql: `SELECT p.name, p.instance FROM placement_person l JOIN ${people} p ON p.id IN (l.operator_id, l.actor_id)
    WHERE l.event_id = +?`,
})
const namedPlacers = statement({
  columns: identityColumns,
  sql: `SELECT o.value AS name, NULL AS instance FROM main.placement_event e
    JOIN ${openings} o ON o.commitment IN (e.operator_commitment, e.actor_commitment)
    WHERE e.id = +? AND e.leaf_version = 1`,
})
const lastEvent = built({}, () =>
  sql.selectFrom('placement_event').select(['id', 'received_at_ms']).orderBy('id', 'desc').limit(1),
)

/** People linked to the events, for verification: both fields of each row. */
export const linksOfEvents = statement({
  columns: {
    row: integer,
    log: integer,
    seq: maybe(integer),
    ...pick(tables.placement_person, 'operator_id', 'actor_id'),
    operator: maybe(text),
    actor: maybe(text),
  },
  sql: `SELECT e.id AS row, e.log_id AS log, e.leaf_seq AS seq, l.operator_id, l.actor_id,
      e.operator_commitment AS operator, e.actor_commitment AS actor
    FROM main.placement_person l JOIN main.placement_event e ON e.id = l.event_id WHERE l.event_id > +? ORDER BY l.event_id LIMIT ?`,
})
const eventsWithoutEntry = statement({
  columns: { n: integer },
  sql: `SELECT count(*) AS n FROM main.placement_event e
    WHERE NOT EXISTS (SELECT 1 FROM ${auditEntries} a WHERE a.entity = 'event' AND a.entity_id = CAST(e.id AS TEXT))`,
})

/** Counts events without an entry in the audit trail. */
export function countUntold(tx: ReadTx): number {
  return tx.get(eventsWithoutEntry)?.n ?? 0
}

const placeOfEvent = statement({
  columns: { warehouse_id: integer },
  sql: `SELECT s.warehouse_id FROM main.placement_event e JOIN ${slots} s ON s.id = e.slot_id WHERE e.id = +?`,
})

/** Returns the warehouse of an event, for any caller. */
export function warehouseOfEvent(tx: ReadTx, id: number): number | undefined {
  return tx.get(placeOfEvent, [id])?.warehouse_id
}

const notesOfEvent = built(pick(tables.placement_event, 'id'), ({ id }) =>
  sql.selectFrom('placement_event').select('notes_commitment').where('id', '=', id),
)

/** Returns the commitment of an event's verification notes; null without any. */
export function notesOf(tx: ReadTx, id: number): string | null {
  return tx.get(notesOfEvent, { id })?.notes_commitment ?? null
}

const asked = statedSql('placement_event', 'placement')

/** The rows that leaves state, for verification. */
export const statedPlacements = {
  between: statement({
    columns: tables.placement_event,
    // By the ids that the leaves name: the ledger has no index by leaf.
    sql: `SELECT e.* FROM ${leaves} l CROSS JOIN main.placement_event e ON e.id = CAST(l.ref AS INTEGER)
      WHERE l.log_id = +? AND l.seq >= +? AND l.seq <= +? AND l.kind = 'placement'`,
  }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

export function findEvent(tx: ReadTx, id: number): OpenedRow | undefined {
  return tx.get(openedEvent, [id])
}

export function toPlacementEvent(row: OpenedRow): PlacementEvent {
  return {
    id: row.id,
    eventId: row.event_id,
    seq: row.leaf_seq,
    event_type: row.event_type,
    slot_id: row.slot_id,
    slot_code: row.slot_code,
    asset_barcode: row.asset_barcode,
    asset_key: row.asset_key,
    operator: row.operator ?? shownWithout(row.leaf_version, row.operator_commitment),
    actor: row.actor ?? shownWithout(row.leaf_version, row.actor_commitment),
    timestamp: isoTime(row.timestamp_ms),
    device_timestamp: timeOf(row.device_timestamp_ms),
    received_at: isoTime(row.received_at_ms),
    clock_offset_ms: row.clock_offset_ms,
    time_quality: row.time_quality,
    photo_url: row.photo_url,
    photo_sha256: row.photo_sha256,
    photoEvidence: row.photo_evidence ?? instead(row),
    photo_taken_at: timeOf(row.photo_taken_at_ms),
    scale_weight_kg: row.scale_weight_kg,
    evidence_hash: row.evidence_hash,
    client_evidence_hash: row.client_evidence_hash,
    cctv_clip_url: row.cctv_clip_url,
    work_order_ref: row.work_order_ref,
    verification_notes: row.notes,
    scan: row.scan === null ? null : JSON.parse(row.scan),
    scanEvidence: row.scan_evidence ?? 'claimed',
    client_event_id: row.client_event_id,
    corrects_event_id: row.corrects_event_id,
    warnings: explain(JSON.parse(row.warnings) as WarningCode[]),
    opening: openingOf(row),
    count: countOf(row),
  }
}

/** Returns what replaces the photo of an event; null when nothing does. */
function instead(row: OpenedRow): 'opening_list' | 'count' | null {
  if (row.opening_list !== null) return 'opening_list'
  return row.count_id === null ? null : 'count'
}

function openingOf(row: OpenedRow): PlacementEvent['opening'] {
  if (row.opening_list === null || row.opening_line === null) return null
  return { sha256: row.opening_list, line: row.opening_line, countedAt: timeOf(row.counted_at_ms) }
}

function countOf(row: OpenedRow): PlacementEvent['count'] {
  if (row.count_id === null || row.count_scan_id === null || row.count_scan_sha256 === null) return null
  return { id: row.count_id, scanId: row.count_scan_id, scanSha256: row.count_scan_sha256 }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}

/** Returns whole rows by id. */
export function openedByIds(tx: ReadTx, ids: readonly number[], order: Order): OpenedRow[] {
  return tx.all(openedEvents(order), [JSON.stringify(ids)])
}

/** Returns the key of the marks that replace names; see `callerMark`. */
export function markKey(tx: ReadTx): Buffer {
  const held = tx.get(keyOfMarks)
  if (!held) throw new Error('the key for marks of callers is gone')
  return held.key
}

/**
 * Returns the mark of a caller beside its client event ids. It is no name, and the same for ever, also after the person was erased.
 * A commitment would differ then, and the events would be recorded a second time. Throws when the key is missing.
 */
export function callerMark(tx: ReadTx, caller: Pick<Caller, 'username' | 'instance'>): string {
  return createHmac('sha256', markKey(tx)).update(`${caller.username}@${caller.instance}`).digest('hex')
}

/**
 * Returns the event that this caller recorded under the client's own id. `commitment`: how rows of the first schemas name the
 * caller.
 */
export function findByClientEventId(tx: ReadTx, mark: string, commitment: string | undefined, clientEventId: string) {
  return tx.get(clientEvent, [mark, commitment ?? mark, clientEventId])
}

export function keepClientEventId(
  tx: Tx,
  mark: string,
  clientEventId: string,
  eventId: number,
  requestSha256: string,
): void {
  tx.run(newClientEvent, {
    caller: mark,
    client_event_id: clientEventId,
    event_id: eventId,
    request_sha256: requestSha256,
  })
}

/** Returns the people who made a placement, as far as they are not erased. */
export function placersOf(tx: ReadTx, eventId: number): Identity[] {
  const linked = tx.all(linkedPlacers, [eventId])
  return linked.length > 0 ? linked : tx.all(namedPlacers, [eventId])
}

/** Returns the last id and the newest received_at, for `LedgerHead`. */
export function headOf(tx: ReadTx): { id: number; receivedAtMs: number } {
  const row = tx.get(lastEvent)
  return { id: row?.id ?? 0, receivedAtMs: row?.received_at_ms ?? 0 }
}
