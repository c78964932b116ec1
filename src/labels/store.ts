import { sql as raw } from 'kysely'
import {
  built,
  change,
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
import { linkedColumns, linkedRowsSql, nameSql, withoutLinksSql } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { AfterAttempt, PrintOutcome } from './print-state.ts'
import type { JobState, PrintJob } from './schema.ts'
import { type PrintJobRow, sql, tables } from './tables.ts'

/** Finished jobs are kept this long. */
const keptMs = 30 * 24 * 60 * 60 * 1000

const openedColumns = { ...tables.print_job, requested_by: maybe(text) }
type Opened = RowOf<typeof openedColumns>
const opened = `SELECT j.*, ${nameSql('print_job', 'j.id', 'actor', 'j.actor_commitment')} AS requested_by FROM print_job j`

// By hand: a table of SQLite itself is declared by no room.
const lastJobEver = statement({
  columns: { seq: integer },
  sql: `SELECT seq FROM sqlite_sequence WHERE name = 'print_job'`,
})
const newJob = built(
  pick(
    tables.print_job,
    'id',
    'printer',
    'entity',
    'entity_id',
    'label',
    'warehouse_id',
    'copies',
    'zpl',
    'actor_commitment',
    'reprint_of',
    'next_attempt_at_ms',
    'created_at_ms',
  ),
  (row) => sql.insertInto('print_job').values({ ...row, state: 'queued' }),
)
const openedJob = statement({ columns: openedColumns, sql: `${opened} WHERE j.id = +?` })
const jobById = built(pick(tables.print_job, 'id'), ({ id }) =>
  sql.selectFrom('print_job').selectAll().where('id', '=', id),
)
const openedJobs = statements({
  columns: openedColumns,
  sql: (where: string) => `${opened}${where} ORDER BY j.id DESC LIMIT ? OFFSET ?`,
  samples: [[''], [conditionsOf({ printer: '', state: 'queued', hiddenWarehouses: [1] }).where]],
})
const countedJobs = statements({
  columns: { n: integer },
  sql: (where: string) => `SELECT count(*) AS n FROM print_job j${where}`,
  samples: [[''], [conditionsOf({ printer: '', state: 'queued', hiddenWarehouses: [1] }).where]],
})
// An index of the jobs that wait is found by these words, so they are no values.
const [queued, printing] = [raw.lit('queued' as const), raw.lit('printing' as const)]
const firstOfQueues = built({}, () =>
  sql
    .selectFrom('print_job')
    .selectAll()
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('print_job as j')
        .select(({ fn }) => fn.min('j.id').as('first'))
        .where('j.state', 'in', [queued, printing])
        .groupBy('j.printer'),
    )
    .orderBy('id'),
)
const waitingJobs = built(pick(tables.print_job, 'printer'), ({ printer }) =>
  sql
    .selectFrom('print_job')
    .select(['entity', 'label', 'warehouse_id', 'last_error'])
    .where('printer', '=', printer)
    .where('state', 'in', [queued, printing])
    .orderBy('id'),
)
const claimed = built(pick(tables.print_job, 'id'), ({ id }) =>
  sql
    .updateTable('print_job')
    .set((job) => ({ state: printing, attempts: job('attempts', '+', raw.lit(1)) }))
    .where('id', '=', id)
    .where('state', '=', queued),
)
const outcomeOf = built(
  pick(tables.print_job, 'id', 'state', 'next_attempt_at_ms', 'last_error', 'finished_at_ms'),
  ({ id, ...outcome }) => sql.updateTable('print_job').set(outcome).where('id', '=', id).where('state', '=', printing),
)
const withoutOldLinks = change(withoutLinksSql('print_job', 'SELECT id FROM print_job WHERE finished_at_ms < +?'))
const withoutOldJobs = built({ ms: integer }, ({ ms }) => sql.deleteFrom('print_job').where('finished_at_ms', '<', ms))
const cancelled = built(pick(tables.print_job, 'id', 'finished_at_ms'), ({ id, finished_at_ms }) =>
  sql
    .updateTable('print_job')
    .set({ state: 'cancelled', finished_at_ms })
    .where('id', '=', id)
    .where('state', '=', queued),
)
const requeued = built({}, () =>
  sql
    .updateTable('print_job')
    .set({ state: queued, last_error: 'the gateway ended while it was printed' })
    .where('state', '=', printing),
)
const seriesNamed = built(pick(tables.sscc_series, 'series'), ({ series }) =>
  sql.selectFrom('sscc_series').select('next').where('series', '=', series),
)
const keptSeries = built(tables.sscc_series, ({ series, next }) =>
  sql
    .insertInto('sscc_series')
    .values({ series, next })
    .onConflict((on) => on.column('series').doUpdateSet({ next })),
)

/** People linked to the jobs, for verification. */
export const linksOfJobs = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ table: 'print_job', id: 'id', field: 'actor', column: 'actor_commitment', hasLeaf: false }),
})

