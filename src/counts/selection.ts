import type { ReadTx } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'
import { occupantOf } from '../ledger/index.ts'
import type { RandomBytes } from '../platform/index.ts'
import type { Slot, WarehouseService } from '../warehouse/index.ts'
import { mostSlots, type NewCount } from './schema.ts'
import { countedSince } from './store.ts'

const sliceSlots = 500

/** Selects the slots of a new count; returns their ids. Throws VALIDATION_ERROR, REFERENCE_NOT_FOUND, NOT_FOUND. */
export function selectSlots(
  tx: ReadTx,
  asked: NewCount,
  { warehouse, warehouseId, caller, random }: Selecting,
): number[] {
  const named = namedSlots(tx, asked, warehouse, caller)
  const slots = named ?? [...slotsOf(tx, asked.zoneId, warehouse, caller)]
  const elsewhere = named?.find((slot) => slot.warehouseId !== warehouseId)
  if (elsewhere) throw AppError.field('slot_ids', `${elsewhere.slot_id} is not in warehouse ${warehouseId}`)
  const wanted = slots.filter((slot) => slot.warehouseId === warehouseId && isWanted(tx, slot, asked))
  const ids = drawn([...new Set(wanted.map(({ id }) => id))], asked.sample, random)
  if (ids.length === 0) throw AppError.field('(body)', 'there is no such slot to count')
  if (ids.length > mostSlots) {
    throw AppError.field(
      '(body)',
      `${ids.length} slots are more than the ${mostSlots} of one count; take a zone or a sample`,
    )
  }
  return ids.toSorted((a, b) => a - b)
}

export type Selecting = {
  readonly warehouse: WarehouseService
  readonly warehouseId: number
  readonly caller: Caller
  readonly random: RandomBytes
}

/** Returns the slots that are named one by one; undefined when none is. */
export function namedSlots(
  tx: ReadTx,
  {
    slot_ids = [],
    slot_codes = [],
  }: { slot_ids?: readonly number[] | undefined; slot_codes?: readonly string[] | undefined },
  warehouse: WarehouseService,
  caller: Caller,
): Slot[] | undefined {
  if (slot_ids.length + slot_codes.length === 0) return undefined
  return [
    ...slot_ids.map((id) => warehouse.slotReference(tx, { id }, caller)),
    ...slot_codes.map((code) => warehouse.slotReference(tx, { code }, caller)),
  ]
}

function* slotsOf(
  tx: ReadTx,
  zoneId: number | undefined,
  warehouse: WarehouseService,
  caller: Caller,
): Generator<Slot> {
  for (let afterId: number | undefined = 0; afterId !== undefined; ) {
    const { slots, lastId }: { slots: Slot[]; lastId: number | undefined } = warehouse.slots(
      tx,
      caller,
      afterId,
      sliceSlots,
      zoneId,
    )
    yield* slots.filter((slot) => slot.retiredAt === null)
    afterId = lastId
  }
}

function isWanted(tx: ReadTx, slot: Slot, { notCountedSince, openingOnly, zoneId }: NewCount): boolean {
  if (zoneId !== undefined && slot.zoneId !== zoneId) return false
  if (notCountedSince !== undefined && countedSince(tx, slot.id, notCountedSince)) return false
  return !openingOnly || (occupantOf(tx, slot.id)?.isOpening === true && !countedSince(tx, slot.id, 0))
}

/** Draws `sample` ids at random: the first steps of a Fisher-Yates shuffle. */
function drawn(ids: number[], sample: number | undefined, random: RandomBytes): number[] {
  if (sample === undefined || sample >= ids.length) return ids
  const pool = [...ids]
  for (let i = 0; i < sample; i += 1) {
    // 32 bits over some thousands: the bias of the modulo is negligible.
    const j = i + (Buffer.from(random(4)).readUInt32BE() % (pool.length - i))
    const [a, b] = [pool[i], pool[j]]
    if (a !== undefined && b !== undefined) [pool[i], pool[j]] = [b, a]
  }
  return pool.slice(0, sample)
}
