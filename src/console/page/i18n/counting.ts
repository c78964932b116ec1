import { locale } from './language.ts'

// 1000 stays as it is, 10,000 does not: four digits are read at a glance.
const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 6, useGrouping: 'min2' })
const hundredths = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Returns a number as the page's language writes it. */
export const numberWords = (n: number): string => plain.format(n)

/** Returns a number with two places after the point. */
export const hundredthsOf = (n: number): string => hundredths.format(n)

export const kilograms = (kg: number): string => `${numberWords(kg)} kg`

/** Returns a number with its noun; English and German have one form for 1 and another for everything else. */
export const countOf = (n: number, one: string, many = `${one}s`): string => `${numberWords(n)} ${n === 1 ? one : many}`
