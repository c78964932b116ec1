import { hasCheckDigit, readBarcode } from '../warehouse/index.ts'

/**
 * Returns the 18 digits of an SSCC in any form in which it is scanned or typed. It may be bare, have its identifier (00), be a
 * whole GS1-128 label, or be in groups as it is printed. Returns the fault of any other text.
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
