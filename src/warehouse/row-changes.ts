/** So many ids are remembered. When more change, all rows are to be sent. */
const mostIds = 20_000

/** Rows that changed, as they are sent on. `upTo`: number of the newest change among them. */
export type SentChanges = { readonly ids: readonly number[]; readonly upTo: number }

/**
 * Ids of rows, assets or slots, that have changed and were not sent yet, in memory: after a start all are sent.
 */
export class RowChanges {
  /** Number of the newest change of each row, in the order of the changes. */
  readonly #numbers = new Map<number, number>()
  #newest = 0
  #areTooMany = false

  /**
   * Call it in the transaction that changes the row. A group that fails and runs again has noted its rows by then. They may be sent
   * in their earlier state: the second run notes them again.
   */
  add(id: number): void {
    this.#newest += 1
    this.#numbers.delete(id)
    this.#numbers.set(id, this.#newest)
    if (this.#numbers.size > mostIds) this.addAll()
  }

  /** Notes a change that any row may show. */
  addAll(): void {
    this.#numbers.clear()
    this.#areTooMany = true
  }

  get isEmpty(): boolean {
    return this.#numbers.size === 0 && !this.#areTooMany
  }

  /** Returns the rows that changed first. */
  next(limit: number): SentChanges {
    const ids: number[] = []
    let upTo = 0
    for (const [id, number] of this.#numbers) {
      if (ids.length === limit) break
      ids.push(id)
      upTo = number
    }
    return { ids, upTo }
  }

  /** Forgets the sent changes; rows that have changed again since stay. */
  sent({ ids, upTo }: SentChanges): void {
    for (const id of ids) if ((this.#numbers.get(id) ?? 0) <= upTo) this.#numbers.delete(id)
  }

  /** Returns whether more changed than are remembered, and resets that: the caller sends all. */
  takeTooMany(): boolean {
    const areTooMany = this.#areTooMany
    this.#areTooMany = false
    return areTooMany
  }
}
