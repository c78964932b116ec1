/** Texts to remove: names in fields that name a person, and free texts everywhere. */
export type Forgotten = {
  readonly names: ReadonlySet<string>
  readonly shownAs: string
  readonly texts: ReadonlySet<string>
}

/** Keys of people: operator, actor, person, reportedBy … */
const saysWho = /^(operator|actor|person|user|username|[a-z]+By)$/

/** Returns a JSON text without what is erased, keys in their order; undefined when nothing changes. */
export function scrubbed(json: string, forgotten: Forgotten): string | undefined {
  const suspects = [...forgotten.names, ...forgotten.texts]
  if (!suspects.some((text) => json.includes(JSON.stringify(text)))) return undefined
  const without = JSON.stringify(strip(JSON.parse(json), '', forgotten))
  return without === json ? undefined : without
}

function strip(value: unknown, key: string, forgotten: Forgotten): unknown {
  if (typeof value === 'string') {
    if (forgotten.names.has(value) && saysWho.test(key)) return forgotten.shownAs
    return forgotten.texts.has(value) ? null : value
  }
  if (Array.isArray(value)) return value.map((item) => strip(item, key, forgotten))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, strip(item, inner, forgotten)]))
}
