import type { ReadTx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Caller, type TimePlace, timeCursor } from '../http/index.ts'
import {
  assetIsKnown,
  boundsOf,
  correctionsOf,
  findEvent,
  headOf,
  type OpenedRow,
  type PlacementEvent,
  type Step,
  type Steps,
  type StepsOf,
  stepsOf,
  toPlacementEvent,
  type When,
} from '../ledger/index.ts'
import { isoTime } from '../platform/index.ts'
import type { AssetService, WarehouseService } from '../warehouse/index.ts'
import { filmsOfEvent, footageOf, footageWindowSeconds, type Watching } from './footage.ts'
import { nameOf } from './place.ts'
import type { endings, Stay, StoryStep } from './trace-schema.ts'

export type TracePage = { readonly limit: number; readonly offset: number; readonly behind: TimePlace | undefined }
type Page<T> = { data: T[]; hasMore: boolean; total: number | null; nextCursor: string | null }

type TracesNeeds = Watching & {
  readonly work: UnitOfWork
  readonly warehouse: WarehouseService
  readonly assets: AssetService
}

/** Lists what happened to a slot or an asset, stay by stay, with the proof. */
export class Traces {
  readonly #needs: TracesNeeds

  constructor(needs: TracesNeeds) {
    this.#needs = needs
  }

