const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const
const written = /^(\d+)(ms|s|m|h|d)$/

/** Returns the milliseconds of `500ms`, `30s`, `5m`, `12h` or `7d`; undefined for another form or without a unit. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = written.exec(text) ?? []
  if (!count || !unit) return undefined
  const ms = Number(count) * unitMs[unit as keyof typeof unitMs]
  return Number.isSafeInteger(ms) ? ms : undefined
}

/** Writes whole milliseconds in the largest unit that keeps them whole: 300000 is `5m`, 90000 is `90s`, 0 is `0s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s'
  const [unit, size] = Object.entries(unitMs).find(([, candidate]) => ms % candidate === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}
