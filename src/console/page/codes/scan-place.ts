import { decoded } from '../data/parsing.ts'
import type { ScanAnswer } from '../data/shapes.ts'
import type { CheckedScan } from './code-check.ts'
import { scanFieldTexts as texts } from './scan-field-texts.ts'

/** Target of a scanned text: a code to look up, or a view of this console. */
export type Wanted = { readonly code: string } | { readonly view: string }

/**
 * Reads a scanned text. The address of a view at one of these origins gives that view; that of a pallet's page gives its
 * code. Everything else is a code, also a foreign address: the page never leaves its gateway for a label.
 */
export function wantedBy(text: string, origins: readonly string[]): Wanted {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !origins.includes(url.origin)) return { code: text }
  const [, code] = /^\/find\/([^/]+)$/.exec(url.pathname) ?? []
  if (code !== undefined) return { code: decoded(code) }
  const isView =
    ['/', '/todo', '/verify'].includes(url.pathname) || /^\/(find|cameras|pair)(\/[^/]*)?$/.test(url.pathname)
  return isView ? { view: url.pathname + url.search } : { code: text }
}

/** Returns the view for the result of a code: a slot is shown on the floor, everything else on its own page. */
export function placeOf({ code, matches }: ScanAnswer): string {
  const [first] = matches
  if (first?.kind === 'slot') return `/?slot=${first.id}`
  return `/find/${encodeURIComponent(first?.asset?.asset_id ?? code)}`
}

/** Returns the result of a code as one line. */
export function foundWords({ code, matches, barcode }: ScanAnswer): string {
  const [first] = matches
  if (first?.slot && first.kind === 'slot') {
    const { slot_id, assetBarcode } = first.slot
    return texts.slot(slot_id, assetBarcode)
  }
  if (first?.kind === 'asset') {
    const slot = first.location?.slot
    const place = slot ? texts.inSlot(slot.slot_id) : first.location?.since ? texts.notInSlot : texts.noPlace
    return texts.pallet(first.asset?.asset_id ?? code, place)
  }
  if (first?.kind === 'transport_unit') return texts.unit(String(first.resource?.['reference'] ?? code))
  return barcode.gs1 === null
    ? texts.unknown(printable(code))
    : texts.unknownButRead(printable(code), decodedWords(barcode.gs1))
}

/** Returns texts that may have been taken for codes before this scan showed that they are parts of one. */
export const partsOf = (scan: CheckedScan, parts: readonly string[]): readonly string[] =>
  scan.kind === 'torn' ? scan.parts.slice(0, -1) : parts

/** Says why a scan was not taken. */
export const notTakenWords = (scan: Exclude<CheckedScan, { kind: 'code' }>): string =>
  scan.kind === 'torn' ? texts.torn(scan.parts.map(printable).join(' · ')) : texts.faulty(printable(scan.code))

/** Lists the element strings of a GS1 code with the names that people know. */
export const decodedWords = (gs1: Readonly<Record<string, string>>): string =>
  // An object lists keys such as 10 before 01.
  Object.entries(gs1)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([id, value]) => `${texts.identifiers[id] ?? `(${id})`} ${value}`)
    .join(', ')

/** Shows the characters that a screen does not: the separator of GS1 as ␝, others as a box. */
export const printable = (code: string): string =>
  code.replaceAll('\x1d', '␝').replaceAll(/[\0-\x1c\x1e\x1f\x7f]/g, '▯')
