import { built, integer, type ReadTx, statement, type Tx } from '../database/index.ts'
import { type ClockStateRow, type ClockStepRow, sql, tables } from './tables.ts'

const newState = built(tables.clock_state, (row) => sql.insertInto('clock_state').values(row))
const newStep = built(tables.clock_step, (row) => sql.insertInto('clock_step').values(row))
const newestState = statement({
  columns: tables.clock_state,
  sql: 'SELECT * FROM main.clock_state ORDER BY id DESC LIMIT 1',
})
const newestStep = statement({
  columns: tables.clock_step,
  sql: 'SELECT * FROM main.clock_step ORDER BY id DESC LIMIT 1',
})
const statesBehind = statement({
  columns: tables.clock_state,
  sql: 'SELECT * FROM main.clock_state WHERE id > +? AND id <= +? ORDER BY id LIMIT ?',
})
const stepsBehind = statement({
  columns: tables.clock_step,
  sql: 'SELECT * FROM main.clock_step WHERE id > +? AND id <= +? ORDER BY id LIMIT ?',
})
const mark = statement({ columns: { at: integer }, sql: 'SELECT at_ms AS at FROM main.clock_mark WHERE one = 1' })
const newMark = built({ at_ms: integer }, ({ at_ms }) =>
  sql
    .insertInto('clock_mark')
    .values({ one: 1, at_ms })
    .onConflict((on) => on.column('one').doUpdateSet({ at_ms })),
)

const setWithin = statement({
  columns: { n: integer },
  sql: `SELECT count(*) AS n FROM main.clock_step
    WHERE (after_ms >= +? AND after_ms <= +?) OR (before_ms >= +? AND before_ms <= +?)`,
})

const slice = 1000

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
    const rows = tx.all(statesBehind, [id, lastId, slice])
    yield* rows
    if (rows.length < slice) return
    id = rows.at(-1)?.id ?? lastId
  }
}

/** Yields the steps up to a row, in the order in which they were seen. */
export function* stepsUpTo(tx: ReadTx, lastId: number): Generator<ClockStepRow> {
  for (let id = 0; ; ) {
    const rows = tx.all(stepsBehind, [id, lastId, slice])
    yield* rows
    if (rows.length < slice) return
    id = rows.at(-1)?.id ?? lastId
  }
}

/** Says whether the gateway's clock was set at a time between two of its times, both included. */
export const wasSetBetween = (tx: ReadTx, fromMs: number, toMs: number): boolean =>
  (tx.get(setWithin, [fromMs, toMs, fromMs, toMs])?.n ?? 0) > 0

/** Returns the newest time that the gateway's clock has shown; undefined before the first start. */
export const markedMs = (tx: ReadTx): number | undefined => tx.get(mark)?.at

export function setMark(tx: Tx, nowMs: number): void {
  tx.run(newMark, { at_ms: nowMs })
}
