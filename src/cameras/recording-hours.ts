import type { RecordingHours } from '../config/index.ts'
import { zoneOffset } from '../platform/index.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/**
 * Says whether a moment is within one of the hours, by the clock on the wall of the hall. When clocks are set back, an hour comes
 * twice and counts twice; when they are set forward, the hour that is left out is left out.
 */
export function isWithin(hours: readonly RecordingHours[], timezone: string, atMs: number): boolean {
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
