import { readBarcode, symbologyOf } from './barcode.ts'
import { decodedSegment } from './matched-text.ts'

/** What a scan may mean as a slot, before anybody looks which one. */
export type SlotCode = {
  /** What its label may be: the code, and the code without its prefix. */
  readonly labels: readonly string[]
  /** A slot named by its address at a gateway, as our own labels may. */
  readonly address: { readonly path: string; readonly byLabel: boolean } | undefined
}

const place = /^https?:\/\/.*\/slots\/([^/?#]+)(?:\?([^#]*))?$/i

/** Pure; never throws. */
export function readSlotCode(raw: string): SlotCode {
  const symbology = symbologyOf(raw)
  const text = symbology === undefined ? raw : raw.slice(raw.indexOf(symbology) + symbology.length)
  const [, segment, query] = text.match(place) ?? []
  const path = segment === undefined ? undefined : decodedSegment(segment)
  const byLabel = new URLSearchParams(query).get('by') === 'slot_id'
  return {
    labels: [...new Set([raw, text, readBarcode(raw).key])],
    address: path === undefined ? undefined : { path, byLabel },
  }
}
