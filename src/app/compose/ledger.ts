import { removeSubscriptionsOf } from '../../alerting/index.ts'
import { filmsAround, maySee } from '../../cameras/index.ts'
import type { Config } from '../../config/index.ts'
import { CountsService } from '../../counts/index.ts'
import { DeviceService, Pairings } from '../../devices/index.ts'
import { ExchangeService } from '../../exchange/index.ts'
import { AssetList, Discrepancies, FloorService, ResolvedDisputes, Scanner } from '../../floor/index.ts'
import { ImportService } from '../../imports/index.ts'
import { LabelService, PrintWorker } from '../../labels/index.ts'
import { Acts, Corrections, LedgerService, Recorder, Resolutions } from '../../ledger/index.ts'
import { ScaleService } from '../../scales/index.ts'
import { UnitService } from '../../units/index.ts'
import type { Outside } from '../outside.ts'
import type { ComposedCallers } from './callers.ts'
import type { ComposedStorage } from './storage.ts'
import type { ComposedVideo } from './video.ts'
import type { ComposedWarehouse } from './warehouse.ts'

export type ComposedLedger = ReturnType<typeof composeLedger>

/** Builds the rooms that record events in the warehouse, and those that answer from them. Cameras film what is recorded. */
export function composeLedger(
  live: { config: Config },
  outside: Outside,
  storage: ComposedStorage,
  callers: ComposedCallers,
  base: ComposedWarehouse,
  { configured, films }: Pick<ComposedVideo, 'configured' | 'films'>,
) {
  const { clock, random, log } = outside
  const { dataDir } = live.config
  const { work, audit, people, openings, outbox, makeId, room } = storage
  const { names, siteUrl } = callers
  const { idempotency, warehouse, assets, photos } = base
  const warehouseId = () => live.config.site.warehouseId
  const labelSettings = () => ({ ...live.config.labels, printers: live.config.printers })

  const recorder = new Recorder({
    ...{ clock, log: storage.logRoom, openings, people, head: storage.head, warehouse, assets, photos },
    ...{ outbox, audit, makeId },
    clockIsTrusted: (nowMs) => storage.clockSync.isTrusted(nowMs),
    settings: () => ({ ...live.config.ledger, maxAgeMs: live.config.ledger.maxAge }),
    names,
    onRecorded: (tx, event) => films.reserve(tx, event),
  })
  recorder.heldWith((tx, moment) => filmsAround(tx, configured.site, moment))
  const ledger = new LedgerService({
    ...{ work, recorder, warehouse, assets, idempotency, dataDir },
    evidenceStates: storage.evidenceStates,
  })
  const devices = new DeviceService({
    ...{ work, clock, random, audit, idempotency, warehouse, site: callers.site, isAccount: callers.isAccount },
    expiryClock: storage.expiryClock,
    badgeKey: storage.derivedKey('gatehouse badges'),
    badgeNames: callers.badgeNames,
    endMessages: (tx, name) => void removeSubscriptionsOf(tx, name, siteUrl()),
    seesMore: (device, maker) =>
      warehouse.hiddenFrom(maker).some((id) => warehouse.isVisible(device, id)) ||
      live.config.cameras.some((camera) => maySee(names, device, camera) && !maySee(names, maker, camera)),
  })
  const units = new UnitService({
    ...{ work, log: storage.logRoom, openings, people, recorder, warehouse, photos, outbox, audit },
    ...{ idempotency, makeId, dataDir },
    stages: () => live.config.units.stages,
  })
  const printWorker = new PrintWorker({ work, clock, log, settings: labelSettings })
  return {
    ...base,
    ...{ recorder, ledger, units, printWorker, devices },
    scales: new ScaleService({ work, people, recorder, warehouse, assets, units, outbox, audit, idempotency, makeId }),
    acts: new Acts({ work, recorder, warehouse, assets, idempotency }),
    corrections: new Corrections({ work, recorder, warehouse, assets, idempotency, audit }),
    resolvedDisputes: new ResolvedDisputes({
      ...{ work, warehouse, idempotency, outbox },
      resolutions: new Resolutions({
        ...{ clock, log: storage.logRoom, openings, people, head: storage.head, audit, makeId },
      }),
    }),
    imports: new ImportService({ work, warehouse, assets, recorder, audit, people, clock, room, dataDir, warehouseId }),
    counts: new CountsService({
      ...{ work, warehouse, assets, recorder, openings, people, audit, idempotency, random, warehouseId },
    }),
    pairings: new Pairings({
      clock: storage.expiryClock,
      random,
      siteUrl,
      makeDevice: (device, ask) => devices.create(device, ask),
    }),
    ...whatIsWhere(live, clock, work, siteUrl, base, units),
    labels: new LabelService({
      ...{ work, clock, warehouse, assets, people, audit, idempotency, settings: labelSettings },
      onQueued: () => printWorker.wake(),
    }),
  }
}

/** Builds the rooms that answer from the ledger. */
function whatIsWhere(
  live: { config: Config },
  clock: Outside['clock'],
  work: ComposedStorage['work'],
  siteUrl: ComposedCallers['siteUrl'],
  { warehouse, assets, idempotency }: ComposedWarehouse,
  units: UnitService,
) {
  const resolvers: ConstructorParameters<typeof Scanner>[0]['resolvers'] = [
    (tx, { code }, caller) => units.matches(tx, code, caller),
  ]
  return {
    floor: new FloorService({ work, warehouse, assets, idempotency }),
    scanner: new Scanner({ work, warehouse, assets, resolvers }),
    discrepancies: new Discrepancies({ work, warehouse, assets, requirements: () => live.config.ledger }),
    assetList: new AssetList({ work, warehouse, assets }),
    exchange: new ExchangeService({ work, warehouse, assets, clock, siteUrl }),
  }
}
