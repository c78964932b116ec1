const units = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const

/** Returns a length of time in its largest unit, rounded down: `3 days`, `1 minute`, `0 seconds`. */
export function lengthWords(ms: number): string {
  const [length, unit] = units.find(([least]) => ms >= least) ?? [1000, 'second']
  return counted(Math.max(0, Math.floor(ms / length)), unit)
}

/** Returns how long ago a time was; `never` without one. */
export function agoWords(iso: string | null, nowMs: number): string {
  return iso === null ? 'never' : `${lengthWords(nowMs - Date.parse(iso))} ago`
}

/** Returns `1 camera`, `2 cameras`, `12,000 cameras`. */
export function counted(count: number, what: string, many = `${what}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? what : many}`
}
