import type { JobState } from './schema.ts'

/** How an attempt to print ended. `unconfirmed`: all was sent, and then nothing was heard. */
export type PrintOutcome =
  | { readonly kind: 'printed' }
  | { readonly kind: 'unconfirmed'; readonly error: string }
  | { readonly kind: 'failed'; readonly error: string }

export const longestDelayMs = 60_000

export type AfterAttempt = { readonly state: Exclude<JobState, 'printing' | 'cancelled'>; readonly delayMs: number }

/**
 * What becomes of a job after its attempt. A failed one is tried again 1 s later, then 2, 4 … up to a minute, until it is
 * older than `giveUpAfterMs`. What may have come out is never sent again by itself. Pure.
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
      return { state: 'queued', delayMs: Math.min(longestDelayMs, 1000 * 2 ** Math.min(attempts - 1, 16)) }
  }
}

/** Whether a job's time has come; a time beyond every delay was written under a clock that ran ahead. */
export function isDue(nextAttemptAtMs: number, nowMs: number): boolean {
  return nextAttemptAtMs <= nowMs || nextAttemptAtMs > nowMs + longestDelayMs
}
