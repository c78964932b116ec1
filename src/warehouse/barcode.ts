/**
 * What a scanned code means. The raw text is kept and shown; the key is what matches, so that one pallet is one
 * pallet whatever prefix its reader sends. Source: GS1 General Specifications, sections 3 and 7.8.
 */
export type Barcode = {
  /** Never changes for a given raw text: it stands in the log. */
  readonly key: string
  /** Element strings by application identifier, when the code is GS1. */
  readonly gs1: ReadonlyMap<string, string> | undefined
  /** 14 digits, when the reader says that this is the EAN or UPC symbol of an item. */
  readonly gtin?: string | undefined
  readonly warnings: readonly BarcodeWarning[]
}

export type BarcodeWarning = 'BARCODE_CHECK_DIGIT' | 'BARCODE_NOT_GS1'

/** For the person who holds the scanner. */
export const barcodeWarningText = {
  BARCODE_CHECK_DIGIT: 'the check digit of the barcode is wrong',
  BARCODE_NOT_GS1: 'the barcode says that it is GS1, but can not be read as such',
} as const satisfies Record<BarcodeWarning, string>

export function explainBarcode({ warnings }: Barcode): { code: BarcodeWarning; message: string }[] {
  return warnings.map((code) => ({ code, message: barcodeWarningText[code] }))
}

const GS = '\x1d'
const aimPrefix = /^\][A-Za-z][0-9A-Za-z]/
/** GS1-128, GS1 DataBar and composite, GS1 DataMatrix, GS1 QR, GS1 DotCode. */
const gs1Prefixes = new Set([']C1', ']e0', ']e1', ']e2', ']d2', ']Q3', ']J1'])
/** EAN-13 and UPC (always read as 13 digits), EAN-8: their 8, 12 or 13 digits are a GTIN. */
const eanPrefixes = new Set([']E0', ']E4'])

export function readBarcode(raw: string): Barcode {
  const prefix = raw.match(aimPrefix)?.[0] ?? ''
  const text = raw.slice(prefix.length)
  const announced = gs1Prefixes.has(prefix) || text.startsWith(GS) || /^\(\d{2,4}\)/.test(text)
  // Of a prefix with nothing behind it, the prefix is all there is to match.
  const body = text.replace(/^\x1d+/, '') || raw
  if (announced) return readGs1(body)
  if (eanPrefixes.has(prefix) && /^(\d{8}|\d{12,13})$/.test(body)) {
    return hasCheckDigit(body) ? { ...plain(body), gtin: body.padStart(14, '0') } : plain(body, 'BARCODE_CHECK_DIGIT')
  }
  if (/^00\d{18}$/.test(body)) {
    return hasCheckDigit(body.slice(2))
      ? gs1Barcode(new Map([['00', body.slice(2)]]))
      : plain(body, 'BARCODE_CHECK_DIGIT')
  }
  return plain(body)
}

function plain(key: string, ...warnings: BarcodeWarning[]): Barcode {
  return { key, gs1: undefined, warnings }
}

function readGs1(body: string): Barcode {
  const elements = body.startsWith('(') ? bracketed(body) : elementStrings(body)
  if (!elements) return plain(body, 'BARCODE_NOT_GS1')
  const wrong = [...elements].some(([ai, value]) => checkedAi.test(ai) && !hasCheckDigit(value))
  return wrong ? plain(body, 'BARCODE_CHECK_DIGIT') : gs1Barcode(elements)
}

/** A logistic unit is its SSCC, an item its GTIN with serial, a returnable asset its own number; else all of the label. */
function gs1Barcode(elements: ReadonlyMap<string, string>): Barcode {
  const of = (ai: string) => (elements.has(ai) ? `${ai}${elements.get(ai)}` : undefined)
  const item = of('01') && of('21') ? `${of('01')}${of('21')}` : undefined
  const all = [...elements].map(([ai, value]) => `${ai}${value}`).sort()
  return { key: of('00') ?? item ?? of('8003') ?? of('8004') ?? all.join(GS), gs1: elements, warnings: [] }
}

const checkedAi = /^(00|01|02|03|41\d)$/

