import { createHmac } from 'node:crypto'
import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import type { AuditOrigin, AuditTrail } from '../journal/index.ts'
import {
  erased,
  erasedName,
  type Identity,
  identityText,
  type Openings,
  type People,
  readIdentity,
  version1Of,
} from '../log/index.ts'
import { type Clock, isoTime } from '../platform/index.ts'
import { type Forgotten, scrubbed } from './scrub.ts'
import { linkedEvents, unlinkEvents, unlinkRest } from './unlinking.ts'

export type ErasureRequest = {
  /** A name, or an identity: `name@<instance URL>`. */
  readonly name: string
  /** Whether to erase notes and descriptions that the person wrote or is named in. */
  readonly texts: boolean
}

/** What was erased, as numbers; never the name. */
export type Erased = {
  readonly outcome: 'erased'
  /** What is shown instead of the name. */
  readonly shownAs: string
  /** The same for rows before version 2, which can still be linked to one person; null when there are none. */
  readonly olderRowsShownAs: string | null
  /** Whether rows still hold the name without an instance: older ones, and those in which a client named the person. */
  readonly nameStands: boolean
  readonly texts: number
  /** Texts that are kept although they contain the name. */
  readonly textsThatNameThem: number
  readonly notifications: number
  readonly replies: number
  readonly sessions: number
}

export type ErasureResult =
  | Erased
  | { readonly outcome: 'erased-before'; readonly shownAs: string; readonly erasedAt: string }
  | { readonly outcome: 'unknown' }
  /** Several people have the name. Nothing was erased: say which of them. */
  | { readonly outcome: 'ambiguous'; readonly identities: readonly string[] }

export type ErasureOptions = {
  readonly work: UnitOfWork
  readonly openings: Openings
  readonly people: People
  readonly audit: AuditTrail
  readonly clock: Pick<Clock, 'now'>
}

type Known = Identity & { readonly id: number }

/** The person to erase. */
type Target = {
  readonly name: string
  /** Null: everyone of that name. */
  readonly instance: string | null
  /** Commitment in rows of version 1. */
  readonly commitment: string | undefined
  /** People of later rows. */
  readonly persons: readonly Known[]
}

/** Rows that one step looks at: a few ms. */
const batch = 500
/** The same for rows of only a few numbers. */
const linksAtOnce = 20_000
/** A clock may have been set back while the long part ran. */
const clockSlackMs = 3_600_000

/**
 * Erases a person. The commitments in the log stay, so it verifies as before. The long part runs first, in steps; the
 * last transaction does the rest, with what was written since. After a crash in between, the same command completes the
 * work.
 */
export class Erasure {
  readonly #o: ErasureOptions

  constructor(options: ErasureOptions) {
    this.#o = options
  }

  async erase({ name, texts }: ErasureRequest, by: AuditOrigin): Promise<ErasureResult> {
    const { work, openings, clock } = this.#o
    const target = work.read((tx) => targetOf(tx, name))
    if (target.persons.length === 0 && target.commitment === undefined) {
      return work.read((tx) => before(tx, name))
    }
    const identities = target.persons.filter(({ instance }) => instance !== null).map(identityText)
    if (identities.length > 1) return { outcome: 'ambiguous', identities }
    const ids = target.persons.map(({ id }) => id)
    const marks = work.read(endsOf)
    const startedMs = clock.now()
    const written = texts ? await this.#textsOf(target, marks) : []
    const naming = await this.#inSteps(0, marks.opening, (tx, span) => textsNaming(tx, target.name, span))
    const toForget = new Set(texts ? [...written, ...naming] : [])
    const forgotten = (tx: ReadTx): Forgotten => ({
      names: new Set([target.name, ...target.persons.map((person) => person.name)]),
      shownAs: shownAs(target),
      texts: new Set([...toForget].flatMap((text) => openings.reveal(tx, text) ?? [])),
    })
    const early = work.read(forgotten)
    const notifications = await this.#inSteps(marks.firstOutbox, marks.outbox, (tx, span) => mentions(tx, early, span))
    await this.#rewrite(notifications)
    const replies = await this.#scrubReplies(early)
    await this.#unlink(ids, marks.event)
    return work.write((tx) => {
      // What was written since the marks: short.
      const namingSince = textsNaming(tx, target.name, { after: marks.opening, last: Number.MAX_SAFE_INTEGER })
      if (texts) for (const text of [...textsSince(tx, target, marks), ...namingSince]) toForget.add(text)
      const told = forgotten(tx)
      const since = mentions(tx, told, { after: marks.outbox, last: Number.MAX_SAFE_INTEGER })
      rewriteNotifications(tx, since)
      const done: Erased = {
        outcome: 'erased',
        shownAs: shownAs(target),
        olderRowsShownAs: target.commitment === undefined ? null : erasedName(target.commitment),
        nameStands: target.instance !== null && isKnownByName(tx, target.name),
        notifications: notifications.length + since.length,
        replies: replies + removeOwnReplies(tx, target) + scrubRepliesSince(tx, told, startedMs - clockSlackMs),
        sessions: removeOf(tx, 'console_session', target),
        texts: [...toForget].filter((text) => openings.forgetText(tx, text)).length,
        textsThatNameThem: texts ? 0 : naming.length + namingSince.length,
      }
      removeOf(tx, 'known_caller', target)
      this.#forget(tx, target, ids, marks.event)
      this.#tell(tx, done, by, target)
      return done
    })
  }

