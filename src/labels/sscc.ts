import { checkDigit } from '../warehouse/index.ts'

/** Digits of an SSCC in front of its check digit: extension digit, company prefix, serial. */
const bodyDigits = 17

/** Size of a series (extension digit and company prefix), in numbers. */
export const seriesSize = (series: string): number => 10 ** (bodyDigits - series.length)

/** Returns the SSCCs of `count` serials from `first` on, 18 digits each. */
export function ssccsFrom(series: string, first: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const body = `${series}${String(first + i).padStart(bodyDigits - series.length, '0')}`
    return `${body}${checkDigit(body)}`
  })
}
