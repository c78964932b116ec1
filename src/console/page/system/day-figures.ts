import { locale } from '../i18n/language.ts'

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

/** Returns where the axis of a column ends: a tenth above its most. Pure. */
export function topOf(column: readonly (number | null)[]): number {
  return (extentOf(column)?.most ?? 0) * 1.1 || 1
}
