/** Waits between attempts. */
export type Backoff = { readonly firstMs: number; readonly longestMs: number }

/**
 * Returns the wait after so many failures in a row (1 or more), in milliseconds: `firstMs`, doubling to `longestMs`. `chance`
 * (0 to 1) takes up to half of it off, so that many callers do not come back at once. Pure.
 */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number, chance = 0): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs) * (1 - chance / 2)
}
