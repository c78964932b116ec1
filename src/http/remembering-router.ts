import type { Result, Router } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'

/** So many addresses are remembered, and none that is longer: unknown callers may ask for any. */
const mostKept = 500
const longestKept = 128

/**
 * Finds the handlers of an address, and remembers them: most requests are for few addresses, and nearly all have the same few
 * dozen steps. Hono's fastest router does not take our paths, where `export` is beside `{id}`; this is the one it would fall
 * back to.
 */
export class RememberingRouter<Handler> implements Router<Handler> {
  readonly name = 'RememberingRouter'
  readonly #router = new TrieRouter<Handler>()
  readonly #known = new Map<string, Result<Handler>>()

  add(method: string, path: string, handler: Handler): void {
    this.#known.clear()
    this.#router.add(method, path, handler)
  }

  match(method: string, path: string): Result<Handler> {
    if (path.length > longestKept) return this.#router.match(method, path)
    const key = `${method} ${path}`
    const known = this.#known.get(key)
    if (known) return known
    const found = this.#router.match(method, path)
    if (this.#known.size >= mostKept) this.#known.clear()
    this.#known.set(key, found)
    return found
  }
}
