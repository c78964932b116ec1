/** A day of a warehouse: from one midnight there to the next, which is 23 or 25 hours when the clocks change. */
export type Day = { readonly date: string; readonly fromMs: number; readonly toMs: number }

/** The part of a day that is shown. */
export type Window = { readonly fromMs: number; readonly toMs: number }

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
export const leastWindowMs = 20_000

const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns the date of a time in a zone as YYYY-MM-DD; a zone that this browser does not know counts as its own. Pure. */
export function dateIn(ms: number, timeZone: string | undefined): string {
  const known = formats.get(timeZone ?? '') ?? newFormat(timeZone)
  formats.set(timeZone ?? '', known)
  const parts = Object.fromEntries(known.formatToParts(ms).map(({ type, value }) => [type, value]))
  return `${parts['year']}-${parts['month']}-${parts['day']}`
}

function newFormat(timeZone: string | undefined): Intl.DateTimeFormat {
  const options = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
  try {
    return new Intl.DateTimeFormat('en-GB', { ...options, ...(timeZone && { timeZone }) })
  } catch {
    return new Intl.DateTimeFormat('en-GB', options)
  }
}

/** Returns a date so many days later. Pure. */
export const dateAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)

/** Returns the day of a date in a zone. Pure. */
export const dayOf = (date: string, timeZone: string | undefined): Day => ({
  date,
  fromMs: beginOf(date, timeZone),
  toMs: beginOf(dateAfter(date, 1), timeZone),
})

/** Zones are up to 14 hours ahead and 12 behind; some change their clocks at midnight, so the first minute is searched. */
function beginOf(date: string, timeZone: string | undefined): number {
  const utc = Date.parse(`${date}T00:00:00Z`)
  let [before, within] = [utc - 15 * hourMs, utc + 15 * hourMs]
  while (within - before > minuteMs) {
    const middle = before + Math.floor((within - before) / 2 / minuteMs) * minuteMs
    if (dateIn(middle, timeZone) < date) before = middle
    else within = middle
  }
  return within
}

/** Returns the window around a time, so many times as long, within the day. Pure. */
export function zoomed(window: Window, day: Day, factor: number, aroundMs: number): Window {
  const length = clamp((window.toMs - window.fromMs) * factor, leastWindowMs, day.toMs - day.fromMs)
  const share = (aroundMs - window.fromMs) / (window.toMs - window.fromMs)
  return within(aroundMs - share * length, length, day)
}

/** Returns the window moved by so much, within the day. Pure. */
export const panned = (window: Window, day: Day, byMs: number): Window =>
  within(window.fromMs + byMs, window.toMs - window.fromMs, day)

/** Returns the window, moved only as far as the time needs to be in it. Pure. */
export function showing(window: Window, day: Day, ms: number): Window {
  if (ms >= window.fromMs && ms <= window.toMs) return window
  const length = window.toMs - window.fromMs
  return within(ms - length / 2, length, day)
}

function within(fromMs: number, length: number, day: Day): Window {
  const from = clamp(fromMs, day.fromMs, day.toMs - length)
  return { fromMs: from, toMs: from + length }
}

export const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600].map((s) => s * 1000)

/** Returns the times of the marks on a line that has room for so many. Pure. */
export function ticks(
  window: Window,
  day: Day,
  most: number,
): { readonly everyMs: number; readonly at: readonly number[] } {
  const length = window.toMs - window.fromMs
  const everyMs = steps.find((step) => length / step <= most) ?? 6 * hourMs
  const first = Math.ceil((window.fromMs - day.fromMs) / everyMs)
  const count = Math.floor((window.toMs - day.fromMs) / everyMs) - first + 1
  return { everyMs, at: Array.from({ length: Math.max(0, count) }, (_, i) => day.fromMs + (first + i) * everyMs) }
}

/**
 * Returns the highest score in each column of a line, NaN where nothing is known. Pure.
 * @param scores one for each `intervalMs` from the beginning of the day
 */
export function highest(
  scores: Float32Array,
  intervalMs: number,
  day: Day,
  window: Window,
  columns: number,
): Float32Array {
  const found = new Float32Array(columns).fill(Number.NaN)
  const perColumn = (window.toMs - window.fromMs) / columns / intervalMs
  const first = (window.fromMs - day.fromMs) / intervalMs
  for (let column = 0; column < columns; column++) {
    const from = Math.floor(first + column * perColumn)
    const to = Math.max(from + 1, Math.floor(first + (column + 1) * perColumn))
    for (let i = from; i < to && i < scores.length; i++) {
      const score = scores[i] as number
      // Both comparisons are false for NaN.
      if (!(score <= (found[column] as number)) && score >= 0) found[column] = score
    }
  }
  return found
}
