import { sql as raw } from 'kysely'
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
import {
  type Identity,
  linkedColumns,
  linkedRowsSql,
  nameSql,
  openedAs,
  type People,
  type Person,
  personIn,
} from '../log/index.ts'
import type { CountState } from './state.ts'
import { type CountScanRow, type CountSessionRow, sql, tables } from './tables.ts'

const sessionColumns = {
  ...tables.count_session,
  creator: maybe(text),
  closer: maybe(text),
  reason: maybe(text),
}
export type Session = RowOf<typeof sessionColumns>

const sessionSelect = `SELECT c.*, ${nameSql('count_session', 'c.id', 'created_by', 'c.created_by')} AS creator,
    ${nameSql('count_session', 'c.id', 'closed_by', 'c.closed_by')} AS closer, r.value AS reason
  FROM main.count_session c ${openedAs('r', 'c.reason_commitment')}`
const openedSession = statement({ columns: sessionColumns, sql: `${sessionSelect} WHERE c.id = +?` })
const openedSessions = statement({ columns: sessionColumns, sql: `${sessionSelect} ORDER BY c.id DESC` })

const lastSession = built({}, () =>
  sql.selectFrom('count_session').select(({ fn }) => fn.max<number | null>('id').as('id')),
)
const newSession = built(
  pick(tables.count_session, 'warehouse_id', 'reference', 'selection', 'created_by', 'created_at_ms', 'updated_at_ms'),
  (row) => sql.insertInto('count_session').values({ ...row, state: 'open' }),
)
const newSlot = built(tables.count_slot, (row) => sql.insertInto('count_slot').values(row))
const newState = built(pick(tables.count_session, 'id', 'state', 'updated_at_ms'), ({ id, ...facts }) =>
  sql
    .updateTable('count_session')
    .set((count) => ({ ...facts, version: count('version', '+', raw.lit(1)) }))
    .where('id', '=', id),
)
const closing = built(
  pick(tables.count_session, 'id', 'closed_by', 'closed_at_ms', 'reason_commitment'),
  ({ id, ...facts }) => sql.updateTable('count_session').set(facts).where('id', '=', id),
)
const slotsCounted = built(pick(tables.count_slot, 'count_id'), ({ count_id }) =>
  sql.selectFrom('count_slot').select('slot_id').where('count_id', '=', count_id).orderBy('slot_id'),
)
const slotCounted = built(tables.count_slot, ({ count_id, slot_id }) =>
  sql.selectFrom('count_slot').select('slot_id').where('count_id', '=', count_id).where('slot_id', '=', slot_id),
)
const slotsInCount = built(pick(tables.count_slot, 'count_id'), ({ count_id }) =>
  sql
    .selectFrom('count_slot')
    .select((row) => row.fn.countAll<number>().as('n'))
    .where('count_id', '=', count_id),
)
const placeOfCount = built(pick(tables.count_session, 'id'), ({ id }) =>
  sql.selectFrom('count_session').select('warehouse_id').where('id', '=', id),
)

/** Returns the id that `insertSession` gives next. */
export function nextSessionId(tx: ReadTx): number {
  return (tx.get(lastSession)?.id ?? 0) + 1
}

export function insertSession(
  tx: Tx,
  row: Pick<CountSessionRow, 'warehouse_id' | 'reference' | 'selection' | 'created_by'>,
  slotIds: readonly number[],
  nowMs: number,
): number {
  const { lastId } = tx.run(newSession, { ...row, created_at_ms: nowMs, updated_at_ms: nowMs })
  for (const slotId of slotIds) tx.run(newSlot, { count_id: lastId, slot_id: slotId })
  return lastId
}

export function findSession(tx: ReadTx, id: number): Session | undefined {
  return tx.get(openedSession, [id])
}

/** Lists counts, newest first. */
export function listSessions(tx: ReadTx): Session[] {
  return tx.all(openedSessions)
}

/** Stores the state and increments the version, also for each scan. */
export function touch(tx: Tx, id: number, state: CountState, nowMs: number): void {
  tx.run(newState, { id, state, updated_at_ms: nowMs })
}

export function close(tx: Tx, id: number, by: string, reasonCommitment: string | null, nowMs: number): void {
  tx.run(closing, { id, closed_by: by, closed_at_ms: nowMs, reason_commitment: reasonCommitment })
}

export function slotIdsOf(tx: ReadTx, countId: number): number[] {
  return tx.all(slotsCounted, { count_id: countId }).map((row) => row.slot_id)
}

export function isCounted(tx: ReadTx, countId: number, slotId: number): boolean {
  return tx.get(slotCounted, { count_id: countId, slot_id: slotId }) !== undefined
}

export function countSlots(tx: ReadTx, countId: number): number {
  return tx.get(slotsInCount, { count_id: countId })?.n ?? 0
}

