import type { Context } from 'hono'
import type { Result, Router } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'
import type { RouterRoute } from 'hono/types'
import { type Ends, joined } from './answers/steps.ts'

/** So many addresses are remembered, and none that is longer: unknown callers may ask for any. */
const mostKept = 500
const longestKept = 128

/** As hono stores it: a step and the route that it is of. */
type Handler = [RouterRoute['handler'], RouterRoute]

/**
 * Finds the handlers of an address, and remembers them: most requests are for few addresses, and nearly all have the same few
 * dozen steps. Hono's fastest router does not take our paths, where `export` is beside `{id}`; this is the one it would fall
 * back to.
 */
export class RememberingRouter implements Router<Handler> {
  readonly name = 'RememberingRouter'
  readonly #router = new TrieRouter<Handler>()
  readonly #known = new Map<string, Result<Handler>>()
  #ends: Ends | undefined

  /** From now on the steps of an address are one handler for hono; see `joined`. */
  join(ends: Ends): void {
    this.#known.clear()
    this.#ends = ends
  }

  add(method: string, path: string, handler: Handler): void {
    this.#known.clear()
    this.#router.add(method, path, handler)
  }

  match(method: string, path: string): Result<Handler> {
    if (path.length > longestKept) return this.#find(method, path)
    const key = `${method} ${path}`
    const known = this.#known.get(key)
    if (known) return known
    const found = this.#find(method, path)
    if (this.#known.size >= mostKept) this.#known.clear()
    this.#known.set(key, found)
    return found
  }

  #find(method: string, path: string): Result<Handler> {
    const found = this.#router.match(method, path)
    return this.#ends ? joinedWhereAlike(found, this.#ends) : found
  }
}

/** Hono knows the parameters of a path by the step. Where two steps have others, as `export` beside `{id}`, they stay apart. */
function joinedWhereAlike(found: Result<Handler>, ends: Ends): Result<Handler> {
  const [steps] = found
  const named = steps.map(([, params]) => params).filter((params) => Object.keys(params).length > 0)
  const [params = {}] = named
  const last = steps.at(-1)
  const route = last?.[0][1]
  const isOfRoute = (path: string) => path === route?.path || path.endsWith('*')
  if (!route || !steps.every(([[, { path }]]) => isOfRoute(path))) return found
  const all = steps.map(([[step]]) => step as Parameters<typeof joined>[0][number])
  const handler = joined(all, ends) as (c: Context) => Promise<Response>
  return [[[[handler, route], params]]] as Result<Handler>
}
