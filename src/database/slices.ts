import type { Tx } from './transaction.ts'

/** Result of one slice of a long read, and the place where the next one begins; `undefined` after the last. */
export type Slice<Found, Place> = { readonly found: Found; readonly next: Place | undefined }

/** A write in slices: each `yield` ends a turn of the event loop. */
export type Slices<T> = (tx: Tx) => Generator<void, T>

/**
 * A value in memory that follows the file (head of the log, next id). The unit of work saves it before every savepoint
 * and restores it when that savepoint or the commit fails.
 */
export type Head = {
  /** Returns the current state; must be cheap. */
  save(): unknown
  restore(saved: unknown): void
}

/**
 * Runs a write of many rows in slices, one in each turn of the event loop, inside one open transaction. Between slices the heads
 * are those of the last commit, because reads of other turns see them.
 */
export class LongWrite {
  readonly #heads: readonly Head[]
  readonly #slices: Iterator<void, unknown>
  readonly #committed: readonly unknown[]
  #reached: readonly unknown[]

  /** Runs nothing yet. The transaction has begun. */
  constructor(heads: readonly Head[], slices: Iterator<void, unknown>) {
    this.#heads = heads
    this.#slices = slices
    this.#committed = heads.map((head) => head.save())
    this.#reached = this.#committed
  }

  /** Runs the next slice. After the last one the heads have its changes, for the commit. */
  next(): IteratorResult<void, unknown> {
    this.#set(this.#reached)
    const step = this.#slices.next()
    if (step.done) return step
    this.#reached = this.#heads.map((head) => head.save())
    this.undo()
    return step
  }

  /** Puts the heads back to the last commit. */
  undo(): void {
    this.#set(this.#committed)
  }

  #set(states: readonly unknown[]): void {
    this.#heads.forEach((head, i) => {
      head.restore(states[i])
    })
  }
}
