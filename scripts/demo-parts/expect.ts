import { isDeepStrictEqual } from 'node:util'

/** Throws a sentence that names `what` unless both are the same, all the way down. */
export function same(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`)
}

/** Throws `otherwise` unless it holds. */
export function holds(condition: unknown, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise)
}
