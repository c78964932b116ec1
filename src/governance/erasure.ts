import { createHmac } from 'node:crypto'
import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import type { AuditOrigin, AuditTrail } from '../journal/index.ts'
import { erasedName, type Openings } from '../log/index.ts'
import { type Clock, isoTime } from '../world/index.ts'
import { type Forgotten, scrubbed } from './scrub.ts'

export type ErasureRequest = {
  readonly name: string
  /** Also notes and descriptions that the person wrote or is named in. */
  readonly texts: boolean
}

/** What was forgotten, in numbers; never the name. */
export type Erased = {
  readonly outcome: 'erased'
  /** What stands in place of the name from now on. */
  readonly shownAs: string
  readonly texts: number
  /** Texts that are kept although the name stands in them. */
  readonly textsThatNameThem: number
  readonly notifications: number
  readonly replies: number
  readonly sessions: number
}

export type ErasureResult =
  | Erased
  | { readonly outcome: 'erased-before'; readonly shownAs: string; readonly erasedAt: string }
  | { readonly outcome: 'unknown' }

export type ErasureOptions = {
  readonly work: UnitOfWork
  readonly openings: Openings
  readonly audit: AuditTrail
  readonly clock: Pick<Clock, 'now'>
}

/** Rows that one step looks at: a few ms. */
const batch = 500
/** A clock may have been set back while the long part ran. */
const clockSlackMs = 3_600_000

/**
 * Forgets a person. The commitments in the log stay, so it verifies as before, and what the person did can still be
 * told to be one person's. What is long goes first, in steps; what makes it true comes last, in one transaction, with
 * what was written since. A crash between leaves the person known: the same command again does the rest.
 */
export class Erasure {
  readonly #o: ErasureOptions

  constructor(options: ErasureOptions) {
    this.#o = options
  }

  async erase({ name, texts }: ErasureRequest, by: AuditOrigin): Promise<ErasureResult> {
    const { work, openings, clock } = this.#o
    const commitment = work.read((tx) => openings.findPerson(tx, name))
    if (commitment === undefined) return work.read((tx) => this.#before(tx, name))
    const person = { name, commitment, shownAs: erasedName(commitment) }
    const marks = work.read(endsOf)
    const startedMs = clock.now()
    const written = texts ? await this.#inSteps(0, marks.leaf, (tx, span) => textsIn(tx, commitment, span)) : []
    const naming = await this.#inSteps(0, marks.opening, (tx, span) => textsNaming(tx, name, span))
    const toForget = new Set(texts ? [...written, ...naming] : [])
    const forgotten = (tx: ReadTx): Forgotten => ({
      ...person,
      texts: new Set([...toForget].flatMap((text) => openings.reveal(tx, text) ?? [])),
    })
    const early = work.read(forgotten)
    const notifications = await this.#inSteps(marks.firstOutbox, marks.outbox, (tx, span) => mentions(tx, early, span))
    await this.#rewrite(notifications)
    const replies = await this.#scrubReplies(early)
    return work.write((tx) => {
      // What was written since, by the same marks: short.
      const namingSince = textsNaming(tx, name, { after: marks.opening, last: Number.MAX_SAFE_INTEGER })
      if (texts) {
        const since = textsIn(tx, commitment, { after: marks.leaf, last: Number.MAX_SAFE_INTEGER })
        for (const text of [...since, ...namingSince]) toForget.add(text)
      }
      const told = forgotten(tx)
      const since = mentions(tx, told, { after: marks.outbox, last: Number.MAX_SAFE_INTEGER })
      rewriteNotifications(tx, since)
      const done: Erased = {
        outcome: 'erased',
        shownAs: person.shownAs,
        notifications: notifications.length + since.length,
        replies: replies + removeOwnReplies(tx, name) + scrubRepliesSince(tx, told, startedMs - clockSlackMs),
        sessions: tx.runOf('DELETE FROM console_session WHERE username = ?', [name]).changes,
        texts: [...toForget].filter((text) => openings.forgetText(tx, text)).length,
        textsThatNameThem: texts ? 0 : naming.length + namingSince.length,
      }
      tx.runOf('DELETE FROM known_caller WHERE username = ?', [name])
      openings.forgetPerson(tx, name, markOf(tx, name), clock.now())
      this.#tell(tx, done, by, name)
      return done
    })
  }

  #before(tx: ReadTx, name: string): ErasureResult {
    const row = tx.oneOf<{ commitment: string; erased_at_ms: number }>(
      'SELECT commitment, erased_at_ms FROM erased_person WHERE name_mark = ? ORDER BY erased_at_ms DESC LIMIT 1',
      [markOf(tx, name)],
    )
    if (!row) return { outcome: 'unknown' }
    return { outcome: 'erased-before', shownAs: erasedName(row.commitment), erasedAt: isoTime(row.erased_at_ms) }
  }

