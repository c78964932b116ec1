import type { ReadTx, Tx, UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Ask, Caller, RequestOrigin } from '../../http/index.ts'
import type { AuditTrail } from '../../journal/index.ts'
import type { Clock } from '../../platform/index.ts'
import { type Barcode, explainBarcode, readBarcode } from '../barcodes/barcode.ts'
import { demandVersion, namedFields } from '../change.ts'
import { RowChanges } from '../row-changes.ts'
import type { AssetChange, NewAsset } from '../schema.ts'
import type { Sight, WarehouseSight } from '../sight.ts'
import type { SingleWrites } from '../single-writes.ts'
import * as assets from './assets.ts'
import { ledgerBarcode, settleKeys } from './keys.ts'
import * as store from './store.ts'

/** Returns whether an asset may be shown to a caller with this sight, by the ledger. */
export type AssetSight = (
  tx: ReadTx,
  asset: { readonly key: string; readonly provisional: boolean },
  sight: Sight,
) => boolean

type WarnedAsset = store.Asset & { warnings: ReturnType<typeof explainBarcode> }

/** Returns an asset with the warnings of its barcode as written. */
function withWarnings(asset: store.Asset, written = asset.asset_id): WarnedAsset {
  return { ...asset, warnings: explainBarcode(readBarcode(written)) }
}

const pathOf = ({ asset_id }: store.Asset) => `/api/whms/assets/${encodeURIComponent(asset_id)}`

type AssetServiceNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly audit: AuditTrail
  readonly writes: SingleWrites
  readonly sight: WarehouseSight
  readonly isSeen: AssetSight
}

/** Master data of assets, and the reading of their barcodes. It does not know where an asset is. */
export class AssetService {
  /** Changes that the head office must get soon; new assets are not among them. */
  readonly changes = new RowChanges()
  readonly #needs: AssetServiceNeeds

  constructor(needs: AssetServiceNeeds) {
    this.#needs = needs
  }

  create(asset: NewAsset, { by, claim }: Ask) {
    return this.#needs.writes.create(claim, pathOf, (tx) => withWarnings(this.register(tx, asset, by), asset.asset_id))
  }

  /** Registers an asset inside a transaction; a provisional one becomes registered. Throws ALREADY_EXISTS. */
  register(tx: Tx, asset: NewAsset, by: RequestOrigin): store.Asset {
    const made = assets.register(tx, asset, this.#needs.clock.now())
    if (made.version > 1) this.changes.add(made.id)
    this.#needs.audit.write(tx, by, { action: 'asset.registered', entity: 'asset', entityId: made.id })
    return made
  }

  /** Returns the asset of a barcode in any spelling. Throws NOT_FOUND, also when only hidden warehouses have seen it. */
  asset(barcode: string, caller: Caller): WarnedAsset {
    const asset = this.#needs.work.read((tx) => this.visible(tx, this.readBarcode(tx, barcode).key, caller))
    if (!asset) throw AppError.notFound('Asset')
    return withWarnings(asset)
  }

  /**
   * Changes the given fields and keeps the rest; values that are the same already change neither version nor audit trail. Sending
   * the type of a provisional asset registers it. `version` comes from If-Match. Throws NOT_FOUND, VERSION_MISMATCH,
   * VALIDATION_ERROR.
   */
  change(barcode: string, change: AssetChange, version: number | undefined, { by, claim }: Ask) {
    return this.#needs.writes.change(claim, (tx) => {
      const old = assets.assetOf(tx, barcode)
      demandVersion('asset', old, version)
      return withWarnings(this.amend(tx, old, change, by))
    })
  }

  /** Changes an asset as `change` does, inside a transaction. `old`: the asset as it is there. */
  amend(tx: Tx, old: store.Asset, { asset_id, ...changes }: AssetChange, by: RequestOrigin): store.Asset {
    if (asset_id !== undefined && readBarcode(asset_id).key !== readBarcode(old.asset_id).key)
      throw AppError.field('asset_id', 'cannot be changed')
    const changed = assets.change(tx, old, changes, this.#needs.clock.now())
    if (changed.length === 0) return old
    this.changes.add(old.id)
    this.#needs.audit.write(tx, by, {
      action: 'asset.updated',
      entity: 'asset',
      entityId: old.id,
      changes: namedFields(changes, changed),
    })
    return assets.assetOf(tx, old.asset_id)
  }

  /**
   * Reads a barcode. The key is the one in the ledger. An asset that the ledger knew before barcodes were read as they are now has
   * its older key.
   */
  readBarcode(tx: ReadTx, raw: string): Barcode {
    return ledgerBarcode(tx, raw)
  }

  /** Returns all keys of a barcode in the ledger: first the one in use, then older ones of the same asset. */
  keysOf(tx: ReadTx, raw: string): string[] {
    const { key } = ledgerBarcode(tx, raw)
    return [key, ...store.sameAs(tx, key)]
  }

  /** @param key as `readBarcode` gives it, or as an event has it */
  find(tx: ReadTx, key: string): store.Asset | undefined {
    return store.findAssetByKey(tx, key)
  }

  /** As `find`; also undefined when only warehouses that are hidden from the caller have seen it. */
  visible(tx: ReadTx, key: string, caller: Caller): store.Asset | undefined {
    const asset = this.find(tx, key)
    return asset && this.#needs.isSeen(tx, { ...asset, key }, this.#needs.sight.sightOf(caller)) ? asset : undefined
  }

  /** Stores a barcode first seen in an event, or the additions of this spelling to a known one. */
  note(tx: Tx, barcode: string, code: Barcode, known: store.Asset | undefined): void {
    const nowMs = this.#needs.clock.now()
    if (!known) assets.note(tx, barcode, code.key, nowMs)
    else if (assets.learn(tx, known, code, nowMs)) this.changes.add(known.id)
  }

  /** Reads keys and labels again that an older gateway has stored. Call once, before anything else. */
  readAnew(tx: Tx): void {
    settleKeys(tx)
    while (assets.readLabels(tx, this.#needs.clock.now())) {}
  }

  /** Returns the next `limit` assets of a filter after `afterId`, each with its key in events. */
  list(tx: ReadTx, filter: store.AssetFilter, afterId: number, limit: number) {
    return store.listAssets(tx, filter, afterId, limit)
  }

  /** Returns the ids of all assets of a filter that is only a range; undefined for other filters, see `list`. */
  idsInRange(tx: ReadTx, filter: store.AssetFilter): number[] | undefined {
    return store.idsInRange(tx, filter)
  }

  byId(tx: ReadTx, ids: readonly number[]) {
    return store.assetsById(tx, ids)
  }
}
