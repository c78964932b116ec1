import { hasCheckDigit, readBarcode } from '../warehouse/index.ts'

/**
 * The 18 digits of a serial shipping container code, from however it was scanned or typed: bare, with its identifier
 * (00), as a whole GS1-128 label, or in groups as it is printed. Says what is wrong with anything else.
 */
export function readSscc(raw: string): { sscc: string } | { wrong: string } {
  const digits = raw.replaceAll(' ', '')
  const sscc = /^\d{18}$/.test(digits)
    ? digits
    : (readBarcode(digits).gs1?.get('00') ?? readBarcode(raw).gs1?.get('00'))
  if (sscc !== undefined && hasCheckDigit(sscc)) return { sscc }
  const isOne = sscc !== undefined || /^(?:\][A-Za-z]\w)?\(?00\)?\d{18}$/.test(digits)
  return { wrong: isOne ? 'has a wrong check digit' : 'expected an SSCC: 18 digits, with or without (00) in front' }
}
