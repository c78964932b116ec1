import { hasCheckDigit } from './check-digit.ts'
import { isAddress, isOfGs1, readLink } from './digital-link.ts'
import { bracketedElements, contradictThemselves, cutElements, type Elements, faultOf, GS } from './element-strings.ts'
import { readEpc } from './epc.ts'
import { decodedSegment, matchedText } from './matched-text.ts'

/**
 * Meaning of a scanned code. The raw text is stored and shown; the key is matched. So one pallet is one pallet whatever prefix its
 * reader sends and whichever form its number has.
 */
export type Barcode = {
  /** Key that this text is matched by; the ledger may know the same pallet by an older one, see `WarehouseService`. */
  readonly key: string
  /** Element strings by application identifier, when the code is GS1. */
  readonly gs1: Elements | undefined
  /** 14 digits, when the reader reports the EAN or UPC symbol of an item. */
  readonly gtin?: string | undefined
  readonly warnings: readonly BarcodeWarning[]
}

export type BarcodeWarning = 'BARCODE_CHECK_DIGIT' | 'BARCODE_NOT_GS1' | 'BARCODE_AGAINST_GS1'

/** The sentence of each warning, for the person with the scanner. */
export const barcodeWarningText = {
  BARCODE_CHECK_DIGIT: 'the check digit of the barcode is wrong',
  BARCODE_NOT_GS1: 'the barcode says that it is GS1, but cannot be read as such',
  BARCODE_AGAINST_GS1:
    'the barcode breaks a rule of GS1, such as a date that does not exist or a value that is too long',
} as const satisfies Record<BarcodeWarning, string>

export const barcodeWarnings = Object.keys(barcodeWarningText) as [BarcodeWarning, ...BarcodeWarning[]]

export function explainBarcode({ warnings }: Barcode): { code: BarcodeWarning; message: string }[] {
  return warnings.map((code) => ({ code, message: barcodeWarningText[code] }))
}

const aimPrefix = /\][A-Za-z][0-9A-Za-z]/g
/** The front of a code: the prefix of its symbology, seldom more than one, with FNC1 as GS around it. */
const front = /^(?:[\x1d\s]*\][A-Za-z][0-9A-Za-z])*[\x1d\s]*/
/** GS1-128, GS1 DataBar and composite, GS1 DataMatrix, GS1 QR, GS1 DotCode. */
const gs1Prefixes = new Set([']C1', ']e0', ']e1', ']e2', ']d2', ']Q3', ']J1'])
/** EAN-13 and UPC (always read as 13 digits), EAN-8: their 8, 12 or 13 digits are a GTIN. */
const eanPrefixes = new Set([']E0', ']E4'])

/** Returns the symbology that a scanner sends in front of a code: `]C1`; undefined where it sends none. */
export const symbologyOf = (raw: string): string | undefined => splitFront(matchedText(raw)).prefixes[0]

/**
 * Reads a code as a scanner, a phone, another system or a person gives it. Pure; never throws.
 *
 * 1. Plain text: no symbology prefix, NFC, trimmed.
 * 2. GS1, when the text is marked so. The mark is the prefix, FNC1 as a GS in front or within, brackets, or the address of a
 *    Digital Link. An EPC URN, or 20 digits that are an SSCC, count too. The address of an asset at a gateway is the barcode that
 *    it names.
 * 3. Text that is marked as GS1 but cannot be read so is plain text with a warning; nothing of it is dropped.
 */
export function readBarcode(raw: string): Barcode {
  return readText(raw, assetAddress(raw))
}

function readText(raw: string, asset: string | undefined): Barcode {
  if (asset !== undefined) return readText(asset, undefined)
  const text = matchedText(raw)
  const { prefixes, hasFnc1, rest } = splitFront(text)
  // A prefix with nothing behind it is itself the text to match.
  const body = rest.replace(/[\x1d\s]+$/, '') || text
  if (/^\(\d{2,4}\)/.test(body)) return ofElements(body, bracketedElements(body))
  // Before the prefixes: a label of plain text carries its key, which must read as itself.
  if (isAddress(body)) return ofAddress(body)
  if (/^urn:epc:/i.test(body)) return ofUrn(body)
  if (hasFnc1 || prefixes.some((prefix) => gs1Prefixes.has(prefix))) return ofElements(body, cutElements(body))
  if (prefixes.some((prefix) => eanPrefixes.has(prefix)) && /^(\d{8}|\d{12,13})$/.test(body)) return ofItem(body)
  if (/^00\d{18}$/.test(body) || body.includes(GS)) return ofElements(body, cutElements(body))
  return plain(body)
}

