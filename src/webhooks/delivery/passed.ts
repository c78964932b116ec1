import type { ReadTx } from '../../database/index.ts'
import { type Endpoint, outboxEnd } from '../store.ts'
import { behind, lookThrough } from './fan-out.ts'

/**
 * Places in the outbox that endpoints have passed in memory alone, because they want none of the notifications before them. Without
 * it, each event would cost a second commit that only moves a place. The stored place follows after a batch, or with a delivery. A
 * start looks through no more than one batch again, and finds nothing there.
 */
export class PassedPlaces {
  readonly #places = new Map<string, number>()

  /** Returns the ids of endpoints with notifications that they have not passed. */
  behind(tx: ReadTx): string[] {
    const end = outboxEnd(tx)
    return behind(tx).flatMap(({ id, seq }) => (this.#of(id, seq) < end ? [id] : []))
  }

  /** Returns an endpoint at its place in memory: the end of a backlog is judged by it. */
  moved(endpoint: Endpoint): Endpoint {
    return { ...endpoint, fannedOutSeq: this.#of(endpoint.id, endpoint.fannedOutSeq) }
  }

  /** Moves an endpoint in memory behind new notifications. Returns false where deliveries or the place must be written. */
  pass(tx: ReadTx, id: string): boolean {
    const lastSeq = lookThrough(tx, id, this.#places.get(id) ?? 0)
    if (lastSeq === undefined) return false
    this.#places.set(id, lastSeq)
    return true
  }

  clear(): void {
    this.#places.clear()
  }

  #of(id: string, storedSeq: number): number {
    return Math.max(this.#places.get(id) ?? 0, storedSeq)
  }
}
