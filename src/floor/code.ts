import { hasCheckDigit, readBarcode } from '../warehouse/index.ts'

/** What a scanned code says of itself, before anybody looks for what it belongs to. */
export type Scanned = {
  /** As it was scanned. */
  readonly code: string
  readonly key: string
  readonly symbology: string | null
  readonly gs1: ReadonlyMap<string, string> | undefined
  /** 14 digits. */
  readonly gtin: string | null
  readonly warnings: ReturnType<typeof readBarcode>['warnings']
  /** What the label of a slot may be: the code, and the code without its prefix. */
  readonly labels: readonly string[]
  /** A slot named by its address, as our own labels may. */
  readonly slot: { readonly path: string; readonly byLabel: boolean } | undefined
}

const place = /\/slots\/([^/?#]+)$/
const goods = /\/assets\/([^/?#]+)$/

/** Pure. Reads plain codes, GS1 with or without an AIM prefix, GS1 Digital Links, and the addresses of this gateway. */
export function readCode(code: string): Scanned {
  const symbology = code.match(/^\][A-Za-z][0-9A-Za-z]/)?.[0] ?? null
  const text = symbology === null ? code : code.slice(symbology.length)
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  const { key, gs1, warnings } = readBarcode(
    (url && (digitalLink(url) ?? decoded(url.pathname.match(goods)?.[1]))) ?? code,
  )
  const slotPath = url && decoded(url.pathname.match(place)?.[1])
  return {
    code,
    key,
    symbology,
    gs1,
    gtin: gs1?.get('01') ?? gs1?.get('02') ?? tradeItem(key),
    warnings,
    labels: [...new Set([code, text, key])],
    slot: slotPath === undefined ? undefined : { path: slotPath, byLabel: url?.searchParams.get('by') === 'slot_id' },
  }
}

/** EAN-8, UPC-A, EAN-13 and ITF-14 say no more than this. */
function tradeItem(digits: string): string | null {
  return /^(\d{8}|\d{12,14})$/.test(digits) && hasCheckDigit(digits) ? digits.padStart(14, '0') : null
}

/** `https://id.gs1.org/00/340…`, on whatever host: the element strings in the form that people read. */
function digitalLink(url: URL): string | undefined {
  const parts = url.pathname.split('/').filter((part) => part !== '')
  const first = parts.findIndex((part) => /^(00|01|8003|8004)$/.test(part))
  const elements = first < 0 ? [] : parts.slice(first)
  if (elements.length === 0 || elements.length % 2 !== 0) return undefined
  const texts = elements.map((part, i) => (i % 2 === 0 ? `(${part})` : (decoded(part) ?? '')))
  return texts.join('')
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part)
  } catch {
    return undefined
  }
}
