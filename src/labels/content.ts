import { type Asset, GS, readBarcode, type Slot } from '../warehouse/index.ts'
import type { LabelContent } from './layout.ts'
import { symbolsFor } from './symbol.ts'

export function slotContent(slot: Slot, warehouseName: string): LabelContent {
  return {
    title: slot.slot_id,
    lines: [slot.zone, warehouseName],
    readable: slot.slot_id,
    // The code of a slot is its label as written: scans name a slot by its text.
    symbols: symbolsFor(slot.slot_id, { gs1: undefined, key: slot.slot_id }),
  }
}

export function assetContent(asset: Asset): LabelContent {
  const code = readBarcode(asset.asset_id)
  const readable = code.gs1
    ? [...code.gs1].map(([ai, value]) => `(${ai})${value}`).join('')
    : code.key.replaceAll(GS, ' ')
  const fact = (name: string, value: string | null) => (value === null ? [] : [`${name} ${value}`])
  return {
    title: asset.sscc ?? asset.serial ?? readable,
    // The most important first: on a small label the last ones have no room.
    lines: [
      [...fact('LOT', asset.lot), ...fact('BEST BEFORE', asset.bestBefore)].join('   '),
      ...fact('GTIN', asset.gtin),
      ...(asset.sscc === null ? [] : fact('SERIAL', asset.serial)),
      asset.type ?? '',
    ].filter((line) => line !== ''),
    readable,
    symbols: symbolsFor(asset.asset_id, code),
  }
}
