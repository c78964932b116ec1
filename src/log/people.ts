import { hash } from 'node:crypto'
import type { Head, ReadTx, Tx } from '../database/index.ts'
import { type Caller, identityOf } from '../http/index.ts'
import type { RandomBytes } from '../platform/index.ts'
import type { LeafPlace, LogIdentity } from './log.ts'

/** Who somebody is: a name, and the instance that vouched for it; null when a client only named the person. */
export type Identity = { readonly name: string; readonly instance: string | null }

/** A row that says who: its table, its id, and which of its columns. */
export type RowPlace = { readonly subject: string; readonly row: number; readonly field: string }

/** Everybody that a name or an identity may mean. */
export type Meant = {
  /** The commitment in all rows of version 1. */
  readonly commitment: string | undefined
  /** `person.id`s of later rows. */
  readonly ids: readonly number[]
}

type PersonRow = Identity & { readonly id: number; readonly salt: Uint8Array }

/** What stands in place of the name of an erased person in rows of version 1: the same for all that the person did. */
export const erasedName = (commitment: string): string => `erased-${commitment.slice(0, 8)}`

/** The same in later rows, which can't be told to be one person's. */
export const erased = 'erased'

const erasedForm = /^erased-([0-9a-f]{8})$/
const identityForm = /^(.+)@(https?:\/\/[^\s@]+)$/s
const saltBytes = 32
const blockBytes = 64
const hashBytes = 32
/** Characters of a path: a UUID, a table or a number, a field. */
const longestPath = 192
/** Persons kept in memory. Clients may name anybody as operator. */
const keptPersons = 2000

/** `name@<instance URL>`, or the name alone when nobody vouched for it: what a commitment is made of. */
export function identityText({ name, instance }: Identity): string {
  return instance === null ? name : identityOf({ username: name, instance })
}

/** `name@https://…` in its parts; undefined for a name alone. */
export function readIdentity(text: string): { name: string; instance: string } | undefined {
  const [, name, instance] = identityForm.exec(text) ?? []
  return name === undefined || instance === undefined ? undefined : { name, instance: instance.replace(/\/+$/, '') }
}

/** Whether two may be the same person. A name that nobody vouched for may be anybody's of that name. */
export function mayBeSame(one: Identity, other: Identity): boolean {
  return (
    one.name === other.name && (one.instance === other.instance || one.instance === null || other.instance === null)
  )
}

/** What the salt of a row with a leaf is made for. */
export const leafPath = ({ logId, seq }: LeafPlace, key: string): string => `${logId}/${seq}/${key}`

/** What the salt of any other row is made for. */
export const rowPath = (logId: string, { subject, row, field }: RowPlace): string =>
  `${logId}/${subject}/${row}/${field}`

