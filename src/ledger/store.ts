import type { PlacementEventRow, ReadTx, Tx } from '../database/index.ts'
import { countLimit } from '../http/index.ts'
import { isoTime } from '../world/index.ts'
import type { PlacementEvent } from './schema.ts'
import { explain, type WarningCode } from './warnings.ts'

const columns = [
  'id',
  'event_id',
  'leaf_seq',
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
  'client_event_id',
  'client_evidence_hash',
  'corrects_event_id',
  'warnings',
  'evidence_hash',
] as const satisfies readonly (keyof PlacementEventRow)[]

const insertSql = `INSERT INTO main.placement_event (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`

export function append(tx: Tx, row: PlacementEventRow): void {
  tx.runOf(
    insertSql,
    columns.map((column) => row[column]),
  )
}

/** A row with the names and texts that its commitments open to, as far as they are not erased. */
export type OpenedRow = PlacementEventRow & { operator: string | null; actor: string | null; notes: string | null }

const openedSelect = `SELECT e.*, o.value AS operator, a.value AS actor, n.value AS notes
  FROM main.placement_event e
  LEFT JOIN opening o ON o.commitment = e.operator_commitment
  LEFT JOIN opening a ON a.commitment = e.actor_commitment
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
    operator: row.operator,
    actor: row.actor,
    timestamp: isoTime(row.timestamp_ms),
    device_timestamp: timeOf(row.device_timestamp_ms),
    received_at: isoTime(row.received_at_ms),
    clock_offset_ms: row.clock_offset_ms,
    time_quality: row.time_quality,
    photo_url: row.photo_url,
    photo_sha256: row.photo_sha256,
    photoEvidence: row.photo_evidence,
    photo_taken_at: timeOf(row.photo_taken_at_ms),
    scale_weight_kg: row.scale_weight_kg,
    evidence_hash: row.evidence_hash,
    client_evidence_hash: row.client_evidence_hash,
    cctv_clip_url: row.cctv_clip_url,
    work_order_ref: row.work_order_ref,
    verification_notes: row.notes,
    scan: row.scan === null ? null : JSON.parse(row.scan),
    client_event_id: row.client_event_id,
    corrects_event_id: row.corrects_event_id,
    warnings: explain(JSON.parse(row.warnings) as WarningCode[]),
  }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}

export type HistoryFilter = {
  readonly slotId?: number | undefined
  readonly assetKey?: string | undefined
  readonly eventType?: string | undefined
  /** Warehouses that the caller may not see. */
  readonly hiddenWarehouses: readonly number[]
}

export type HistoryPage = {
  readonly limit: number
  readonly offset: number
  /** Only leaves behind this one, oldest first: for a client that must miss nothing. */
  readonly afterSeq?: number | undefined
  /** The row to go on behind, newest first. */
  readonly before?: { readonly timestampMs: number; readonly id: number } | undefined
}

export type History = { readonly rows: OpenedRow[]; readonly hasMore: boolean; readonly total: number | null }

/** One page of the history. The SQL is built for the filters that are there, so that each finds its index. */
export function listEvents(tx: ReadTx, filter: HistoryFilter, page: HistoryPage): History {
  const where = conditions(filter)
  const cut = cutOf(page)
  const order = page.afterSeq === undefined ? 'e.timestamp_ms DESC, e.id DESC' : 'e.leaf_seq'
  const rows = tx.allOf<OpenedRow>(
    `${openedSelect}${sqlWhere([...where.parts, ...cut.parts])} ORDER BY ${order} LIMIT ? OFFSET ?`,
    [...where.values, ...cut.values, page.limit + 1, page.offset],
  )
  return { rows: rows.slice(0, page.limit), hasMore: rows.length > page.limit, total: countEvents(tx, where) }
}

type Conditions = { parts: string[]; values: (string | number)[] }

const sqlWhere = (parts: readonly string[]) => (parts.length > 0 ? ` WHERE ${parts.join(' AND ')}` : '')

function conditions(filter: HistoryFilter): Conditions {
  const parts: string[] = []
  const values: (string | number)[] = []
  const add = (part: string, ...these: (string | number)[]) => {
    parts.push(part)
    values.push(...these)
  }
  if (filter.slotId !== undefined) add('e.slot_id = +?', filter.slotId)
  if (filter.assetKey !== undefined) add('e.asset_key = +?', filter.assetKey)
  if (filter.eventType !== undefined) add('e.event_type = +?', filter.eventType)
  if (filter.hiddenWarehouses.length > 0) {
    const holes = filter.hiddenWarehouses.map(() => '?').join(', ')
    add(`e.slot_id NOT IN (SELECT id FROM slot WHERE warehouse_id IN (${holes}))`, ...filter.hiddenWarehouses)
  }
  return { parts, values }
}

function cutOf({ afterSeq, before }: HistoryPage): Conditions {
  if (afterSeq !== undefined) return { parts: ['e.leaf_seq > +?'], values: [afterSeq] }
  if (before) return { parts: ['(e.timestamp_ms, e.id) < (+?, +?)'], values: [before.timestampMs, before.id] }
  return { parts: [], values: [] }
}

function countEvents(tx: ReadTx, { parts, values }: Conditions): number | null {
  if (parts.length === 0)
    return tx.oneOf<{ n: number }>('SELECT coalesce(max(id), 0) AS n FROM main.placement_event')?.n ?? 0
  const counted = tx.oneOf<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM main.placement_event e${sqlWhere(parts)} LIMIT ${countLimit + 1})`,
    values,
  )
  return counted && counted.n <= countLimit ? counted.n : null
}

/** The event that this caller recorded under the client's own id. */
export function findByClientEventId(tx: ReadTx, caller: string, clientEventId: string) {
  return tx.oneOf<{ event_id: number; request_sha256: string }>(
    'SELECT event_id, request_sha256 FROM client_event WHERE caller = ? AND client_event_id = ?',
    [caller, clientEventId],
  )
}

export function keepClientEventId(
  tx: Tx,
  caller: string,
  clientEventId: string,
  eventId: number,
  requestSha256: string,
): void {
  tx.runOf('INSERT INTO client_event VALUES (?, ?, ?, ?)', [caller, clientEventId, eventId, requestSha256])
}

/** Who made a placement, by commitment. */
export function placersOf(
  tx: ReadTx,
  eventId: number,
): { operator_commitment: string; actor_commitment: string } | undefined {
  return tx.oneOf('SELECT operator_commitment, actor_commitment FROM main.placement_event WHERE id = +?', [eventId])
}

/** The last id, and the newest received_at: where the ledger's head stands. */
export function headOf(tx: ReadTx): { id: number; receivedAtMs: number } {
  const row = tx.oneOf<{ id: number; received_at_ms: number }>(
    'SELECT id, received_at_ms FROM main.placement_event ORDER BY id DESC LIMIT 1',
  )
  return { id: row?.id ?? 0, receivedAtMs: row?.received_at_ms ?? 0 }
}
