import type { Database } from 'better-sqlite3'
import { notifications } from '../../src/app/notifications.ts'
import { ConfigNames } from '../../src/auth/index.ts'
import { permissionsOf } from '../../src/config/index.ts'
import { databaseFile, executor, openReader, openWriter, UnitOfWork } from '../../src/database/index.ts'
import { FloorService } from '../../src/floor/index.ts'
import type { RequestOrigin } from '../../src/http/index.ts'
import { AuditTrail, Idempotency, inspector, Outbox } from '../../src/journal/index.ts'
import { assetIsSeen, headOf, LedgerHead, LedgerService, Recorder } from '../../src/ledger/index.ts'
import { EvidenceStates, identifyLog, Log, Openings, People } from '../../src/log/index.ts'
import { Photos } from '../../src/photos/index.ts'
import { type Clock, systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import { photoUse } from '../../src/units/index.ts'
import { AssetService, SingleWrites, WarehouseService, WarehouseSight } from '../../src/warehouse/index.ts'
import { isAnyoneOwed } from '../../src/webhooks/index.ts'

export const siteId = 'bench'
export const siteUrl = 'http://127.0.0.1:8480'

/** The caller of every request here. */
export const origin: RequestOrigin = {
  caller: {
    username: 'ada',
    instance: siteUrl,
    role: 'admin',
    groups: [],
    permissions: permissionsOf('admin'),
    authMode: 'local',
  },
  requestId: 'bench-request',
  address: '127.0.0.1',
}

/** The rooms that record and list, without the HTTP kit and webhooks, and the parts that make the rows of an event. */
export type Rooms = {
  readonly work: UnitOfWork
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly photos: Photos
  readonly ledger: LedgerService
  readonly floor: FloorService
  readonly log: Log
  readonly people: People
  readonly head: LedgerHead
  readonly outbox: Outbox
  readonly audit: AuditTrail
  readonly makeId: () => string
}

/** Wires the rooms over two connections: of a real database, or of one that keeps nothing. */
export function buildRooms(options: { db: Database; reader: Database; dataDir: string; clock: Clock }): Rooms {
  const { db, reader, dataDir, clock } = options
  const tx = executor(db)
  const makeId = uuidv7Maker(clock, systemRandom)
  const identity = identifyLog(tx, siteId, makeId, clock.now())
  const work = new UnitOfWork({ writer: db, reader })
  const log = Log.open(tx, identity)
  const people = new People({ random: systemRandom, log: identity })
  const head = new LedgerHead(headOf(tx))
  work.follow(log)
  work.follow(people)
  work.follow(head)
  const openings = new Openings({ random: systemRandom })
  const audit = new AuditTrail({ people, clock })
  const names = new ConfigNames({ settings: () => ({ siteUrl, instances: [], groupRoles: {} }), isLocal: () => true })
  const sight = new WarehouseSight({ work, narrowed: () => [], names })
  const idempotency = new Idempotency({ clock, visibleTo: (tx, caller) => sight.visibleTo(tx, caller) })
  const inspect = inspector(notifications, (type, problem) => {
    throw new Error(`${type} is not as documented: ${problem}`)
  })
  const outbox = new Outbox({ siteId, warehouseId: 1, makeId, inspect, isOwed: isAnyoneOwed })
  const warehouseId = () => 1
  const writes = new SingleWrites({ work, idempotency })
  const warehouse = new WarehouseService({ work, clock, audit, writes, warehouseId, sight })
  const assets = new AssetService({ work, clock, audit, writes, sight, isSeen: assetIsSeen })
  const unlimited = { room: { demand: () => {} }, rate: { take: () => {} } }
  const photos = new Photos({
    ...unlimited,
    work,
    clock,
    people,
    audit,
    idempotency,
    dataDir,
    sightOf: (caller) => warehouse.sightOf(caller),
    siteUrl: () => siteUrl,
    onKept: () => {},
    useOf: photoUse,
  })
  const recorder = new Recorder({
    clock,
    log,
    openings,
    people,
    head,
    warehouse,
    assets,
    photos,
    outbox,
    audit,
    makeId,
    clockIsTrusted: () => true,
    settings: () => ({ enforce: [], assets: 'any', photos: 'any', maxAgeMs: null }),
    names,
    onRecorded: () => {},
  })
  const ledger = new LedgerService({
    ...{ work, recorder, warehouse, assets, idempotency, dataDir },
    evidenceStates: new EvidenceStates({ policy: () => ({ names: [], quorum: 1 }) }),
  })
  const floor = new FloorService({ work, warehouse, assets, idempotency })
  return { work, warehouse, assets, photos, ledger, floor, log, people, head, outbox, audit, makeId }
}

/** The rooms over the database of a data folder; `close` lets a daemon take it over. */
export function openRooms(
  dataDir: string,
  clock: Clock,
): Rooms & { db: Database; reader: Database; close: () => void } {
  const { db, close } = openWriter({ dataDir, nowMs: clock.now() })
  const reader = openReader(databaseFile(dataDir))
  const rooms = buildRooms({ db, reader, dataDir, clock })
  return {
    ...rooms,
    db,
    reader,
    close: () => {
      rooms.work.close()
      reader.close()
      close()
    },
  }
}