  /** Deletes links, names and salts. */
  #forget(tx: Tx, { name, instance, commitment, persons }: Target, ids: readonly number[], lastEvent: number): void {
    const nowMs = this.#o.clock.now()
    unlinkEvents(tx, linkedEvents(tx, ids, { after: lastEvent, last: Number.MAX_SAFE_INTEGER }), ids)
    unlinkRest(tx, ids)
    tx.runOf(
      `UPDATE report_person SET name = NULL, instance = NULL WHERE name = +?${instance === null ? '' : ' AND instance = ?'}`,
      instance === null ? [name] : [name, instance],
    )
    this.#o.people.forget(tx, ids)
    for (const person of persons) {
      tx.runOf('INSERT INTO erased_identity (person_id, identity_mark, name_mark, erased_at_ms) VALUES (?, ?, ?, ?)', [
        person.id,
        markOf(tx, identityText(person)),
        markOf(tx, name),
        nowMs,
      ])
    }
    if (commitment === undefined) return
    tx.runOf('DELETE FROM opening WHERE commitment = ?', [commitment])
    tx.runOf('INSERT INTO erased_person VALUES (?, ?, ?)', [commitment, markOf(tx, name), nowMs])
  }

  /** Notes the erasure; a person who erases himself is not named in it. */
  #tell(tx: Tx, { outcome: _, ...changes }: Erased, by: AuditOrigin, { name }: Target): void {
    const { caller, ...origin } = by
    const told = caller?.username === name ? { ...origin, mode: caller.authMode } : by
    this.#o.audit.write(tx, told, { action: 'person.erased', entity: 'caller', entityId: changes.shownAs, changes })
  }

  /** Returns the commitments of the texts that the person wrote. */
  async #textsOf({ commitment, persons }: Target, marks: Ends): Promise<string[]> {
    const ids = persons.map(({ id }) => id)
    const older =
      commitment === undefined
        ? []
        : await this.#inSteps(0, marks.leaf, (tx, span) => textsWithCommitment(tx, commitment, span))
    const events = await this.#inSteps(0, marks.event, (tx, span) => textsOfEvents(tx, ids, span), linksAtOnce)
    return [...older, ...events, ...this.#o.work.read((tx) => textsOfOthers(tx, ids))]
  }

  async #unlink(ids: readonly number[], lastEvent: number): Promise<void> {
    const events = await this.#inSteps(0, lastEvent, (tx, span) => linkedEvents(tx, ids, span), linksAtOnce)
    for (let at = 0; at < events.length; at += batch) {
      await this.#o.work.write((tx) => unlinkEvents(tx, events.slice(at, at + batch), ids))
    }
    let more = true
    while (more) more = await this.#o.work.write((tx) => unlinkRest(tx, ids, batch))
  }

  /** Reads a long table span by span, with a turn for other requests in between. */
  async #inSteps<T>(
    after: number,
    last: number,
    look: (tx: ReadTx, span: Span) => T[],
    step: number = batch,
  ): Promise<T[]> {
    const found: T[] = []
    for (let at = after; at < last; at += step) {
      for (const one of this.#o.work.read((tx) => look(tx, { after: at, last: Math.min(at + step, last) })))
        found.push(one)
      await turn()
    }
    return found
  }

  async #rewrite(rows: readonly Rewritten[]): Promise<void> {
    for (let at = 0; at < rows.length; at += batch) {
      await this.#o.work.write((tx) => rewriteNotifications(tx, rows.slice(at, at + batch)))
    }
  }

  async #scrubReplies(forgotten: Forgotten): Promise<number> {
    let count = 0
    let place: readonly string[] | undefined = ['', '', '', '']
    while (place) {
      const from: readonly string[] = place
      const rows: ReplyRow[] = this.#o.work.read((tx) =>
        tx.allOf<ReplyRow>(
          `SELECT caller, method, path, key, body FROM idempotency WHERE (caller, method, path, key) > (?, ?, ?, ?)
           ORDER BY caller, method, path, key LIMIT ?`,
          [...from, batch],
        ),
      )
      const affected = affectedReplies(rows, forgotten)
      if (affected.length > 0) await this.#o.work.write((tx) => rewriteReplies(tx, affected))
      count += affected.length
      const last: ReplyRow | undefined = rows.at(-1)
      place = last && rows.length === batch ? [last.caller, last.method, last.path, last.key] : undefined
      await turn()
    }
    return count
  }
}

