import { hasCheckCharacters, hasCheckDigit } from './check-digit.ts'

export type Fault = 'check digit' | 'rule'

/** A rule for a part of a value, besides its characters and its length. Source: GS1 General Specifications, section 3. */
export type Rule = { readonly holds: (text: string) => boolean; readonly fault: Fault }

/**
 * The rules that need no changing list. Codes of countries, currencies and kinds of packages are checked by their form, and coupons
 * not at all.
 */
export const rules: ReadonlyMap<string, Rule> = new Map([
  ...named('check digit', { sum: hasCheckDigit, sumOfText: hasCheckCharacters }),
  ...named('rule', {
    /** A company prefix begins with digits. */
    prefix: (text) => /^\d\d/.test(text),
    prefix2: (text) => /^.\d\d/.test(text),
    yymmd0: (text) => isDay(`20${text}`, 0),
    yymmdd: (text) => isDay(`20${text}`, 1),
    yyyymmdd: (text) => isDay(text, 1),
    hhmm: (text) => isUpTo(text.slice(0, 2), 23) && isUpTo(text.slice(2), 59),
    hour: (text) => isUpTo(text, 23),
    sixty: (text) => isUpTo(text, 59),
    zero: (text) => text === '0',
    some: (text) => /[1-9]/.test(text),
    unpadded: (text) => text === '0' || !text.startsWith('0'),
    flag: (text) => /^[01]$/.test(text),
    winding: (text) => /^[019]$/.test(text),
    sex: (text) => /^[0129]$/.test(text),
    minus: (text) => text === '-',
    index: (text) => /^[-0-9A-Z_a-z]$/.test(text),
    nonDigit: (text) => /\D/.test(text),
    letters: (text) => /^[A-Z]+$/.test(text),
    /** Piece and total, two digits each. */
    piece: (text) => isPieceOf(text.slice(0, 2), text.slice(2)),
    birth: (text) => /^\d\/\d$/.test(text) && isPieceOf(text.charAt(0), text.charAt(2)),
    medium: (text) => /^(0[1-9]|10|[89]\d)$/.test(text),
    percent: (text) => /^(?:[^%]|%[0-9A-Fa-f]{2})*$/.test(text),
    latitude: (text) => isUpTo(text, 1_800_000_000),
    longitude: (text) => isUpTo(text, 3_600_000_000),
    iban: isIban,
  }),
])

function named(fault: Fault, tests: Record<string, (text: string) => boolean>): [string, Rule][] {
  return Object.entries(tests).map(([name, holds]) => [name, { holds, fault }])
}

const isUpTo = (digits: string, most: number) => Number(digits) <= most

function isPieceOf(piece: string, total: string): boolean {
  return Number(piece) >= 1 && Number(piece) <= Number(total)
}

/** @param firstDay 0 where day 00 means the last of the month */
function isDay(yyyymmdd: string, firstDay: 0 | 1): boolean {
  const [year, month, day] = [yyyymmdd.slice(0, 4), yyyymmdd.slice(4, 6), yyyymmdd.slice(6)].map(Number)
  if (year === undefined || month === undefined || day === undefined || month < 1 || month > 12) return false
  return day >= firstDay && day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** Country, check number, account: the number that they make leaves 1 when divided by 97. Source: ISO 13616. */
function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[0-9A-Z]+$/.test(text)) return false
  const digits = [...text.slice(4), ...text.slice(0, 4)].map((c) => Number.parseInt(c, 36)).join('')
  return BigInt(digits) % 97n === 1n
}
