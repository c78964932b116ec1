import { checkDigit } from './check-digit.ts'
import { type Elements, putElement } from './element-strings.ts'
import { findIdentifier } from './identifiers.ts'

/**
 * EPC URIs and their element strings. Source: GS1 EPC Tag Data Standard 2.1, sections 6.3, 7 and 12.
 * Each begins with a company prefix of 6 to 12 digits, so that the digits behind it fill up what is left of a number.
 */
type Scheme = {
  /** Number of parts between the dots; the last part may contain dots. */
  readonly parts: number
  /** Digits of company prefix and reference together. */
  readonly digits?: number
  readonly bits: readonly string[]
  readonly elements: (prefix: string, reference: string, ...more: string[]) => [string, string][]
}

/** The indicator or extension digit is first in the number, and first in the reference. */
const turned = (prefix: string, reference: string) => checked(`${reference.charAt(0)}${prefix}${reference.slice(1)}`)
const checked = (body: string) => `${body}${checkDigit(body)}`

const schemes: Readonly<Record<string, Scheme>> = {
  sgtin: {
    parts: 3,
    digits: 13,
    bits: ['96', '198'],
    elements: (prefix, item, serial = '') => [
      ['01', turned(prefix, item)],
      ['21', serial],
    ],
  },
  sscc: { parts: 2, digits: 17, bits: ['96'], elements: (prefix, serial) => [['00', turned(prefix, serial)]] },
  sgln: {
    parts: 3,
    digits: 12,
    bits: ['96', '195'],
    // 0 means a place without an extension.
    elements: (prefix, place, extension = '') => [
      ['414', checked(`${prefix}${place}`)],
      ...(extension === '0' ? [] : [['254', extension] satisfies [string, string]]),
    ],
  },
  grai: {
    parts: 3,
    digits: 12,
    bits: ['96', '170'],
    elements: (prefix, type, serial = '') => [['8003', serial && `0${checked(`${prefix}${type}`)}${serial}`]],
  },
  giai: { parts: 2, bits: ['96', '202'], elements: (prefix, asset) => [['8004', asset && `${prefix}${asset}`]] },
  gsrn: {
    parts: 2,
    digits: 17,
    bits: ['96'],
    elements: (prefix, service) => [['8018', checked(`${prefix}${service}`)]],
  },
  gsrnp: {
    parts: 2,
    digits: 17,
    bits: ['96'],
    elements: (prefix, service) => [['8017', checked(`${prefix}${service}`)]],
  },
  gdti: {
    parts: 3,
    digits: 12,
    bits: ['96', '113', '174'],
    elements: (prefix, type, serial = '') => [['253', serial && `${checked(`${prefix}${type}`)}${serial}`]],
  },
  sgcn: {
    parts: 3,
    digits: 12,
    bits: ['96'],
    elements: (prefix, coupon, serial = '') => [['255', serial && `${checked(`${prefix}${coupon}`)}${serial}`]],
  },
  cpi: {
    parts: 3,
    bits: ['96', 'var'],
    elements: (prefix, component, serial = '') => [
      ['8010', component && `${prefix}${component}`],
      ['8011', serial],
    ],
  },
  ginc: { parts: 2, bits: [], elements: (prefix, consignment) => [['401', consignment && `${prefix}${consignment}`]] },
  gsin: { parts: 2, digits: 16, bits: [], elements: (prefix, shipper) => [['402', checked(`${prefix}${shipper}`)]] },
  itip: {
    parts: 5,
    digits: 13,
    bits: ['110', '212'],
    elements: (prefix, item, piece = '', total = '', serial = '') => [
      ['8006', `${turned(prefix, item)}${piece}${total}`],
      ['21', serial],
    ],
  },
  upui: {
    parts: 3,
    digits: 13,
    bits: [],
    elements: (prefix, item, extension = '') => [
      ['01', turned(prefix, item)],
      ['235', extension],
    ],
  },
  pgln: { parts: 2, digits: 12, bits: [], elements: (prefix, party) => [['417', checked(`${prefix}${party}`)]] },
}

/** Batches and kinds of goods have separate URNs. */
const classes: Readonly<Record<string, Scheme>> = {
  lgtin: {
    parts: 3,
    digits: 13,
    bits: [],
    elements: (prefix, item, lot = '') => [
      ['01', turned(prefix, item)],
      ['10', lot],
    ],
  },
}
const patterns: Readonly<Record<string, Scheme>> = {
  sgtin: {
    parts: 3,
    digits: 13,
    bits: [],
    elements: (prefix, item, serial) => [['01', serial === '*' ? turned(prefix, item) : '']],
  },
}

const form = /^urn:epc:(id|class|idpat|tag):([a-z]+)(?:-(\w+))?:(.*)$/i

/**
 * Reads an EPC URI. Returns undefined for a scheme without a GS1 key, and for any other text. Its `elements` are undefined when the
 * scheme is known and the rest does not have its form.
 */
export function readEpc(urn: string): { readonly elements: Elements | undefined } | undefined {
  const [, kind = '', name = '', bits, rest = ''] = urn.match(form) ?? []
  const scheme = schemeOf(kind.toLowerCase(), name.toLowerCase())
  if (!scheme) return undefined
  if (kind.toLowerCase() !== 'tag') return { elements: bits === undefined ? elementsOf(scheme, rest) : undefined }
  const [, identity] = rest.match(/^[0-7]\.(.*)$/) ?? []
  const isTag = identity !== undefined && bits !== undefined && scheme.bits.includes(bits.toLowerCase())
  return { elements: isTag ? elementsOf(scheme, identity) : undefined }
}

function schemeOf(kind: string, name: string): Scheme | undefined {
  const known = kind === 'class' ? classes : kind === 'idpat' ? patterns : schemes
  return Object.hasOwn(known, name) ? known[name] : undefined
}

function elementsOf(scheme: Scheme, text: string): Elements | undefined {
  const parts = partsOf(text, scheme.parts)
  const [prefix, reference, ...more] = parts?.map(unescaped) ?? []
  if (prefix === undefined || reference === undefined || !/^\d{6,12}$/.test(prefix)) return undefined
  const { digits } = scheme
  if (digits !== undefined && (!/^\d*$/.test(reference) || prefix.length + reference.length !== digits))
    return undefined
  if (more.some((part) => part === undefined)) return undefined
  const elements = new Map<string, string>()
  const isPut = scheme
    .elements(prefix, reference, ...more.filter((part) => part !== undefined))
    .every(([id, value]) => {
      const identifier = findIdentifier(id)
      return identifier !== undefined && putElement(elements, identifier, value)
    })
  return isPut ? elements : undefined
}

function partsOf(text: string, count: number): string[] | undefined {
  const parts = text.split('.')
  if (parts.length < count) return undefined
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join('.')]
}

/** Returns the text unescaped; undefined when it contains a character that must be escaped. */
function unescaped(text: string): string | undefined {
  if (!/^(?:[A-Za-z0-9!'()*+,\-.:;=_]|%[0-9A-Fa-f]{2})*$/.test(text)) return undefined
  return text.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
