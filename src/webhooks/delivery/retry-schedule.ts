/** Retry-After may lengthen a delay to this, and no further. */
export const longestRetryAfterMs = 24 * 60 * 60 * 1000

/** Delays get longer by up to this share, so that endpoints are not called by many at one instant. Never shorter. */
const jitterShare = 0.05

export type FailedAttempt = {
  /** Delay before attempt 1, 2, 3 …, each counted from the attempt before; its length is the number of attempts. */
  readonly scheduleMs: readonly number[]
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number
  /** When it failed, milliseconds since the epoch. */
  readonly nowMs: number
  /** From 0 up to 1. */
  readonly chance: number
  /** The answer's Retry-After, if it had one. */
  readonly retryAfter?: string | undefined
}

export type NextAttempt = { readonly kind: 'retry'; readonly atMs: number } | { readonly kind: 'exhausted' }

/** Returns when a failed delivery is tried again, or that its schedule is used up. */
export function nextAttempt(failed: FailedAttempt): NextAttempt {
  const delayMs = failed.scheduleMs[failed.attempt]
  if (delayMs === undefined) return { kind: 'exhausted' }
  const jitteredMs = delayMs * (1 + jitterShare * failed.chance)
  const askedMs = Math.min(retryAfterMs(failed.retryAfter, failed.nowMs) ?? 0, longestRetryAfterMs)
  return { kind: 'retry', atMs: failed.nowMs + Math.ceil(Math.max(jitteredMs, askedMs)) }
}

/** Returns the longest delay of a delivery under this schedule, in milliseconds. */
export function longestDelayMs(scheduleMs: readonly number[]): number {
  return Math.max(longestRetryAfterMs, ...scheduleMs.map((ms) => ms * (1 + jitterShare)))
}

const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /

/** Milliseconds from now that a Retry-After asks for, in seconds or as an HTTP date; undefined when it is neither. */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000
  if (!httpDate.test(text)) return undefined
  // Only asctime, one of the three forms of RFC 9110, names no zone; it means UTC too.
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(ms) ? undefined : Math.max(ms - nowMs, 0)
}
