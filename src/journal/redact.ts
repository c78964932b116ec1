/** Matches keys whose values are secret. */
const secretKey = /secret|passw|token|authorization|credential|cookie|private_?key/i

/** Values that only describe a change of a secret, and may be stored. */
const harmless = new Set<unknown>(['generated', 'given', 'changed', 'replaced', 'rotated', 'removed', '[redacted]'])

/** Returns a copy without secrets, at any depth: neither under a secret key nor inside a URL. */
export function redacted<T>(value: T): T {
  return strip(value) as T
}

function strip(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@]+@/gi, '$1[redacted]@')
  if (Array.isArray(value)) return value.map(strip)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, hides(key, inner) ? '[redacted]' : strip(inner)]),
  )
}

function hides(key: string, value: unknown): boolean {
  const tells = typeof value === 'boolean' || value === null || value === undefined || harmless.has(value)
  return secretKey.test(key) && !tells
}
