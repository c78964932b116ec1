/** Whether a server that fails is asked. `openUntilMs` counts on the monotonic clock. */
export type Breaker =
  | { readonly state: 'closed'; readonly failures: number }
  /** Not asked before `openUntilMs`; then one request finds out, and the others wait for what it finds. */
  | {
      readonly state: 'open'
      readonly openUntilMs: number
      readonly waitMs: number
      readonly isProbing: boolean
    }

export const closedBreaker: Breaker = { state: 'closed', failures: 0 }

/** So many failures in a row, without an answer between them, open it. */
const failuresToOpen = 3
const firstWaitMs = 5000
const longestWaitMs = 60_000

/** Whether one more request may go out now; then `next` is how the breaker stands while it does. */
export function admit(breaker: Breaker, nowMs: number): { readonly may: boolean; readonly next: Breaker } {
  if (breaker.state === 'closed') return { may: true, next: breaker }
  if (nowMs < breaker.openUntilMs || breaker.isProbing) return { may: false, next: breaker }
  return { may: true, next: { ...breaker, isProbing: true } }
}

/** @param retryAfterMs what the server asked for; it counts up to the longest wait */
export function afterFailure(breaker: Breaker, nowMs: number, retryAfterMs = 0): Breaker {
  if (breaker.state === 'closed') {
    const failures = breaker.failures + 1
    if (failures < failuresToOpen) return { state: 'closed', failures }
    return opened(nowMs, Math.max(firstWaitMs, retryAfterMs))
  }
  // Of requests that went out before it opened, only the probe says something new.
  if (!breaker.isProbing) return breaker
  return opened(nowMs, Math.max(breaker.waitMs * 2, retryAfterMs))
}

function opened(nowMs: number, wantedMs: number): Breaker {
  const waitMs = Math.min(wantedMs, longestWaitMs)
  return { state: 'open', openUntilMs: nowMs + waitMs, waitMs, isProbing: false }
}