/** Rows after `after`, up to and including `last`. */
type Span = { readonly after: number; readonly last: number }
type Rewritten = { readonly seq: number; readonly body: Buffer }
type ReplyRow = { readonly caller: string; method: string; path: string; key: string; body: string }

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The ends of the long tables at one moment. */
type Ends = {
  readonly leaf: number
  readonly event: number
  readonly opening: number
  readonly firstOutbox: number
  readonly outbox: number
}

function endsOf(tx: ReadTx): Ends {
  const ends = tx.oneOf<Ends>(
    `SELECT (SELECT coalesce(max(row), 0) FROM log_leaf) AS leaf, (SELECT coalesce(max(id), 0) FROM placement_event) AS event,
       (SELECT coalesce(max(rowid), 0) FROM opening) AS opening,
       (SELECT coalesce(min(seq), 1) - 1 FROM outbox) AS firstOutbox, (SELECT coalesce(max(seq), 0) FROM outbox) AS outbox`,
  )
  return ends ?? { leaf: 0, event: 0, opening: 0, firstOutbox: 0, outbox: 0 }
}

const shownAs = ({ persons, commitment }: Target): string =>
  persons.length === 0 && commitment !== undefined ? erasedName(commitment) : erased

/** Returns the target: one identity, or everyone of a name, including names that clients sent and rows of version 1. */
function targetOf(tx: ReadTx, text: string): Target {
  const identity = readIdentity(text)
  const known = (where: string, ...values: string[]) =>
    tx.allOf<Known>(`SELECT id, name, instance FROM person WHERE ${where} ORDER BY id`, values)
  if (!identity) {
    return { name: text, instance: null, commitment: version1Of(tx, text), persons: known('name = +?', text) }
  }
  const persons = [
    ...known('name = +? AND instance = ?', identity.name, identity.instance),
    ...known('name = +? AND instance IS NULL', text),
  ]
  return { ...identity, commitment: undefined, persons }
}

/** Says whether rows hold the name without an instance. */
function isKnownByName(tx: ReadTx, name: string): boolean {
  return (
    version1Of(tx, name) !== undefined ||
    tx.oneOf('SELECT 1 FROM person WHERE name = +? AND instance IS NULL', [name]) !== undefined
  )
}

function before(tx: ReadTx, name: string): ErasureResult {
  const mark = markOf(tx, name)
  const row = tx.oneOf<{ commitment: string | null; erased_at_ms: number }>(
    `SELECT NULL AS commitment, erased_at_ms FROM erased_identity WHERE identity_mark = ?
     UNION ALL SELECT NULL, erased_at_ms FROM erased_identity WHERE name_mark = ?
     UNION ALL SELECT commitment, erased_at_ms FROM erased_person WHERE name_mark = ?
     ORDER BY erased_at_ms DESC, commitment LIMIT 1`,
    [mark, mark, mark],
  )
  if (!row) return { outcome: 'unknown' }
  const shown = row.commitment === null ? erased : erasedName(row.commitment)
  return { outcome: 'erased-before', shownAs: shown, erasedAt: isoTime(row.erased_at_ms) }
}

/** Deletes the target's rows of a table of callers; returns how many. */
function removeOf(tx: Tx, table: 'console_session' | 'known_caller', { name, instance }: Target): number {
  return instance === null
    ? tx.runOf(`DELETE FROM ${table} WHERE username = ?`, [name]).changes
    : tx.runOf(`DELETE FROM ${table} WHERE username = ? AND instance = ?`, [name, instance]).changes
}

/** Returns notifications with the name, rewritten without it, including waiting ones. */
function mentions(tx: ReadTx, forgotten: Forgotten, { after, last }: Span): Rewritten[] {
  const rows = tx.allOf<Rewritten>('SELECT seq, body FROM outbox WHERE seq > +? AND seq <= +? ORDER BY seq', [
    after,
    last,
  ])
  return rows.flatMap(({ seq, body }) => {
    const text = scrubbed(body.toString('utf8'), forgotten)
    return text === undefined ? [] : [{ seq, body: Buffer.from(text, 'utf8') }]
  })
}

function rewriteNotifications(tx: Tx, rows: readonly Rewritten[]): void {
  for (const { seq, body } of rows) tx.runOf('UPDATE outbox SET body = ? WHERE seq = +?', [body, seq])
}