const lastScan = built({}, () => sql.selectFrom('count_scan').select(({ fn }) => fn.max<number | null>('id').as('id')))
const newScan = built(tables.count_scan, (row) => sql.insertInto('count_scan').values(row))
const scanById = built(pick(tables.count_scan, 'id'), ({ id }) =>
  sql.selectFrom('count_scan').selectAll().where('id', '=', id),
)

export function nextScanId(tx: ReadTx): number {
  return (tx.get(lastScan)?.id ?? 0) + 1
}

export function appendScan(tx: Tx, row: CountScanRow): void {
  tx.run(newScan, row)
}

/** A scan with the counter's name, if that is not erased. */
const scanColumns = { ...tables.count_scan, counter: maybe(text) }
export type Scan = RowOf<typeof scanColumns>

const scanSelect = `SELECT s.*, ${nameSql('count_scan', 's.id', 'counter', 's.counter_commitment')} AS counter
  FROM main.count_scan s`
const openedScan = statement({ columns: scanColumns, sql: `${scanSelect} WHERE s.id = +?` })
const clientScan = statement({
  columns: scanColumns,
  sql: `${scanSelect} WHERE s.count_id = +? AND s.caller = +? AND s.client_scan_id = +?`,
})
const openedScans = statements({
  columns: scanColumns,
  sql: (isOfSlot: boolean) =>
    `${scanSelect} WHERE s.count_id = +?${isOfSlot ? ' AND s.slot_id = +?' : ''} ORDER BY s.slot_id, s.timestamp_ms, s.id`,
  samples: [[false], [true]],
})
const slotsScanned = built(pick(tables.count_scan, 'count_id'), ({ count_id }) =>
  sql
    .selectFrom('count_scan as s')
    .select(({ fn }) => fn.count<number>('s.slot_id').distinct().as('n'))
    .where('s.count_id', '=', count_id)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('count_recount as r')
            .select('r.id')
            .whereRef('r.count_id', '=', 's.count_id')
            .whereRef('r.slot_id', '=', 's.slot_id')
            .where(({ eb, or, ref }) =>
              or([eb('s.id', '<=', ref('r.after_scan_id')), eb('s.timestamp_ms', '<', ref('r.requested_at_ms'))]),
            ),
        ),
      ),
    ),
)
const recountMarks = built(pick(tables.count_recount, 'count_id'), ({ count_id }) =>
  sql
    .selectFrom('count_recount')
    .select(['slot_id', 'after_scan_id', 'requested_at_ms'])
    .where('count_id', '=', count_id)
    .orderBy('id'),
)
const lastRecount = built({}, () =>
  sql.selectFrom('count_recount').select(({ fn }) => fn.max<number | null>('id').as('id')),
)
const newRecount = built(tables.count_recount, (row) => sql.insertInto('count_recount').values(row))
const newOutcome = built(
  pick(tables.count_outcome, 'count_id', 'slot_id', 'scan_id', 'outcome', 'scanned_at_ms', 'decided_at_ms'),
  (row) =>
    sql.insertInto('count_outcome').values(({ selectFrom }) => ({
      id: selectFrom('count_outcome').select(({ eb, fn }) =>
        eb(fn.coalesce(fn.max('id'), raw.lit(0)), '+', raw.lit(1)).as('next'),
      ),
      ...row,
    })),
)
const outcomes = built(pick(tables.count_outcome, 'count_id'), ({ count_id }) =>
  sql
    .selectFrom('count_outcome')
    .select((row) => ['outcome', row.fn.countAll<number>().as('n')])
    .where('count_id', '=', count_id)
    .groupBy('outcome'),
)
const outcomesBySlot = built(pick(tables.count_outcome, 'count_id'), ({ count_id }) =>
  sql.selectFrom('count_outcome').select(['slot_id', 'outcome']).where('count_id', '=', count_id),
)
const countedAt = built({ slot_id: integer, since_ms: integer }, ({ slot_id, since_ms }) =>
  sql
    .selectFrom('count_outcome')
    .select('id')
    .where('slot_id', '=', slot_id)
    .where('outcome', 'in', [raw.lit('matched' as const), raw.lit('corrected' as const)])
    .where('scanned_at_ms', '>=', since_ms)
    .limit(raw.lit(1)),
)
const open = built({}, () =>
  sql
    .selectFrom('count_session')
    .select('id')
    .where('state', 'in', [raw.lit('counting' as const), raw.lit('review' as const)])
    .orderBy('id'),
)

const linked = { id: 'id', column: 'actor_commitment', hasLeaf: false }

