import { type Asset, readBarcode, type Slot } from '../warehouse/index.ts'
import type { LabelContent } from './layout.ts'
import { symbolsFor } from './symbol.ts'

const GS = '\x1d'

export function slotContent(slot: Slot, warehouseName: string): LabelContent {
  return {
    title: slot.slot_id,
    lines: [slot.zone, warehouseName],
    readable: slot.slot_id,
    // A slot's label is what was written, whatever a reader would make of it: scans name it by its text.
    symbols: symbolsFor(slot.slot_id, { gs1: undefined, key: slot.slot_id }),
  }
}

export function assetContent(asset: Asset): LabelContent {
  const code = readBarcode(asset.asset_id)
  const readable = code.gs1
    ? [...code.gs1].map(([ai, value]) => `(${ai})${value}`).join('')
    : code.key.replaceAll(GS, ' ')
  const facts: [string, string | null][] = [
    ['SSCC', asset.sscc],
    ['GTIN', asset.gtin],
    ['LOT', asset.lot],
    ['BEST BEFORE', asset.bestBefore],
    ['SERIAL', asset.serial],
  ]
  return {
    title: asset.sscc ?? asset.serial ?? readable,
    lines: [
      ...(asset.type ? [asset.type] : []),
      ...facts.filter(([, value]) => value !== null).map(([name, value]) => `${name} ${value}`),
    ],
    readable,
    symbols: symbolsFor(asset.asset_id, code),
  }
}
