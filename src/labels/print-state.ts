import { backoffMs } from '../flow/index.ts'
import type { JobState } from './schema.ts'

/** The result of an attempt to print. `unconfirmed`: everything was sent, and the printer did not close. */
export type PrintOutcome =
  | { readonly kind: 'printed' }
  | { readonly kind: 'unconfirmed'; readonly error: string }
  | { readonly kind: 'failed'; readonly error: string }

const retry = { firstMs: 1000, longestMs: 60_000 }
export const longestDelayMs = retry.longestMs

export type AfterAttempt = { readonly state: Exclude<JobState, 'printing' | 'cancelled'>; readonly delayMs: number }

/**
 * Returns the state of a job after an attempt. A failed one is tried again after 1 s, 2 s, 4 s … up to a minute, until it is
 * older than `giveUpAfterMs`. A label that may have been printed is not sent again. Pure.
 * @param attempts including this one
 */
export function afterAttempt(
  outcome: PrintOutcome,
  attempts: number,
  ageMs: number,
  giveUpAfterMs: number,
): AfterAttempt {
  switch (outcome.kind) {
    case 'printed':
      return { state: 'printed', delayMs: 0 }
    case 'unconfirmed':
      return { state: 'unconfirmed', delayMs: 0 }
    case 'failed':
      if (ageMs >= giveUpAfterMs) return { state: 'failed', delayMs: 0 }
      return { state: 'queued', delayMs: backoffMs(retry, attempts) }
  }
}

/** Returns whether a job is due; a time beyond the longest delay was stored while the clock ran ahead, and counts as due. */
export function isDue(nextAttemptAtMs: number, nowMs: number): boolean {
  return nextAttemptAtMs <= nowMs || nextAttemptAtMs > nowMs + longestDelayMs
}