/** A person as rows are linked to, and what rows hold in place of the name. */
export class Person implements Identity {
  readonly id: number
  readonly name: string
  readonly instance: string | null
  /**
   * Room for what is hashed: the key of HMAC, padded as RFC 2104 says, and behind it the path, or the inner hash; a row's
   * salt, and behind it the identity. By hand and in place this takes a fifth of the time of `createHmac`.
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

  /** The salt of one row's column: HMAC-SHA-256 of the path under the person's salt. */
  rowSalt(path: string): Buffer {
    if (path.length > longestPath) throw new RangeError(`a path of ${path.length} characters is too long`)
    const length = this.#inner.write(path, blockBytes, 'utf8')
    this.#outer.set(hash('sha256', this.#inner.subarray(0, blockBytes + length), 'buffer'), blockBytes)
    return hash('sha256', this.#outer, 'buffer')
  }

  /** SHA-256(rowSalt ‖ identity), hex. */
  commitment(path: string): string {
    this.#salted.set(this.rowSalt(path))
    return hash('sha256', this.#salted, 'hex')
  }

  /** What the key of a leaf holds. Link the leaf's row to the person besides. */
  inLeaf(place: LeafPlace, key: string): string {
    return this.commitment(leafPath(place, key))
  }
}

/**
 * Who stands in the rows that are written now. A row holds `SHA-256(rowSalt ‖ identity)`, in which the salt is another for
 * each row and column: whoever is shown who did one thing learns of no other. Which rows are one person's is said by
 * side tables alone, which may be erased.
 *
 * Persons are kept in memory; what a transaction has made is dropped when it is undone.
 */
export class People implements Head {
  readonly #random: RandomBytes
  readonly #log: LogIdentity
  readonly #known = new Map<string, Person>()
  /** Keys in the order in which they came to be known, each with its number. */
  #order: { readonly n: number; readonly key: string }[] = []
  #last = 0

  constructor(options: { random: RandomBytes; log: LogIdentity }) {
    this.#random = options.random
    this.#log = options.log
  }

  /** The person; made when nobody has met it yet. */
  of(tx: Tx, who: Identity): Person {
    const known = this.find(tx, who)
    if (known) return known
    const salt = Buffer.from(this.#random(saltBytes))
    const { lastId } = tx.runOf('INSERT INTO person (name, instance, salt) VALUES (?, ?, ?)', [
      who.name,
      who.instance,
      salt,
    ])
    return this.#keep(new Person({ id: lastId, name: who.name, instance: who.instance, salt }))
  }

  /** As `of`, without making one. */
  find(tx: ReadTx, { name, instance }: Identity): Person | undefined {
    const known = this.#known.get(keyOf({ name, instance }))
    if (known) return known
    const row = tx.oneOf<PersonRow>(
      `SELECT id, name, instance, salt FROM person WHERE name = +? AND coalesce(instance, '') = +?`,
      [name, instance ?? ''],
    )
    return row && this.#keep(new Person(row))
  }

  ofCaller(tx: Tx, { username, instance }: Pick<Caller, 'username' | 'instance'>): Person {
    return this.of(tx, { name: username, instance })
  }

  findCaller(tx: ReadTx, { username, instance }: Pick<Caller, 'username' | 'instance'>): Person | undefined {
    return this.find(tx, { name: username, instance })
  }

  /** On whose word: the caller when nobody or the caller is named, else whom the text names. */
  ofOperator(tx: Tx, named: string | undefined, caller: Pick<Caller, 'username' | 'instance'>): Person {
    if (named === undefined || named === caller.username || named === identityOf(caller))
      return this.ofCaller(tx, caller)
    return this.of(tx, { name: named, instance: null })
  }

  /** The person's commitment in a row without a leaf. */
  commitment(person: Person, place: RowPlace): string {
    return person.commitment(rowPath(this.#log.logId, place))
  }

  /** Says in the erasable side table whose row it is; for tables without one of their own. */
  link(tx: Tx, person: Person, { subject, row, field }: RowPlace): void {
    tx.runOf('INSERT INTO person_link (subject, row, field, person_id, log_id) VALUES (?, ?, ?, ?, ?)', [
      subject,
      row,
      field,
      person.id,
      this.#log.number,
    ])
  }

  /** Both: commits to the person in a row without a leaf, and links it. */
  inRow(tx: Tx, person: Person, place: RowPlace): string {
    this.link(tx, person, place)
    return this.commitment(person, place)
  }

  /** The log that the salts of rows without a leaf name now. */
  get logNumber(): number {
    return this.#log.number
  }

  /** Forgets these persons. Their rows must have lost their links in the same transaction or before. */
  forget(tx: Tx, ids: readonly number[]): void {
    for (const id of ids) tx.runOf('DELETE FROM person WHERE id = ?', [id])
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
 * Everybody that a text may mean: a name all of that name; an identity that one, and whoever was recorded under the
 * bare name before names had an instance or because a client said no more. Also `erased-` and 8 digits.
 */
export function meantBy(tx: ReadTx, text: string): Meant {
  const identity = readIdentity(text)
  const name = identity?.name ?? text
  const rows = identity
    ? tx.allOf<{ id: number }>(
        `SELECT id FROM person WHERE name = +? AND coalesce(instance, '') IN ('', ?)
         UNION ALL SELECT id FROM person WHERE name = +? AND instance IS NULL`,
        [name, identity.instance, text],
      )
    : tx.allOf<{ id: number }>('SELECT id FROM person WHERE name = +?', [text])
  return { commitment: version1Of(tx, name) ?? erasedVersion1Of(tx, text), ids: rows.map(({ id }) => id) }
}

/** The commitment of a name in all rows of version 1; undefined when there is none, or it was erased. */
export function version1Of(tx: ReadTx, name: string): string | undefined {
  return tx.oneOf<{ commitment: string }>(`SELECT commitment FROM opening WHERE kind = 'person' AND value = +?`, [name])
    ?.commitment
}

function erasedVersion1Of(tx: ReadTx, shown: string): string | undefined {
  const [, prefix] = erasedForm.exec(shown) ?? []
  if (prefix === undefined) return undefined
  return tx.oneOf<{ commitment: string }>(
    `SELECT commitment FROM erased_person WHERE commitment >= +? AND commitment < +? || 'g'`,
    [prefix, prefix],
  )?.commitment
}

/**
 * SQL for the name that a row's column opens to, of either version; null once it was erased. `row` and `commitment` are
 * columns of the statement around it.
 */
export function nameSql(subject: string, row: string, field: string, commitment: string): string {
  return `coalesce((SELECT value FROM opening WHERE commitment = ${commitment}), (SELECT p.name FROM person_link l
    JOIN person p ON p.id = l.person_id WHERE l.subject = '${subject}' AND l.row = ${row} AND l.field = '${field}'))`
}

/** Who a column of a row says, and the instance that vouched for the name, as far as that is not erased. */
export function personIn(tx: ReadTx, { subject, row, field }: RowPlace, commitment: string): Identity | undefined {
  const linked = tx.oneOf<Identity>(
    `SELECT p.name, p.instance FROM person_link l JOIN person p ON p.id = l.person_id
     WHERE l.subject = +? AND l.row = +? AND l.field = +?`,
    [subject, row, field],
  )
  if (linked) return linked
  const name = tx.oneOf<{ value: string }>(`SELECT value FROM opening WHERE commitment = +?`, [commitment])?.value
  return name === undefined ? undefined : { name, instance: null }
}

/** What is shown of a person whose name is gone. */
export function shownWithout(leafVersion: 1 | 2, commitment: string): string {
  return leafVersion === 1 ? erasedName(commitment) : erased
}
