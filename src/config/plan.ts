import { isDeepStrictEqual } from 'node:util'
import { type Applies, facts, fixedKeys, repeated, type Schema } from './keys.ts'
import { type Config, configSchema } from './schema.ts'

/** Differences between two configs, as sorted key paths (`rateLimit.users.scanner-1`, `cameras[id=2].url`). Never values. */
export type Plan = {
  /** Take effect with the reload. */
  readonly live: string[]
  /** Take effect with the next start. */
  readonly restart: string[]
  readonly unchanged: boolean
}

/** Compares two configs key by key. Pure. */
export function plan(old: Config, next: Config): Plan {
  const differences = compare(old, next, { schema: configSchema, path: '', applies: 'restart' })
  const pathsOf = (applies: Applies) =>
    differences
      .filter((difference) => difference.applies === applies)
      .map(({ path }) => path)
      .sort()
  return { live: pathsOf('live'), restart: pathsOf('restart'), unchanged: differences.length === 0 }
}

/** Returns the config after a reload: live keys from `next`, restart keys from `old`. Pure; frozen like both. */
export function applyLive(old: Config, next: Config): Config {
  return pick(old, next, configSchema, 'restart') as Config
}

type Difference = { readonly path: string; readonly applies: Applies }
type Spot = { readonly schema: Schema; readonly path: string; readonly applies: Applies }
type Values = Readonly<Record<string, unknown>>

function compare(old: unknown, next: unknown, spot: Spot): Difference[] {
  const { schema, path } = spot
  const applies = appliesAt(schema, spot.applies)
  if (isDeepStrictEqual(old, next)) return []
  const inner = (key: string, of: Schema): Spot => ({ schema: of, path: path ? `${path}.${key}` : key, applies })
  const keys = fixedKeys(schema)
  if (keys && isMap(old) && isMap(next)) {
    return Object.entries(keys).flatMap(([key, of]) => compare(old[key], next[key], inner(key, of)))
  }
  const free = repeated(schema)
  if (free?.container === 'map' && isMap(old) && isMap(next)) {
    return union(Object.keys(old), Object.keys(next)).flatMap((key) =>
      compare(old[key], next[key], inner(key, free.of)),
    )
  }
  const identity = facts.get(schema)?.identity
  if (!free || !identity) return [{ path, applies }]
  return compareEntries(byName(old, identity), byName(next, identity), (name, a, b) =>
    compare(a, b, { schema: free.of, path: `${path}[${identity}=${name}]`, applies }),
  )
}

/** Compares entries by identity; their order does not count. */
function compareEntries(
  old: ReadonlyMap<string, unknown>,
  next: ReadonlyMap<string, unknown>,
  compareOne: (name: string, a: unknown, b: unknown) => Difference[],
): Difference[] {
  return union([...old.keys()], [...next.keys()]).flatMap((name) => compareOne(name, old.get(name), next.get(name)))
}

function pick(old: unknown, next: unknown, schema: Schema, inherited: Applies): unknown {
  const applies = appliesAt(schema, inherited)
  const keys = fixedKeys(schema)
  if (!keys || !isMap(old) || !isMap(next)) return applies === 'live' ? next : old
  const picked = Object.entries(keys).map(([key, of]) => [key, pick(old[key], next[key], of, applies)])
  return Object.freeze(Object.fromEntries(picked))
}

const appliesAt = (schema: Schema, inherited: Applies): Applies => facts.get(schema)?.applies ?? inherited

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

const union = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])]

function byName(entries: unknown, identity: string): Map<string, unknown> {
  const list = Array.isArray(entries) ? (entries as Values[]) : []
  return new Map(list.map((entry) => [String(entry[identity]), entry]))
}
