/** Decides whether a failing server is asked. `openUntilMs` is monotonic, in milliseconds. */
export type Breaker =
  | { readonly state: 'closed'; readonly failures: number }
  /** Not asked before `openUntilMs`; then one request tests the server for all others. */
  | {
      readonly state: 'open'
      readonly openUntilMs: number
      readonly waitMs: number
      readonly isProbing: boolean
    }

export const closedBreaker: Breaker = { state: 'closed', failures: 0 }

/** Failures in a row, without an answer between them, that open the breaker. */
const failuresToOpen = 3
const firstWaitMs = 5000
const longestWaitMs = 60_000

/** Says whether one more request may be sent now; `next` is the breaker while it is in progress. */
export function admit(breaker: Breaker, nowMs: number): { readonly may: boolean; readonly next: Breaker } {
  if (breaker.state === 'closed') return { may: true, next: breaker }
  if (nowMs < breaker.openUntilMs || breaker.isProbing) return { may: false, next: breaker }
  return { may: true, next: { ...breaker, isProbing: true } }
}

/** Returns the breaker after a failure. @param retryAfterMs the server's Retry-After, at most the longest wait */
export function afterFailure(breaker: Breaker, nowMs: number, retryAfterMs = 0): Breaker {
  if (breaker.state === 'closed') {
    const failures = breaker.failures + 1
    if (failures < failuresToOpen) return { state: 'closed', failures }
    return opened(nowMs, Math.max(firstWaitMs, retryAfterMs))
  }
  // Failures of requests that were sent before it opened do not count; only the probe does.
  if (!breaker.isProbing) return breaker
  return opened(nowMs, Math.max(breaker.waitMs * 2, retryAfterMs))
}

function opened(nowMs: number, wantedMs: number): Breaker {
  const waitMs = Math.min(wantedMs, longestWaitMs)
  return { state: 'open', openUntilMs: nowMs + waitMs, waitMs, isProbing: false }
}
