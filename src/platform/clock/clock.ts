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

const dayMs = 24 * 60 * 60 * 1000
let lastDay = { day: Number.NaN, text: '' }

const two = (n: number): string => (n < 10 ? `0${n}` : String(n))
const three = (n: number): string => (n < 100 ? `0${two(n)}` : String(n))

/**
 * Returns UTC with milliseconds and Z, the form of every time that leaves the gateway. A list has thousands, mostly of one day:
 * that is written once, the rest by hand, in a fifth of the time of toISOString.
 */
export function isoTime(ms: number): string {
  const day = Math.floor(ms / dayMs)
  if (day !== lastDay.day || !Number.isInteger(ms)) {
    const text = new Date(ms).toISOString()
    if (!Number.isInteger(ms)) return text
    lastDay = { day, text: text.slice(0, -13) }
  }
  const ofDay = ms - day * dayMs
  const seconds = Math.floor(ofDay / 1000)
  const minutes = Math.floor(seconds / 60)
  return `${lastDay.text}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${three(ofDay % 1000)}Z`
}
