import { zoneOffset } from './zone-offset.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** A span of hours that comes again every week, in local time. */
export type WeeklyHours = {
  /** For Monday to Sunday, whether it begins on that day. */
  readonly days: readonly boolean[]
  /** Minutes after midnight. An end over 1440 is on the next day. */
  readonly fromMinute: number
  readonly toMinute: number
}

const dayNames = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su']
const day = `(${dayNames.join('|')})`
const written = new RegExp(`^${day}(?:-${day})? (\\d{2}):(\\d{2})-(\\d{2}):(\\d{2})$`)
const dayMinutes = 24 * 60

/**
 * Reads `Mo-Fr 06:00-22:00`; undefined for another form. An end at or before the begin is on the next day, and 24:00 is the end
 * of a day. Begin and end may not be the same: whole days are 00:00-24:00.
 */
export function parseWeeklyHours(text: string): WeeklyHours | undefined {
  const [, first = '', last = first, ...clock] = written.exec(text) ?? []
  const [fromHour = NaN, fromMinutes = NaN, toHour = NaN, toMinutes = NaN] = clock.map(Number)
  const fromMinute = fromHour * 60 + fromMinutes
  const toMinute = toHour * 60 + toMinutes
  const isTime = (minute: number, minutes: number, most: number) => minute <= most && minutes < 60
  if (!isTime(fromMinute, fromMinutes, dayMinutes - 1) || !isTime(toMinute, toMinutes, dayMinutes)) return undefined
  if (fromMinute === toMinute) return undefined
  return { days: daysOf(first, last), fromMinute, toMinute: toMinute > fromMinute ? toMinute : toMinute + dayMinutes }
}

/** From the first to the last day of a week, over its end if need be: `Fr-Mo` is four days. */
function daysOf(first: string, last: string): boolean[] {
  const [from, to] = [dayNames.indexOf(first), dayNames.indexOf(last)]
  return dayNames.map((_, i) => (from <= to ? i >= from && i <= to : i >= from || i <= to))
}

/**
 * Says whether a moment is within one of the hours, by the clock on the wall of the hall. When clocks are set back, an hour comes
 * twice and counts twice. When they are set forward, the missing hour does not count.
 */
export function isWithinHours(hours: readonly WeeklyHours[], timezone: string, atMs: number): boolean {
  const localMs = atMs + offsetMs(timezone, atMs)
  const dayNumber = Math.floor(localMs / dayMs)
  // 1970-01-01 was a Thursday.
  const weekday = (dayNumber + 3) % 7
  const minute = (localMs - dayNumber * dayMs) / minuteMs
  return hours.some(({ days, fromMinute, toMinute }) => {
    const isToday = days[weekday] === true && minute >= fromMinute && minute < toMinute
    const isFromYesterday = days[(weekday + 6) % 7] === true && minute < toMinute - 24 * 60
    return isToday || isFromYesterday
  })
}

function offsetMs(timezone: string, atMs: number): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):(\d{2})$/.exec(zoneOffset(timezone, atMs)) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * minuteMs
}

/** Milliseconds to the next full minute: hours begin and end there. */
export function toNextMinute(atMs: number): number {
  return minuteMs - (atMs % minuteMs)
}
