/** The clock of a room. Tests pass a simulated one. */
export type Clock = {
  /** Wall clock, milliseconds since the epoch. May jump. */
  now(): number
  /** Milliseconds from an arbitrary start; never jumps. For delays, leases and durations. */
  monotonic(): number
  /** Calls back once after `delayMs`; the returned function cancels. Does not keep the process alive. */
  after(delayMs: number, callback: () => void): () => void
}

const longestTimerMs = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), longestTimerMs)).unref()
    return () => clearTimeout(timer)
  },
}

/** UTC with milliseconds and Z, the form of every time that leaves the gateway. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
