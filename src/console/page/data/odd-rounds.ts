/**
 * Times of requests for contradictions. The gateway scans the whole floor for them, so all screens ask at the same time, and
 * it scans once.
 */
const everyMs = 10_000
/** If two requests would be closer than this, the first is left out. */
const leastMs = 5000

/**
 * Returns the milliseconds until the next question, at full ten seconds. Pure.
 *
 * @param nowMs by the gateway's clock
 * @param sinceMs since the last question
 */
export function untilNextMs(nowMs: number, sinceMs: number): number {
  const waitMs = everyMs - (nowMs % everyMs)
  return sinceMs + waitMs < leastMs ? waitMs + everyMs : waitMs
}