function splitFront(text: string): { prefixes: readonly string[]; hasFnc1: boolean; rest: string } {
  const before = text.match(front)?.[0] ?? ''
  return { prefixes: before.match(aimPrefix) ?? [], hasFnc1: before.includes(GS), rest: text.slice(before.length) }
}

function plain(key: string, ...warnings: BarcodeWarning[]): Barcode {
  return { key, gs1: undefined, warnings }
}

/** A wrong check digit in the key leaves the text plain, so that a misread digit makes no other pallet. */
function ofElements(body: string, elements: Elements | undefined): Barcode {
  if (!elements) return plain(body, 'BARCODE_NOT_GS1')
  const faults = new Map([...elements].map(([id, value]) => [id, faultOf(id, value)]))
  const identity = keyIdentifiers(elements)
  if (identity.some((id) => faults.get(id) === 'check digit')) return plain(body, 'BARCODE_CHECK_DIGIT')
  const found = [...faults.values()]
  const isAgainst = found.includes('rule') || contradictThemselves(elements)
  return {
    key: keyOf(elements, identity),
    gs1: elements,
    warnings: [
      ...(found.includes('check digit') ? (['BARCODE_CHECK_DIGIT'] as const) : []),
      ...(isAgainst ? (['BARCODE_AGAINST_GS1'] as const) : []),
    ],
  }
}

/** An address is GS1 only when it follows all rules, because other addresses have numbers in their paths too. */
function ofAddress(address: string): Barcode {
  const { elements, key } = readLink(address)
  if (elements && !hasFault(elements, 'rule') && !contradictThemselves(elements) && !hasFault(elements, 'check digit'))
    return ofElements(address, elements)
  if (key && (faultOf(...key) === 'check digit' || (elements && hasFault(elements, 'check digit'))))
    return plain(address, 'BARCODE_CHECK_DIGIT')
  const claims = isOfGs1(address) || (key !== undefined && faultOf(...key) === undefined)
  return claims ? plain(address, 'BARCODE_NOT_GS1') : plain(address)
}

function ofUrn(urn: string): Barcode {
  const epc = readEpc(urn)
  if (!epc) return plain(urn)
  const isSound = epc.elements && !hasFault(epc.elements, 'rule')
  return isSound ? ofElements(urn, epc.elements) : plain(urn, 'BARCODE_NOT_GS1')
}

const hasFault = (elements: Elements, fault: 'check digit' | 'rule') =>
  [...elements].some(([id, value]) => faultOf(id, value) === fault)

function ofItem(digits: string): Barcode {
  return hasCheckDigit(digits)
    ? { ...plain(digits), gtin: digits.padStart(14, '0') }
    : plain(digits, 'BARCODE_CHECK_DIGIT')
}

/**
 * The identifiers that name one thing, the strongest first. A logistic unit is its SSCC. An item, or a piece of one, is its GTIN
 * with a serial (its own or a third party's). A returnable or an individual asset is its own number. A component is its part number
 * with serial.
 */
const identities = [['00'], ['01', '21'], ['01', '235'], ['8006', '21'], ['8003'], ['8004'], ['8010', '8011']] as const

/** Returns the identifiers that make the key; all of them where the label names no single thing. */
function keyIdentifiers(elements: Elements): readonly string[] {
  return identities.find((ids) => ids.every((id) => elements.has(id))) ?? [...elements.keys()]
}

/** Returns the key of the elements. It must never change for the same elements, because keys are in the log. */
function keyOf(elements: Elements, ids: readonly string[]): string {
  const texts = ids.map((id) => `${id}${elements.get(id) ?? ''}`)
  const isThing = identities.some(
    (identity) => identity.every((id, i) => ids[i] === id) && identity.length === ids.length,
  )
  return isThing ? texts.join('') : texts.sort().join(GS)
}

const assetPath = /^https?:\/\/[^/?#]+(?:\/[^?#]*)?\/api\/whms\/assets\/([^/?#]+)$/i

/** Returns the barcode of an asset that is named by its address at a gateway, as labels and exports do; undefined otherwise. */
function assetAddress(raw: string): string | undefined {
  const text = matchedText(raw)
  const encoded = splitFront(text).rest.match(assetPath)?.[1]
  const asset = encoded === undefined ? undefined : decodedSegment(encoded)
  return asset?.trim() ? asset : undefined
}
