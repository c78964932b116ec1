import { type ConfiguredCameras, cameraOfDetection } from '../cameras/index.ts'
import { warehouseOfCount } from '../counts/index.ts'
import type { ReadTx } from '../database/index.ts'
import { type Caller, numericPath } from '../http/index.ts'
import { listIsHidden } from '../imports/index.ts'
import type { AuditEntity } from '../journal/index.ts'
import { findJobRow } from '../labels/index.ts'
import { warehouseOfEvent } from '../ledger/index.ts'
import type { Photos } from '../photos/index.ts'
import {
  type AssetService,
  assetKeyOf,
  type WarehouseService,
  warehouseOfSlotId,
  warehouseOfZone,
} from '../warehouse/index.ts'
import { warehouseOfIncident } from './incident-store.ts'
import { findReport } from './report-store.ts'

/** Kinds of entities in the trail, by the API's names. */
export const auditEntities = [
  'warehouse',
  'zone',
  'slot',
  'asset',
  'event',
  'transport_unit',
  'scale_reading',
  'camera',
  'detection_event',
  'incident',
  'report',
  'webhook',
  'alert',
  'caller',
  'config',
  'clock',
  'photo',
  'upload',
  'print_job',
  'opening_list',
  'count',
] as const satisfies readonly AuditEntity[]

/** Says whether a caller may know of the thing with this id. */
type Rule = (tx: ReadTx, id: string, caller: Caller) => boolean

/** Returns the warehouse of a thing of a room that this one does not import; undefined for an unknown thing. */
export type Whereabouts = (tx: ReadTx, id: string) => number | undefined

export type SightNeeds = {
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly cameras: ConfiguredCameras
  readonly photos: Pick<Photos, 'isVisible'>
  /** Finds transport units and scale readings, where there are any. */
  readonly elsewhere?: Partial<Record<'transport_unit' | 'scale_reading', Whereabouts>>
}

const everybody: Rule = () => true

/**
 * Decides what a caller sees in the audit trail, incidents and reports. It hides everything in hidden warehouses, and cameras that
 * the caller may not see.
 */
export class Sight {
  readonly #needs: SightNeeds
  readonly #rules: Readonly<Record<AuditEntity, Rule>>

  constructor(needs: SightNeeds) {
    this.#needs = needs
    this.#rules = this.#rulesOf(needs)
  }

  #rulesOf({ warehouse, assets, photos, elsewhere = {} }: SightNeeds): Readonly<Record<AuditEntity, Rule>> {
    const inWarehouse =
      (where: Whereabouts): Rule =>
      (tx, id, caller) => {
        const warehouseId = where(tx, id)
        return warehouseId === undefined || warehouse.isVisible(caller, warehouseId)
      }
    const numbered = (where: (tx: ReadTx, id: number) => number | undefined) =>
      inWarehouse((tx, id) => {
        const number = numericPath(id)
        return number === undefined ? undefined : where(tx, number)
      })
    return {
      warehouse: inWarehouse((_, id) => numericPath(id)),
      zone: numbered(warehouseOfZone),
      slot: numbered(warehouseOfSlotId),
      event: numbered(warehouseOfEvent),
      incident: numbered(warehouseOfIncident),
      report: (tx, id, caller) => this.mayKnowAll(caller, warehousesOfReport(tx, id)),
      camera: (_, id, caller) => this.mayKnowCamera(caller, numericPath(id)),
      detection_event: (tx, id, caller) => this.mayKnowCamera(caller, cameraOf(tx, id)),
      transport_unit: elsewhere.transport_unit ? inWarehouse(elsewhere.transport_unit) : everybody,
      scale_reading: elsewhere.scale_reading ? inWarehouse(elsewhere.scale_reading) : everybody,
      asset: (tx, id, caller) => assetMayBeKnown(tx, id, caller, assets),
      photo: (tx, id, caller) => photos.isVisible(tx, id, caller),
      upload: (_tx, _id, caller) => caller.permissions.has('storage:read'),
      print_job: (tx, id, caller) => jobMayBeKnown(tx, id, caller, warehouse, assets),
      opening_list: (tx, id, caller) => !listIsHidden(tx, id, warehouse.sightOf(caller)),
      count: numbered(warehouseOfCount),
      webhook: everybody,
      alert: everybody,
      caller: everybody,
      config: everybody,
      clock: everybody,
    }
  }

  mayKnow(tx: ReadTx, entity: AuditEntity, id: string | null, caller: Caller): boolean {
    if (caller.role === 'admin') return true
    if (id !== null) return this.#rules[entity](tx, id, caller)
    // A list of slots or assets, whose warehouses are not recorded.
    return (entity !== 'slot' && entity !== 'asset') || this.#needs.warehouse.hiddenFrom(caller).length === 0
  }

  /** Says whether the caller may know of a camera. Undefined (an unknown detection) may be known. */
  mayKnowCamera(caller: Caller, cctvId: number | undefined): boolean {
    return cctvId === undefined || caller.role === 'admin' || this.#needs.cameras.isVisible(cctvId, caller)
  }

  mayKnowAll(caller: Caller, warehouses: readonly number[]): boolean {
    return warehouses.every((id) => this.#needs.warehouse.isVisible(caller, id))
  }
}

function assetMayBeKnown(tx: ReadTx, id: string, caller: Caller, assets: AssetService): boolean {
  const key = assetKeyOf(tx, numericPath(id) ?? 0)
  return key === undefined || assets.visible(tx, key, caller) !== undefined
}

/** Says whether a caller may know of a print job: by the slot's warehouse, or by the pallet. */
function jobMayBeKnown(
  tx: ReadTx,
  id: string,
  caller: Caller,
  warehouse: WarehouseService,
  assets: AssetService,
): boolean {
  const job = findJobRow(tx, numericPath(id) ?? 0)
  if (!job) return true
  if (job.warehouse_id !== null) return warehouse.isVisible(caller, job.warehouse_id)
  return job.entity !== 'asset' || assetMayBeKnown(tx, String(job.entity_id), caller, assets)
}

function cameraOf(tx: ReadTx, id: string): number | undefined {
  const number = numericPath(id)
  return number === undefined ? undefined : cameraOfDetection(tx, number)
}

function warehousesOfReport(tx: ReadTx, id: string): number[] {
  const row = findReport(tx, numericPath(id) ?? 0)
  return row ? (JSON.parse(row.warehouses) as number[]) : []
}
