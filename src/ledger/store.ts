import { createHmac } from 'node:crypto'
import type { PlacementEventRow, ReadTx, Tx } from '../database/index.ts'
import type { Caller } from '../http/index.ts'
import { type Identity, type Person, shownWithout } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { PlacementEvent } from './schema.ts'
import { explain, type WarningCode } from './warnings.ts'

const columns = [
  'id',
  'event_id',
  'log_id',
  'leaf_seq',
  'leaf_version',
  'event_type',
  'slot_id',
  'slot_code',
  'asset_barcode',
  'asset_key',
  'operator_commitment',
  'actor_commitment',
  'timestamp_ms',
  'device_timestamp_ms',
  'received_at_ms',
  'clock_offset_ms',
  'time_quality',
  'photo_url',
  'photo_sha256',
  'photo_evidence',
  'photo_taken_at_ms',
  'scale_weight_kg',
  'cctv_clip_url',
  'work_order_ref',
  'notes_commitment',
  'scan',
  'scan_evidence',
  'client_event_id',
  'client_evidence_hash',
  'corrects_event_id',
  'warnings',
  'evidence_hash',
  'opening_list',
  'opening_line',
  'count_id',
  'count_scan_id',
  'count_scan_sha256',
] as const satisfies readonly (keyof PlacementEventRow)[]

const insertSql = `INSERT INTO main.placement_event (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`

export function append(tx: Tx, row: PlacementEventRow): void {
  tx.runOf(
    insertSql,
    columns.map((column) => row[column]),
  )
}

/** Links an event to its people, in the side table that may be erased. */
export function linkPeople(
  tx: Tx,
  row: Pick<PlacementEventRow, 'id' | 'timestamp_ms'>,
  { operator, actor }: { operator: Person; actor: Person },
): void {
  tx.runOf('INSERT INTO placement_person (event_id, timestamp_ms, operator_id, actor_id) VALUES (?, ?, ?, ?)', [
    row.id,
    row.timestamp_ms,
    operator.id,
    actor.id,
  ])
}

/** A row with the names and texts of its commitments, null where they are erased. */
export type OpenedRow = PlacementEventRow & {
  operator: string | null
  actor: string | null
  /** `person.id`s of rows since version 2; null once erased. */
  operator_id: number | null
  actor_id: number | null
  notes: string | null
  /** Of opening stock: when a count first recorded this pallet. */
  counted_at_ms: number | null
}

const openedSelect = `SELECT e.*, coalesce(po.name, o.value) AS operator, coalesce(pa.name, a.value) AS actor,
    l.operator_id, l.actor_id, n.value AS notes,
    CASE WHEN e.opening_list IS NOT NULL THEN (
      SELECT min(c.received_at_ms) FROM main.placement_event c
      WHERE c.count_id IS NOT NULL AND c.asset_key = e.asset_key AND c.id > e.id) END AS counted_at_ms
  FROM main.placement_event e
  LEFT JOIN placement_person l ON l.event_id = e.id
  LEFT JOIN person po ON po.id = l.operator_id
  LEFT JOIN person pa ON pa.id = l.actor_id
  LEFT JOIN opening o ON e.leaf_version = 1 AND o.commitment = e.operator_commitment
  LEFT JOIN opening a ON e.leaf_version = 1 AND a.commitment = e.actor_commitment
  LEFT JOIN opening n ON n.commitment = e.notes_commitment`

export function findEvent(tx: ReadTx, id: number): OpenedRow | undefined {
  return tx.oneOf<OpenedRow>(`${openedSelect} WHERE e.id = +?`, [id])
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

/** Returns what stands in for the photo of an event; null when nothing does. */
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

/** Whole rows by id, in the order that `sorted` names (SQL on the table `e`). */
export function openedByIds(tx: ReadTx, ids: readonly number[], sorted: string): OpenedRow[] {
  return tx.allOf<OpenedRow>(`${openedSelect} WHERE e.id IN (SELECT value FROM json_each(?)) ORDER BY ${sorted}`, [
    JSON.stringify(ids),
  ])
}

/**
 * Returns the mark of a caller beside its client event ids: no name, and the same for ever, also after the person was erased
 * (a commitment would differ then, and the events would be recorded a second time). Throws when the key is missing.
 */
export function callerMark(tx: ReadTx, caller: Pick<Caller, 'username' | 'instance'>): string {
  const held = tx.oneOf<{ key: Buffer }>('SELECT key FROM caller_key')
  if (!held) throw new Error('the key for marks of callers is gone')
  return createHmac('sha256', held.key).update(`${caller.username}@${caller.instance}`).digest('hex')
}

/** The event that this caller recorded under the client's own id. `commitment`: how rows of the first schemas name the caller. */
export function findByClientEventId(tx: ReadTx, mark: string, commitment: string | undefined, clientEventId: string) {
  return tx.oneOf<{ event_id: number; request_sha256: string }>(
    'SELECT event_id, request_sha256 FROM client_event WHERE caller IN (?, ?) AND client_event_id = ?',
    [mark, commitment ?? mark, clientEventId],
  )
}

export function keepClientEventId(
  tx: Tx,
  mark: string,
  clientEventId: string,
  eventId: number,
  requestSha256: string,
): void {
  tx.runOf('INSERT INTO client_event VALUES (?, ?, ?, ?)', [mark, clientEventId, eventId, requestSha256])
}

/** Who made a placement, as far as they are not erased. */
export function placersOf(tx: ReadTx, eventId: number): Identity[] {
  const linked = tx.allOf<Identity>(
    `SELECT p.name, p.instance FROM placement_person l JOIN person p ON p.id IN (l.operator_id, l.actor_id)
     WHERE l.event_id = +?`,
    [eventId],
  )
  if (linked.length > 0) return linked
  return tx.allOf<Identity>(
    `SELECT o.value AS name, NULL AS instance FROM main.placement_event e
     JOIN opening o ON o.commitment IN (e.operator_commitment, e.actor_commitment)
     WHERE e.id = +? AND e.leaf_version = 1`,
    [eventId],
  )
}

/** Returns the last id and the newest received_at, for `LedgerHead`. */
export function headOf(tx: ReadTx): { id: number; receivedAtMs: number } {
  const row = tx.oneOf<{ id: number; received_at_ms: number }>(
    'SELECT id, received_at_ms FROM main.placement_event ORDER BY id DESC LIMIT 1',
  )
  return { id: row?.id ?? 0, receivedAtMs: row?.received_at_ms ?? 0 }
}
