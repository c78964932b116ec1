import { openDifferences } from '../counts/index.ts'
import type { ReadTx, UnitOfWork } from '../database/index.ts'
import type { Caller } from '../http/index.ts'
import {
  asksForRegistered,
  type Bounds,
  boundsOf,
  findEvent,
  judgementsAfter,
  misfits,
  moveBefore,
  newestInSlot,
  newestMoveOfAsset,
  newestPlacementOf,
  nextInSlot,
  openDisputes,
  proofOf,
  type Requirements,
  settle,
  type When,
} from '../ledger/index.ts'
import { isoTime, ownTurn } from '../platform/index.ts'
import {
  type AssetService,
  assetKeysBehind,
  type Sight,
  type Slot,
  type WarehouseService,
  wholeSight,
} from '../warehouse/index.ts'
import {
  type AroundSlot,
  type Contradiction,
  contradictionsOfAsset,
  contradictionsOfSlot,
  type DiscrepancyKind,
  discrepancyTexts,
  doubtsOf,
  type MoveFact,
  misplacements,
} from './discrepancy.ts'
import type { Discrepancy } from './discrepancy-schema.ts'
import { nameOf } from './place.ts'

/** Slots or assets in one slice: a few milliseconds, also among a million events. */
const sliceRows = 30

/** Callers choose the queries, so there may be any number of them. */
const mostShared = 32

export type DiscrepancyQuery = {
  readonly kind?: DiscrepancyKind | undefined
  readonly warehouseId?: number | undefined
  readonly zoneId?: number | undefined
}

const misfitKinds = {
  TYPE_NOT_ALLOWED: 'type_not_allowed',
  OVERWEIGHT: 'overweight',
  OVERHEIGHT: 'overheight',
} as const

type DiscrepanciesNeeds = {
  work: UnitOfWork
  warehouse: WarehouseService
  assets: AssetService
  /** Read at every look, so that a reload of the config applies. */
  requirements: () => Requirements
}

/** Finds contradictions in the ledger, anew after every commit. */
export class Discrepancies {
  readonly #needs: DiscrepanciesNeeds
  /** Answers about now, by sight and query: the screens of a hall ask together. All are of one version of the database. */
  readonly #shared = new Map<string, Promise<readonly Discrepancy[] | undefined>>()
  #sharedVersion = -1

  constructor(needs: DiscrepanciesNeeds) {
    this.#needs = needs
  }