export function toPrintJob(row: Opened): PrintJob {
  return {
    id: row.id,
    printer: row.printer,
    state: row.state,
    entity: row.entity,
    label: row.label,
    copies: row.copies,
    attempts: row.attempts,
    nextAttemptAt: row.state === 'queued' ? isoTime(row.next_attempt_at_ms) : null,
    lastError: row.last_error,
    requestedBy: row.requested_by,
    reprintOf: row.reprint_of,
    createdAt: isoTime(row.created_at_ms),
    finishedAt: row.finished_at_ms === null ? null : isoTime(row.finished_at_ms),
  }
}

export type NewJob = Pick<
  PrintJobRow,
  | 'id'
  | 'printer'
  | 'entity'
  | 'entity_id'
  | 'label'
  | 'warehouse_id'
  | 'copies'
  | 'zpl'
  | 'actor_commitment'
  | 'reprint_of'
>

/** Returns the next id of a job; the id of a removed job is not used again. */
export function nextJobId(tx: ReadTx): number {
  return (tx.get(lastJobEver)?.seq ?? 0) + 1
}

export function insertJob(tx: Tx, job: NewJob, nowMs: number): number {
  return tx.run(newJob, { ...job, next_attempt_at_ms: nowMs, created_at_ms: nowMs }).lastId
}

export function findJob(tx: ReadTx, id: number): Opened | undefined {
  return tx.get(openedJob, [id])
}

export type JobFilter = {
  readonly printer?: string | undefined
  readonly state?: JobState | undefined
  readonly hiddenWarehouses: readonly number[]
}

/** The newest first. */
export function listJobs(
  tx: ReadTx,
  filter: JobFilter,
  limit: number,
  offset: number,
): { rows: Opened[]; total: number } {
  const { where, values } = conditionsOf(filter)
  const rows = tx.all(openedJobs(where), [...values, limit, offset])
  return { rows, total: tx.get(countedJobs(where), values)?.n ?? 0 }
}

function conditionsOf(filter: JobFilter): { where: string; values: string[] } {
  const parts: string[] = []
  const values: string[] = []
  if (filter.printer !== undefined) {
    parts.push('j.printer = ?')
    values.push(filter.printer)
  }
  if (filter.state !== undefined) {
    parts.push('j.state = ?')
    values.push(filter.state)
  }
  if (filter.hiddenWarehouses.length > 0) {
    parts.push('(j.warehouse_id IS NULL OR j.warehouse_id NOT IN (SELECT value FROM json_each(?)))')
    values.push(JSON.stringify(filter.hiddenWarehouses))
  }
  return { where: parts.length > 0 ? ` WHERE ${parts.join(' AND ')}` : '', values }
}

/** Returns the first job of each queue; the jobs behind it wait for it. */
export function heads(tx: ReadTx): PrintJobRow[] {
  return tx.all(firstOfQueues)
}

/** Returns the jobs that wait for a printer, the next one first. */
export function queueOf(
  tx: ReadTx,
  printer: string,
): Pick<PrintJobRow, 'entity' | 'label' | 'warehouse_id' | 'last_error'>[] {
  return tx.all(waitingJobs, { printer })
}

/** Marks a job as printing and returns it; undefined when it was cancelled. */
export function claimJob(tx: Tx, id: number): PrintJobRow | undefined {
  return tx.run(claimed, { id }).changes === 1 ? tx.get(jobById, { id }) : undefined
}

export function recordOutcome(tx: Tx, id: number, outcome: PrintOutcome, next: AfterAttempt, nowMs: number): void {
  const { state, delayMs } = next
  const last_error = outcome.kind === 'printed' ? null : outcome.error
  const finished_at_ms = state === 'queued' ? null : nowMs
  tx.run(outcomeOf, { id, state, next_attempt_at_ms: nowMs + delayMs, last_error, finished_at_ms })
  tx.run(withoutOldLinks, [nowMs - keptMs])
  tx.run(withoutOldJobs, { ms: nowMs - keptMs })
}

/** @returns whether the job was still queued */
export function cancelJob(tx: Tx, id: number, nowMs: number): boolean {
  return tx.run(cancelled, { id, finished_at_ms: nowMs }).changes === 1
}

/** Puts jobs marked as printing back into the queue: at the start no other process prints, so they were interrupted. */
export function requeueCut(tx: Tx): number {
  return tx.run(requeued).changes
}

/** Takes the next `count` serials of a series and returns the first; none of them is given again. */
export function takeSerials(tx: Tx, series: string, count: number): number {
  const first = tx.get(seriesNamed, { series })?.next ?? 0
  tx.run(keptSeries, { series, next: first + count })
  return first
}

/** Returns a job, for any caller. */
export function findJobRow(tx: ReadTx, id: number): PrintJobRow | undefined {
  return tx.get(jobById, { id })
}
