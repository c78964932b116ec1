import type { ReadTx, Tx } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, IdempotencyClaim, Reply } from '../http/index.ts'
import type { Clock } from '../platform/index.ts'

const keptMs = 7 * 24 * 60 * 60 * 1000

/** What is older than that is looked for so often; a reply that is due to go is not found meanwhile. */
const tidyEveryMs = 60_000

type StoredReply = {
  request_sha256: string
  status: 200 | 201
  location: string | null
  body: string
  visible_warehouses: string | null
}

type Produced<Body> = { status: 200 | 201; body: Body; location?: string | undefined; replayed?: boolean }

export type IdempotencyOptions = {
  readonly clock: Pick<Clock, 'now'>
  /** Ids of the warehouses that a caller may see. */
  readonly visibleTo: (tx: ReadTx, caller: Caller) => readonly number[]
}

/**
 * Stores replies by Idempotency-Key, in the transaction of their act: an event and its reply are stored together or not at
 * all. Writes run one after the other, so two requests with one key cannot both find nothing.
 */
export class Idempotency {
  readonly #clock: Pick<Clock, 'now'>
  readonly #visibleTo: IdempotencyOptions['visibleTo']
  #tidiedMs = Number.NEGATIVE_INFINITY

  constructor({ clock, visibleTo }: IdempotencyOptions) {
    this.#clock = clock
    this.#visibleTo = visibleTo
  }

  /**
   * Returns the reply stored under the claim; otherwise calls `produce` and stores its reply. Without a claim it only calls
   * `produce`. `toStore` returns what is stored when that must be less than what is sent (a secret that is shown once).
   * Throws IDEMPOTENCY_MISMATCH when the key was used with another body, PERMISSION_DENIED when a warehouse that the
   * caller could see then is hidden now, because the reply may name it.
   */
  once<Body extends object>(
    tx: Tx,
    claim: IdempotencyClaim | undefined,
    produce: () => Produced<Body>,
    toStore: (body: Body) => object = (body) => body,
  ): Reply<Body> {
    if (!claim) return { replayed: false, ...produce() }
    const oldestMs = this.#clock.now() - keptMs
    const stored = this.#find(tx, claim, oldestMs)
    if (stored) return stored as Reply<Body>
    const visible = JSON.stringify(this.#visibleTo(tx, claim.by))
    const made = produce()
    this.#tidy(tx, oldestMs)
    // Replaces one of the same key that is too old to be found.
    tx.runOf('INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', [
      claim.caller,
      claim.method,
      claim.path,
      claim.key,
      claim.requestSha256,
      made.status,
      made.location ?? null,
      JSON.stringify(toStore(made.body)),
      this.#clock.now(),
      visible,
    ])
    return { replayed: false, ...made }
  }

  #tidy(tx: Tx, oldestMs: number): void {
    if (Math.abs(oldestMs - this.#tidiedMs) < tidyEveryMs) return
    this.#tidiedMs = oldestMs
    tx.runOf('DELETE FROM idempotency WHERE created_at_ms < +?', [oldestMs])
  }

  /** Returns the stored reply, if there is one. Throws IDEMPOTENCY_MISMATCH, PERMISSION_DENIED. */
  replay(tx: ReadTx, claim: IdempotencyClaim | undefined): Reply | undefined {
    return claim && this.#find(tx, claim, this.#clock.now() - keptMs)
  }

  #find(tx: ReadTx, claim: IdempotencyClaim, oldestMs: number): Reply | undefined {
    const row = tx.oneOf<StoredReply>(
      `SELECT request_sha256, status, location, body, visible_warehouses FROM idempotency
       WHERE caller = +? AND method = +? AND path = +? AND key = +? AND created_at_ms >= +?`,
      [claim.caller, claim.method, claim.path, claim.key, oldestMs],
    )
    if (!row) return undefined
    if (row.request_sha256 !== claim.requestSha256) {
      throw new AppError('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used with another body')
    }
    const visible = new Set(this.#visibleTo(tx, claim.by))
    const then = JSON.parse(row.visible_warehouses ?? '[]') as number[]
    if (then.some((id) => !visible.has(id))) {
      throw new AppError('PERMISSION_DENIED', 'What this Idempotency-Key was answered may be hidden from you now', {
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
