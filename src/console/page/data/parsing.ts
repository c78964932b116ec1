/** Returns a part of an address as text; as it is when it cannot be decoded. Pure. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Returns the keys of a table of ours, which has no others than its type says. Pure. */
export const keysOf = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[]

/** Returns the members of a value from outside; none when it is no object. Pure. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}
