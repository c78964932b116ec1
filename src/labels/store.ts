import type { PrintJobRow, ReadTx, Tx } from '../database/index.ts'
import { nameSql } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { AfterAttempt, PrintOutcome } from './print-state.ts'
import type { JobState, PrintJob } from './schema.ts'

/** Finished jobs are kept this long. */
const keptMs = 30 * 24 * 60 * 60 * 1000

type Opened = PrintJobRow & { requested_by: string | null }
const opened = `SELECT j.*, ${nameSql('print_job', 'j.id', 'actor', 'j.actor_commitment')} AS requested_by FROM print_job j`

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
  return (tx.oneOf<{ seq: number }>(`SELECT seq FROM sqlite_sequence WHERE name = 'print_job'`)?.seq ?? 0) + 1
}

export function insertJob(tx: Tx, job: NewJob, nowMs: number): number {
  return tx.runOf(
    `INSERT INTO print_job (id, printer, entity, entity_id, label, warehouse_id, copies, zpl, state, next_attempt_at_ms,
       actor_commitment, reprint_of, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?)`,
    [
      job.id,
      job.printer,
      job.entity,
      job.entity_id,
      job.label,
      job.warehouse_id,
      job.copies,
      job.zpl,
      nowMs,
      job.actor_commitment,
      job.reprint_of,
      nowMs,
    ],
  ).lastId
}

export function findJob(tx: ReadTx, id: number): Opened | undefined {
  return tx.oneOf<Opened>(`${opened} WHERE j.id = +?`, [id])
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
  const where = parts.length > 0 ? ` WHERE ${parts.join(' AND ')}` : ''
  const rows = tx.allOf<Opened>(`${opened}${where} ORDER BY j.id DESC LIMIT ? OFFSET ?`, [...values, limit, offset])
  const total = tx.oneOf<{ n: number }>(`SELECT count(*) AS n FROM print_job j${where}`, values)?.n ?? 0
  return { rows, total }
}

/** Returns the first job of each queue; the jobs behind it wait for it. */
export function heads(tx: ReadTx): PrintJobRow[] {
  return tx.allOf<PrintJobRow>(
    `SELECT * FROM print_job WHERE id IN (
       SELECT min(id) FROM print_job WHERE state IN ('queued', 'printing') GROUP BY printer) ORDER BY id`,
  )
}

/** The jobs that wait for a printer, the next one first. */
export function queueOf(
  tx: ReadTx,
  printer: string,
): Pick<PrintJobRow, 'entity' | 'label' | 'warehouse_id' | 'last_error'>[] {
  return tx.allOf(
    `SELECT entity, label, warehouse_id, last_error FROM print_job
     WHERE printer = +? AND state IN ('queued', 'printing') ORDER BY id`,
    [printer],
  )
}

/** Marks a job as printing and returns it; undefined when it was cancelled. */
export function claimJob(tx: Tx, id: number): PrintJobRow | undefined {
  const { changes } = tx.runOf(
    `UPDATE print_job SET state = 'printing', attempts = attempts + 1 WHERE id = +? AND state = 'queued'`,
    [id],
  )
  return changes === 1 ? tx.oneOf<PrintJobRow>('SELECT * FROM print_job WHERE id = +?', [id]) : undefined
}

export function recordOutcome(tx: Tx, id: number, outcome: PrintOutcome, next: AfterAttempt, nowMs: number): void {
  tx.runOf(
    `UPDATE print_job SET state = ?, next_attempt_at_ms = ?, last_error = ?, finished_at_ms = ?
     WHERE id = +? AND state = 'printing'`,
    [
      next.state,
      nowMs + next.delayMs,
      outcome.kind === 'printed' ? null : outcome.error,
      next.state === 'queued' ? null : nowMs,
      id,
    ],
  )
  tx.runOf(
    `DELETE FROM person_link WHERE subject = 'print_job' AND row IN (SELECT id FROM print_job WHERE finished_at_ms < +?)`,
    [nowMs - keptMs],
  )
  tx.runOf('DELETE FROM print_job WHERE finished_at_ms < +?', [nowMs - keptMs])
}

/** @returns whether the job was still queued */
export function cancelJob(tx: Tx, id: number, nowMs: number): boolean {
  return (
    tx.runOf(`UPDATE print_job SET state = 'cancelled', finished_at_ms = ? WHERE id = +? AND state = 'queued'`, [
      nowMs,
      id,
    ]).changes === 1
  )
}

/** Puts jobs marked as printing back into the queue: at the start no other process prints, so they were interrupted. */
export function requeueCut(tx: Tx): number {
  return tx.runOf(
    `UPDATE print_job SET state = 'queued', last_error = 'the gateway ended while it was printed' WHERE state = 'printing'`,
  ).changes
}

/** Takes the next `count` serials of a series and returns the first; none of them is given again. */
export function takeSerials(tx: Tx, series: string, count: number): number {
  const first = tx.oneOf<{ next: number }>('SELECT next FROM sscc_series WHERE series = +?', [series])?.next ?? 0
  tx.runOf(
    'INSERT INTO sscc_series (series, next) VALUES (?, ?) ON CONFLICT (series) DO UPDATE SET next = excluded.next',
    [series, first + count],
  )
  return first
}
