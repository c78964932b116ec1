import { sql as raw } from 'kysely'
import { built, integer, isTaken, pick, type ReadTx, statement, type Tx, text } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Caller, type IdempotencyClaim, type Reply, writtenBody } from '../http/index.ts'
import type { Clock } from '../platform/index.ts'
import { KnownKeys } from './known-keys.ts'
import { sql, tables } from './tables.ts'

const keptMs = 7 * 24 * 60 * 60 * 1000

/** Interval between purges of expired replies; an expired reply is not found meanwhile. */
const tidyEveryMs = 60_000

/** Fails where a reply is kept under the key, whatever its age. */
const firstReply = built(tables.idempotency, (row) => sql.insertInto('idempotency').values(row))
/** Replaces one of the same key that is too old to be found. */
const newReply = built(tables.idempotency, (row) => sql.replaceInto('idempotency').values(row))
const withoutOlder = built({ ms: integer }, ({ ms }) => sql.deleteFrom('idempotency').where('created_at_ms', '<', ms))
const storedReply = statement({
  columns: pick(tables.idempotency, 'request_sha256', 'status', 'location', 'body', 'visible_warehouses'),
  sql: `SELECT request_sha256, status, location, body, visible_warehouses FROM idempotency
    WHERE caller = +? AND method = +? AND path = +? AND key = +? AND created_at_ms >= +?`,
})
const nextReplies = built(
  { ...pick(tables.idempotency, 'caller', 'method', 'path', 'key'), limit: integer },
  ({ caller, method, path, key, limit }) =>
    sql
      .selectFrom('idempotency')
      .select(['caller', 'method', 'path', 'key', 'body'])
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('caller', 'method', 'path', 'key'), '>', tuple(caller, method, path, key)),
      )
      .orderBy('caller')
      .orderBy('method')
      .orderBy('path')
      .orderBy('key')
      .limit(limit),
)
const repliesSince = built({ ms: integer }, ({ ms }) =>
  sql.selectFrom('idempotency').select(['caller', 'method', 'path', 'key', 'body']).where('created_at_ms', '>=', ms),
)
const newBody = built(pick(tables.idempotency, 'caller', 'method', 'path', 'key', 'body'), ({ body, ...key }) =>
  sql
    .updateTable('idempotency')
    .set({ body })
    .where('caller', '=', key.caller)
    .where('method', '=', key.method)
    .where('path', '=', key.path)
    .where('key', '=', key.key),
)
const withoutCaller = built(pick(tables.idempotency, 'caller'), ({ caller }) =>
  sql.deleteFrom('idempotency').where('caller', '=', caller),
)
const withoutCallersLike = built({ prefix: text }, ({ prefix }) =>
  sql
    .deleteFrom('idempotency')
    .where(({ eb, fn }) => eb(fn<string>('substr', ['caller', raw.lit(1), fn('length', [prefix])]), '=', prefix)),
)

/** By writer: all that store replies in a database share what is known of its keys. */
const knownKeys = new WeakMap<Tx, KnownKeys>()

type Produced<Body> = { status: 200 | 201; body: Body; location?: string | undefined; replayed?: boolean }

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
   * `produce`. With `toStore` the stored body may be less than the sent one (a secret that is shown once). Throws
   * IDEMPOTENCY_MISMATCH when the key was used with another body. Throws PERMISSION_DENIED when a warehouse that the caller could
   * see then is hidden now, because the reply may name it.
   */
  once<Body extends object>(
    tx: Tx,
    claim: IdempotencyClaim | undefined,
    produce: () => Produced<Body>,
    toStore?: (body: Body) => object,
  ): Reply<Body> {
    const steps = this.onceInSlices(tx, claim, wholly(produce), toStore)
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
    toStore?: (body: Body) => object,
  ): Generator<void, Reply<Body>> {
    if (!claim) return { replayed: false, ...(yield* produce()) }
    const oldestMs = this.#needs.clock.now() - keptMs
    const keys = keysOf(tx)
    const isNew = !keys.mayBeKept(tx, claim)
    const stored = isNew ? undefined : this.#find(tx, claim, oldestMs)
    if (stored) return stored as Reply<Body>
    const visible = JSON.stringify(this.#needs.visibleTo(tx, claim.by))
    const made = yield* produce()
    this.#tidy(tx, oldestMs)
    keys.add(claim)
    const row = {
      caller: claim.caller,
      method: claim.method,
      path: claim.path,
      key: claim.key,
      request_sha256: claim.requestSha256,
      status: made.status,
      location: made.location ?? null,
      body: toStore ? JSON.stringify(toStore(made.body)) : writtenBody(made.body),
      created_at_ms: this.#needs.clock.now(),
      visible_warehouses: visible,
    }
    if (isNew) keepFirst(tx, row, keys)
    else tx.run(newReply, row)
    return { replayed: false, ...made }
  }

  #tidy(tx: Tx, oldestMs: number): void {
    if (Math.abs(oldestMs - this.#tidiedMs) < tidyEveryMs) return
    this.#tidiedMs = oldestMs
    tx.run(withoutOlder, { ms: oldestMs })
  }

  /** Returns the stored reply, if there is one. Throws IDEMPOTENCY_MISMATCH, PERMISSION_DENIED. */
  replay(tx: ReadTx, claim: IdempotencyClaim | undefined): Reply | undefined {
    return claim && this.#find(tx, claim, this.#needs.clock.now() - keptMs)
  }

  #find(tx: ReadTx, claim: IdempotencyClaim, oldestMs: number): Reply | undefined {
    const row = tx.get(storedReply, [claim.caller, claim.method, claim.path, claim.key, oldestMs])
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
      body: JSON.parse(row.body) as object,
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

function keysOf(tx: Tx): KnownKeys {
  const known = knownKeys.get(tx) ?? new KnownKeys()
  knownKeys.set(tx, known)
  return known
}

/**
 * Stores the reply of a key that seemed to be new. If one is stored all the same, this transaction is undone, and the request, sent
 * again, finds the reply.
 */
function keepFirst(tx: Tx, row: Parameters<typeof firstReply.valuesOf>[0], keys: KnownKeys): void {
  try {
    tx.run(firstReply, row)
  } catch (cause) {
    if (!isTaken(cause)) throw cause
    keys.forget()
    throw new AppError('NOT_READY', 'This Idempotency-Key was used before; send the request again for its reply', {
      cause,
      retryAfterSeconds: 1,
    })
  }
}

/** A stored reply with its key. */
export type KeptReply = {
  readonly caller: string
  readonly method: string
  readonly path: string
  readonly key: string
  readonly body: string
}

/** Returns the next replies behind one, in the order of their keys; the first ones without it. */
export function repliesBehind(tx: ReadTx, last: Omit<KeptReply, 'body'> | undefined, limit: number): KeptReply[] {
  const { caller = '', method = '', path = '', key = '' } = last ?? {}
  return tx.all(nextReplies, { caller, method, path, key, limit })
}

export function repliesKeptSince(tx: ReadTx, sinceMs: number): KeptReply[] {
  return tx.all(repliesSince, { ms: sinceMs })
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
