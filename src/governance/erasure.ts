import { createHmac } from 'node:crypto'
import { forgetCaller } from '../auth/index.ts'
import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import {
  type AuditOrigin,
  type AuditTrail,
  endsOfPublished,
  type KeptReply,
  type Published,
  publishedBetween,
  removeRepliesTo,
  removeRepliesToAll,
  repliesBehind,
  repliesKeptSince,
  rewritePublished,
  rewriteReply,
} from '../journal/index.ts'
import { headOf, leavesOfResolutions, linkedEvents, markKey, notesOf, unlinkEvents } from '../ledger/index.ts'
import {
  endOfLeaves,
  endOfTexts,
  erased,
  erasedBefore,
  erasedName,
  everyPerson,
  forgetName,
  identityText,
  isText,
  type KnownErasure,
  type KnownPerson,
  keepErasedIdentity,
  keepErasedName,
  leavesHolding,
  type Openings,
  type People,
  peopleCalled,
  peopleNamedOnly,
  peopleOfInstance,
  readIdentity,
  textsBetween,
  valueBehind,
  version1Of,
} from '../log/index.ts'
import { type Clock, isoTime } from '../platform/index.ts'
import { leavesOfSteps } from '../units/index.ts'
import { leavesOfIncidents } from './incident-store.ts'
import { forgetInReports } from './report-store.ts'
import { type Forgotten, scrubbed } from './scrub.ts'
import { unlinkRest } from './unlinking.ts'

export type ErasureRequest = {
  /** A name, or an identity: `name@<instance URL>`. */
  readonly name: string
  /** Whether to erase notes and descriptions that the person wrote or is named in. */
  readonly texts: boolean
}