  /** Returns the discrepancies, newest first. Works in slices, with a turn for other requests in between. */
  async find(caller: Caller, when: When, query: DiscrepancyQuery): Promise<readonly Discrepancy[]> {
    const isPast = when.atMs !== undefined || when.knownAtMs !== undefined
    for (;;) {
      const found = await (isPast ? this.#look(caller, when, query) : this.#lookTogether(caller, query))
      if (found) return found
    }
  }

  /** As `#look`, now, and once for all who may see the same and ask the same. */
  #lookTogether(caller: Caller, query: DiscrepancyQuery): Promise<readonly Discrepancy[] | undefined> {
    const { version } = this.#needs.work
    if (version !== this.#sharedVersion) this.#shared.clear()
    this.#sharedVersion = version
    const key = JSON.stringify([this.#needs.warehouse.sightOf(caller), query, this.#asksForRegistered()])
    const known = this.#shared.get(key)
    if (known) return known
    const forget = () => this.#shared.get(key) === looked && this.#shared.delete(key)
    const looked: Promise<readonly Discrepancy[] | undefined> = this.#look(caller, {}, query).then(
      (found) => {
        if (!found) forget()
        return found
      },
      (error: unknown) => {
        forget()
        throw error
      },
    )
    if (this.#shared.size < mostShared) this.#shared.set(key, looked)
    return looked
  }

  /** Resolves with undefined when what the caller may see has changed meanwhile: others may wait for this who may not see it. */
  async #look(caller: Caller, when: When, query: DiscrepancyQuery): Promise<readonly Discrepancy[] | undefined> {
    const sight = this.#needs.warehouse.sightOf(caller)
    const before = JSON.stringify(sight)
    const mayStill = () => JSON.stringify(this.#needs.warehouse.sightOf(caller)) === before
    const { knownAtMs } = when
    const bounds = this.#needs.work.read((tx) => ({ ...boundsOf(tx, settle(tx, when)), knownAtMs }))
    const found: Discrepancy[] = []
    const keep = (tx: ReadTx, all: readonly Contradiction[]) => {
      for (const one of all)
        if (query.kind === undefined || one.kind === query.kind)
          found.push(...shownTo(tx, this.#needs.warehouse, one, caller, query))
    }
    for (let afterId: number | undefined = 0; afterId !== undefined; ) {
      await ownTurn()
      if (!mayStill()) return undefined
      const behind: number = afterId
      afterId = this.#needs.work.read((tx) => {
        const { slots, lastId } = this.#needs.warehouse.slots(tx, caller, behind, sliceRows, query.zoneId)
        for (const slot of slots) keep(tx, this.#ofSlot(tx, slot, sight, bounds, caller))
        return lastId
      })
    }
    for (let afterId: number | undefined = 0; afterId !== undefined; ) {
      await ownTurn()
      if (!mayStill()) return undefined
      const behind: number = afterId
      afterId = this.#needs.work.read((tx) => {
        const assets = assetKeysBehind(tx, behind, sliceRows)
        for (const { key } of assets) keep(tx, ofAsset(tx, key, sight, bounds))
        return assets.length < sliceRows ? undefined : assets.at(-1)?.id
      })
    }
    if (!mayStill()) return undefined
    if (when.atMs === undefined && when.knownAtMs === undefined) found.push(...this.#ofCounts(caller, query))
    return found.toSorted((a, b) => (a.since === b.since ? (a.id < b.id ? -1 : 1) : a.since < b.since ? 1 : -1))
  }

  /** Returns open differences of counts; none for a past time. */
  #ofCounts(caller: Caller, { kind, warehouseId, zoneId }: DiscrepancyQuery): Discrepancy[] {
    if (kind !== undefined && kind !== 'count_difference') return []
    return this.#needs.work.read((tx) =>
      openDifferences(tx, this.#needs.warehouse.sightOf(caller)).flatMap(
        ({ countId, slotId, expected, unexpected, scannedAtMs }) => {
          const slot = this.#needs.warehouse.visibleSlot(tx, slotId, caller)
          if (!slot || (warehouseId !== undefined && slot.warehouseId !== warehouseId)) return []
          if (zoneId !== undefined && slot.zoneId !== zoneId) return []
          return {
            id: `count_difference-${countId}-${slotId}`,
            kind: 'count_difference' as const,
            ...discrepancyTexts.count_difference,
            note: null,
            since: isoTime(scannedAtMs),
            slot: nameOf(slot),
            assetBarcode: expected[0] ?? null,
            otherSlot: null,
            otherAssetBarcode: unexpected[0] ?? null,
            countId,
            lastPlacedHere: null,
            eventIds: [],
            resolution: null,
          }
        },
      ),
    )
  }

  #ofSlot(tx: ReadTx, slot: Slot, sight: Sight, bounds: Bounds, caller: Caller): Contradiction[] {
    const around = lookAround(tx, slot.id, sight, bounds)
    const { newest, judged } = around
    const own = contradictionsOfSlot(slot.id, around)
    if (newest?.event_type !== 'PLACED') return own
    const isSeen = (slotId: number) => this.#needs.warehouse.visibleSlot(tx, slotId, caller) !== undefined
    const proof = proofOf(tx, newest.id, isSeen, bounds.lastId)
    return [
      ...own,
      ...doubtsOf(slot.id, newest, judged, proof),
      ...this.#misplaced(tx, slot, newest, proof.scaleWeightKg),
    ]
  }

