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
    const { work, openings } = this.#o
    const commitment = work.read((tx) => openings.findPerson(tx, name))
    if (commitment === undefined) return work.read((tx) => this.#before(tx, name))
    const written = texts ? await this.#textsOf(commitment) : { found: new Set<string>(), lastSeq: 0 }
    const forgotten = (tx: ReadTx): Forgotten => ({
      name,
      shownAs: erasedName(commitment),
      texts: new Set([...written.found].flatMap((text) => openings.reveal(tx, text) ?? [])),
    })
    const notifications = await this.#scrubOutbox(forgotten)
    return work.write((tx) => {
      if (texts) {
        for (const text of textsIn(tx, commitment, written.lastSeq, Number.MAX_SAFE_INTEGER)) written.found.add(text)
        for (const text of textsNaming(tx, name)) written.found.add(text)
      }
      const told = forgotten(tx)
      const done: Omit<Erased, 'textsThatNameThem'> = {
        outcome: 'erased',
        shownAs: told.shownAs,
        notifications: notifications.count + this.#scrubRest(tx, told, texts ? 0 : notifications.lastSeq),
        replies: scrubReplies(tx, told),
        sessions: tx.runOf('DELETE FROM console_session WHERE username = ?', [name]).changes,
        texts: [...written.found].filter((text) => openings.forgetText(tx, text)).length,
      }
      openings.forgetPerson(tx, name, markOf(tx, name), this.#o.clock.now())
      const textsThatNameThem = textsNaming(tx, name).length
      this.#tell(tx, { ...done, textsThatNameThem }, by, name)
      return { ...done, textsThatNameThem }
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

  /** Commitments of texts that stand in a leaf together with the person's. */
  async #textsOf(commitment: string): Promise<{ found: Set<string>; lastSeq: number }> {
    const { work } = this.#o
    const found = new Set<string>()
    const lastSeq = work.read(
      (tx) => tx.oneOf<{ n: number }>('SELECT coalesce(max(seq), 0) AS n FROM log_leaf')?.n ?? 0,
    )
    for (let seq = 0; seq < lastSeq; seq += batch) {
      const step = work.read((tx) => textsIn(tx, commitment, seq, Math.min(seq + batch, lastSeq)))
      for (const text of step) found.add(text)
      await turn()
    }
    return { found, lastSeq }
  }

  async #scrubOutbox(forgotten: (tx: ReadTx) => Forgotten): Promise<{ count: number; lastSeq: number }> {
    const { work } = this.#o
    const last = work.read((tx) => tx.oneOf<{ n: number }>('SELECT coalesce(max(seq), 0) AS n FROM outbox')?.n ?? 0)
    let count = 0
    for (let seq = work.read(firstSeq) - 1; seq < last; seq += batch) {
      const from = seq
      const affected = work.read((tx) => mentions(tx, forgotten(tx), from, Math.min(from + batch, last)))
      if (affected.length > 0) await work.write((tx) => rewrite(tx, affected))
      count += affected.length
      await turn()
    }
    return { count, lastSeq: last }
  }

  #scrubRest(tx: Tx, forgotten: Forgotten, afterSeq: number): number {
    const affected = mentions(tx, forgotten, afterSeq, Number.MAX_SAFE_INTEGER)
    rewrite(tx, affected)
    return affected.length
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

type Rewritten = { readonly seq: number; readonly body: Buffer }

const firstSeq = (tx: ReadTx) => tx.oneOf<{ n: number }>('SELECT coalesce(min(seq), 1) AS n FROM outbox')?.n ?? 1

/** Notifications behind `afterSeq` that would tell it, as they have to be: also those that still wait to be sent. */
function mentions(tx: ReadTx, forgotten: Forgotten, afterSeq: number, lastSeq: number): Rewritten[] {
  const rows = tx.allOf<Rewritten>('SELECT seq, body FROM outbox WHERE seq > +? AND seq <= +? ORDER BY seq', [
    afterSeq,
    lastSeq,
  ])
  return rows.flatMap(({ seq, body }) => {
    const text = scrubbed(body.toString('utf8'), forgotten)
    return text === undefined ? [] : [{ seq, body: Buffer.from(text, 'utf8') }]
  })
}

function rewrite(tx: Tx, rows: readonly Rewritten[]): void {
  for (const { seq, body } of rows) tx.runOf('UPDATE outbox SET body = ? WHERE seq = +?', [body, seq])
}

/** Replies under the person's own keys go; those of others that tell the name are told without it. */
function scrubReplies(tx: Tx, forgotten: Forgotten): number {
  const own = `${forgotten.name}@http`
  const removed = tx.runOf('DELETE FROM idempotency WHERE substr(caller, 1, length(?)) = ?', [own, own]).changes
  const rows = tx.allOf<{ caller: string; method: string; path: string; key: string; body: string }>(
    'SELECT caller, method, path, key, body FROM idempotency',
  )
  const affected = rows.flatMap((row) => {
    const body = scrubbed(row.body, forgotten)
    return body === undefined ? [] : [{ ...row, body }]
  })
  for (const { caller, method, path, key, body } of affected) {
    tx.runOf('UPDATE idempotency SET body = ? WHERE caller = ? AND method = ? AND path = ? AND key = ?', [
      body,
      caller,
      method,
      path,
      key,
    ])
  }
  return removed + affected.length
}

/** Commitments of texts in those leaves of a span that carry the person's. */
function textsIn(tx: ReadTx, commitment: string, afterSeq: number, lastSeq: number): string[] {
  const leaves = tx.allOf<{ bytes: Buffer }>(
    'SELECT bytes FROM main.log_leaf WHERE seq > +? AND seq <= +? AND instr(bytes, CAST(? AS BLOB)) > 0',
    [afterSeq, lastSeq, commitment],
  )
  const hashes = leaves.flatMap(({ bytes }) => bytes.toString('utf8').match(/(?<=")[0-9a-f]{64}(?=")/g) ?? [])
  return [...new Set(hashes)].filter(
    (hash) => tx.oneOf(`SELECT 1 FROM opening WHERE commitment = +? AND kind = 'text'`, [hash]) !== undefined,
  )
}

/** Commitments of texts in which the name stands, in whatever case. */
function textsNaming(tx: ReadTx, name: string): string[] {
  const needle = name.toLowerCase()
  return tx
    .allOf<{ commitment: string; value: string }>(`SELECT commitment, value FROM opening WHERE kind = 'text'`)
    .filter(({ value }) => value.toLowerCase().includes(needle))
    .map(({ commitment }) => commitment)
}

/** Tells that a name was erased before, and no reader what name. */
function markOf(tx: ReadTx, name: string): string {
  const held = tx.oneOf<{ key: Buffer }>('SELECT key FROM caller_key')
  if (!held) throw new Error('the key for marks of callers is gone')
  return createHmac('sha256', held.key).update(`person\0${name}`).digest('hex')
}
