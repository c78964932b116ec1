import { built, change, integer, maybe, pick, type ReadTx, type Tx, text } from '../database/index.ts'
import type { Identity } from './people.ts'
import { sql, tables } from './tables.ts'

/** People, for a join in SQL: id, name, instance. */
export const people = 'person'

const everybody = built({}, () => sql.selectFrom('person').selectAll())
const identityById = built(pick(tables.person, 'id'), ({ id }) =>
  sql.selectFrom('person').select(['name', 'instance']).where('id', '=', id),
)
const calledSo = built(pick(tables.person, 'name'), ({ name }) =>
  sql.selectFrom('person').select(['id', 'name', 'instance']).where('name', '=', name).orderBy('id'),
)
const vouchedFor = built({ name: text, instance: text }, ({ name, instance }) =>
  sql
    .selectFrom('person')
    .select(['id', 'name', 'instance'])
    .where('name', '=', name)
    .where('instance', '=', instance)
    .orderBy('id'),
)
const namedOnly = built(pick(tables.person, 'name'), ({ name }) =>
  sql
    .selectFrom('person')
    .select(['id', 'name', 'instance'])
    .where('name', '=', name)
    .where('instance', 'is', null)
    .orderBy('id'),
)
const withoutLinks = change(`DELETE FROM person_link WHERE (subject, row, field) IN (
  SELECT subject, row, field FROM person_link WHERE person_id = ? LIMIT ?)`)

/** A person as known now. */
export type KnownPerson = Identity & { readonly id: number }

export function everyPerson(tx: ReadTx) {
  return tx.all(everybody)
}

/** Undefined once erased. */
export function personById(tx: ReadTx, id: number): Identity | undefined {
  return tx.get(identityById, { id })
}

/** Returns everybody of a name, at any instance. */
export function peopleCalled(tx: ReadTx, name: string): KnownPerson[] {
  return tx.all(calledSo, { name })
}

/** Returns the people that an instance knows by a name. */
export function peopleOfInstance(tx: ReadTx, name: string, instance: string): KnownPerson[] {
  return tx.all(vouchedFor, { name, instance })
}

/** Returns the people of a name for which no instance vouched. */
export function peopleNamedOnly(tx: ReadTx, name: string): KnownPerson[] {
  return tx.all(namedOnly, { name })
}

/** Takes at most `limit` links of a person away. @returns how many */
export function unlinkPerson(tx: Tx, personId: number, limit: number): number {
  return tx.run(withoutLinks, [personId, limit]).changes
}

/** Returns SQL that deletes the links of rows that are about to go; `rows`: SQL for their ids. */
export const withoutLinksSql = (subject: string, rows: string): string =>
  `DELETE FROM person_link WHERE subject = '${subject}' AND row IN (${rows})`

/** Returns SQL for the leaves of a table's rows that are linked to a person; for the room that owns the table. */
export const linkedLeavesSql = (table: string, id: string): string =>
  `SELECT l.bytes FROM person_link p JOIN main.${table} r ON r.${id} = p.row
   JOIN main.log_leaf l ON l.log_id = r.log_id AND l.seq = r.leaf_seq WHERE p.person_id = +? AND p.subject = '${table}'`

/** A column of a row that is linked to a person. */
export const linkedColumns = {
  row: integer,
  field: text,
  person: integer,
  commitment: maybe(text),
  log: integer,
  /** Number of the row's leaf, where it has one. */
  seq: maybe(integer),
}

/** Names of a column that is linked to people. */
export type LinkedColumn = {
  readonly table: string
  readonly id: string
  readonly field: string
  readonly column: string
  readonly hasLeaf: boolean
}

/** Returns SQL for the linked rows behind an id, in its order; for the room that owns the table. */
export const linkedRowsSql = ({ table, id, field, column, hasLeaf }: LinkedColumn): string =>
  `SELECT l.row, l.field, l.person_id AS person, r.${column} AS commitment,
     ${hasLeaf ? 'r.log_id AS log, r.leaf_seq AS seq' : 'l.log_id AS log, NULL AS seq'}
   FROM main.person_link l JOIN main.${table} r ON r.${id} = l.row
   WHERE l.subject = '${table}' AND l.field = '${field}' AND l.row > +? ORDER BY l.row LIMIT ?`
