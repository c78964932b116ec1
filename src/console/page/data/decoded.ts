/** Returns a part of an address as text; as it is when it cannot be decoded. Pure. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
