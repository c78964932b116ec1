import type { ReadTx, UnitOfWork } from '../database/index.ts'
import type { Caller } from '../http/index.ts'
import { explain, slotState } from '../ledger/index.ts'
import {
  type AssetService,
  type Barcode,
  gtin14,
  type Slot,
  symbologyOf,
  type WarehouseService,
} from '../warehouse/index.ts'
import { placeOf } from './place.ts'
import type { ReadCode, ScanMatch } from './scan-schema.ts'

/** A scanned code. */
type Scanned = { readonly code: string }

/** Finds a scanned code in another room; returns nothing when it is unknown there or hidden from the caller. */
export type ScanResolver = (
  tx: ReadTx,
  scanned: Scanned,
  caller: Caller,
) => ScanMatch | readonly ScanMatch[] | undefined

type ScannerNeeds = {
  work: UnitOfWork
  warehouse: WarehouseService
  assets: AssetService
  /** Those of rooms that this one does not import, in the order of their matches. */
  resolvers: readonly ScanResolver[]
}

/** Finds what a code is: a slot, an asset, or a thing of another room. */
export class Scanner {
  readonly #needs: ScannerNeeds

  constructor(needs: ScannerNeeds) {
    this.#needs = needs
  }

  /** Returns everything that the code may mean now; slots first, because a label is fixed to one place. */
  scan(code: string, caller: Caller) {
    const scanned = { code }
    const ways: readonly ScanResolver[] = [this.#slot, this.#asset, ...this.#needs.resolvers]
    return this.#needs.work.read((tx) => {
      const matches = ways.flatMap((way) => way(tx, scanned, caller) ?? [])
      const barcode = readCode(this.#needs.assets.readBarcode(tx, code), symbologyOf(code) ?? null)
      return { code, kind: matches[0]?.kind ?? 'unknown', barcode, matches }
    })
  }

  readonly #slot: ScanResolver = (tx, { code }, caller) => {
    const named = this.#needs.warehouse.slotScanned(tx, code)
    const slot = named && this.#needs.warehouse.visibleSlot(tx, named.id, caller)
    return slot && { kind: 'slot', id: slot.id, path: `/api/whms/slots/${slot.id}`, slot: this.#inUse(tx, slot) }
  }

  readonly #asset: ScanResolver = (tx, { code }, caller) => {
    const { key } = this.#needs.assets.readBarcode(tx, code)
    const asset = this.#needs.assets.visible(tx, key, caller)
    if (!asset) return undefined
    const location = placeOf(tx, this.#needs.warehouse, { key, caller }, (slot) => this.#inUse(tx, slot))
    const path = `/api/whms/assets/${encodeURIComponent(asset.asset_id)}`
    return { kind: 'asset', id: asset.id, path, asset, location }
  }

  #inUse(tx: ReadTx, slot: Slot) {
    return { ...slot, ...slotState(tx, slot.id) }
  }
}

function readCode({ key, gs1, gtin, warnings }: Barcode, symbology: string | null): ReadCode {
  const of = (identifier: string) => gs1?.get(identifier) ?? null
  return {
    key,
    symbology,
    gs1: gs1 ? Object.fromEntries(gs1) : null,
    sscc: of('00'),
    // EAN-8, UPC-A, EAN-13 and ITF-14 contain only this.
    gtin: of('01') ?? of('02') ?? gtin ?? gtin14(key) ?? null,
    lot: of('10'),
    serial: of('21'),
    warnings: explain(warnings),
  }
}
