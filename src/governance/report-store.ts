import type { Listing, ReadTx, ReportRow, Tx } from '../database/index.ts'
import type { ReportPerson } from './compliance.ts'

const columns = [
  'id',
  'event_id',
  'log_id',
  'leaf_seq',
  'leaf_version',
  'type',
  'from_ms',
  'to_ms',
  'warehouses',
  'log_size',
  'log_root',
  'sha256',
  'size_bytes',
  'actor_commitment',
  'created_at_ms',
  'evidence_hash',
] as const satisfies readonly (keyof ReportRow)[]

export function append(tx: Tx, row: ReportRow): void {
  tx.runOf(
    `INSERT INTO main.report (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    columns.map((column) => row[column]),
  )
}

export function findReport(tx: ReadTx, id: number): ReportRow | undefined {
  return tx.oneOf('SELECT * FROM main.report WHERE id = +?', [id])
}

/** Returns the newest id and time. */
export function endOfReports(tx: ReadTx): { id: number; createdAtMs: number } {
  const end = tx.oneOf<{ id: number; created_at_ms: number }>(
    'SELECT id, created_at_ms FROM main.report ORDER BY id DESC LIMIT 1',
  )
  return { id: end?.id ?? 0, createdAtMs: end?.created_at_ms ?? 0 }
}

/** Says whether any report has this file. */
export function isReportFile(tx: ReadTx, sha256: string): boolean {
  return tx.oneOf('SELECT 1 FROM main.report WHERE sha256 = ? LIMIT 1', [sha256]) !== undefined
}

/** The reports that cover no hidden warehouse; the key is the id. */
export function reportsOf(hiddenWarehouses: readonly number[]): Listing {
  const covers = 'SELECT 1 FROM json_each(r.warehouses) w WHERE w.value IN (SELECT value FROM json_each(?))'
  return {
    from: 'main.report r',
    key: ['r.id'],
    within: [],
    passing:
      hiddenWarehouses.length === 0
        ? []
        : [{ sql: `NOT EXISTS (${covers})`, values: [JSON.stringify(hiddenWarehouses)] }],
  }
}

/** Returns the UUID of the log that a report was made from. */
export function logIdOf(tx: ReadTx, { log_id: log }: Pick<ReportRow, 'log_id'>): string {
  return tx.oneOf<{ log_id: string }>('SELECT log_id FROM main.log_identity WHERE id = +?', [log])?.log_id ?? ''
}

/** Stores the people of a report, where they can be erased. */
export function keepPeople(tx: Tx, reportId: number, people: readonly ReportPerson[]): void {
  for (const [i, { name, instance, selfVerified, isOperator }] of people.entries()) {
    tx.runOf(
      `INSERT INTO report_person (report_id, n, name, instance, is_operator, self_verified) VALUES (?, ?, ?, ?, ?, ?)`,
      [reportId, i + 1, name, instance, Number(isOperator), selfVerified],
    )
  }
}

export function peopleOf(tx: ReadTx, reportId: number): ReportPerson[] {
  return tx
    .allOf<{ name: string | null; instance: string | null; is_operator: number; self_verified: number }>(
      'SELECT name, instance, is_operator, self_verified FROM report_person WHERE report_id = +? ORDER BY n',
      [reportId],
    )
    .map((row) => ({
      name: row.name,
      instance: row.instance,
      isOperator: row.is_operator === 1,
      selfVerified: row.self_verified,
    }))
}
