import { readBarcode, symbologyOf } from './barcodes/barcode.ts'
import { decodedSegment } from './barcodes/matched-text.ts'

/** The possible labels and the address of a slot in a scan, before the slot is looked up. */
export type SlotCode = {
  /** Possible labels: the code, and the code without its prefix. */
  readonly labels: readonly string[]
  /** A slot named by its address at a gateway, as our own labels may. */
  readonly address: { readonly path: string; readonly byLabel: boolean } | undefined
}

const place = /^https?:\/\/.*\/slots\/([^/?#]+)(?:\?([^#]*))?$/i

/** Reads a scan as a slot label or slot address. Pure; never throws. */
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
