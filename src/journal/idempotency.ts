import { sql as raw } from 'kysely'
import { built, change, integer, pick, type ReadTx, statement, type Tx, text } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Caller, type IdempotencyClaim, type Reply, writtenBody } from '../http/index.ts'
import type { Clock } from '../platform/index.ts'
import { sql, tables } from './tables.ts'

const keptMs = 7 * 24 * 60 * 60 * 1000

/** Interval between purges of expired replies; an expired reply is not found meanwhile. */
const tidyEveryMs = 60_000

const newReply = built(
  pick(
    tables.idempotency,
    ...(['key', 'caller', 'method', 'path', 'request_sha256', 'status', 'location'] as const),
    ...(['visible_warehouses', 'body', 'created_at_ms'] as const),
  ),
  (row) => sql.insertInto('idempotency').values(row),
)
/** Rows are in the order of acts, so this reads the expired ones and one more. */
const withoutOlder = change(`DELETE FROM idempotency WHERE row < coalesce(
  (SELECT row FROM idempotency WHERE created_at_ms >= +? ORDER BY row LIMIT 1), (SELECT max(row) + 1 FROM idempotency))`)
const storedReply = statement({
  columns: pick(tables.idempotency, 'request_sha256', 'status', 'location', 'body', 'visible_warehouses'),
  sql: `SELECT request_sha256, status, location, body, visible_warehouses FROM idempotency
    WHERE key = +? AND caller = +? AND method = +? AND path = +? AND created_at_ms >= +?`,
})
const replyColumns = { row: integer, body: text }
const nextReplies = built({ row: integer, limit: integer }, ({ row, limit }) =>
  sql.selectFrom('idempotency').select(['row', 'body']).where('row', '>', row).orderBy('row').limit(limit),
)
/** Walks back from the newest reply, so it reads no more rows than it returns, and one. */
const repliesSince = statement({
  columns: replyColumns,
  sql: `SELECT row, body FROM idempotency WHERE row > coalesce(
    (SELECT row FROM idempotency WHERE created_at_ms < +? ORDER BY row DESC LIMIT 1), 0)`,
})
const newBody = built(replyColumns, ({ row, body }) =>
  sql.updateTable('idempotency').set({ body }).where('row', '=', row),
)
const withoutCaller = built(pick(tables.idempotency, 'caller'), ({ caller }) =>
  sql.deleteFrom('idempotency').where('caller', '=', caller),
)
const withoutCallersLike = built({ prefix: text }, ({ prefix }) =>
  sql
    .deleteFrom('idempotency')
    .where(({ eb, fn }) => eb(fn<string>('substr', ['caller', raw.lit(1), fn('length', [prefix])]), '=', prefix)),
)

type Produced<Body> = { status: 200 | 201; body: Body; location?: string | undefined; replayed?: boolean }

/** A stored form that differs from the sent reply. */
export type StoredForm<Body> = {
  /** Returns less than the reply: without a secret that is shown once, or without fields that a row has. */
  readonly toStore: (body: Body) => object
  /** Returns the reply of a stored form; without it, a repeat gets the stored form. */
  readonly toSend?: (tx: ReadTx, stored: object) => object
}

type IdempotencyNeeds = {
  readonly clock: Pick<Clock, 'now'>
  /** Ids of the warehouses that a caller may see. */
  readonly visibleTo: (tx: ReadTx, caller: Caller) => readonly number[]
}

/**
 * Stores replies by Idempotency-Key, in the transaction of their act: an event and its reply are stored together or not at
 * all. Writes run one after the other, so two requests with one key cannot both find nothing.
 */
export class Idempotency {
  readonly #needs: IdempotencyNeeds
  #tidiedMs = Number.NEGATIVE_INFINITY

  constructor(needs: IdempotencyNeeds) {
    this.#needs = needs
  }

  /**
   * Returns the reply stored under the claim; otherwise calls `produce` and stores its reply. Without a claim it only calls
   * `produce`. With `form` the stored body may be less than the sent one. Throws IDEMPOTENCY_MISMATCH when the key was used with another body. Throws PERMISSION_DENIED when a warehouse that the caller could
   * see then is hidden now, because the reply may name it.
   */
  once<Body extends object>(
    tx: Tx,
    claim: IdempotencyClaim | undefined,
    produce: () => Produced<Body>,
    form?: StoredForm<Body>,
  ): Reply<Body> {
    const steps = this.onceInSlices(tx, claim, wholly(produce), form)
    for (;;) {
      const { done, value } = steps.next()
      if (done) return value
    }
  }

