import type { ReadTx } from '../database/index.ts'
import { knownLogs, leafPath, Person, rowPath } from '../log/index.ts'
import type { Findings } from './findings.ts'

type PersonRow = { readonly id: number; readonly name: string; readonly instance: string | null; readonly salt: Buffer }

/** A column of a row that is linked to a person. */
type Linked = {
  /** Name of the row in a finding. */
  readonly noun: string
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
const linkedTables = [
  {
    table: 'unit_history',
    noun: 'step',
    id: 'row',
    columns: { operator: 'operator_commitment', actor: 'actor_commitment' },
    hasLeaf: true,
  },
  {
    table: 'incident_change',
    noun: 'change of an incident',
    id: 'id',
    columns: { actor: 'actor_commitment' },
    hasLeaf: true,
  },
  { table: 'report', noun: 'report', id: 'id', columns: { actor: 'actor_commitment' }, hasLeaf: true },
  { table: 'media', noun: 'file', id: 'id', columns: { actor: 'actor_commitment' }, hasLeaf: false },
  { table: 'scale_reading', noun: 'scale reading', id: 'id', columns: { actor: 'actor_commitment' }, hasLeaf: false },
  {
    table: 'opening_list',
    noun: 'list of opening stock',
    id: 'id',
    columns: { actor: 'actor_commitment' },
    hasLeaf: false,
  },
  { table: 'print_job', noun: 'print job', id: 'id', columns: { actor: 'actor_commitment' }, hasLeaf: false },
  { table: 'count_scan', noun: 'scan', id: 'id', columns: { counter: 'counter_commitment' }, hasLeaf: false },
  { table: 'count_recount', noun: 'recount', id: 'id', columns: { actor: 'actor_commitment' }, hasLeaf: false },
  {
    table: 'count_session',
    noun: 'count',
    id: 'id',
    columns: { created_by: 'created_by', closed_by: 'closed_by' },
    hasLeaf: false,
  },
] as const

/**
 * Compares every link of a row to a person with the row's commitment: a changed link would show another person's name.
 * A row without a link is no mismatch, because links may be erased. @returns the number of known people
 */
export function checkPeople(tx: ReadTx, findings: Findings): number {
  const people = new Map(
    tx.allOf<PersonRow>('SELECT id, name, instance, salt FROM person').map((row) => [row.id, new Person(row)]),
  )
  const logs = new Map(knownLogs(tx).map(({ number, logId }) => [number, logId]))
  const check = ({ noun, row, field, person, commitment, log, seq }: Linked, subject: string) => {
    const logId = logs.get(log) ?? ''
    const path = seq === null ? rowPath(logId, { subject, row, field }) : leafPath({ logId, seq }, field)
    if (people.get(person)?.commitment(path) === commitment) return
    findings.add(`${noun} ${row}`, `is linked to somebody else as its ${field}`)
  }
  for (const linked of inBatches(tx, eventLinks)) check(linked, 'placement_event')
  for (const linked of inBatches(tx, auditLinks)) check(linked, 'audit')
  for (const one of linkedTables) for (const linked of otherLinks(tx, one)) check(linked, one.table)
  return people.size
}

/** Two fields of each row of a table that holds its links itself. */
type OwnLinks = {
  readonly row: number
  readonly log: number | null
  readonly seq: number | null
  readonly noun: string
  readonly operator_id: number | null
  readonly actor_id: number | null
  readonly operator: string | null
  readonly actor: string | null
}

const eventLinks = `SELECT e.id AS row, e.log_id AS log, e.leaf_seq AS seq, 'event' AS noun, l.operator_id, l.actor_id,
    e.operator_commitment AS operator, e.actor_commitment AS actor
  FROM main.placement_person l JOIN main.placement_event e ON e.id = l.event_id WHERE l.event_id > +? ORDER BY l.event_id LIMIT ?`
const auditLinks = `SELECT a.id AS row, a.log_id AS log, NULL AS seq, 'audit entry' AS noun, l.operator_id, l.actor_id,
    a.operator_commitment AS operator, a.actor_commitment AS actor
  FROM main.audit_person l JOIN main.audit_entry a ON a.id = l.entry_id WHERE l.entry_id > +? ORDER BY l.entry_id LIMIT ?`

function* inBatches(tx: ReadTx, sql: string): Generator<Linked> {
  for (let after = 0; ; ) {
    const rows = tx.allOf<OwnLinks>(sql, [after, batch])
    for (const { row, log, seq, noun, operator_id, actor_id, operator, actor } of rows) {
      const common = { noun, row, log: log ?? 0, seq }
      if (operator_id !== null) yield { ...common, field: 'operator', person: operator_id, commitment: operator }
      if (actor_id !== null) yield { ...common, field: 'actor', person: actor_id, commitment: actor }
    }
    const last = rows.at(-1)
    if (!last || rows.length < batch) return
    after = last.row
  }
}

function* otherLinks(
  tx: ReadTx,
  { table, noun, id, columns, hasLeaf }: (typeof linkedTables)[number],
): Generator<Linked> {
  for (const [field, column] of Object.entries(columns)) {
    for (let after = 0; ; ) {
      const rows = tx.allOf<Linked>(
        `SELECT '${noun}' AS noun, l.row, l.field, l.person_id AS person, r.${column} AS commitment,
           ${hasLeaf ? 'r.log_id AS log, r.leaf_seq AS seq' : 'l.log_id AS log, NULL AS seq'}
         FROM main.person_link l JOIN main.${table} r ON r.${id} = l.row
         WHERE l.subject = '${table}' AND l.field = '${field}' AND l.row > +? ORDER BY l.row LIMIT ?`,
        [after, batch],
      )
      yield* rows
      const last = rows.at(-1)
      if (!last || rows.length < batch) break
      after = last.row
    }
  }
}
