import type { LedgerService, PlacementEventRow } from '../../src/ledger/index.ts'
import { systemClock } from '../../src/platform/index.ts'
import { tinyPng } from '../../test/support/gateway.ts'
import { oneOf } from '../../test/support/plain-sql.ts'
import type { SimulatedClock } from '../../test/support/simulated-clock.ts'
import { fill } from './fill.ts'
import { openRooms, origin, type Rooms } from './rooms.ts'

type NewEvent = Parameters<LedgerService['record']>[0]

/** Writes that are handed over at once: more than a group takes, so that every group is full. */
const atOnce = 1000

const zones = 20

/** The shape of one slot in a rack of 100 bays, in floor-plan units. */
function polygonOf(n: number): { x: number; y: number }[] {
  const [x, y] = [(n % 100) * 1.2, Math.floor(n / 100) * 2.8]
  return [
    { x, y },
    { x: x + 1.2, y },
    { x: x + 1.2, y: y + 1.1 },
    { x, y: y + 1.1 },
  ]
}

const labelOf = (n: number) => `S-${String(n).padStart(5, '0')}`

/** An SSCC with its check digit. */
export function palletOf(n: number): string {
  const digits = `3400000${String(n).padStart(10, '0')}`
  const sum = [...digits].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 3 : 1), 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

/**
 * Makes `warehouses` warehouses, 20 zones that take turns over them, `slots` slots (ids from 1) and `pallets`
 * registered pallets (numbers from 0).
 */
export async function furnish(
  { warehouse, assets, floor }: Rooms,
  slots: number,
  pallets: number,
  warehouses = 1,
): Promise<void> {
  const ask = { by: origin, claim: undefined }
  for (let n = 1; n <= warehouses; n += 1)
    await warehouse.createWarehouse({ name: `Hall ${n}`, timezone: 'Europe/Berlin', location: undefined }, ask)
  for (let n = 0; n < zones; n += 1) {
    const zone = {
      name: `Z${n}`,
      zone_type: 'storage' as const,
      warehouseId: 1 + (n % warehouses),
      color: undefined,
      floor_plan_polygon: undefined,
    }
    await warehouse.createZone(zone, ask)
  }
  await inGroups(slots, (n) =>
    floor.createSlot(
      {
        slot_id: labelOf(n),
        zone: `Z${n % zones}`,
        floor_plan_polygon: polygonOf(n),
        zone_type: undefined,
        constraints: { max_weight: 1200, max_height: undefined, allowed_types: undefined },
        zoneId: undefined,
        warehouseId: 1 + ((n % zones) % warehouses),
      },
      ask,
    ),
  )
  await inGroups(pallets, (n) =>
    assets.create({ asset_id: palletOf(n), type: 'pallet', weight_kg: 400, dimensions: undefined }, ask),
  )
}

/** Calls `write` with 0, 1, … and lets many share a commit. */
async function inGroups(count: number, write: (n: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += atOnce) {
    const size = Math.min(atOnce, count - from)
    await Promise.all(Array.from({ length: size }, (_, i) => write(from + i)))
  }
}

/**
 * The `n`th event of a shift in which each slot in turn gets its pallet, and loses it again with the next event. Nothing
 * of it contradicts the ledger.
 */
export function turn(n: number, slots: number, photoUrl: string): NewEvent {
  const place = Math.floor(n / 2) % slots
  const about = { slot_id: place + 1, asset_barcode: palletOf(place) }
  if (n % 2 === 1) return { event_type: 'REMOVED', ...about } as NewEvent
  const asset = `]C1${about.asset_barcode}`
  const scan = { slot: labelOf(place), asset, symbology: 'gs1-128' }
  return { event_type: 'PLACED', ...about, photo_url: photoUrl, scale_weight_kg: 420, scan } as NewEvent
}

/** Keeps a photo; placements name it as their evidence. @returns its address */
export async function keepPhoto({ photos }: Rooms): Promise<string> {
  return (await photos.store([tinyPng], { by: origin, claim: undefined })).body.url
}

