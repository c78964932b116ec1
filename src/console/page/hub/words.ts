import { locale } from '../i18n/language.ts'

/** A number and what is counted. */
export const many = (n: number, one: string, more: string) => `${n.toLocaleString(locale)} ${n === 1 ? one : more}`

/** Bytes in GiB, with one decimal. */
export const gibOf = (bytes: number) => (bytes / 1024 ** 3).toLocaleString(locale, { maximumFractionDigits: 1 })

/** How a pallet is on its way. */
export type Way = { from: string; to: string | undefined; unit: string; since: string }

/** The first five of a list, and how many more there are. */
export const firstOf = (all: readonly string[], more: (n: number) => string) =>
  [...all.slice(0, 5), ...(all.length > 5 ? [more(all.length - 5)] : [])].join(', ')
