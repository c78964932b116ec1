import { sql as raw } from 'kysely'
import { built, integer, type ReadTx, type Tx } from '../database/index.ts'
import { type ClockStateRow, type ClockStepRow, sql, tables } from './tables.ts'

const newState = built(tables.clock_state, (row) => sql.insertInto('clock_state').values(row))
const newStep = built(tables.clock_step, (row) => sql.insertInto('clock_step').values(row))
const newestState = built({}, () => sql.selectFrom('clock_state').selectAll().orderBy('id', 'desc').limit(raw.lit(1)))
const newestStep = built({}, () => sql.selectFrom('clock_step').selectAll().orderBy('id', 'desc').limit(raw.lit(1)))
const slice = 1000
const slicePlaces = { id: integer, last_id: integer }
const statesBehind = built(slicePlaces, ({ id, last_id }) =>
  sql
    .selectFrom('clock_state')
    .selectAll()
    .where('id', '>', id)
    .where('id', '<=', last_id)
    .orderBy('id')
    .limit(raw.lit(slice)),
)
const stepsBehind = built(slicePlaces, ({ id, last_id }) =>
  sql
    .selectFrom('clock_step')
    .selectAll()
    .where('id', '>', id)
    .where('id', '<=', last_id)
    .orderBy('id')
    .limit(raw.lit(slice)),
)
const mark = built({}, () => sql.selectFrom('clock_mark').select('at_ms as at').where('one', '=', raw.lit(1)))
const newMark = built({ at_ms: integer }, ({ at_ms }) =>
  sql
    .insertInto('clock_mark')
    .values({ one: 1, at_ms })
    .onConflict((on) => on.column('one').doUpdateSet({ at_ms })),
)
const expiryMark = built({}, () => sql.selectFrom('expiry_mark').select('at_ms as at').where('one', '=', raw.lit(1)))
const newExpiryMark = built({ at_ms: integer }, ({ at_ms }) =>
  sql
    .insertInto('expiry_mark')
    .values({ one: 1, at_ms })
    .onConflict((on) => on.column('one').doUpdateSet({ at_ms })),
)

const setWithin = built({ from_ms: integer, to_ms: integer }, ({ from_ms, to_ms }) =>
  sql
    .selectFrom('clock_step')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where((step) =>
      step.or([
        step.and([step('after_ms', '>=', from_ms), step('after_ms', '<=', to_ms)]),
        step.and([step('before_ms', '>=', from_ms), step('before_ms', '<=', to_ms)]),
      ]),
    ),
)

export function appendState(tx: Tx, row: Omit<ClockStateRow, 'id'>): void {
  tx.run(newState, { ...row, id: (tx.get(newestState)?.id ?? 0) + 1 })
}

/** Returns the id of the new row. */
export function appendStep(tx: Tx, row: Omit<ClockStepRow, 'id'>): number {
  const id = (tx.get(newestStep)?.id ?? 0) + 1
  tx.run(newStep, { ...row, id })
  return id
}

export const lastState = (tx: ReadTx): ClockStateRow | undefined => tx.get(newestState)
export const lastStep = (tx: ReadTx): ClockStepRow | undefined => tx.get(newestStep)

/** Yields the states up to a row, in the order in which they were seen. */
export function* statesUpTo(tx: ReadTx, lastId: number): Generator<ClockStateRow> {
  for (let id = 0; ; ) {
    const rows = tx.all(statesBehind, { id, last_id: lastId })
    yield* rows
    if (rows.length < slice) return
    id = rows.at(-1)?.id ?? lastId
  }
}

/** Yields the steps up to a row, in the order in which they were seen. */
export function* stepsUpTo(tx: ReadTx, lastId: number): Generator<ClockStepRow> {
  for (let id = 0; ; ) {
    const rows = tx.all(stepsBehind, { id, last_id: lastId })
    yield* rows
    if (rows.length < slice) return
    id = rows.at(-1)?.id ?? lastId
  }
}

/** Says whether the gateway's clock was set at a time between two of its times, both included. */
export const wasSetBetween = (tx: ReadTx, fromMs: number, toMs: number): boolean =>
  (tx.get(setWithin, { from_ms: fromMs, to_ms: toMs })?.n ?? 0) > 0

/** Returns the newest time that the gateway's clock has shown; undefined before the first start. */
export const markedMs = (tx: ReadTx): number | undefined => tx.get(mark)?.at

export function setMark(tx: Tx, nowMs: number): void {
  tx.run(newMark, { at_ms: nowMs })
}

/** Returns the newest time by which credentials ended; before schema 18 it is the clock's. */
export const expiryMarkedMs = (tx: ReadTx): number => tx.get(expiryMark)?.at ?? markedMs(tx) ?? 0

export function setExpiryMark(tx: Tx, nowMs: number): void {
  tx.run(newExpiryMark, { at_ms: nowMs })
}