/** Makes a hall of so many slots and pallets in `dataDir`, for a daemon to take over. @returns the address of a photo */
export async function prepareHall(dataDir: string, slots: number): Promise<string> {
  const rooms = openRooms(dataDir, systemClock)
  try {
    await furnish(rooms, slots, slots)
    return await keepPhoto(rooms)
  } finally {
    rooms.close()
  }
}

/** The bodies of a whole shift: each slot gets its pallet and loses it again. */
export const turns = (slots: number, photoUrl: string): string[] =>
  Array.from({ length: 2 * slots }, (_, n) => JSON.stringify(turn(n, slots, photoUrl)))

/** Numbers that look like chance and are the same in every run (xorshift32). */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

const shiftMs = 10 * 60_000

/**
 * Writes a history as a busy hall does, through the service itself: pallets come, are verified or disputed, and go. One
 * event happens each second of the clock. A scanner delays one event in twenty by up to ten minutes, so that times are
 * out of order. The resulting ledger verifies like any other.
 */
export class History {
  #rooms: Rooms
  readonly #clock: SimulatedClock
  readonly #slots: number
  readonly #photoUrl: string
  readonly #chance = chance(0x9e3779b9)
  readonly #free: number[]
  readonly #inSlot = new Map<number, number>()
  events = 0

  constructor(options: { rooms: Rooms; clock: SimulatedClock; slots: number; pallets: number; photoUrl: string }) {
    this.#rooms = options.rooms
    this.#clock = options.clock
    this.#slots = options.slots
    this.#photoUrl = options.photoUrl
    this.#free = Array.from({ length: options.pallets }, (_, n) => n)
  }

  /** Appends until the ledger holds so many events. */
  async growTo(events: number): Promise<void> {
    const asked = { by: origin, claim: undefined, deviceTimeMs: undefined }
    while (this.events < events) {
      const group = Math.min(atOnce, events - this.events)
      await Promise.all(Array.from({ length: group }, () => this.#rooms.ledger.record(this.#next(), asked)))
      this.#clock.advance(group * 1000)
      this.events += group
    }
  }

  /** After the database was closed and opened again. */
  goOnIn(rooms: Rooms): void {
    this.#rooms = rooms
  }

  /** As `growTo`, by `fill`: for ledgers that recording event by event would take too long. */
  fillTo(rooms: ReturnType<typeof openRooms>, events: number): void {
    const sample = rooms.work.read((tx) =>
      oneOf<PlacementEventRow>(
        tx,
        `SELECT * FROM main.placement_event WHERE event_type = 'PLACED' AND warnings = '[]' ORDER BY id LIMIT 1`,
      ),
    )
    if (!sample) throw new Error('no event was recorded to go by')
    fill(rooms, sample, events - this.events, () => {
      this.#clock.advance(1000)
      const { event_type, slot_id = 0, asset_barcode, timestamp } = this.#next()
      const received_at_ms = this.#clock.now()
      const timestamp_ms = timestamp ?? received_at_ms
      return {
        event_type,
        slot_id,
        asset_key: asset_barcode,
        timestamp_ms,
        received_at_ms,
        slotCode: labelOf(slot_id - 1),
      }
    })
    this.events = events
  }

  #next(): NewEvent {
    const slot = 1 + this.#chance(this.#slots)
    const pallet = this.#inSlot.get(slot)
    const late = this.#chance(20) === 0 ? { timestamp: this.#clock.now() - this.#chance(shiftMs) } : {}
    if (pallet === undefined) return { ...this.#place(slot), ...late }
    const dice = this.#chance(100)
    if (dice < 55) return { ...this.#event('VERIFIED', slot, pallet), ...late }
    if (dice < 60) return { ...this.#event('DISPUTED', slot, pallet), ...late }
    this.#inSlot.delete(slot)
    this.#free.push(pallet)
    return { ...this.#event('REMOVED', slot, pallet), ...late }
  }

  #place(slot: number): NewEvent {
    const pallet = this.#free.splice(this.#chance(this.#free.length), 1)[0] ?? 0
    this.#inSlot.set(slot, pallet)
    return { ...this.#event('PLACED', slot, pallet), photo_url: this.#photoUrl }
  }

  #event(type: NewEvent['event_type'], slot: number, pallet: number): NewEvent {
    return { event_type: type, slot_id: slot, asset_barcode: palletOf(pallet) } as NewEvent
  }
}
