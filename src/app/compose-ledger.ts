import { ByteRate } from '../auth/index.ts'
import type { Config } from '../config/index.ts'
import { CountsService } from '../counts/index.ts'
import { DeviceService, Pairings } from '../devices/index.ts'
import { ExchangeService } from '../exchange/index.ts'
import { AssetList, Discrepancies, FloorService, Scanner } from '../floor/index.ts'
import { ImportService } from '../imports/index.ts'
import { Idempotency } from '../journal/index.ts'
import { LabelService, PrintWorker } from '../labels/index.ts'
import { Acts, assetIsSeen, Corrections, LedgerService, type OnRecorded, Recorder } from '../ledger/index.ts'
import { clearUploads, Photos, photosFolder, readPictureBytes } from '../photos/index.ts'
import { ScaleService } from '../scales/index.ts'
import { photoUse, UnitService } from '../units/index.ts'
import { photoUpload, type UploadQueue } from '../upload/index.ts'
import { AssetService, PlanImages, SingleWrites, WarehouseService, WarehouseSight } from '../warehouse/index.ts'
import type { ComposedCallers } from './compose-callers.ts'
import type { ComposedStorage } from './compose-storage.ts'
import type { Outside } from './outside.ts'

export type ComposedLedger = ReturnType<typeof composeLedger>

/** The rooms that record what happens in the warehouse, and those that say what is where. `onRecorded` hears each event. */
export function composeLedger(
  live: { config: Config },
  outside: Outside,
  storage: ComposedStorage,
  callers: ComposedCallers,
  onRecorded: OnRecorded,
  uploadQueue: UploadQueue,
) {
  const { clock, random, log } = outside
  const { dataDir } = live.config
  const { work, audit, people, openings, outbox, makeId, room } = storage
  const { names, siteUrl } = callers
  const warehouseId = () => live.config.site.warehouseId
  const labelSettings = () => ({ ...live.config.labels, printers: live.config.printers })

  const sight = new WarehouseSight({ work, narrowed: () => live.config.warehouses, names })
  const idempotency = new Idempotency({ clock, visibleTo: (tx, caller) => sight.visibleTo(tx, caller) })
  const writes = new SingleWrites({ work, idempotency })
  const warehouse = new WarehouseService({ work, clock, audit, writes, warehouseId, sight })
  const planImages = new PlanImages({ work, clock, audit, writes, warehouse, readPicture: readPictureBytes })
  const assets = new AssetService({ work, clock, audit, writes, sight, isSeen: assetIsSeen })
  storage.atOnce((tx) => {
    assets.readAnew(tx)
    warehouse.readAnew(tx)
  })
  clearUploads(photosFolder(dataDir))
  const photos = new Photos({
    ...{ work, clock, people, audit, idempotency, room, dataDir },
    rate: new ByteRate({ clock, bytesPerMinute: () => live.config.rateLimit.photoBytesPerMinute }),
    sightOf: (caller) => sight.sightOf(caller),
    useOf: photoUse,
    siteUrl: () => live.config.site.url,
    onKept: (tx, photo) => uploadQueue.enqueue(tx, photoUpload(tx, live.config.site.id, photo)),
  })
  const recorder = new Recorder({
    ...{
      clock,
      log: storage.logRoom,
      openings,
      people,
      head: storage.head,
      warehouse,
      assets,
      photos,
      outbox,
      audit,
      makeId,
    },
    clockIsTrusted: (nowMs) => storage.clockSync.isTrusted(nowMs),
    settings: () => ({ enforce: live.config.ledger.enforce, maxAgeMs: live.config.ledger.maxAge }),
    ...{ names, onRecorded },
  })
  const ledger = new LedgerService({
    ...{ work, recorder, warehouse, assets, idempotency, dataDir },
    evidenceStates: storage.evidenceStates,
  })
  const devices = new DeviceService({
    ...{ work, clock, random, audit, idempotency, warehouse, site: callers.site, isAccount: callers.isAccount },
    badgeKey: storage.derivedKey('gatehouse badges'),
    names: callers.deviceNames,
  })
  const units = new UnitService({
    ...{
      work,
      log: storage.logRoom,
      openings,
      people,
      recorder,
      warehouse,
      photos,
      outbox,
      audit,
      idempotency,
      makeId,
      dataDir,
    },
    stages: () => live.config.units.stages,
  })
  const printWorker = new PrintWorker({ work, clock, log, settings: labelSettings })
  return {
    ...{ idempotency, warehouse, planImages, assets, photos, recorder, ledger, units, printWorker },
    scales: new ScaleService({ work, people, recorder, warehouse, assets, units, outbox, audit, idempotency, makeId }),
    acts: new Acts({ work, recorder, warehouse, assets, idempotency }),
    corrections: new Corrections({ work, recorder, warehouse, assets, idempotency, audit }),
    imports: new ImportService({ work, warehouse, assets, ledger, audit, people, clock, room, dataDir, warehouseId }),
    counts: new CountsService({
      ...{ work, warehouse, assets, recorder, openings, people, audit, idempotency, random, warehouseId },
    }),
    devices,
    pairings: new Pairings({ clock, random, siteUrl, makeDevice: (device, ask) => devices.create(device, ask) }),
    floor: new FloorService({ work, warehouse, assets, idempotency }),
    scanner: new Scanner({
      work,
      warehouse,
      assets,
      resolvers: [(tx, { code }, caller) => units.matches(tx, code, caller)],
    }),
    discrepancies: new Discrepancies({ work, warehouse, assets }),
    assetList: new AssetList({ work, warehouse, assets }),
    exchange: new ExchangeService({ work, warehouse, assets, clock, siteUrl }),
    labels: new LabelService({
      ...{ work, clock, warehouse, assets, people, audit, idempotency, settings: labelSettings },
      onQueued: () => printWorker.wake(),
    }),
  }
}