/** Counts of the erased rows; never the name. */
export type Erased = {
  readonly outcome: 'erased'
  /** Text that is shown instead of the name. */
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
  /** Several people have the name. Nothing was erased: name one of them. */
  | { readonly outcome: 'ambiguous'; readonly identities: readonly string[] }

export type ErasureOptions = {
  readonly work: UnitOfWork
  readonly openings: Openings
  readonly people: People
  readonly audit: AuditTrail
  readonly clock: Pick<Clock, 'now'>
}

/** The person to erase. */
type Target = {
  readonly name: string
  /** Null: everyone of that name. */
  readonly instance: string | null
  /** Commitment in rows of version 1. */
  readonly commitment: string | undefined
  /** People of later rows. */
  readonly persons: readonly KnownPerson[]
}

/** Rows that one step reads: a few ms. */
const batch = 500
/** The same for rows of only a few numbers. */
const linksAtOnce = 20_000
/** A clock may have been set back while the long part ran. */
const clockSlackMs = 3_600_000

/**
 * Erases a person. The commitments in the log stay, so it verifies as before. The long part runs first, in steps. The last
 * transaction does the rest, including rows written since. After a crash in between, the same command completes the work.
 */
export class Erasure {
  readonly #needs: ErasureOptions

  constructor(options: ErasureOptions) {
    this.#needs = options
  }

  async erase({ name, texts }: ErasureRequest, by: AuditOrigin): Promise<ErasureResult> {
    const { work, openings, clock } = this.#needs
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
      // Rows written since the marks are few.
      const namingSince = textsNaming(tx, target.name, { after: marks.opening, last: Number.MAX_SAFE_INTEGER })
      if (texts) for (const text of [...textsSince(tx, target, marks), ...namingSince]) toForget.add(text)
      const names = forgotten(tx)
      const since = mentions(tx, names, { after: marks.outbox, last: Number.MAX_SAFE_INTEGER })
      rewriteNotifications(tx, since)
      const done: Erased = {
        outcome: 'erased',
        shownAs: shownAs(target),
        olderRowsShownAs: target.commitment === undefined ? null : erasedName(target.commitment),
        nameStands: target.instance !== null && isKnownByName(tx, target.name),
        notifications: notifications.length + since.length,
        replies: replies + removeOwnReplies(tx, target) + scrubRepliesSince(tx, names, startedMs - clockSlackMs),
        sessions: forgetCaller(tx, target.name, target.instance),
        texts: [...toForget].filter((text) => openings.forgetText(tx, text)).length,
        textsThatNameThem: texts ? 0 : naming.length + namingSince.length,
      }
      this.#forget(tx, target, ids, marks.event)
      this.#tell(tx, done, by, target)
      return done
    })
  }

  /** Deletes links, names and salts. */
  #forget(tx: Tx, { name, instance, commitment, persons }: Target, ids: readonly number[], lastEvent: number): void {
    const nowMs = this.#needs.clock.now()
    unlinkEvents(tx, linkedEvents(tx, ids, { after: lastEvent, last: Number.MAX_SAFE_INTEGER }), ids)
    unlinkRest(tx, ids)
    forgetInReports(tx, name, instance)
    this.#needs.people.forget(tx, ids)
    const nameMark = markOf(tx, name)
    for (const person of persons) {
      const identityMark = markOf(tx, identityText(person))
      keepErasedIdentity(tx, { personId: person.id, identityMark, nameMark, erasedAtMs: nowMs })
    }
    if (commitment === undefined) return
    forgetName(tx, commitment)
    keepErasedName(tx, { commitment, nameMark, erasedAtMs: nowMs })
  }

  /** Notes the erasure; a person who erases himself is not named in it. */
  #tell(tx: Tx, { outcome: _, ...changes }: Erased, by: AuditOrigin, { name }: Target): void {
    const { caller, ...origin } = by
    const entryBy = caller?.username === name ? { ...origin, mode: caller.authMode } : by
    this.#needs.audit.write(tx, entryBy, {
      action: 'person.erased',
      entity: 'caller',
      entityId: changes.shownAs,
      changes,
    })
  }

  /** Returns the commitments of the texts that the person wrote. */
  async #textsOf({ commitment, persons }: Target, marks: Ends): Promise<string[]> {
    const ids = persons.map(({ id }) => id)
    const older =
      commitment === undefined
        ? []
        : await this.#inSteps(0, marks.leaf, (tx, span) => textsWithCommitment(tx, commitment, span))
    const events = await this.#inSteps(0, marks.event, (tx, span) => textsOfEvents(tx, ids, span), linksAtOnce)
    return [...older, ...events, ...this.#needs.work.read((tx) => textsOfOthers(tx, ids))]
  }

  async #unlink(ids: readonly number[], lastEvent: number): Promise<void> {
    const events = await this.#inSteps(0, lastEvent, (tx, span) => linkedEvents(tx, ids, span), linksAtOnce)
    for (let at = 0; at < events.length; at += batch) {
      await this.#needs.work.write((tx) => unlinkEvents(tx, events.slice(at, at + batch), ids))
    }
    let more = true
    while (more) more = await this.#needs.work.write((tx) => unlinkRest(tx, ids, batch))
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
      for (const one of this.#needs.work.read((tx) => look(tx, { after: at, last: Math.min(at + step, last) })))
        found.push(one)
      await turn()
    }
    return found
  }

  async #rewrite(rows: readonly Published[]): Promise<void> {
    for (let at = 0; at < rows.length; at += batch) {
      await this.#needs.work.write((tx) => rewriteNotifications(tx, rows.slice(at, at + batch)))
    }
  }

  async #scrubReplies(forgotten: Forgotten): Promise<number> {
    let count = 0
    let place: number | undefined = 0
    do {
      const from: number = place
      const rows: KeptReply[] = this.#needs.work.read((tx) => repliesBehind(tx, from, batch))
      const affected = affectedReplies(rows, forgotten)
      if (affected.length > 0) await this.#needs.work.write((tx) => rewriteReplies(tx, affected))
      count += affected.length
      place = rows.length === batch ? rows.at(-1)?.row : undefined
      await turn()
    } while (place !== undefined)
    return count
  }
}

/** Rows after `after`, up to and including `last`. */
type Span = { readonly after: number; readonly last: number }

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
  const { first, last } = endsOfPublished(tx)
  return {
    leaf: endOfLeaves(tx),
    event: headOf(tx).id,
    opening: endOfTexts(tx),
    firstOutbox: (first ?? 1) - 1,
    outbox: last ?? 0,
  }
}

const shownAs = ({ persons, commitment }: Target): string =>
  persons.length === 0 && commitment !== undefined ? erasedName(commitment) : erased

/** Returns the target: one identity, or everyone of a name, including names that clients sent and rows of version 1. */
function targetOf(tx: ReadTx, text: string): Target {
  const identity = readIdentity(text)
  if (!identity) {
    return { name: text, instance: null, commitment: version1Of(tx, text), persons: peopleCalled(tx, text) }
  }
  const persons = [...peopleOfInstance(tx, identity.name, identity.instance), ...peopleNamedOnly(tx, text)]
  return { ...identity, commitment: undefined, persons }
}

/** Says whether rows hold the name without an instance. */
function isKnownByName(tx: ReadTx, name: string): boolean {
  return version1Of(tx, name) !== undefined || peopleNamedOnly(tx, name).length > 0
}

function before(tx: ReadTx, name: string): ErasureResult {
  const known = erasedBefore(tx, markOf(tx, name))
  if (!known) return { outcome: 'unknown' }
  const shown = known.commitment === null ? erased : erasedName(known.commitment)
  return { outcome: 'erased-before', shownAs: shown, erasedAt: isoTime(known.erasedAtMs) }
}

