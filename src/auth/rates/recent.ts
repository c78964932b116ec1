/**
 * A bounded cache in two generations. A used entry moves into the young one; when that is full, the old one is dropped. Reading a
 * recently used entry changes nothing; a list in the order of use would change at every read.
 */
export class Recent<Value> {
  readonly #generation: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  /** @param limit the most that is kept; the half that was used last is kept for certain */
  constructor(limit: number) {
    this.#generation = Math.ceil(limit / 2)
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: Value): void {
    this.#old.delete(key)
    if (this.#young.size >= this.#generation && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  entries(): (readonly [string, Value])[] {
    return [...this.#old, ...this.#young]
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }
}
