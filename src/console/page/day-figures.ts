import { locale } from './language.ts'

/** Figures of the last day in columns, as `/api/metrics/day` answers. */
export type Figures = {
  readonly times: readonly string[]
  readonly figures: Readonly<Record<string, readonly (number | null)[]>>
}

export type FigureUnit = 'bytes' | 'celsius' | 'percent' | 'count'

/** The charts, in their order, with the unit of each. */
export const charts = {
  diskFreeBytes: 'bytes',
  temperatureCelsius: 'celsius',
  cpuLoadPercent: 'percent',
  memoryAvailableBytes: 'bytes',
  events: 'count',
  camerasOnline: 'count',
  deliveriesWaiting: 'count',
  uploadsWaiting: 'count',
} as const satisfies Readonly<Record<string, FigureUnit>>

export type ChartName = keyof typeof charts

const number = (value: number, digits: number) =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value)

/** Writes a value with its unit, short enough for an axis. Pure. */
export function valueWords(value: number, unit: FigureUnit): string {
  if (unit === 'celsius') return `${number(value, 0)} °C`
  if (unit === 'percent') return `${number(value, 0)} %`
  if (unit === 'count') return number(value, 1)
  for (const [name, size] of sizes) if (value >= size) return `${number(value / size, 1)} ${name}`
  return `${number(value, 0)} B`
}

const sizes = [
  ['TB', 1e12],
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const

export type Extent = { readonly now: number; readonly least: number; readonly most: number }

/** Returns the newest value of a column, its least and its most; undefined when nothing was measured. Pure. */
export function extentOf(column: readonly (number | null)[]): Extent | undefined {
  const values = column.filter((value) => value !== null)
  const now = values.at(-1)
  if (now === undefined) return undefined
  return { now, least: Math.min(...values), most: Math.max(...values) }
}

/**
 * Draws a column on a field of 1000 by 100, zero at the bottom, with room above the most; what is missing is a gap. Pure.
 * @param times milliseconds, oldest first
 */
export function lineOf(
  times: readonly number[],
  column: readonly (number | null)[],
): { readonly path: string; readonly top: number } {
  const top = (extentOf(column)?.most ?? 0) * 1.1 || 1
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const length = last - first || 1
  const steps = column.map((value, i) => {
    if (value === null) return ''
    const isAfterGap = typeof column[i - 1] !== 'number'
    const x = Math.round((((times[i] ?? first) - first) / length) * 10_000) / 10
    return `${isAfterGap ? 'M' : 'L'}${x} ${Math.round((1 - value / top) * 1000) / 10}`
  })
  return { path: steps.join(''), top }
}
