const quarterMs = 900_000
const formats = new Map<string, Intl.DateTimeFormat>()
const known = new Map<string, string>()
const knownLimit = 10_000

/** Returns the offset of a time zone from UTC at a time: `+01:00`. */
export function zoneOffset(timezone: string, atMs: number): string {
  // Clocks are changed at quarters of an hour.
  const key = `${timezone} ${Math.floor(atMs / quarterMs)}`
  const found = known.get(key)
  if (found) return found
  const offset = /GMT([+-]\d{2}:\d{2})/.exec(formatOf(timezone).format(atMs))?.[1] ?? '+00:00'
  if (known.size >= knownLimit) known.clear()
  known.set(key, offset)
  return offset
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  const made = formats.get(timezone)
  if (made) return made
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset', hourCycle: 'h23' })
  formats.set(timezone, format)
  return format
}
