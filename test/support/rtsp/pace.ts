/** A machine that slept longer than this goes on from now instead of catching up. */
const longestDelayMs = 2000

/**
 * Calls `beat` for ever; it returns how many milliseconds later the next is due. Beats are due at sums of what it
 * returned on the monotonic clock, so that being late once makes no later one late.
 */
export function keepPace(beat: () => number): { stop(): void } {
  let due = performance.now()
  let timer: NodeJS.Timeout
  const run = () => {
    const now = performance.now()
    if (now - due > longestDelayMs) due = now
    while (due <= now) due += beat()
    timer = setTimeout(run, Math.max(1, due - performance.now()))
  }
  run()
  return { stop: () => clearTimeout(timer) }
}
