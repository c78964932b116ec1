import { hash } from 'node:crypto'
import { built, type Head, integer, pick, type ReadTx, statement, type Tx } from '../database/index.ts'
import { type Caller, identityOf } from '../http/index.ts'
import type { RandomBytes } from '../platform/index.ts'
import { version1OfErased } from './erased.ts'
import type { LeafPlace, LogIdentity } from './log.ts'
import { sql, tables } from './tables.ts'

/** A name and the instance that vouched for it; null when a client only named the person. */
export type Identity = { readonly name: string; readonly instance: string | null }

/** A column of a row that names a person: table, id of the row, column. */
export type RowPlace = { readonly subject: string; readonly row: number; readonly field: string }

/** All persons that a name or an identity may mean. */
export type Meant = {
  /** The commitment in all rows of version 1. */
  readonly commitment: string | undefined
  /** `person.id`s of later rows. */
  readonly ids: readonly number[]
}

type PersonRow = Identity & { readonly id: number; readonly salt: Uint8Array }

const newPerson = built(pick(tables.person, 'name', 'instance', 'salt'), (row) => sql.insertInto('person').values(row))
const withoutPerson = built({ id: integer }, ({ id }) => sql.deleteFrom('person').where('id', '=', id))
const newLink = built(tables.person_link, (row) => sql.insertInto('person_link').values(row))
const personCalled = statement({
  columns: tables.person,
  sql: `SELECT id, name, instance, salt FROM person WHERE name = +? AND coalesce(instance, '') = +?`,
})
const idsOfName = built(pick(tables.person, 'name'), ({ name }) =>
  sql.selectFrom('person').select('id').where('name', '=', name),
)
const idsOfIdentity = statement({
  columns: { id: integer },
  sql: `SELECT id FROM person WHERE name = +? AND coalesce(instance, '') IN ('', ?)
    UNION ALL SELECT id FROM person WHERE name = +? AND instance IS NULL`,
})
const commitmentOfName = statement({
  columns: pick(tables.opening, 'commitment'),
  sql: `SELECT commitment FROM opening WHERE kind = 'person' AND value = +?`,
})
const personLinked = statement({
  columns: pick(tables.person, 'name', 'instance'),
  sql: `SELECT p.name, p.instance FROM person_link l JOIN person p ON p.id = l.person_id
    WHERE l.subject = +? AND l.row = +? AND l.field = +?`,
})
const openedValue = built(pick(tables.opening, 'commitment'), ({ commitment }) =>
  sql.selectFrom('opening').select('value').where('commitment', '=', commitment),
)

/** Returns the placeholder of an erased person in rows of version 1: the same for everything the person did. */
export const erasedName = (commitment: string): string => `erased-${commitment.slice(0, 8)}`

/** The placeholder in later rows, which cannot be grouped by person. */
export const erased = 'erased'

const erasedForm = /^erased-([0-9a-f]{8})$/
const identityForm = /^(.+)@((?:oidc:)?https?:\/\/[^\s@]+)$/s
const saltBytes = 32
const blockBytes = 64
const hashBytes = 32
const put = (digest: string, into: Buffer, at: number) => into.write(digest, at, hashBytes, 'latin1')
/** Characters of a path: a UUID, a table or a number, a field. */
const longestPath = 192
/** Most persons kept in memory. Clients may send any name as operator. */
const keptPersons = 2000

/** Returns `name@<instance URL>`, or the name alone without an instance: the text that a commitment is made of. */
export function identityText({ name, instance }: Identity): string {
  return instance === null ? name : identityOf({ username: name, instance })
}

/** `name@https://…` or `name@oidc:https://…` in its parts; undefined for a name alone. */
export function readIdentity(text: string): { name: string; instance: string } | undefined {
  const [, name, instance] = identityForm.exec(text) ?? []
  return name === undefined || instance === undefined ? undefined : { name, instance: instance.replace(/\/+$/, '') }
}

/** Returns whether two may be the same person. A name without an instance may be any person of that name. */
export function mayBeSame(one: Identity, other: Identity): boolean {
  return (
    one.name === other.name && (one.instance === other.instance || one.instance === null || other.instance === null)
  )
}

/** Returns the path of a key of a leaf, from which the salt of its row is derived. */
export const leafPath = ({ logId, seq }: LeafPlace, key: string): string => `${logId}/${seq}/${key}`

/** Returns the path of a column of a row without a leaf, from which its salt is derived. */
export const rowPath = (logId: string, { subject, row, field }: RowPlace): string =>
  `${logId}/${subject}/${row}/${field}`

