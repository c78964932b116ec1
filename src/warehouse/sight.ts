import type { ConfigNames } from '../auth/index.ts'
import type { ReadTx, UnitOfWork } from '../database/index.ts'
import type { Caller } from '../http/index.ts'
import { warehouseOfSlot } from './slot-store.ts'
import { warehouseIds } from './store.ts'

declare const decided: unique symbol

/**
 * The part of the ledger that a caller may see. The events of a hidden warehouse do not exist for that caller: location, history,
 * contradictions and effect of an event are computed from the others. Only `WarehouseSight.sightOf` and `wholeSight` make a sight,
 * so a read of an asset cannot skip the question.
 */
export type Sight = { readonly hiddenWarehouses: readonly number[]; readonly [decided]: true }

/** Hides these warehouses. For rooms above only `WarehouseSight.sightOf` and `wholeSight` make one. */
export function sightWithout(hiddenWarehouses: readonly number[]): Sight {
  return { hiddenWarehouses } as Sight
}

/** The sight of the gateway itself, for work without a caller: reports of the log, imports at the box. */
export const wholeSight: Sight = sightWithout([])

/** One that hides something, for samples of statements. */
export const sampleSight: Sight = sightWithout([1, 2])

/**
 * Returns SQL that selects the rows whose slot is in a visible warehouse, with its parameters. Pass the column in `slot` with its
 * table: alone, `slot_id` would be the label in the table of slots.
 */
export function seenOnly(sight: Sight, slot: string): { readonly sql: string; readonly parameters: readonly number[] } {
  const hidden = sight.hiddenWarehouses
  if (hidden.length === 0) return { sql: '', parameters: [] }
  const holes = hidden.map(() => '?').join(', ')
  return {
    sql: ` AND ${warehouseOfSlot(slot)} NOT IN (${holes})`,
    parameters: hidden,
  }
}

const isSeen = {
  everyone: true,
  admin: true,
  viewers: true,
  'not-in-viewers': false,
  'other-warehouses': false,
} as const
/**
 * Rules of sight. `everyone`: the warehouse has no viewers. `viewers`, `not-in-viewers`: by `warehouses[].viewers`.
 * `other-warehouses`: a device, or a person on it, that is kept to others.
 */
export type WarehouseRule = keyof typeof isSeen

type WarehouseSightNeeds = {
  readonly work: UnitOfWork
  /** Read at every use, so that a reload of the config applies. A warehouse that is not named is seen by everyone. */
  readonly narrowed: () => readonly NarrowedWarehouse[]
  readonly names: Pick<ConfigNames, 'mean'>
}

/** Decides which warehouses a caller may see: by `warehouses[].viewers` of the config, and by the warehouses of a device. */
export class WarehouseSight {
  readonly #needs: WarehouseSightNeeds

  constructor(needs: WarehouseSightNeeds) {
    this.#needs = needs
  }

  /** Returns whether the caller may see the warehouse with everything in it. Admins see every warehouse. */
  isVisible(caller: Caller, warehouseId: number): boolean {
    return isSeen[this.why(caller, warehouseId)]
  }

  /** Returns the rule by which the caller sees the warehouse, or does not. */
  why(caller: Caller, warehouseId: number): WarehouseRule {
    if (caller.warehouseIds && !caller.warehouseIds.includes(warehouseId)) return 'other-warehouses'
    const narrowed = this.#needs.narrowed().find((w) => w.id === warehouseId)
    if (!narrowed || narrowed.viewers.length === 0) return 'everyone'
    if (caller.role === 'admin') return 'admin'
    return this.#needs.names.mean(narrowed.viewers, caller) ? 'viewers' : 'not-in-viewers'
  }

  /** Returns the ids of the warehouses that the caller may not see. */
  hiddenFrom(caller: Caller): number[] {
    const narrowed = caller.warehouseIds ? this.#needs.work.read(warehouseIds) : this.#needs.narrowed().map((w) => w.id)
    return narrowed.filter((id) => !this.isVisible(caller, id))
  }

  /** Returns the ids of the warehouses that the caller may see. */
  visibleTo(tx: ReadTx, caller: Caller): number[] {
    return warehouseIds(tx).filter((id) => this.isVisible(caller, id))
  }

  /** Returns what the caller may see of the ledger. */
  sightOf(caller: Caller): Sight {
    return sightWithout(this.hiddenFrom(caller))
  }
}

type NarrowedWarehouse = { readonly id: number; readonly viewers: readonly string[] }