/** Digits in the application identifier, by its first two; absent: no such identifier. */
const aiDigits: Readonly<Record<string, number>> = Object.fromEntries([
  ...['00', '01', '02', '03', '04', '10', '11', '12', '13', '15', '16', '17', '20', '21', '22', '30', '37'].map((p) => [
    p,
    2,
  ]),
  ...['90', '91', '92', '93', '94', '95', '96', '97', '98', '99'].map((p) => [p, 2]),
  ...['23', '24', '25', '40', '41', '42', '71'].map((p) => [p, 3]),
  ...['31', '32', '33', '34', '35', '36', '39', '43', '70', '72', '80', '81', '82'].map((p) => [p, 4]),
])

/** Digits of the value where GS1 fixes it, by the identifier's first two; the others end at a GS or the end. */
const fixedDigits: Readonly<Record<string, number>> = Object.fromEntries([
  ...[
    ['00', 18],
    ['01', 14],
    ['02', 14],
    ['03', 14],
    ['04', 16],
    ['20', 2],
    ['41', 13],
  ],
  ...['11', '12', '13', '15', '16', '17', '31', '32', '33', '34', '35', '36'].map((p) => [p, 6]),
])

/** Invariant part of ISO 646 that GS1 allows (character set 82). */
const value82 = /^[!"%-?A-Z_a-z]{1,90}$/

function elementStrings(body: string): Map<string, string> | undefined {
  const elements = new Map<string, string>()
  let rest = body
  while (rest.length > 0) {
    const digits = aiDigits[rest.slice(0, 2)]
    const ai = digits ? rest.slice(0, digits) : ''
    if (!/^\d{2,4}$/.test(ai) || ai.length !== digits || elements.has(ai)) return undefined
    const value = fieldOf(ai, rest.slice(ai.length))
    if (!isValue(ai, value)) return undefined
    elements.set(ai, value)
    rest = rest.slice(ai.length + value.length).replace(/^\x1d/, '')
  }
  return elements.size > 0 ? elements : undefined
}

function fieldOf(ai: string, rest: string): string {
  const fixed = fixedDigits[ai.slice(0, 2)]
  if (fixed) return rest.slice(0, fixed)
  const end = rest.indexOf(GS)
  return end < 0 ? rest : rest.slice(0, end)
}

function isValue(ai: string, value: string): boolean {
  const fixed = fixedDigits[ai.slice(0, 2)]
  return fixed ? value.length === fixed && /^\d+$/.test(value) : value82.test(value)
}

/**
 * The element strings as a symbol carries them: a GS behind each value whose length the standard does not fix, unless
 * it is the last. What `readBarcode` reads back.
 */
export function elementText(elements: ReadonlyMap<string, string>): string {
  const all = [...elements]
  return all
    .map(([ai, value], i) => `${ai}${value}${fixedDigits[ai.slice(0, 2)] || i === all.length - 1 ? '' : GS}`)
    .join('')
}

/** The form that people read and type: `(00)340123450000000015(10)LOT7`. All of it, or it is none. */
function bracketed(body: string): Map<string, string> | undefined {
  if (!/^(?:\(\d{2,4}\)[^(]+)+$/.test(body)) return undefined
  const elements = new Map<string, string>()
  for (const [, ai, value] of body.matchAll(/\((\d{2,4})\)([^(]*)/g)) {
    if (!ai || value === undefined || aiDigits[ai.slice(0, 2)] !== ai.length || !isValue(ai, value) || elements.has(ai))
      return undefined
    elements.set(ai, value)
  }
  return elements.size > 0 ? elements : undefined
}

/** GS1 check digit of the digits that stand in front of it: weights 3 and 1 from the right. */
export function checkDigit(body: string): number {
  const sum = [...body].reduceRight(
    (total, digit, i) => total + Number(digit) * ((body.length - i) % 2 === 1 ? 3 : 1),
    0,
  )
  return (10 - (sum % 10)) % 10
}

/** Whether the last digit is the check digit of the others. */
export function hasCheckDigit(digits: string): boolean {
  return checkDigit(digits.slice(0, -1)) === Number(digits.at(-1))
}