/** Deletes kept replies under the person's own keys; returns how many. */
function removeOwnReplies(tx: Tx, { name, instance }: Target): number {
  if (instance !== null) {
    return tx.runOf('DELETE FROM idempotency WHERE caller = ?', [identityText({ name, instance })]).changes
  }
  const own = `${name}@http`
  return tx.runOf('DELETE FROM idempotency WHERE substr(caller, 1, length(?)) = ?', [own, own]).changes
}

function scrubRepliesSince(tx: Tx, forgotten: Forgotten, sinceMs: number): number {
  const rows = tx.allOf<ReplyRow>('SELECT caller, method, path, key, body FROM idempotency WHERE created_at_ms >= +?', [
    sinceMs,
  ])
  const affected = affectedReplies(rows, forgotten)
  rewriteReplies(tx, affected)
  return affected.length
}

function affectedReplies(rows: readonly ReplyRow[], forgotten: Forgotten): ReplyRow[] {
  return rows.flatMap((row) => {
    const body = scrubbed(row.body, forgotten)
    return body === undefined ? [] : [{ ...row, body }]
  })
}

function rewriteReplies(tx: Tx, rows: readonly ReplyRow[]): void {
  for (const { caller, method, path, key, body } of rows) {
    tx.runOf('UPDATE idempotency SET body = ? WHERE caller = ? AND method = ? AND path = ? AND key = ?', [
      body,
      caller,
      method,
      path,
      key,
    ])
  }
}

/** Returns commitments of texts in leaves of a span that carry the person's one commitment. */
function textsWithCommitment(tx: ReadTx, commitment: string, { after, last }: Span): string[] {
  return textsIn(
    tx,
    tx.allOf<Leaf>(
      'SELECT bytes FROM main.log_leaf WHERE row > +? AND row <= +? AND instr(bytes, CAST(? AS BLOB)) > 0',
      [after, last, commitment],
    ),
  )
}

/** Returns the same for events that are linked to these persons. */
function textsOfEvents(tx: ReadTx, ids: readonly number[], span: Span): string[] {
  return linkedEvents(tx, ids, span).flatMap(
    (id) =>
      tx.oneOf<{ notes: string | null }>('SELECT notes_commitment AS notes FROM main.placement_event WHERE id = +?', [
        id,
      ])?.notes ?? [],
  )
}

/** Returns the same for all other rows with a leaf. */
function textsOfOthers(tx: ReadTx, ids: readonly number[]): string[] {
  const tables = [
    { table: 'unit_history', id: 'row' },
    { table: 'incident_change', id: 'id' },
  ]
  return tables.flatMap(({ table, id }) =>
    ids.flatMap((person) =>
      textsIn(
        tx,
        tx.allOf<Leaf>(
          `SELECT l.bytes FROM person_link p JOIN main.${table} r ON r.${id} = p.row
           JOIN main.log_leaf l ON l.log_id = r.log_id AND l.seq = r.leaf_seq WHERE p.person_id = +? AND p.subject = '${table}'`,
          [person],
        ),
      ),
    ),
  )
}

/** Returns the same for what was written after the marks. */
function textsSince(tx: ReadTx, { commitment, persons }: Target, marks: Ends): string[] {
  const ids = persons.map(({ id }) => id)
  const rest = (after: number): Span => ({ after, last: Number.MAX_SAFE_INTEGER })
  return [
    ...(commitment === undefined ? [] : textsWithCommitment(tx, commitment, rest(marks.leaf))),
    ...textsOfEvents(tx, ids, rest(marks.event)),
    ...textsOfOthers(tx, ids),
  ]
}

type Leaf = { readonly bytes: Buffer }

function textsIn(tx: ReadTx, leaves: readonly Leaf[]): string[] {
  const hashes = leaves.flatMap(({ bytes }) => bytes.toString('utf8').match(/(?<=")[0-9a-f]{64}(?=")/g) ?? [])
  return [...new Set(hashes)].filter(
    (hash) => tx.oneOf(`SELECT 1 FROM opening WHERE commitment = +? AND kind = 'text'`, [hash]) !== undefined,
  )
}

/** Returns commitments of texts that contain the name, in any case. */
function textsNaming(tx: ReadTx, name: string, { after, last }: Span): string[] {
  const needle = name.toLowerCase()
  return tx
    .allOf<{ commitment: string; value: string }>(
      `SELECT commitment, value FROM opening WHERE rowid > +? AND rowid <= +? AND kind = 'text'`,
      [after, last],
    )
    .filter(({ value }) => value.toLowerCase().includes(needle))
    .map(({ commitment }) => commitment)
}

/** Returns a mark that recognizes an erased name without revealing it. */
function markOf(tx: ReadTx, name: string): string {
  const held = tx.oneOf<{ key: Buffer }>('SELECT key FROM caller_key')
  if (!held) throw new Error('the key for marks of callers is gone')
  return createHmac('sha256', held.key).update(`person\0${name}`).digest('hex')
}
