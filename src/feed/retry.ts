import { backoffMs } from '../flow/index.ts'
import type { FeedFinding } from './verdict.ts'

/** The least time between two feeds with new leaves: each makes a checkpoint. */
export const intervalMs = 1000

const waits = {
  /** No one has to do anything: a line or a database that is away. */
  soon: { firstMs: 2000, longestMs: 300_000 },
  /** Somebody has to do something. */
  later: { firstMs: 60_000, longestMs: 3_600_000 },
} as const
const passing: readonly FeedFinding[] = ['unreachable', 'unavailable']

export const firstRetryMs = waits.soon.firstMs

/** A gateway waits longer than it was asked to by up to this share: else all that were asked the same would come at once. */
const spread = 0.5

/**
 * Returns how long a gateway waits after so many failures in a row, in milliseconds. A living head office may name the time of the
 * next feed. It is asked then, even after many failures. `chance` (0 to 1) moves each wait, so that not all gateways come at once.
 * Pure.
 */
export function retryAfterMs(
  { finding, retryAfterSeconds }: { readonly finding: FeedFinding; readonly retryAfterSeconds: number | undefined },
  failures: number,
  chance: number,
): number {
  const isPassing = passing.includes(finding)
  if (isPassing && retryAfterSeconds !== undefined) return retryAfterSeconds * 1000 * (1 + spread * chance)
  const waitMs = backoffMs(isPassing ? waits.soon : waits.later, failures, chance)
  return Math.max(waitMs, (retryAfterSeconds ?? 0) * 1000)
}
