import type { ReadTx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'
import { assetLocation, explain, slotIdOf, slotState } from '../ledger/index.ts'
import type { Slot, WarehouseService } from '../warehouse/index.ts'
import { isoTime } from '../world/index.ts'
import { readCode, type Scanned } from './code.ts'
import type { ReadCode, ScanMatch } from './scan-schema.ts'

/** Looks a scanned code up in another room; undefined or nothing when it is nothing there, or nothing for this caller. */
export type ScanResolver = (
  tx: ReadTx,
  scanned: Scanned,
  caller: Caller,
) => ScanMatch | readonly ScanMatch[] | undefined

/** What a code is: a slot, an asset, or what another room knows. */
export class Scanner {
  readonly #work: UnitOfWork
  readonly #warehouse: WarehouseService
  readonly #resolvers: readonly ScanResolver[]

  /** @param options.resolvers of the rooms that this one does not know, in the order in which they answer */
  constructor(options: { work: UnitOfWork; warehouse: WarehouseService; resolvers: readonly ScanResolver[] }) {
    this.#work = options.work
    this.#warehouse = options.warehouse
    this.#resolvers = options.resolvers
  }

  /** Everything that the code may mean, as it is now; slots first, for a label is stuck to one place. */
  scan(code: string, caller: Caller) {
    const scanned = readCode(code)
    const ways: readonly ScanResolver[] = [this.#slot, this.#asset, ...this.#resolvers]
    const matches = this.#work.read((tx) => ways.flatMap((way) => way(tx, scanned, caller) ?? []))
    return { code, kind: matches[0]?.kind ?? 'unknown', barcode: told(scanned), matches }
  }

  readonly #slot: ScanResolver = (tx, { labels, slot: named }, caller) => {
    const slot = named ? this.#slotAt(tx, named, caller) : this.#slotLabelled(tx, labels, caller)
    return slot && { kind: 'slot', id: slot.id, path: `/api/whms/slots/${slot.id}`, slot: this.#inUse(tx, slot) }
  }

  readonly #asset: ScanResolver = (tx, { key }, caller) => {
    const asset = this.#warehouse.visibleAsset(tx, key, caller)
    if (!asset) return undefined
    const { slotId, since, decidedInSlot } = assetLocation(tx, key, this.#warehouse.sightOf(caller))
    const slot = decidedInSlot === null ? undefined : this.#warehouse.visibleSlot(tx, decidedInSlot, caller)
    const path = `/api/whms/assets/${encodeURIComponent(asset.asset_id)}`
    const isHidden = decidedInSlot !== null && !slot
    const stands = slot && slotId !== null ? this.#inUse(tx, slot) : null
    const location = isHidden ? null : { slot: stands, since: since === null ? null : isoTime(since) }
    return { kind: 'asset', id: asset.id, path, asset, location }
  }

  #slotLabelled(tx: ReadTx, labels: readonly string[], caller: Caller): Slot | undefined {
    const ids = labels.flatMap((label) => slotIdOf(tx, label) ?? [])
    return ids[0] === undefined ? undefined : this.#warehouse.visibleSlot(tx, ids[0], caller)
  }

  #slotAt(tx: ReadTx, { path, byLabel }: { path: string; byLabel: boolean }, caller: Caller): Slot | undefined {
    try {
      return this.#warehouse.slotByPath(tx, path, byLabel, caller)
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
      throw error
    }
  }

  #inUse(tx: ReadTx, slot: Slot) {
    return { ...slot, ...slotState(tx, slot.id) }
  }
}

function told({ key, symbology, gs1, gtin, warnings }: Scanned): ReadCode {
  const of = (identifier: string) => gs1?.get(identifier) ?? null
  return {
    key,
    symbology,
    gs1: gs1 ? Object.fromEntries(gs1) : null,
    sscc: of('00'),
    gtin,
    lot: of('10'),
    serial: of('21'),
    warnings: explain(warnings),
  }
}