  #misplaced(tx: ReadTx, slot: Slot, placed: MoveFact, weighed: number | null): Contradiction[] {
    const asset = this.#needs.assets.find(tx, placed.asset_key)
    const { constraints } = slot
    const weightKg = weighed ?? asset?.weight_kg
    const found = misfits({ constraints, type: asset?.type, weightKg, heightCm: asset?.dimensions?.height })
    const kinds = found.flatMap((code) => (code in misfitKinds ? [misfitKinds[code as keyof typeof misfitKinds]] : []))
    const isUnregistered = this.#asksForRegistered() && (!asset || asset.provisional)
    return misplacements(slot, placed, isUnregistered ? ['unregistered_asset', ...kinds] : kinds)
  }

  #asksForRegistered(): boolean {
    return asksForRegistered(this.#needs.requirements())
  }
}

/** Returns an open discrepancy for the API; empty when the slot is hidden or not requested. */
export function shownTo(
  tx: ReadTx,
  warehouse: WarehouseService,
  one: Contradiction,
  caller: Caller,
  { warehouseId, zoneId }: DiscrepancyQuery,
): Discrepancy[] {
  const slot = warehouse.visibleSlot(tx, one.slotId, caller)
  if (!slot || (warehouseId !== undefined && slot.warehouseId !== warehouseId)) return []
  if (zoneId !== undefined && slot.zoneId !== zoneId) return []
  const other = one.otherSlotId === null ? undefined : warehouse.visibleSlot(tx, one.otherSlotId, caller)
  return [
    {
      id: `${one.kind}-${one.eventIds.join('-')}`,
      kind: one.kind,
      ...discrepancyTexts[one.kind],
      note: noteOf(tx, one),
      since: isoTime(one.sinceMs),
      slot: nameOf(slot),
      assetBarcode: one.assetBarcode,
      otherSlot: other ? nameOf(other) : null,
      otherAssetBarcode: one.otherAssetBarcode,
      countId: null,
      lastPlacedHere: one.lastPlacedHere,
      eventIds: [...one.eventIds],
      resolution: null,
    },
  ]
}

function noteOf(tx: ReadTx, { kind, eventIds }: Contradiction): string | null {
  const disputeId = kind === 'disputed' ? eventIds.at(-1) : undefined
  return (disputeId === undefined ? undefined : findEvent(tx, disputeId))?.notes ?? null
}

/**
 * Returns the contradictions around a slot and an asset that the ledger alone proves, for a caller who sees everything.
 * Contradictions that need master data (registration, type, weight, height) are left out.
 */
export function contradictionsAround(tx: ReadTx, slotId: number, assetKey: string, when: When): Contradiction[] {
  const bounds = boundsOf(tx, when)
  const around = lookAround(tx, slotId, wholeSight, bounds)
  const { newest, judged } = around
  const doubts =
    newest?.event_type === 'PLACED'
      ? doubtsOf(
          slotId,
          newest,
          judged,
          proofOf(tx, newest.id, () => true, bounds.lastId),
        )
      : []
  return [...contradictionsOfSlot(slotId, around), ...doubts, ...ofAsset(tx, assetKey, wholeSight, bounds)]
}

function lookAround(tx: ReadTx, slotId: number, sight: Sight, bounds: Bounds): AroundSlot {
  const newest = newestInSlot(tx, slotId, bounds)
  const isRemoved = newest?.event_type === 'REMOVED'
  const placedLast =
    newest?.event_type === 'PLACED' ? newestPlacementOf(tx, newest.asset_key, sight, bounds) : undefined
  return {
    newest,
    before: isRemoved ? moveBefore(tx, newest, bounds) : undefined,
    ofAsset: newest && newestMoveOfAsset(tx, newest.asset_key, sight, bounds),
    placedLast,
    endOfStay: placedLast && nextInSlot(tx, placedLast, bounds),
    judged: judgementsAfter(tx, slotId, newest?.timestamp_ms ?? -1, bounds),
    disputes: openDisputes(tx, slotId, bounds),
  }
}

function ofAsset(tx: ReadTx, key: string, sight: Sight, bounds: Bounds): Contradiction[] {
  const newest = newestMoveOfAsset(tx, key, sight, bounds)
  if (newest?.event_type !== 'PLACED') return []
  const end = nextInSlot(tx, newest, bounds)
  if (!end) return []
  const asset_barcode = findEvent(tx, newest.id)?.asset_barcode ?? key
  return contradictionsOfAsset({ ...newest, asset_barcode }, end)
}