/** Returns notifications with the name, rewritten without it, including waiting ones. */
function mentions(tx: ReadTx, forgotten: Forgotten, { after, last }: Span): Published[] {
  return publishedBetween(tx, after, last).flatMap(({ seq, body }) => {
    const text = scrubbed(body.toString('utf8'), forgotten)
    return text === undefined ? [] : [{ seq, body: Buffer.from(text, 'utf8') }]
  })
}

function rewriteNotifications(tx: Tx, rows: readonly Published[]): void {
  for (const row of rows) rewritePublished(tx, row)
}

/** Deletes kept replies under the person's own keys; returns how many. */
function removeOwnReplies(tx: Tx, { name, instance }: Target): number {
  return instance === null
    ? removeRepliesToAll(tx, `${name}@http`)
    : removeRepliesTo(tx, identityText({ name, instance }))
}

function scrubRepliesSince(tx: Tx, forgotten: Forgotten, sinceMs: number): number {
  const affected = affectedReplies(repliesKeptSince(tx, sinceMs), forgotten)
  rewriteReplies(tx, affected)
  return affected.length
}

function affectedReplies(rows: readonly KeptReply[], forgotten: Forgotten): KeptReply[] {
  return rows.flatMap((row) => {
    const body = scrubbed(row.body, forgotten)
    return body === undefined ? [] : [{ ...row, body }]
  })
}

function rewriteReplies(tx: Tx, rows: readonly KeptReply[]): void {
  for (const row of rows) rewriteReply(tx, row)
}

/** Returns commitments of texts in leaves of a span that carry the person's one commitment. */
function textsWithCommitment(tx: ReadTx, commitment: string, { after, last }: Span): string[] {
  return textsIn(tx, leavesHolding(tx, commitment, after, last))
}

/** Returns the same for events that are linked to these persons. */
function textsOfEvents(tx: ReadTx, ids: readonly number[], span: Span): string[] {
  return linkedEvents(tx, ids, span).flatMap((id) => notesOf(tx, id) ?? [])
}

/** Returns the same for all other rows with a leaf. */
function textsOfOthers(tx: ReadTx, ids: readonly number[]): string[] {
  const found = ids.flatMap((id) =>
    [leavesOfSteps, leavesOfIncidents, leavesOfResolutions].map((of) => tx.all(of, [id])),
  )
  return found.flatMap((leaves) =>
    textsIn(
      tx,
      leaves.map(({ bytes }) => bytes),
    ),
  )
}

/** Returns the same for rows after the marks. */
function textsSince(tx: ReadTx, { commitment, persons }: Target, marks: Ends): string[] {
  const ids = persons.map(({ id }) => id)
  const rest = (after: number): Span => ({ after, last: Number.MAX_SAFE_INTEGER })
  return [
    ...(commitment === undefined ? [] : textsWithCommitment(tx, commitment, rest(marks.leaf))),
    ...textsOfEvents(tx, ids, rest(marks.event)),
    ...textsOfOthers(tx, ids),
  ]
}

function textsIn(tx: ReadTx, leaves: readonly Buffer[]): string[] {
  const hashes = leaves.flatMap((bytes) => bytes.toString('utf8').match(/(?<=")[0-9a-f]{64}(?=")/g) ?? [])
  return [...new Set(hashes)].filter((hash) => isText(tx, hash))
}

/** Returns commitments of texts that contain the name, in any case. */
function textsNaming(tx: ReadTx, name: string, { after, last }: Span): string[] {
  const needle = name.toLowerCase()
  return textsBetween(tx, after, last)
    .filter(({ value }) => value.toLowerCase().includes(needle))
    .map(({ commitment }) => commitment)
}

/**
 * Returns the names, for `erase`, that this ledger still holds although a later copy of it had erased them: those of a
 * restored backup.
 */
export function namesErasedLater(tx: ReadTx, erasures: readonly KnownErasure[]): string[] {
  const marks = new Set(erasures.flatMap(({ mark }) => mark ?? []))
  const identities = everyPerson(tx)
    .map(identityText)
    .filter((identity) => marks.has(markOf(tx, identity)))
  const older = erasures.flatMap(({ commitment }) => (commitment === null ? [] : (valueBehind(tx, commitment) ?? [])))
  return [...new Set([...identities, ...older])]
}

/** Returns a mark that recognizes an erased name without revealing it. */
function markOf(tx: ReadTx, name: string): string {
  return createHmac('sha256', markKey(tx)).update(`person\0${name}`).digest('hex')
}
