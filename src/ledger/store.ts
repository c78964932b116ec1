import { createHmac } from 'node:crypto'
import type { PlacementEventRow, ReadTx, Tx } from '../database/index.ts'
import { type Caller, countLimit } from '../http/index.ts'
import { erasedName } from '../log/index.ts'
import { isoTime } from '../world/index.ts'
import { type Condition, idsOf } from './merged.ts'
import type { PlacementEvent } from './schema.ts'
import { lastIdUpTo } from './state.ts'
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

/** A row with the names and texts that its commitments open to, as far as they are not erased. */
export type OpenedRow = PlacementEventRow & {
  operator: string | null
  actor: string | null
  notes: string | null
  /** Of opening stock: when a count first said something of this pallet. */
  counted_at_ms: number | null
}

export const openedSelect = `SELECT e.*, o.value AS operator, a.value AS actor, n.value AS notes,
    CASE WHEN e.opening_list IS NOT NULL THEN (
      SELECT min(c.received_at_ms) FROM main.placement_event c
      WHERE c.count_id IS NOT NULL AND c.asset_key = e.asset_key AND c.id > e.id) END AS counted_at_ms
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
    operator: row.operator ?? erasedName(row.operator_commitment),
    actor: row.actor ?? erasedName(row.actor_commitment),
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
    client_event_id: row.client_event_id,
    corrects_event_id: row.corrects_event_id,
    warnings: explain(JSON.parse(row.warnings) as WarningCode[]),
    opening: openingOf(row),
    count: countOf(row),
  }
}

/** What an event without a photo leans on. */
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

export type HistoryFilter = {
  readonly slotId?: number | undefined
  readonly assetKey?: string | undefined
  readonly eventType?: string | undefined
  /** A name. */
  readonly operator?: string | undefined
  readonly workOrderRef?: string | undefined
  readonly correctsEventId?: number | undefined
  readonly zoneId?: number | undefined
  readonly warehouseId?: number | undefined
  /** When it happened: inclusive. */
  readonly fromMs?: number | undefined
  /** Exclusive. */
  readonly toMs?: number | undefined
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
  const conditions = conditionsOf(tx, filter, page.afterSeq)
  const order = page.afterSeq === undefined ? 'timestamp_ms DESC, id DESC' : 'id'
  const ids = idsOf({
    conditions: [...byIndex(conditions), ...between(filter), ...behind(page)],
    inHalves: standsInHalves(filter),
    order,
    limit: 'LIMIT ? OFFSET ?',
  })
  const rows = tx.allOf<OpenedRow>(
    `${openedSelect} WHERE e.id IN (SELECT id FROM (${ids.sql})) ORDER BY ${order.replaceAll(/timestamp_ms|id/g, 'e.$&')}`,
    [...ids.values, page.limit + 1, page.offset],
  )
  return {
    rows: rows.slice(0, page.limit),
    hasMore: rows.length > page.limit,
    total: countEvents(tx, [...conditions, ...between(filter)], standsInHalves(filter)),
  }
}

const standsInHalves = ({ slotId, assetKey }: HistoryFilter) => slotId !== undefined || assetKey !== undefined

const where = (part: string, ...values: (string | number)[]): Condition => ({ part, values })

/** The strongest first: the one that leaves the fewest rows in a ledger of years. */
function conditionsOf(tx: ReadTx, filter: HistoryFilter, afterSeq: number | undefined): Condition[] {
  const { slotId, assetKey, eventType, hiddenWarehouses, zoneId, warehouseId } = filter
  const holes = hiddenWarehouses.map(() => '?').join(', ')
  return [
    ...(assetKey === undefined ? [] : [where('e.asset_key = +?', assetKey)]),
    ...(slotId === undefined ? [] : [where('e.slot_id = +?', slotId)]),
    ...(afterSeq === undefined ? [] : [where('e.id > +?', lastIdUpTo(tx, 'leaf_seq', afterSeq))]),
    ...furtherOf(filter),
    ...(eventType === undefined ? [] : [where('e.event_type = +?', eventType)]),
    ...(zoneId === undefined ? [] : [where('e.slot_id IN (SELECT id FROM slot WHERE zone_id = ?)', zoneId)]),
    ...(warehouseId === undefined
      ? []
      : [where('e.slot_id IN (SELECT id FROM slot WHERE warehouse_id = ?)', warehouseId)]),
    ...(holes === ''
      ? []
      : [where(`e.slot_id NOT IN (SELECT id FROM slot WHERE warehouse_id IN (${holes}))`, ...hiddenWarehouses)]),
  ]
}

function furtherOf({ correctsEventId, workOrderRef, operator }: HistoryFilter): Condition[] {
  const person = `(SELECT commitment FROM opening WHERE kind = 'person' AND value = ?)`
  return [
    ...(correctsEventId === undefined ? [] : [where('e.corrects_event_id = +?', correctsEventId)]),
    ...(workOrderRef === undefined ? [] : [where('e.work_order_ref = +?', workOrderRef)]),
    ...(operator === undefined ? [] : [where(`e.operator_commitment = ${person}`, operator)]),
  ]
}

/** Times stand second in every index: they narrow what the strongest finds. */
function between({ fromMs, toMs }: HistoryFilter): Condition[] {
  return [
    ...(fromMs === undefined ? [] : [where('e.timestamp_ms >= +?', fromMs)]),
    ...(toMs === undefined ? [] : [where('e.timestamp_ms < +?', toMs)]),
  ]
}

/** The strongest finds its index; a plus keeps SQLite, which knows nothing of the numbers, from taking another's. */
function byIndex([strongest, ...others]: readonly Condition[]): Condition[] {
  return strongest ? [strongest, ...others.map(({ part, values }) => where(`+${part}`, ...values))] : []
}

function behind({ before }: HistoryPage): Condition[] {
  return before ? [where('(e.timestamp_ms, e.id) < (+?, +?)', before.timestampMs, before.id)] : []
}

/**
 * Exact, or null. Only as many rows are looked at as the limit has: those that the strongest condition finds by its
 * index; of more than that nobody knows how many the others would leave.
 */
function countEvents(tx: ReadTx, conditions: readonly Condition[], inHalves: boolean): number | null {
  const [strongest, ...others] = conditions
  if (!strongest) return tx.oneOf<{ n: number }>('SELECT coalesce(max(id), 0) AS n FROM main.placement_event')?.n ?? 0
  const ids = idsOf({ conditions: [strongest], inHalves, limit: 'LIMIT ?' })
  const looked = `(${ids.sql}) AS found${others.length === 0 ? '' : ' CROSS JOIN main.placement_event e ON e.id = found.id'}`
  const passes = others.length === 0 ? '' : ` FILTER (WHERE ${others.map(({ part }) => part).join(' AND ')})`
  const counted = tx.oneOf<{ looked: number; n: number }>(
    `SELECT count(*) AS looked, count(*)${passes} AS n FROM ${looked}`,
    [...others.flatMap(({ values }) => values), ...ids.values, countLimit + 1],
  )
  return counted && counted.looked <= countLimit ? counted.n : null
}

/**
 * What stands for a caller beside the ids of its own: no name, and the same for ever, also after the person was erased
 * (a commitment would be a new one then, and the events would be recorded a second time).
 */
export function callerMark(tx: ReadTx, caller: Pick<Caller, 'username' | 'instance'>): string {
  const held = tx.oneOf<{ key: Buffer }>('SELECT key FROM caller_key')
  if (!held) throw new Error('the key for marks of callers is gone')
  return createHmac('sha256', held.key).update(`${caller.username}@${caller.instance}`).digest('hex')
}

/** The event that this caller recorded under the client's own id. `commitment`: how rows of the first schemas name it. */
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

/** The slot with this label; undefined without one. */
export function slotIdOf(tx: ReadTx, label: string): number | undefined {
  return tx.oneOf<{ id: number }>('SELECT id FROM slot WHERE slot_id = +?', [label])?.id
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
