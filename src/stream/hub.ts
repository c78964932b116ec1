import type { CamerasService, ConfiguredCameras } from '../cameras/index.ts'
import type { ReadTx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { endOfChanges, incidentsBehindChange } from '../governance/index.ts'
import { type HealthWatch, overall } from '../health/index.ts'
import { type Caller, identityOf, type RequestOrigin } from '../http/index.ts'
import { endOfResolutions, findEvent, headOf, resolutionsBehind, slotState, toPlacementEvent } from '../ledger/index.ts'
import type { Clock, Logger, RandomBytes } from '../platform/index.ts'
import { endOfHistory, unitsBehindRow } from '../units/index.ts'
import { type WarehouseService, warehouseOfSlotId } from '../warehouse/index.ts'
import type { AlertOut, Webhooks } from '../webhooks/index.ts'
import { frame, heartbeat, type Kind, PlaceIds, retryLine } from './frames.ts'
import type { CameraNow, Floor, HealthNow, IncidentNow, UnitNow } from './schema.ts'

/** Receivers of a message. */
type Scope =
  | { readonly of: 'everyone' | 'alerts' }
  | { readonly of: 'warehouse' | 'camera'; readonly id: number }
  /** For an incident, which may belong to no warehouse. */
  | { readonly of: 'incidents'; readonly warehouseId: number | null }

/** One message before it is written. */
type Change = { readonly kind: Kind; readonly scope: Scope; readonly data: unknown }

/** State outside of the ledger at the last look. */
type Seen = {
  readonly cameras: ReadonlyMap<number, CameraNow>
  readonly alerts: ReadonlyMap<number, AlertOut>
  readonly health: HealthNow
}

/**
 * Returns the differences between two looks. Pure. An alert that is not open any more was acknowledged: `acknowledged` returns it
 * as it is now.
 */
function differences(before: Seen, now: Seen, acknowledged: (id: number) => AlertOut | undefined): Change[] {
  const cameras = [...now.cameras.values()].filter((camera) => !isSame(camera, before.cameras.get(camera.id)))
  const raised = [...now.alerts.values()].filter(({ id }) => !before.alerts.has(id))
  const closed = [...before.alerts.keys()].filter((id) => !now.alerts.has(id)).flatMap((id) => acknowledged(id) ?? [])
  return [
    ...cameras.map((data): Change => ({ kind: 'camera', scope: { of: 'camera', id: data.id }, data })),
    ...[...raised, ...closed].map((data): Change => ({ kind: 'alert', scope: { of: 'alerts' }, data })),
    ...(isSame(before.health, now.health)
      ? []
      : [{ kind: 'health' as const, scope: { of: 'everyone' as const }, data: now.health }]),
  ]
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Streams at once: of one caller, and of all. A wall of screens may share one account. */
export const mostStreams = { ofOneCaller: 40, ofAll: 120 } as const
/** A client that leaves more than this unread is dropped. */
export const mostWaitingBytes = 512 * 1024
/**
 * Bytes of messages stored for clients that reconnect. It is half of the bytes that may wait, so that a replay never drops its
 * client.
 */
const mostKeptBytes = 256 * 1024
/** More new events than these at once, as an import makes, are not sent one by one. */
const mostEventsAtOnce = 500
const lookEveryMs = 1000
const looksAHealthCheck = 5
const looksABeat = 15
/** Looks between two checks of what callers may still see; every reload checks too. */
const looksARecheck = 5
const retryMs = 1000

/** The sending side of one client's answer. */
export type Sink = {
  /** Queues bytes. Returns false when the client leaves too much unread. */
  send(bytes: Uint8Array): boolean
  /** Ends the answer in order. */
  end(): void
  /** Ends the connection, for a client that takes nothing. */
  cut(): void
}

export type NewStream = {
  readonly by: RequestOrigin
  /** Verifies the caller again. Rejects with AppError when the sign-in has ended. */
  readonly callerNow: () => Promise<Caller>
  /** Id of the last message that the client has. */
  readonly lastId: string | undefined
  readonly sink: Sink
}

type Listener = { readonly stream: NewStream; caller: Caller }
type Kept = { readonly place: number; readonly scope: Scope; readonly bytes: Buffer }

type HubNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly log: Logger
  readonly random: RandomBytes
  readonly warehouse: Pick<WarehouseService, 'isVisible' | 'onPlanChange'>
  readonly configured: Pick<ConfiguredCameras, 'isVisible'>
  readonly cameras: Pick<CamerasService, 'states'>
  readonly health: Pick<HealthWatch, 'checks'>
  readonly alerts: Webhooks['alerts']
}

/**
 * Tells clients what changes. After each commit it reads new events and slots. While somebody listens, it reads cameras, alerts and
 * health every second. A message is written once, and each client gets those that it may see.
 */
export class StreamHub {
  readonly #needs: HubNeeds
  readonly #ids: PlaceIds
  readonly #listeners = new Set<Listener>()
  readonly #changedPlans = new Set<number>()
  #kept: Kept[] = []
  #keptBytes = 0
  /** Place of the newest message. */
  #place = 0
  /** Newest event, unit step and incident change sent; undefined before any client. */
  #lastEvent: number | undefined
  #lastStep: number | undefined
  #lastChange: number | undefined
  #lastResolution: number | undefined
  #seen: Seen | undefined
  #isLookDue = false
  #looks = 0
  #cancelLook = () => {}

  constructor(needs: HubNeeds) {
    this.#needs = needs
    this.#ids = new PlaceIds(needs.random)
    needs.warehouse.onPlanChange((warehouseId) => this.#changedPlans.add(warehouseId))
    needs.work.onCommit(() => this.#lookSoon())
  }

  /** Number of open streams. */
  get size(): number {
    return this.#listeners.size
  }

  /** Throws RATE_LIMITED when there are too many streams. */
  demand({ caller }: RequestOrigin): void {
    const own = [...this.#listeners].filter((one) => identityOf(one.caller) === identityOf(caller))
    const { ofOneCaller, ofAll } = mostStreams
    if (own.length < ofOneCaller && this.#listeners.size < ofAll) return
    const most = own.length < ofOneCaller ? `${ofAll} streams in all` : `${ofOneCaller} streams of one caller`
    throw new AppError('RATE_LIMITED', `There are ${most} already: close one`, { retryAfterSeconds: 5 })
  }

  /** Begins a stream with the missed messages. Returns a function that forgets it when the client has gone. */
  open(stream: NewStream): () => void {
    this.#look()
    const listener: Listener = { stream, caller: stream.by.caller }
    const place = stream.lastId === undefined ? undefined : this.#ids.open(stream.lastId)
    const missed = place === undefined ? undefined : this.#keptAfter(place)
    const hello = frame('hello', this.#ids.seal(missed ? (place ?? 0) : this.#place), { resumed: missed !== undefined })
    this.#listeners.add(listener)
    this.#send(listener, Buffer.concat([retryLine(retryMs), hello, ...this.#visible(listener, missed ?? [])]))
    if (this.#listeners.size === 1) this.#lookLater()
    return () => this.#forget(listener)
  }

  /** Checks at once what every client may see by the new config. */
  onReload(): void {
    for (const listener of this.#listeners) void this.#recheck(listener)
  }

  stop(): void {
    for (const listener of [...this.#listeners]) this.#end(listener)
  }

  #forget(listener: Listener): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size === 0) this.#cancelLook()
  }

  /** Does nothing to one that has left already, as while its caller was being checked. */
  #end(listener: Listener): void {
    if (!this.#listeners.has(listener)) return
    this.#forget(listener)
    listener.stream.sink.end()
  }

  #lookSoon(): void {
    if (this.#isLookDue || this.#listeners.size === 0) return
    this.#isLookDue = true
    setImmediate(() => {
      this.#isLookDue = false
      if (this.#listeners.size > 0) this.#look()
    })
  }

  #lookLater(): void {
    this.#cancelLook = this.#needs.clock.after(lookEveryMs, () => {
      this.#looks += 1
      this.#lookAround()
      if (this.#looks % looksARecheck === 0) this.onReload()
      if (this.#looks % looksABeat === 0)
        for (const one of [...this.#listeners]) this.#send(one, heartbeat(this.#ids.seal(this.#place)))
      if (this.#listeners.size > 0) this.#lookLater()
    })
  }

  /** Reads new events, changed plans, and new records of transport units and incidents. */
  #look(): void {
    try {
      const changes = this.#needs.work.read((tx) => this.#new(tx))
      if (changes) this.#tell(changes)
      else this.#loseAll()
    } catch (error) {
      // The next commit looks again; a client that misses something must not be why the floor stops.
      this.#needs.log.error({ err: error }, 'the stream could not read new changes')
      this.#loseAll()
    }
  }

  /** Returns what is new; undefined when it is too much to be sent one by one. */
  #new(tx: ReadTx): Change[] | undefined {
    const events = this.#newInLedger(tx)
    const units = this.#newUnits(tx)
    const incidents = this.#newIncidents(tx)
    return events && units && incidents && [...events, ...units, ...incidents]
  }

  /** As `#newUnits`, of incidents. */
  #newIncidents(tx: ReadTx): Change[] | undefined {
    const { id: newest } = endOfChanges(tx)
    const last = this.#lastChange ?? newest
    this.#lastChange = newest
    if (newest === last) return []
    if (newest - last > mostEventsAtOnce) return undefined
    const incidents = new Map<number, IncidentNow>()
    for (const row of incidentsBehindChange(tx, last, mostEventsAtOnce)) {
      const { incident_id: id, warehouse_id: warehouseId, status, severity } = row
      incidents.set(id, { id, warehouseId, status, severity })
    }
    return [...incidents.values()].map(
      (data): Change => ({ kind: 'incident', scope: { of: 'incidents', warehouseId: data.warehouseId }, data }),
    )
  }

  /** Returns each unit once of which something was recorded, as it is now; undefined when it is too much. */
  #newUnits(tx: ReadTx): Change[] | undefined {
    const { row: newest } = endOfHistory(tx)
    const last = this.#lastStep ?? newest
    this.#lastStep = newest
    if (newest === last) return []
    if (newest - last > mostEventsAtOnce) return undefined
    const units = new Map<string, UnitNow>()
    for (const { unit_id: id, warehouse_id: warehouseId, stage, status } of unitsBehindRow(tx, last, mostEventsAtOnce))
      units.set(id, { id, warehouseId, stage, status })
    return [...units.values()].map(
      (data): Change => ({ kind: 'unit', scope: { of: 'warehouse', id: data.warehouseId }, data }),
    )
  }

  /** As `#new`, of events and plans. */
  #newInLedger(tx: ReadTx): Change[] | undefined {
    const { id: newest } = headOf(tx)
    const last = this.#lastEvent ?? newest
    this.#lastEvent = newest
    if (newest - last > mostEventsAtOnce) return undefined
    const resolved = this.#newResolutions(tx)
    const events: Change[] = []
    const floors = new Map<number, Floor>()
    const floorOf = (warehouseId: number): Floor => {
      const floor = floors.get(warehouseId) ?? { warehouseId, layoutChanged: false, slots: [] }
      floors.set(warehouseId, floor)
      return floor
    }
    for (const id of this.#changedPlans) floorOf(id).layoutChanged = true
    this.#changedPlans.clear()
    const touched = new Set<number>()
    for (const row of resolved) {
      const slotId = findEvent(tx, row.dispute_event_id)?.slot_id
      const warehouseId = slotId === undefined ? undefined : warehouseOfSlotId(tx, slotId)
      if (slotId === undefined || warehouseId === undefined || touched.has(slotId)) continue
      touched.add(slotId)
      floorOf(warehouseId).slots.push({ id: slotId, ...slotState(tx, slotId) })
    }
    for (let id = last + 1; id <= newest; id += 1) {
      const row = findEvent(tx, id)
      const warehouseId = row && warehouseOfSlotId(tx, row.slot_id)
      if (!row || warehouseId === undefined) continue
      events.push({ kind: 'event', scope: { of: 'warehouse', id: warehouseId }, data: toPlacementEvent(row) })
      if (touched.has(row.slot_id)) continue
      touched.add(row.slot_id)
      floorOf(warehouseId).slots.push({ id: row.slot_id, ...slotState(tx, row.slot_id) })
    }
    const changed = [...floors.values()].map(
      (data): Change => ({ kind: 'floor', scope: { of: 'warehouse', id: data.warehouseId }, data }),
    )
    return [...changed, ...events]
  }

  /** A resolution changes no slot, and a list of discrepancies shows it. */
  #newResolutions(tx: ReadTx): readonly { readonly dispute_event_id: number }[] {
    const { id: newest } = endOfResolutions(tx)
    const last = this.#lastResolution ?? newest
    this.#lastResolution = newest
    return newest === last ? [] : resolutionsBehind(tx, last, mostEventsAtOnce)
  }

  /** Looks at cameras, alerts and health. */
  #lookAround(): void {
    try {
      const { cameras, alerts } = this.#needs
      const isHealthDue = this.#seen === undefined || this.#looks % looksAHealthCheck === 0
      const now: Seen = {
        cameras: new Map(cameras.states().map((camera) => [camera.id, camera])),
        alerts: new Map(alerts.open().map((alert) => [alert.id, alert])),
        health: isHealthDue ? this.#healthNow() : (this.#seen as Seen).health,
      }
      if (this.#seen) this.#tell(differences(this.#seen, now, (id) => alerts.find(id)))
      this.#seen = now
    } catch (error) {
      this.#needs.log.error({ err: error }, 'the stream could not read cameras, alerts and health')
    }
  }

  #healthNow(): Seen['health'] {
    const checks = this.#needs.health.checks()
    const brief = Object.entries(checks).map(([name, { status, reason }]) => [
      name,
      { status, ...(reason !== undefined && { reason }) },
    ])
    return { status: overall(checks), checks: Object.fromEntries(brief) }
  }

  #tell(changes: readonly Change[]): void {
    if (changes.length === 0) return
    const written = changes.map(({ kind, scope, data }): Kept => {
      this.#place += 1
      return { place: this.#place, scope, bytes: frame(kind, this.#ids.seal(this.#place), data) }
    })
    this.#keep(written)
    // Those who may see the same get the same bytes.
    const parcels = new Map<string, Buffer>()
    for (const listener of [...this.#listeners]) {
      const seen = written.filter(({ scope }) => this.#sees(listener.caller, scope))
      const key = seen.map(({ place }) => place).join()
      const parcel = parcels.get(key) ?? Buffer.concat(seen.map(({ bytes }) => bytes))
      parcels.set(key, parcel)
      if (parcel.length > 0) this.#send(listener, parcel)
    }
  }

  #keep(written: readonly Kept[]): void {
    this.#kept.push(...written)
    this.#keptBytes += written.reduce((sum, { bytes }) => sum + bytes.length, 0)
    let from = 0
    while (this.#keptBytes > mostKeptBytes && from < this.#kept.length) {
      this.#keptBytes -= this.#kept[from]?.bytes.length ?? 0
      from += 1
    }
    if (from > 0) this.#kept = this.#kept.slice(from)
  }

  /** Returns the messages after a place; undefined when some of them are gone. */
  #keptAfter(place: number): readonly Kept[] | undefined {
    const oldest = this.#place - this.#kept.length
    return place < oldest || place > this.#place ? undefined : this.#kept.filter((one) => one.place > place)
  }

  /** Says to everybody that something was left out. */
  #loseAll(): void {
    this.#place += 1
    this.#kept = []
    this.#keptBytes = 0
    const hello = frame('hello', this.#ids.seal(this.#place), { resumed: false })
    for (const listener of [...this.#listeners]) this.#send(listener, hello)
  }

  #visible(listener: Listener, kept: readonly Kept[]): Buffer[] {
    return kept.filter(({ scope }) => this.#sees(listener.caller, scope)).map(({ bytes }) => bytes)
  }

  #sees(caller: Caller, scope: Scope): boolean {
    switch (scope.of) {
      case 'everyone':
        return true
      case 'alerts':
        return caller.permissions.has('alerts:read')
      case 'warehouse':
        return this.#needs.warehouse.isVisible(caller, scope.id)
      case 'camera':
        return caller.permissions.has('cameras:read') && this.#needs.configured.isVisible(scope.id, caller)
      case 'incidents':
        if (!caller.permissions.has('incidents:read')) return false
        return scope.warehouseId === null || this.#needs.warehouse.isVisible(caller, scope.warehouseId)
    }
  }

  #send(listener: Listener, bytes: Uint8Array): void {
    if (listener.stream.sink.send(bytes)) return
    this.#forget(listener)
    listener.stream.sink.cut()
  }

  /** Ends the stream when the sign-in has ended or the caller has lost the permission to read. Never rejects. */
  async #recheck(listener: Listener): Promise<void> {
    try {
      const caller = await listener.stream.callerNow()
      listener.caller = caller
      if (!caller.permissions.has('whms:read')) this.#end(listener)
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 500)
        this.#needs.log.error({ err: error }, 'the caller of a stream could not be checked')
      this.#end(listener)
    }
  }
}
