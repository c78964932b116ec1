import type { CountScanRow, CountSessionRow, ReadTx, Tx } from '../database/index.ts'
import { type Identity, nameSql, type People, type Person, personIn } from '../log/index.ts'
import type { CountState } from './state.ts'

export type Session = CountSessionRow & {
  readonly creator: string | null
  readonly closer: string | null
  readonly reason: string | null
}

const sessionSelect = `SELECT c.*, ${nameSql('count_session', 'c.id', 'created_by', 'c.created_by')} AS creator,
    ${nameSql('count_session', 'c.id', 'closed_by', 'c.closed_by')} AS closer, r.value AS reason
  FROM main.count_session c
  LEFT JOIN opening r ON r.commitment = c.reason_commitment`

/** Returns the id that `insertSession` gives next. */
export function nextSessionId(tx: ReadTx): number {
  return (tx.oneOf<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM count_session')?.id ?? 0) + 1
}

export function insertSession(
  tx: Tx,
  row: Pick<CountSessionRow, 'warehouse_id' | 'reference' | 'selection' | 'created_by'>,
  slotIds: readonly number[],
  nowMs: number,
): number {
  const { lastId } = tx.runOf(
    `INSERT INTO count_session (warehouse_id, reference, selection, state, created_by, created_at_ms, updated_at_ms)
     VALUES (?, ?, ?, 'open', ?, ?, ?)`,
    [row.warehouse_id, row.reference, row.selection, row.created_by, nowMs, nowMs],
  )
  for (const slotId of slotIds) tx.runOf('INSERT INTO count_slot VALUES (?, ?)', [lastId, slotId])
  return lastId
}

export function findSession(tx: ReadTx, id: number): Session | undefined {
  return tx.oneOf<Session>(`${sessionSelect} WHERE c.id = +?`, [id])
}

/** Lists counts, newest first. */
export function listSessions(tx: ReadTx): Session[] {
  return tx.allOf<Session>(`${sessionSelect} ORDER BY c.id DESC`)
}

/** Stores the state and increments the version, also for each scan. */
export function touch(tx: Tx, id: number, state: CountState, nowMs: number): void {
  tx.runOf('UPDATE count_session SET state = ?, version = version + 1, updated_at_ms = ? WHERE id = ?', [
    state,
    nowMs,
    id,
  ])
}

export function close(tx: Tx, id: number, by: string, reasonCommitment: string | null, nowMs: number): void {
  tx.runOf('UPDATE count_session SET closed_by = ?, closed_at_ms = ?, reason_commitment = ? WHERE id = ?', [
    by,
    nowMs,
    reasonCommitment,
    id,
  ])
}

export function slotIdsOf(tx: ReadTx, countId: number): number[] {
  return tx
    .allOf<{ slot_id: number }>('SELECT slot_id FROM count_slot WHERE count_id = ? ORDER BY slot_id', [countId])
    .map((row) => row.slot_id)
}

export function isCounted(tx: ReadTx, countId: number, slotId: number): boolean {
  return tx.oneOf('SELECT 1 FROM count_slot WHERE count_id = ? AND slot_id = ?', [countId, slotId]) !== undefined
}

export function countSlots(tx: ReadTx, countId: number): number {
  return tx.oneOf<{ n: number }>('SELECT count(*) AS n FROM count_slot WHERE count_id = ?', [countId])?.n ?? 0
}

const scanColumns = [
  'id',
  'count_id',
  'slot_id',
  'found',
  'counter_commitment',
  'timestamp_ms',
  'device_timestamp_ms',
  'received_at_ms',
  'clock_offset_ms',
  'time_quality',
  'known_event_id',
  'caller',
  'client_scan_id',
  'request_sha256',
  'sha256',
] as const satisfies readonly (keyof CountScanRow)[]

export function nextScanId(tx: ReadTx): number {
  return (tx.oneOf<{ n: number }>('SELECT coalesce(max(id), 0) AS n FROM main.count_scan')?.n ?? 0) + 1
}

export function appendScan(tx: Tx, row: CountScanRow): void {
  tx.runOf(
    `INSERT INTO main.count_scan (${scanColumns.join(', ')}) VALUES (${scanColumns.map(() => '?').join(', ')})`,
    scanColumns.map((column) => row[column]),
  )
}

/** A scan with the counter's name, if that is not erased. */
export type Scan = CountScanRow & { readonly counter: string | null }

const scanSelect = `SELECT s.*, ${nameSql('count_scan', 's.id', 'counter', 's.counter_commitment')} AS counter
  FROM main.count_scan s`

export function findScan(tx: ReadTx, id: number): Scan | undefined {
  return tx.oneOf<Scan>(`${scanSelect} WHERE s.id = ?`, [id])
}

/** Returns who made a scan; undefined once erased. */
export function counterOf(tx: ReadTx, scan: Pick<CountScanRow, 'id' | 'counter_commitment'>): Identity | undefined {
  return personIn(tx, { subject: 'count_scan', row: scan.id, field: 'counter' }, scan.counter_commitment)
}

export function findClientScan(tx: ReadTx, countId: number, caller: string, clientScanId: string): Scan | undefined {
  return tx.oneOf<Scan>(`${scanSelect} WHERE s.count_id = ? AND s.caller = ? AND s.client_scan_id = ?`, [
    countId,
    caller,
    clientScanId,
  ])
}

/** Returns the scans of a count, or of one of its slots, in the order of their times. */
export function scansOf(tx: ReadTx, countId: number, slotId?: number): Scan[] {
  const ofSlot = slotId === undefined ? '' : ' AND s.slot_id = +?'
  return tx.allOf<Scan>(`${scanSelect} WHERE s.count_id = +?${ofSlot} ORDER BY s.slot_id, s.timestamp_ms, s.id`, [
    countId,
    ...(slotId === undefined ? [] : [slotId]),
  ])
}

/** Returns the number of slots with a deciding scan; see `decidingScan`. */
export function scannedSlots(tx: ReadTx, countId: number): number {
  const row = tx.oneOf<{ n: number }>(
    `SELECT count(DISTINCT s.slot_id) AS n FROM main.count_scan s
     WHERE s.count_id = +? AND NOT EXISTS (
       SELECT 1 FROM main.count_recount r WHERE r.count_id = s.count_id AND r.slot_id = s.slot_id
         AND (s.id <= r.after_scan_id OR s.timestamp_ms < r.requested_at_ms))`,
    [countId],
  )
  return row?.n ?? 0
}

export type RecountMark = { readonly slot_id: number; readonly after_scan_id: number; readonly requested_at_ms: number }

/** Returns the newest recount request of each slot. */
export function recountsOf(tx: ReadTx, countId: number): ReadonlyMap<number, RecountMark> {
  const rows = tx.allOf<RecountMark>(
    'SELECT slot_id, after_scan_id, requested_at_ms FROM main.count_recount WHERE count_id = ? ORDER BY id',
    [countId],
  )
  return new Map(rows.map((row) => [row.slot_id, row]))
}

export function appendRecount(
  tx: Tx,
  mark: RecountMark & { count_id: number; reasonCommitment: string | null },
  people: People,
  actor: Person,
): void {
  const row = (tx.oneOf<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM main.count_recount')?.id ?? 0) + 1
  const commitment = people.inRow(tx, actor, { subject: 'count_recount', row, field: 'actor' })
  tx.runOf(
    `INSERT INTO main.count_recount (id, count_id, slot_id, after_scan_id, requested_at_ms, actor_commitment, reason_commitment)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [row, mark.count_id, mark.slot_id, mark.after_scan_id, mark.requested_at_ms, commitment, mark.reasonCommitment],
  )
}

export type OutcomeKind = 'matched' | 'corrected' | 'moved' | 'conflict' | 'not_counted'
export type SlotOutcome = { readonly slotId: number; readonly outcome: OutcomeKind; readonly scan: Scan | undefined }

export function appendOutcome(tx: Tx, countId: number, { slotId, outcome, scan }: SlotOutcome, nowMs: number): void {
  tx.runOf(
    `INSERT INTO main.count_outcome (id, count_id, slot_id, scan_id, outcome, scanned_at_ms, decided_at_ms)
     VALUES ((SELECT coalesce(max(id), 0) + 1 FROM main.count_outcome), ?, ?, ?, ?, ?, ?)`,
    [countId, slotId, scan?.id ?? null, outcome, scan?.timestamp_ms ?? null, nowMs],
  )
}

export function outcomesOf(tx: ReadTx, countId: number): Record<OutcomeKind, number> {
  const rows = tx.allOf<{ outcome: OutcomeKind; n: number }>(
    'SELECT outcome, count(*) AS n FROM main.count_outcome WHERE count_id = ? GROUP BY outcome',
    [countId],
  )
  const none = { matched: 0, corrected: 0, moved: 0, conflict: 0, not_counted: 0 }
  return { ...none, ...Object.fromEntries(rows.map((row) => [row.outcome, row.n])) }
}

/** Says whether an approved count has seen the slot at this time or later. */
export function countedSince(tx: ReadTx, slotId: number, sinceMs: number): boolean {
  return (
    tx.oneOf(
      `SELECT 1 FROM main.count_outcome
       WHERE slot_id = +? AND outcome IN ('matched', 'corrected') AND scanned_at_ms >= +? LIMIT 1`,
      [slotId, sinceMs],
    ) !== undefined
  )
}

/** Returns the ids of counts that were begun and not closed. */
export function openCounts(tx: ReadTx): number[] {
  return tx
    .allOf<{ id: number }>(`SELECT id FROM main.count_session WHERE state IN ('counting', 'review') ORDER BY id`)
    .map(({ id }) => id)
}

export function labelOf(tx: ReadTx, slotId: number): string {
  return tx.oneOf<{ slot_id: string }>('SELECT slot_id FROM main.slot WHERE id = +?', [slotId])?.slot_id ?? ''
}