  /** Returns the stays in a slot, newest first. Throws NOT_FOUND. */
  ofSlot(path: string, byLabel: boolean, caller: Caller, when: When, page: TracePage): Page<Stay> {
    return this.#needs.work.read((tx) => {
      const slot = this.#needs.warehouse.slotByPath(tx, path, byLabel, caller)
      return this.#stays(tx, { slotId: slot.id }, caller, when, page)
    })
  }

  /** Returns the stays of an asset, newest first. Throws NOT_FOUND for an unknown barcode. */
  ofAsset(barcode: string, caller: Caller, when: When, page: TracePage): Page<Stay> {
    return this.#needs.work.read((tx) => {
      const assetKey = this.#known(tx, barcode, caller, when)
      return this.#stays(tx, { assetKey }, caller, when, page)
    })
  }

  /** Returns every move of an asset with its evidence, oldest first. Throws NOT_FOUND. */
  story(barcode: string, caller: Caller, when: When, page: TracePage): Page<StoryStep> {
    const read = this.#needs.work.read((tx) => {
      const assetKey = this.#known(tx, barcode, caller, when)
      const { steps, ...rest } = this.#steps(tx, { assetKey }, caller, when, page, 'oldest first')
      const lastId = boundsOf(tx, { ...when, lastId: headOf(tx).id }).lastId ?? 0
      return { story: steps.map((step) => this.#storyStep(tx, step, lastId, caller)), ...paged(steps, rest) }
    })
    const { story, ...rest } = read
    // Outside our read, because the room cameras reads by itself.
    const data = story.map((step) => {
      const { event } = step
      const moment = {
        timestampMs: Date.parse(event.timestamp),
        slotCode: event.slot_code,
        clipUrl: event.cctv_clip_url,
      }
      return { ...step, footage: footageOf(this.#needs, moment, footageWindowSeconds, caller) }
    })
    return { data, ...rest }
  }

  /** Returns the films of an event's own moment, and the recordings of the slot's cameras around it. Throws NOT_FOUND. */
  footage(id: number | undefined, windowSeconds: number, caller: Caller) {
    const event = this.#needs.work.read((tx) => {
      const row = id === undefined ? undefined : findEvent(tx, id)
      if (!row || !this.#needs.warehouse.visibleSlot(tx, row.slot_id, caller)) throw AppError.notFound('Event')
      return toPlacementEvent(row)
    })
    const { timestamp, slot_code, cctv_clip_url } = event
    const moment = {
      ...{ id: event.id, timestampMs: Date.parse(timestamp), receivedMs: Date.parse(event.received_at) },
      ...{ slotCode: slot_code, clipUrl: cctv_clip_url },
    }
    return { eventId: event.id, timestamp, slot_code, ...filmsOfEvent(this.#needs, moment, windowSeconds, caller) }
  }

  #known(tx: ReadTx, barcode: string, caller: Caller, when: When): string {
    const { key } = this.#needs.assets.readBarcode(tx, barcode)
    const sight = this.#needs.warehouse.sightOf(caller)
    const asset = this.#needs.assets.visible(tx, key, caller)
    if (!asset || (asset.provisional && !assetIsKnown(tx, key, sight, when))) throw AppError.notFound('Asset')
    return key
  }

  #stays(tx: ReadTx, of: StepsOf, caller: Caller, when: When, page: TracePage): Page<Stay> {
    const { steps, ...rest } = this.#steps(tx, of, caller, when, page, 'newest first')
    const data = steps.map((step) => this.#stay(tx, step, caller))
    return { data, ...paged(steps, rest) }
  }

  #steps(tx: ReadTx, of: StepsOf, caller: Caller, when: When, page: TracePage, order: 'newest first' | 'oldest first') {
    return stepsOf(tx, of, boundsOf(tx, when), {
      ...page,
      order,
      onlyStays: order === 'newest first',
      sight: this.#needs.warehouse.sightOf(caller),
    })
  }

  #stay(tx: ReadTx, step: Step, caller: Caller): Stay {
    const { move, next, judgementIds } = step
    const judgements = judgementIds.map((id) => event(tx, id))
    const last = judgements.at(-1)?.event_type
    const isSeen = next !== undefined && this.#needs.warehouse.visibleSlot(tx, next.slot_id, caller) !== undefined
    return {
      slot: nameOf(this.#needs.warehouse.slot(tx, move.slot_id, caller)),
      asset_barcode: move.asset_barcode,
      from: isoTime(move.timestamp_ms),
      to: next ? isoTime(next.timestamp_ms) : null,
      seconds: next ? (next.timestamp_ms - move.timestamp_ms) / 1000 : null,
      isVerified: last === 'VERIFIED',
      isDisputed: last === 'DISPUTED',
      placed: event(tx, move.id),
      ended: isSeen ? event(tx, next.id) : null,
      endedBy: endingOf(step),
      judgements,
    }
  }

  #storyStep(
    tx: ReadTx,
    { move, next, judgementIds }: Step,
    lastId: number,
    caller: Caller,
  ): Omit<StoryStep, 'footage'> {
    const recorded = event(tx, move.id)
    const judgements = judgementIds.map((id) => event(tx, id))
    const verdict = { VERIFIED: 'verified', DISPUTED: 'disputed', PLACED: 'none', REMOVED: 'none' } as const
    const slot = this.#needs.warehouse.slot(tx, move.slot_id, caller)
    return {
      event: recorded,
      slot: nameOf(slot),
      timezone: this.#needs.warehouse.timezoneOf(tx, slot.warehouseId),
      until: next ? isoTime(next.timestamp_ms) : null,
      photo: {
        evidence: recorded.photoEvidence,
        url: recorded.photo_url,
        sha256: recorded.photo_sha256,
        takenAt: recorded.photo_taken_at,
      },
      weightKg: recorded.scale_weight_kg,
      operator: recorded.operator,
      actor: recorded.actor,
      verification: move.event_type === 'REMOVED' ? null : verdict[judgements.at(-1)?.event_type ?? 'PLACED'],
      judgements,
      corrects: recorded.corrects_event_id,
      correctedBy: correctionsOf(tx, move.id, lastId).map(({ id }) => id),
    }
  }
}

function paged(steps: readonly Step[], { hasMore, total }: Omit<Steps, 'steps'>) {
  const last = steps.at(-1)?.move
  const nextCursor = hasMore && last ? timeCursor({ timestampMs: last.timestamp_ms, id: last.id }) : null
  return { hasMore, total, nextCursor }
}

function event(tx: ReadTx, id: number): PlacementEvent {
  return toPlacementEvent(findEvent(tx, id) as OpenedRow)
}

type Ending = (typeof endings)[number] | null

function endingOf({ move, next }: Step): Ending {
  if (!next) return null
  const isSame = next.asset_key === move.asset_key
  if (next.event_type === 'REMOVED') return isSame ? 'removed' : 'other_asset_removed'
  if (!isSame) return 'replaced'
  return next.slot_id === move.slot_id ? 'placed_again' : 'moved'
}
