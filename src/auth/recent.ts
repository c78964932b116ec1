/** A bounded memory: what was used last is kept, what was used longest ago makes way. */
export class Recent<Value> {
  readonly #limit: number
  readonly #kept = new Map<string, Value>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): Value | undefined {
    const value = this.#kept.get(key)
    if (value === undefined) return undefined
    this.#kept.delete(key)
    this.#kept.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.#kept.delete(key)
    if (this.#kept.size >= this.#limit) this.#kept.delete(this.#kept.keys().next().value ?? '')
    this.#kept.set(key, value)
  }

  delete(key: string): void {
    this.#kept.delete(key)
  }

  get size(): number {
    return this.#kept.size
  }
}