/** People linked to the rows of counts, for verification. */
export const linksOfScans = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ ...linked, table: 'count_scan', field: 'counter', column: 'counter_commitment' }),
})
export const linksOfRecounts = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ ...linked, table: 'count_recount', field: 'actor' }),
})
export const linksOfCounts = {
  createdBy: statement({
    columns: linkedColumns,
    sql: linkedRowsSql({ ...linked, table: 'count_session', field: 'created_by', column: 'created_by' }),
  }),
  closedBy: statement({
    columns: linkedColumns,
    sql: linkedRowsSql({ ...linked, table: 'count_session', field: 'closed_by', column: 'closed_by' }),
  }),
}

/** Returns a scan as it was made. */
export function scanRow(tx: ReadTx, id: number): CountScanRow | undefined {
  return tx.get(scanById, { id })
}

/** Returns the warehouse of a count, for any caller. */
export function warehouseOfCount(tx: ReadTx, id: number): number | undefined {
  return tx.get(placeOfCount, { id })?.warehouse_id
}

export function findScan(tx: ReadTx, id: number): Scan | undefined {
  return tx.get(openedScan, [id])
}

/** Returns who made a scan; undefined once erased. */
export function counterOf(tx: ReadTx, scan: Pick<CountScanRow, 'id' | 'counter_commitment'>): Identity | undefined {
  return personIn(tx, { subject: 'count_scan', row: scan.id, field: 'counter' }, scan.counter_commitment)
}

export function findClientScan(tx: ReadTx, countId: number, caller: string, clientScanId: string): Scan | undefined {
  return tx.get(clientScan, [countId, caller, clientScanId])
}

/** Returns the scans of a count, or of one of its slots, in the order of their times. */
export function scansOf(tx: ReadTx, countId: number, slotId?: number): Scan[] {
  return tx.all(openedScans(slotId !== undefined), [countId, ...(slotId === undefined ? [] : [slotId])])
}

/** Returns the number of slots with a deciding scan; see `decidingScan`. */
export function scannedSlots(tx: ReadTx, countId: number): number {
  return tx.get(slotsScanned, { count_id: countId })?.n ?? 0
}

export type RecountMark = { readonly slot_id: number; readonly after_scan_id: number; readonly requested_at_ms: number }

/** Returns the newest recount request of each slot. */
export function recountsOf(tx: ReadTx, countId: number): ReadonlyMap<number, RecountMark> {
  const rows = tx.all(recountMarks, { count_id: countId })
  return new Map(rows.map((row) => [row.slot_id, row]))
}

export function appendRecount(
  tx: Tx,
  mark: RecountMark & { count_id: number; reasonCommitment: string | null },
  people: People,
  actor: Person,
): void {
  const row = (tx.get(lastRecount)?.id ?? 0) + 1
  const commitment = people.inRow(tx, actor, { subject: 'count_recount', row, field: 'actor' })
  const { reasonCommitment, count_id, slot_id, after_scan_id, requested_at_ms } = mark
  tx.run(newRecount, {
    id: row,
    count_id,
    slot_id,
    after_scan_id,
    requested_at_ms,
    actor_commitment: commitment,
    reason_commitment: reasonCommitment,
  })
}

export type OutcomeKind = 'matched' | 'corrected' | 'moved' | 'conflict' | 'not_counted'
export type SlotOutcome = { readonly slotId: number; readonly outcome: OutcomeKind; readonly scan: Scan | undefined }

export function appendOutcome(tx: Tx, countId: number, { slotId, outcome, scan }: SlotOutcome, nowMs: number): void {
  tx.run(newOutcome, {
    count_id: countId,
    slot_id: slotId,
    scan_id: scan?.id ?? null,
    outcome,
    scanned_at_ms: scan?.timestamp_ms ?? null,
    decided_at_ms: nowMs,
  })
}

export function outcomesOf(tx: ReadTx, countId: number): Record<OutcomeKind, number> {
  const rows = tx.all(outcomes, { count_id: countId })
  const none = { matched: 0, corrected: 0, moved: 0, conflict: 0, not_counted: 0 }
  return { ...none, ...Object.fromEntries(rows.map((row) => [row.outcome, row.n])) }
}

/** Returns what became of each slot of an approved count, by its id; empty before. */
export function outcomesBySlotOf(tx: ReadTx, countId: number): ReadonlyMap<number, OutcomeKind> {
  return new Map(tx.all(outcomesBySlot, { count_id: countId }).map(({ slot_id, outcome }) => [slot_id, outcome]))
}

/** Says whether an approved count has seen the slot at this time or later. */
export function countedSince(tx: ReadTx, slotId: number, sinceMs: number): boolean {
  return tx.get(countedAt, { slot_id: slotId, since_ms: sinceMs }) !== undefined
}

/** Returns the ids of counts that were begun and not closed. */
export function openCounts(tx: ReadTx): number[] {
  return tx.all(open).map(({ id }) => id)
}
