import { built, integer, listings, pick, type ReadTx, statement, type Tx } from '../database/index.ts'
import { idOfLog, linkedColumns, linkedRowsSql, statedSql } from '../log/index.ts'
import { type ReportRow, sql, tables } from './tables.ts'

/** Somebody who recorded events of the period, as known now; all that are erased by now are one, without a name. */
export type ReportPerson = {
  readonly name: string | null
  readonly instance: string | null
  /** Events that this one verified, having placed what they are about. */
  readonly selfVerified: number
  /** Whether any event was recorded in this one's name. */
  readonly isOperator: boolean
}

const newReport = built(tables.report, (row) => sql.insertInto('report').values(row))
const reportById = built(pick(tables.report, 'id'), ({ id }) =>
  sql.selectFrom('report').selectAll().where('id', '=', id),
)
const lastReport = built({}, () =>
  sql.selectFrom('report').select(['id', 'created_at_ms']).orderBy('id', 'desc').limit(1),
)
const fileNamed = built(pick(tables.report, 'sha256'), ({ sha256 }) =>
  sql.selectFrom('report').select('id').where('sha256', '=', sha256).limit(1),
)
const nextReports = built({ id: integer, limit: integer }, ({ id, limit }) =>
  sql
    .selectFrom('report')
    .select(['id', 'sha256', 'size_bytes', 'created_at_ms'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit),
)
const everyFile = built({}, () => sql.selectFrom('report').select(['id', 'sha256']))
const newPerson = built(tables.report_person, (row) => sql.insertInto('report_person').values(row))
const peopleIn = built(pick(tables.report_person, 'report_id'), ({ report_id }) =>
  sql
    .selectFrom('report_person')
    .select(['name', 'instance', 'is_operator', 'self_verified'])
    .where('report_id', '=', report_id)
    .orderBy('n'),
)
const withoutName = built(pick(tables.report_person, 'name'), ({ name }) =>
  sql.updateTable('report_person').set({ name: null, instance: null }).where('name', '=', name),
)
const withoutIdentity = built(pick(tables.report_person, 'name', 'instance'), ({ name, instance }) =>
  sql
    .updateTable('report_person')
    .set({ name: null, instance: null })
    .where('name', '=', name)
    .where('instance', '=', instance),
)

const asked = statedSql('report', 'report')

/** The rows that leaves state, for verification. */
export const statedReports = {
  between: statement({ columns: tables.report, sql: asked.between }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

/** People linked to the rows, for verification. */
export const linksOfReports = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ table: 'report', id: 'id', field: 'actor', column: 'actor_commitment', hasLeaf: true }),
})

export function append(tx: Tx, row: ReportRow): void {
  tx.run(newReport, row)
}

export function findReport(tx: ReadTx, id: number): ReportRow | undefined {
  return tx.get(reportById, { id })
}

/** Returns the newest id and time. */
export function endOfReports(tx: ReadTx): { id: number; createdAtMs: number } {
  const end = tx.get(lastReport)
  return { id: end?.id ?? 0, createdAtMs: end?.created_at_ms ?? 0 }
}

/** Says whether any report has this file. */
export function isReportFile(tx: ReadTx, sha256: string): boolean {
  return tx.get(fileNamed, { sha256 }) !== undefined
}

/** Files of all reports. */
export function everyReportFile(tx: ReadTx): Pick<ReportRow, 'id' | 'sha256'>[] {
  return tx.all(everyFile)
}

/** Returns the next `limit` reports behind an id, oldest first. */
export function reportsAfter(tx: ReadTx, id: number, limit: number): ReportFacts[] {
  return tx.all(nextReports, { id, limit })
}

/** Facts by which the file of a report is found. */
export type ReportFacts = Pick<ReportRow, 'id' | 'sha256' | 'size_bytes' | 'created_at_ms'>

/** The reports that cover no hidden warehouse; the key is the id. */
export const reportsOf = listings(
  (hiddenWarehouses: readonly number[]) => {
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
  },
  [[[]], [[1]]],
)

/** Returns the UUID of the log that a report was made from. */
export function logIdOf(tx: ReadTx, { log_id: log }: Pick<ReportRow, 'log_id'>): string {
  return idOfLog(tx, log) ?? ''
}

/** Stores the people of a report, where they can be erased. */
export function keepPeople(tx: Tx, reportId: number, people: readonly ReportPerson[]): void {
  for (const [i, { name, instance, selfVerified, isOperator }] of people.entries()) {
    const is_operator = Number(isOperator)
    tx.run(newPerson, { report_id: reportId, n: i + 1, name, instance, is_operator, self_verified: selfVerified })
  }
}

export function peopleOf(tx: ReadTx, reportId: number): ReportPerson[] {
  return tx.all(peopleIn, { report_id: reportId }).map((row) => ({
    name: row.name,
    instance: row.instance,
    isOperator: row.is_operator === 1,
    selfVerified: row.self_verified,
  }))
}

/** Takes a person out of the reports; without an instance everybody of the name. */
export function forgetInReports(tx: Tx, name: string, instance: string | null): void {
  if (instance === null) tx.run(withoutName, { name })
  else tx.run(withoutIdentity, { name, instance })
}
