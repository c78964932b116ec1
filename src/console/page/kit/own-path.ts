/** Returns the path of a gateway address, with any name of the gateway; undefined for other addresses. */
export function ownPath(address: string | null | undefined): string | undefined {
  if (!address) return undefined
  try {
    const { pathname, search } = new URL(address, location.origin)
    return pathname.startsWith('/api/') ? pathname + search : undefined
  } catch {
    return undefined
  }
}