  /** Who erases himself is not written down again by it. */
  #tell(tx: Tx, { outcome: _, ...changes }: Erased, by: AuditOrigin, name: string): void {
    const { caller, ...origin } = by
    const told = caller?.username === name ? { ...origin, mode: caller.authMode } : by
    this.#o.audit.write(tx, told, { action: 'person.erased', entity: 'caller', entityId: changes.shownAs, changes })
  }

  /** Looks at a long table span by span; between two of them everybody else has a turn. */
  async #inSteps<T>(after: number, last: number, look: (tx: ReadTx, span: Span) => T[]): Promise<T[]> {
    const found: T[] = []
    for (let at = after; at < last; at += batch) {
      found.push(...this.#o.work.read((tx) => look(tx, { after: at, last: Math.min(at + batch, last) })))
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

/** Rows behind `after`, up to and with `last`. */
type Span = { readonly after: number; readonly last: number }
type Rewritten = { readonly seq: number; readonly body: Buffer }
type ReplyRow = { readonly caller: string; method: string; path: string; key: string; body: string }

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Where the long tables end, all at one moment: what comes behind one of them comes behind all. */
function endsOf(tx: ReadTx): { leaf: number; opening: number; firstOutbox: number; outbox: number } {
  const ends = tx.oneOf<{ leaf: number; opening: number; firstOutbox: number; outbox: number }>(
    `SELECT (SELECT coalesce(max(seq), 0) FROM log_leaf) AS leaf, (SELECT coalesce(max(rowid), 0) FROM opening) AS opening,
       (SELECT coalesce(min(seq), 1) - 1 FROM outbox) AS firstOutbox, (SELECT coalesce(max(seq), 0) FROM outbox) AS outbox`,
  )
  return ends ?? { leaf: 0, opening: 0, firstOutbox: 0, outbox: 0 }
}

/** Notifications that would tell it, as they have to be: also those that still wait to be sent. */
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

/** Kept replies under the keys of the person itself. */
function removeOwnReplies(tx: Tx, name: string): number {
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

/** Commitments of texts in those leaves of a span that carry the person's. */
function textsIn(tx: ReadTx, commitment: string, { after, last }: Span): string[] {
  const leaves = tx.allOf<{ bytes: Buffer }>(
    'SELECT bytes FROM main.log_leaf WHERE seq > +? AND seq <= +? AND instr(bytes, CAST(? AS BLOB)) > 0',
    [after, last, commitment],
  )
  const hashes = leaves.flatMap(({ bytes }) => bytes.toString('utf8').match(/(?<=")[0-9a-f]{64}(?=")/g) ?? [])
  return [...new Set(hashes)].filter(
    (hash) => tx.oneOf(`SELECT 1 FROM opening WHERE commitment = +? AND kind = 'text'`, [hash]) !== undefined,
  )
}

/** Commitments of texts in which the name stands, in whatever case. */
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

/** Tells that a name was erased before, and no reader what name. */
function markOf(tx: ReadTx, name: string): string {
  const held = tx.oneOf<{ key: Buffer }>('SELECT key FROM caller_key')
  if (!held) throw new Error('the key for marks of callers is gone')
  return createHmac('sha256', held.key).update(`person\0${name}`).digest('hex')
}
