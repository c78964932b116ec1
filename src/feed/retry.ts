import type { FeedFinding } from './verdict.ts'

/** The least time between two feeds with new leaves: each makes a checkpoint. */
export const intervalMs = 1000

const waits = {
  /** Nobody has to do anything: a line or a database that is away. */
  soon: { firstMs: 2000, longestMs: 300_000 },
  /** Somebody has to do something. */
  later: { firstMs: 60_000, longestMs: 3_600_000 },
} as const
const passing: readonly FeedFinding[] = ['unreachable', 'unavailable']

export const firstRetryMs = waits.soon.firstMs

/**
 * Returns how long a gateway waits after so many failures in a row, in milliseconds. `chance` (0 to 1) takes away up to half of it, so
 * that not all gateways come at once when the head office is back. Pure.
 */
export function retryAfterMs(finding: FeedFinding, failures: number, chance: number): number {
  const { firstMs, longestMs } = passing.includes(finding) ? waits.soon : waits.later
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs) * (1 - chance / 2)
}