  /** As `once`, for `UnitOfWork.writeInSlices`. The reply is stored in the last slice. */
  *onceInSlices<Body extends object>(
    tx: Tx,
    claim: IdempotencyClaim | undefined,
    produce: () => Generator<void, Produced<Body>>,
    form?: StoredForm<Body>,
  ): Generator<void, Reply<Body>> {
    if (!claim) return { replayed: false, ...(yield* produce()) }
    const oldestMs = this.#needs.clock.now() - keptMs
    const stored = this.#find(tx, claim, oldestMs, form?.toSend)
    if (stored) return stored as Reply<Body>
    const visible = JSON.stringify(this.#needs.visibleTo(tx, claim.by))
    const made = yield* produce()
    this.#tidy(tx, oldestMs)
    tx.run(newReply, {
      key: claim.key,
      caller: claim.caller,
      method: claim.method,
      path: claim.path,
      request_sha256: claim.requestSha256,
      status: made.status,
      location: made.location ?? null,
      visible_warehouses: visible,
      body: form ? JSON.stringify(form.toStore(made.body)) : writtenBody(made.body),
      created_at_ms: this.#needs.clock.now(),
    })
    return { replayed: false, ...made }
  }

  #tidy(tx: Tx, oldestMs: number): void {
    if (Math.abs(oldestMs - this.#tidiedMs) < tidyEveryMs) return
    this.#tidiedMs = oldestMs
    tx.run(withoutOlder, [oldestMs])
  }

  /** Returns the stored reply, if there is one. Throws IDEMPOTENCY_MISMATCH, PERMISSION_DENIED. */
  replay(tx: ReadTx, claim: IdempotencyClaim | undefined): Reply | undefined {
    return claim && this.#find(tx, claim, this.#needs.clock.now() - keptMs)
  }

  #find(
    tx: ReadTx,
    claim: IdempotencyClaim,
    oldestMs: number,
    toSend: StoredForm<object>['toSend'] = (_, stored) => stored,
  ): Reply | undefined {
    const row = tx.get(storedReply, [claim.key, claim.caller, claim.method, claim.path, oldestMs])
    if (!row) return undefined
    if (row.request_sha256 !== claim.requestSha256) {
      throw new AppError('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used with another body')
    }
    const visible = new Set(this.#needs.visibleTo(tx, claim.by))
    const then = JSON.parse(row.visible_warehouses ?? '[]') as number[]
    if (then.some((id) => !visible.has(id))) {
      throw new AppError('PERMISSION_DENIED', 'The stored reply to this Idempotency-Key may be hidden from you now', {
        details: 'A warehouse that you could see then is hidden from you. The request was carried out then, once.',
      })
    }
    return {
      status: row.status,
      body: toSend(tx, JSON.parse(row.body) as object),
      location: row.location ?? undefined,
      replayed: true,
    }
  }
}

/** Makes a generator of one slice. */
const wholly = <T>(work: () => T) =>
  // biome-ignore lint/correctness/useYield: one slice has no end of a turn in it.
  function* (): Generator<void, T> {
    return work()
  }

/** A stored reply. */
export type KeptReply = { readonly row: number; readonly body: string }

/** Returns the next replies behind a row, in the order of acts. */
export function repliesBehind(tx: ReadTx, row: number, limit: number): KeptReply[] {
  return tx.all(nextReplies, { row, limit })
}

export function repliesKeptSince(tx: ReadTx, sinceMs: number): KeptReply[] {
  return tx.all(repliesSince, [sinceMs])
}

/** Replaces the body of a reply after the erasure of a person in it. */
export function rewriteReply(tx: Tx, reply: KeptReply): void {
  tx.run(newBody, reply)
}

/** Removes the stored replies to a caller. @returns how many */
export function removeRepliesTo(tx: Tx, caller: string): number {
  return tx.run(withoutCaller, { caller }).changes
}

/** Removes the stored replies to all callers whose text begins so. @returns how many */
export function removeRepliesToAll(tx: Tx, prefix: string): number {
  return tx.run(withoutCallersLike, { prefix }).changes
}
