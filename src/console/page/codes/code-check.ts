import { type Barcode, readBarcode } from '../../../warehouse/barcodes/barcode.ts'

/**
 * Verdict on a scan.
 *
 * - `code`: it is taken
 * - `torn`: these are parts of a code, or of two
 * - `faulty`: its check digit or its length is wrong; the same code again is taken, because the label has it
 */
export type CheckedScan =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'torn'; readonly parts: readonly string[] }
  | { readonly kind: 'faulty'; readonly code: string }

type Earlier = { readonly code: string; readonly atMs: number }

/** A code stays in mind for so long, and so many of them. */
const earlierMs = 60_000
const mostEarlier = 10
/** A scanner without a suffix pauses within a code for less than this. */
const longestPauseMs = 2000
/** Fewer characters may be those of a slot by chance. */
const fewestOfPart = 6

/** Judges scans by their check digits, and by earlier scans. */
export class ScanCheck {
  #earlier: readonly Earlier[] = []
  #faulty = ''

  /** `parts`: texts that the scanner wrote just before, with pauses between. */
  check(code: string, parts: readonly string[], atMs: number): CheckedScan {
    const whole = joined(parts, code) ?? code
    const torn = isWhole(whole) ? undefined : this.#tornWith(whole, parts, atMs)
    if (torn) return { kind: 'torn', parts: torn }
    if (isFaulty(whole) && whole !== this.#faulty) {
      this.#faulty = whole
      return { kind: 'faulty', code: whole }
    }
    this.#faulty = ''
    const recent = this.#earlier.filter((one) => atMs - one.atMs < earlierMs)
    this.#earlier = [...recent, { code: whole, atMs }].slice(-mostEarlier)
    return { kind: 'code', code: whole }
  }

  #tornWith(code: string, parts: readonly string[], atMs: number): readonly string[] | undefined {
    const from = parts.findIndex((part) => part.length > 1)
    if (from >= 0) return [...parts.slice(from), code]
    const recent = this.#earlier.filter((one) => atMs - one.atMs < earlierMs)
    const last = recent.at(-1)
    if (last && atMs - last.atMs < longestPauseMs && !isWhole(last.code) && isWhole(last.code + code))
      return [last.code, code]
    const isPart = recent.some((one) => isWhole(one.code) && isPartOf(code, one.code))
    return isPart || isWithoutFirst(code) ? [code] : undefined
  }
}

/**
 * Returns the code of which these are the parts; undefined when they prove none. If the text before its last part is whole, it may
 * be a code, and that part the next one.
 */
function joined(parts: readonly string[], code: string): string | undefined {
  if (isWhole(code)) return undefined
  return parts
    .map((_, i) => [...parts.slice(i), code])
    .find((all) => isWhole(all.join('')) && !all.some((part, n) => isWhole(part) || isWhole(all.slice(0, n).join(''))))
    ?.join('')
}

/** Whether a code proves by a check digit that nothing of it is missing. */
function isWhole(code: string): boolean {
  const { warnings, gs1, gtin }: Barcode = readBarcode(code)
  return warnings.length === 0 && (gtin !== undefined || gs1?.has('00') === true || gs1?.has('01') === true)
}

/** Whether the check digit is wrong, or the length differs from that of the identifier. */
function isFaulty(code: string): boolean {
  const { warnings, gs1 } = readBarcode(code)
  // An SSCC as scanners without a prefix send it; an item's number has 14 digits, and may begin like it.
  const isOdd = gs1 === undefined && /^00\d{13,}$/.test(code)
  return isOdd || warnings.some((warning) => warning === 'BARCODE_CHECK_DIGIT' || warning === 'BARCODE_NOT_GS1')
}

/** Whether a code is the beginning of another one, or begins with its end. */
function isPartOf(code: string, other: string): boolean {
  if (code.length < fewestOfPart || code === other) return false
  if (other.startsWith(code)) return true
  for (let length = Math.min(code.length, other.length - 1); length >= fewestOfPart; length--)
    if (other.endsWith(code.slice(0, length))) return true
  return false
}

/** Whether this is an SSCC that lacks its first digit. */
const isWithoutFirst = (code: string): boolean => /^0\d{18}$/.test(code) && isWhole(`0${code}`)
