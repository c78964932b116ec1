import type { Barcode } from '../barcodes/barcode.ts'
import { hasCheckDigit } from '../barcodes/check-digit.ts'

/** The goods behind a barcode, for recalls. */
export type Goods = {
  /** 18 digits. */
  readonly sscc: string | null
  /** 14 digits. */
  readonly gtin: string | null
  readonly lot: string | null
  /** YYYY-MM-DD. */
  readonly bestBefore: string | null
  readonly serial: string | null
}

/**
 * Returns the goods that a label names. For a logistic unit that names its contents (AI 02) the contents are the goods. A label
 * without a best-before date (AI 15) gives its expiry (AI 17). Pure.
 * @param year of the reading: a label has two digits for it
 */
export function goodsOf({ gs1, gtin }: Barcode, year: number): Goods {
  const element = (ai: string) => gs1?.get(ai) ?? null
  const day = element('15') ?? element('17')
  return {
    sscc: element('00'),
    gtin: soundGtin(element('01')) ?? soundGtin(element('02')) ?? gtin ?? null,
    lot: element('10'),
    bestBefore: (day === null ? undefined : gs1Day(day, year)) ?? null,
    serial: element('21'),
  }
}

/** Contents with a wrong check digit do not count for a pallet that is known by its own number. */
const soundGtin = (digits: string | null) => (digits !== null && hasCheckDigit(digits) ? digits : undefined)

/** Reads GTIN-8, -12, -13 or -14 as 14 digits; undefined for another length or a wrong check digit. */
export function gtin14(digits: string): string | undefined {
  if (!/^(\d{8}|\d{12,14})$/.test(digits) || !hasCheckDigit(digits)) return undefined
  return digits.padStart(14, '0')
}

/**
 * Reads YYMMDD as YYYY-MM-DD; undefined when there is no such day. Day 00 is the last of the month. The century puts the year at
 * most 49 behind and 50 ahead of this one's. Source: GS1 General Specifications, 3.4 and 7.12.
 */
export function gs1Day(yymmdd: string, thisYear: number): string | undefined {
  const [yy = 0, month = 0, day = 0] = [yymmdd.slice(0, 2), yymmdd.slice(2, 4), yymmdd.slice(4, 6)].map(Number)
  const ahead = yy - (thisYear % 100)
  const century = thisYear - (thisYear % 100) + (ahead >= 51 ? -100 : ahead <= -50 ? 100 : 0)
  const year = century + yy
  if (month < 1 || month > 12 || day > daysIn(year, month)) return undefined
  return dayText(year, month, day === 0 ? daysIn(year, month) : day)
}

/** Returns whether a text is a day of the calendar as YYYY-MM-DD. */
export function isDay(text: string): boolean {
  const [, year, month, day] = text.match(/^(\d{4})-(\d{2})-(\d{2})$/)?.map(Number) ?? []
  if (!year || !month || !day) return false
  return month <= 12 && day <= daysIn(year, month)
}

const daysIn = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate()

function dayText(year: number, month: number, day: number): string {
  const two = (n: number) => String(n).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
}