/** A person: its id, to which rows are linked, and its commitments, which rows contain instead of the name. */
export class Person implements Identity {
  readonly id: number
  readonly name: string
  readonly instance: string | null
  /**
   * Buffers of the hashed bytes. Two have the key of HMAC, padded as in RFC 2104, and behind it the path or the inner hash. The
   * third has a row's salt, and behind it the identity. By hand and in place this takes a fifth of the time of `createHmac`.
   */
  readonly #inner: Buffer
  readonly #outer: Buffer
  readonly #salted: Buffer

  constructor({ id, name, instance, salt }: PersonRow) {
    this.id = id
    this.name = name
    this.instance = instance
    const key = new Uint8Array(blockBytes)
    key.set(salt)
    this.#inner = Buffer.alloc(blockBytes + 3 * longestPath)
    this.#inner.set(key.map((byte) => byte ^ 0x36))
    this.#outer = Buffer.concat([key.map((byte) => byte ^ 0x5c), Buffer.alloc(hashBytes)])
    this.#salted = Buffer.concat([Buffer.alloc(hashBytes), Buffer.from(identityText({ name, instance }), 'utf8')])
  }

  /** The text that a commitment is made of. */
  get identity(): string {
    return identityText(this)
  }

  /** Returns the salt of one row's column: HMAC-SHA-256 of the path under the person's salt. */
  rowSalt(path: string): Buffer {
    return Buffer.from(this.#rowSalt(path), 'latin1')
  }

  /** As a text of its bytes: a Buffer takes longer to make than the hash. */
  #rowSalt(path: string): string {
    if (path.length > longestPath) throw new RangeError(`a path of ${path.length} characters is too long`)
    const length = this.#inner.write(path, blockBytes, 'utf8')
    put(hash('sha256', this.#inner.subarray(0, blockBytes + length), 'binary'), this.#outer, blockBytes)
    return hash('sha256', this.#outer, 'binary')
  }

  /** SHA-256(rowSalt ‖ identity), hex. */
  commitment(path: string): string {
    put(this.#rowSalt(path), this.#salted, 0)
    return hash('sha256', this.#salted, 'hex')
  }

  /** Returns the commitment for a key of a leaf. The row of the leaf must also be linked to the person. */
  inLeaf(place: LeafPlace, key: string): string {
    return this.commitment(leafPath(place, key))
  }
}

type PeopleNeeds = { random: RandomBytes; log: LogIdentity }

/**
 * The people of rows since version 2. A row contains `SHA-256(rowSalt ‖ identity)` with a different salt for each row and column,
 * so opening one row reveals nothing about another. Only side tables, which may be erased, connect the rows of one person.
 *
 * Persons are kept in memory; those that a transaction has made are dropped when it is undone.
 */
export class People implements Head {
  readonly #needs: PeopleNeeds
  readonly #known = new Map<string, Person>()
  /** Keys in the order in which they were first seen, each with its number. */
  #order: { readonly n: number; readonly key: string }[] = []
  #last = 0

  constructor(needs: PeopleNeeds) {
    this.#needs = needs
  }

  /** Returns the person; makes it when it is new. */
  of(tx: Tx, who: Identity): Person {
    const known = this.find(tx, who)
    if (known) return known
    const salt = Buffer.from(this.#needs.random(saltBytes))
    const { lastId } = tx.run(newPerson, { name: who.name, instance: who.instance, salt })
    return this.#keep(new Person({ id: lastId, name: who.name, instance: who.instance, salt }))
  }

  /** Returns the person; undefined when there is none. */
  find(tx: ReadTx, { name, instance }: Identity): Person | undefined {
    const known = this.#known.get(keyOf({ name, instance }))
    if (known) return known
    const row = tx.get(personCalled, [name, instance ?? ''])
    return row && this.#keep(new Person(row))
  }

  ofCaller(tx: Tx, { username, instance }: Pick<Caller, 'username' | 'instance'>): Person {
    return this.of(tx, { name: username, instance })
  }

  findCaller(tx: ReadTx, { username, instance }: Pick<Caller, 'username' | 'instance'>): Person | undefined {
    return this.find(tx, { name: username, instance })
  }

  /** Returns the operator: the caller when no one or the caller is named, otherwise the named person without an instance. */
  ofOperator(tx: Tx, named: string | undefined, caller: Pick<Caller, 'username' | 'instance'>): Person {
    if (named === undefined || named === caller.username || named === identityOf(caller))
      return this.ofCaller(tx, caller)
    return this.of(tx, { name: named, instance: null })
  }

  /** Returns the person's commitment for a row without a leaf. */
  commitment(person: Person, place: RowPlace): string {
    return person.commitment(rowPath(this.#needs.log.logId, place))
  }

  /** Links a row to the person in `person_link`, for tables without a separate side table. */
  link(tx: Tx, person: Person, { subject, row, field }: RowPlace): void {
    tx.run(newLink, { subject, row, field, person_id: person.id, log_id: this.#needs.log.number })
  }

  /** Links a row without a leaf to the person and returns the commitment. */
  inRow(tx: Tx, person: Person, place: RowPlace): string {
    this.link(tx, person, place)
    return this.commitment(person, place)
  }

  /** Number of the log in the paths of rows without a leaf. */
  get logNumber(): number {
    return this.#needs.log.number
  }

  /** Deletes these persons. The links of their rows must be deleted in the same transaction or before. */
  forget(tx: Tx, ids: readonly number[]): void {
    for (const id of ids) tx.run(withoutPerson, { id })
    for (const [key, { id }] of this.#known) if (ids.includes(id)) this.#known.delete(key)
  }

  save(): number {
    return this.#last
  }

  restore(saved: unknown): void {
    for (let newest = this.#order.at(-1); newest && newest.n > (saved as number); newest = this.#order.at(-1)) {
      this.#known.delete(newest.key)
      this.#order.pop()
    }
  }

  #keep(person: Person): Person {
    if (this.#order.length >= keptPersons) {
      this.#known.clear()
      this.#order = []
    }
    const key = keyOf(person)
    this.#last += 1
    this.#known.set(key, person)
    this.#order.push({ n: this.#last, key })
    return person
  }
}

const keyOf = ({ name, instance }: Identity): string => `${instance ?? ''}\0${name}`

/**
 * Returns all persons that a text may mean. A name means all persons of that name. An identity means that person, and the person
 * recorded under the name alone by an older gateway or a client. The placeholder `erased-` and 8 digits is also understood.
 */
export function meantBy(tx: ReadTx, text: string): Meant {
  const identity = readIdentity(text)
  const name = identity?.name ?? text
  const rows = identity ? tx.all(idsOfIdentity, [name, identity.instance, text]) : tx.all(idsOfName, { name })
  return { commitment: version1Of(tx, name) ?? erasedVersion1Of(tx, text), ids: rows.map(({ id }) => id) }
}

/** Returns the commitment of a name in all rows of version 1; undefined when there is none, or it was erased. */
export function version1Of(tx: ReadTx, name: string): string | undefined {
  return tx.get(commitmentOfName, [name])?.commitment
}

function erasedVersion1Of(tx: ReadTx, shown: string): string | undefined {
  const [, prefix] = erasedForm.exec(shown) ?? []
  return prefix === undefined ? undefined : version1OfErased(tx, prefix)
}

/**
 * Returns SQL for the name that a row's column opens to, of either version; null once it was erased. Both `row` and `commitment`
 * are columns of the statement around it.
 */
export function nameSql(subject: string, row: string, field: string, commitment: string): string {
  return `coalesce((SELECT value FROM opening WHERE commitment = ${commitment}), (SELECT p.name FROM person_link l
    JOIN person p ON p.id = l.person_id WHERE l.subject = '${subject}' AND l.row = ${row} AND l.field = '${field}'))`
}

/** Returns SQL that joins a person by id, as `alias`; nulls where the row names no one, or an erased person. */
export const personAs = (alias: string, id: string): string => `LEFT JOIN person ${alias} ON ${alias}.id = ${id}`

/** Returns SQL that joins the opening of a commitment, as `alias`, where `condition` holds; nulls once it was erased. */
export const openedAs = (alias: string, commitment: string, condition = ''): string =>
  `LEFT JOIN opening ${alias} ON ${condition === '' ? '' : `${condition} AND `}${alias}.commitment = ${commitment}`

/** Returns the person in a column of a row, with the instance that vouched for the name, as far as that is not erased. */
export function personIn(tx: ReadTx, { subject, row, field }: RowPlace, commitment: string): Identity | undefined {
  const linked = tx.get(personLinked, [subject, row, field])
  if (linked) return linked
  const name = tx.get(openedValue, { commitment })?.value
  return name === undefined ? undefined : { name, instance: null }
}

/** Returns the placeholder for a person whose name is erased. */
export function shownWithout(leafVersion: 1 | 2, commitment: string): string {
  return leafVersion === 1 ? erasedName(commitment) : erased
}
