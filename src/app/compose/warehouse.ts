import { ByteRate } from '../../auth/index.ts'
import type { Config } from '../../config/index.ts'
import { Idempotency } from '../../journal/index.ts'
import { assetIsSeen } from '../../ledger/index.ts'
import { clearUploads, Photos, photosFolder, readPictureBytes } from '../../photos/index.ts'
import { photoUse } from '../../units/index.ts'
import { photoUpload, type UploadQueue } from '../../upload/index.ts'
import { AssetService, PlanImages, SingleWrites, WarehouseService, WarehouseSight } from '../../warehouse/index.ts'
import type { Outside } from '../outside.ts'
import type { ComposedCallers } from './callers.ts'
import type { ComposedStorage } from './storage.ts'

export type ComposedWarehouse = ReturnType<typeof composeWarehouse>

/** Builds slots, assets and photos, which all facts of the warehouse refer to, and their visibility rules. */
export function composeWarehouse(
  live: { config: Config },
  { clock }: Outside,
  { work, audit, people, room, atOnce }: ComposedStorage,
  { names }: ComposedCallers,
  uploadQueue: UploadQueue,
) {
  const { dataDir } = live.config
  const warehouseId = () => live.config.site.warehouseId
  const sight = new WarehouseSight({ work, narrowed: () => live.config.warehouses, names })
  const idempotency = new Idempotency({ clock, visibleTo: (tx, caller) => sight.visibleTo(tx, caller) })
  const writes = new SingleWrites({ work, idempotency })
  const warehouse = new WarehouseService({ work, clock, audit, writes, warehouseId, sight })
  const planImages = new PlanImages({ work, clock, audit, writes, warehouse, readPicture: readPictureBytes })
  const assets = new AssetService({ work, clock, audit, writes, sight, isSeen: assetIsSeen })
  atOnce((tx) => {
    assets.readAnew(tx)
    warehouse.readAnew(tx)
  })
  clearUploads(photosFolder(dataDir))
  const photos = new Photos({
    work,
    clock,
    people,
    audit,
    idempotency,
    room,
    dataDir,
    rate: new ByteRate({ clock, bytesPerMinute: () => live.config.rateLimit.photoBytesPerMinute }),
    sightOf: (caller) => sight.sightOf(caller),
    useOf: photoUse,
    siteUrl: () => live.config.site.url,
    onKept: (tx, photo) => uploadQueue.enqueue(tx, photoUpload(tx, live.config.site.id, photo)),
  })
  return { idempotency, warehouse, planImages, assets, photos }
}
