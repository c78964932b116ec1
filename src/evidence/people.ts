import { linksOfCounts, linksOfRecounts, linksOfScans } from '../counts/index.ts'
import type { ReadTx, Statement } from '../database/index.ts'
import { linksOfIncidents, linksOfReports } from '../governance/index.ts'
import { linksOfLists } from '../imports/index.ts'
import { linksOfEntries } from '../journal/index.ts'
import { linksOfJobs } from '../labels/index.ts'
import { linksOfEvents, linksOfResolutions } from '../ledger/index.ts'
import { everyPerson, knownLogs, leafPath, linksOfMedia, Person, rowPath } from '../log/index.ts'
import { linksOfDecisions, linksOfExports, linksOfRedactions } from '../privacy/index.ts'
import { linksOfReadings } from '../scales/index.ts'
import { linksOfSteps } from '../units/index.ts'
import type { Findings } from './findings.ts'

/** A column of a row that is linked to a person. */
type Linked = {
  readonly row: number
  readonly field: string
  readonly person: number
  readonly commitment: string | null
  readonly log: number
  /** Number of the row's leaf. */
  readonly seq: number | null
}

const batch = 2000

/** Tables with links in `person_link`: their id, the column of a field, and whether they have a leaf. */
const shared: readonly { subject: string; noun: string; links: readonly Statement<Linked>[] }[] = [
  { subject: 'unit_history', noun: 'step', links: [linksOfSteps.operator, linksOfSteps.actor] },
  { subject: 'incident_change', noun: 'change of an incident', links: [linksOfIncidents] },
  { subject: 'dispute_resolution', noun: 'resolution of a dispute', links: [linksOfResolutions] },
  { subject: 'report', noun: 'report', links: [linksOfReports] },
  { subject: 'media', noun: 'file', links: [linksOfMedia] },
  { subject: 'scale_reading', noun: 'scale reading', links: [linksOfReadings] },
  { subject: 'opening_list', noun: 'list of opening stock', links: [linksOfLists] },
  { subject: 'print_job', noun: 'print job', links: [linksOfJobs] },
  { subject: 'clip_redaction', noun: 'redacted copy', links: [linksOfRedactions] },
  { subject: 'clip_export', noun: 'export of a clip', links: [linksOfExports] },
  { subject: 'clip_export_decision', noun: 'decision on an export', links: [linksOfDecisions] },
  { subject: 'count_scan', noun: 'scan', links: [linksOfScans] },
  { subject: 'count_recount', noun: 'recount', links: [linksOfRecounts] },
  { subject: 'count_session', noun: 'count', links: [linksOfCounts.createdBy, linksOfCounts.closedBy] },
]

/**
 * Compares every link of a row to a person with the row's commitment: a changed link would show another person's name.
 * A row without a link is no mismatch, because links may be erased. @returns the number of known people
 */
export function checkPeople(tx: ReadTx, findings: Findings): number {
  const people = new Map(everyPerson(tx).map((row) => [row.id, new Person(row)]))
  const logs = new Map(knownLogs(tx).map(({ number, logId }) => [number, logId]))
  const check = ({ row, field, person, commitment, log, seq }: Linked, subject: string, noun: string) => {
    const logId = logs.get(log) ?? ''
    const path = seq === null ? rowPath(logId, { subject, row, field }) : leafPath({ logId, seq }, field)
    if (people.get(person)?.commitment(path) === commitment) return
    findings.add(`${noun} ${row}`, `is linked to somebody else as its ${field}`)
  }
  const checkBoth = (links: OwnLinks, subject: string, noun: string) => {
    const { row, operator_id, actor_id, operator, actor, seq = null } = links
    const log = links.log ?? 0
    if (operator_id !== null)
      check({ row, log, seq, field: 'operator', person: operator_id, commitment: operator }, subject, noun)
    if (actor_id !== null) check({ row, log, seq, field: 'actor', person: actor_id, commitment: actor }, subject, noun)
  }
  inBatches(tx, linksOfEvents, (row) => checkBoth(row, 'placement_event', 'event'))
  inBatches(tx, linksOfEntries, (row) => checkBoth(row, 'audit', 'audit entry'))
  for (const { subject, noun, links } of shared) {
    for (const of of links) inBatches(tx, of, (linked) => check(linked, subject, noun))
  }
  return people.size
}

/** Two fields of each row of a table that holds its links itself. */
type OwnLinks = {
  readonly row: number
  readonly log: number | null
  /** Only where the rows have leaves. */
  readonly seq?: number | null
  readonly operator_id: number | null
  readonly actor_id: number | null
  readonly operator: string | null
  readonly actor: string | null
}

function inBatches<Row extends { readonly row: number }>(
  tx: ReadTx,
  links: Statement<Row>,
  check: (row: Row) => void,
): void {
  for (let after = 0; ; ) {
    const rows = tx.all(links, [after, batch])
    for (const row of rows) check(row)
    const last = rows.at(-1)
    if (!last || rows.length < batch) return
    after = last.row
  }
}
