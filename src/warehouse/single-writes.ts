import type { Tx, UnitOfWork } from '../database/index.ts'
import type { IdempotencyClaim, Reply } from '../http/index.ts'
import type { Idempotency } from '../journal/index.ts'

type Shown<T> = { readonly success: true } & T

type SingleWritesNeeds = { readonly work: UnitOfWork; readonly idempotency: Idempotency }

/** Requests that make or change one thing: each is one transaction, and one answer however often it is sent. */
export class SingleWrites {
  readonly #needs: SingleWritesNeeds

  constructor(needs: SingleWritesNeeds) {
    this.#needs = needs
  }

  /** Answers 201 with the new row and its path. */
  create<T extends { id: number }>(
    claim: IdempotencyClaim | undefined,
    pathOf: (made: T) => string,
    make: (tx: Tx) => T,
  ): Promise<Reply<Shown<T>>> {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => {
        const made = make(tx)
        return { status: 201, body: { success: true as const, ...made }, location: pathOf(made) }
      }),
    )
  }

  /** Answers 200 with the thing as it is then. */
  change<T extends object>(claim: IdempotencyClaim | undefined, change: (tx: Tx) => T): Promise<Reply<Shown<T>>> {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => ({ status: 200, body: { success: true as const, ...change(tx) } })),
    )
  }
}
