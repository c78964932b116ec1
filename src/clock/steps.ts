import type { ClockStepRow } from './tables.ts'

/** A larger difference is a step; a smaller one may be drift, or a clock that is slewed. */
export const leastStepMs = 2000
/** Interval of storing the newest time: a crash leaves the stored one this much behind. */
export const markEveryMs = 60_000

export type Reading = { readonly wallMs: number; readonly monotonicMs: number }
export type Step = Pick<ClockStepRow, 'cause' | 'before_ms' | 'after_ms'>

/** Returns the step of the wall clock between two readings; undefined when it went as the monotonic clock did. Pure. */
export function stepBetween(before: Reading, after: Reading): Step | undefined {
  const expectedMs = before.wallMs + (after.monotonicMs - before.monotonicMs)
  if (Math.abs(after.wallMs - expectedMs) <= leastStepMs) return undefined
  return { cause: 'running', before_ms: Math.round(expectedMs), after_ms: Math.round(after.wallMs) }
}

/** The times that are known when the gateway starts. */
export type KnownTimes = {
  readonly nowMs: number
  /** The newest time of the clock that was stored; undefined: this is the first start. */
  readonly markedMs: number | undefined
  /** The newest time of the ledger. It never goes back, so after a step backward it may be ahead of the clock. */
  readonly ledgerMs: number
  /** A clock before this has lost its battery. */
  readonly builtAtMs: number
}

/**
 * Returns the step that the clock has made since the gateway ran last. The clock shows an earlier time than then, or a time before
 * gatehouse existed. A step forward cannot be distinguished from a long pause. Pure.
 */
export function stepAtStart({ nowMs, markedMs, ledgerMs, builtAtMs }: KnownTimes): Step | undefined {
  const isRecent = markedMs !== undefined && ledgerMs > markedMs && ledgerMs <= markedMs + 2 * markEveryMs
  const newestMs = markedMs === undefined || isRecent ? ledgerMs : markedMs
  const times = { before_ms: Math.round(Math.max(newestMs, nowMs)), after_ms: Math.round(nowMs) }
  if (nowMs < builtAtMs) return { cause: 'no_clock', ...times, before_ms: Math.max(times.before_ms, builtAtMs) }
  return newestMs - nowMs > leastStepMs ? { cause: 'restart', ...times } : undefined
}
