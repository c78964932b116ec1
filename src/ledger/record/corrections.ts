import { type ReadTx, statement, type Tx, type UnitOfWork, word } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Reply, RequestOrigin } from '../../http/index.ts'
import type { AuditTrail, Idempotency } from '../../journal/index.ts'
import type { AssetService, WarehouseService } from '../../warehouse/index.ts'
import { isReusedBy } from '../derive/photo-reuse.ts'
import { judgements, newestInSlot } from '../derive/state.ts'
import { correctionsOf } from '../derive/walk.ts'
import type { NewPlacementEvent, RecordedEvent } from '../schema.ts'
import * as store from '../store.ts'
import type { PlacementEventRow } from '../tables.ts'
import type { NewCorrection, RecordedCorrection } from './act-schema.ts'
import { withoutSuccess } from './acts.ts'
import { compensation, type Step } from './correction.ts'
import { demandFor, type Recorder, requestHash } from './recorder.ts'
import { placementIdOf, scenesAround } from './scene.ts'
import type { TimedAsk } from './timed-ask.ts'

type Judgement = 'VERIFIED' | 'DISPUTED'

const newestJudgement = statement({
  columns: { event_type: word<Judgement>() },
  sql: `SELECT event_type FROM main.placement_event
    WHERE slot_id = +? AND ${judgements} AND timestamp_ms > +? AND timestamp_ms <= +? AND asset_key = +? AND id <> ?
    ORDER BY timestamp_ms DESC, id DESC LIMIT 1`,
})

/**
 * Returns the effect of a VERIFIED or DISPUTED at its own time: the judgement of the stay with it (`now`) and without it. Undefined
 * where it judges nothing: its asset was not there, or came at the same moment.
 */
function judgementAt(
  tx: ReadTx,
  event: Pick<PlacementEventRow, 'id' | 'timestamp_ms' | 'slot_id' | 'asset_key'>,
): { placementId: number; now: Judgement | undefined; without: Judgement | undefined } | undefined {
  const placed = newestInSlot(tx, event.slot_id, { atMs: event.timestamp_ms, lastId: undefined })
  if (placed?.event_type !== 'PLACED' || placed.asset_key !== event.asset_key) return undefined
  if (placed.timestamp_ms >= event.timestamp_ms) return undefined
  const { slot_id, timestamp_ms, asset_key } = event
  const newest = (withoutId: number) =>
    tx.get(newestJudgement, [slot_id, placed.timestamp_ms, timestamp_ms, asset_key, withoutId])?.event_type
  return { placementId: placed.id, now: newest(0), without: newest(event.id) }
}

/** The event as it should have been booked. */
type Right = { readonly slotId: number; readonly assetBarcode: string; readonly assetKey: string }

type Evidence = Pick<
  NewPlacementEvent,
  'photo_url' | 'photo_sha256' | 'photo_taken_at' | 'scale_weight_kg' | 'cctv_clip_url' | 'work_order_ref'
> & {
  /** The event that was sent with this photo; undefined when the correction itself brings it. */
  readonly photoFrom: store.OpenedRow | undefined
}

/** One event to append, without what all events of a correction have in common. */
type Restated = Partial<Evidence> &
  Pick<NewPlacementEvent, 'event_type' | 'asset_barcode'> & { slot_id: number; scan?: NewPlacementEvent['scan'] }

type CorrectionsNeeds = {
  readonly work: UnitOfWork
  readonly recorder: Recorder
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly idempotency: Idempotency
  readonly audit: AuditTrail
}

/** Corrects by appending: the row that was wrong stays as it is. */
export class Corrections {
  readonly #needs: CorrectionsNeeds

  constructor(needs: CorrectionsNeeds) {
    this.#needs = needs
  }

  /**
   * Appends events that make the floor as if the event had been booked as in `request`. Throws NOT_FOUND, PERMISSION_DENIED,
   * ALREADY_EXISTS when it was corrected before, REFERENCE_NOT_FOUND, VALIDATION_ERROR when there is nothing to change.
   */
  correct(id: number | undefined, request: NewCorrection, asked: TimedAsk): Promise<Reply<RecordedCorrection>> {
    const { caller } = asked.by
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, asked.claim, () => {
        const wrong = id === undefined ? undefined : store.findEvent(tx, id)
        if (!wrong || !this.#needs.recorder.isVisible(tx, wrong, caller)) throw AppError.notFound('Event')
        demandFor(wrong.event_type, caller)
        const hash = requestHash({ corrects: wrong.id, ...request })
        const known = this.#needs.recorder.repeated(tx, request.client_event_id, () => hash, caller)
        const ids = known ? idsFrom(tx, known) : this.#append(tx, wrong, request, hash, asked)
        const events = ids.map((one) => withoutSuccess(this.#needs.recorder.asItIsNow(tx, one, caller)))
        const body = { success: true as const, corrected: store.toPlacementEvent(wrong), events }
        return { status: known ? (200 as const) : (201 as const), body, location: `/api/whms/events/${ids[0]}` }
      }),
    )
  }

  #append(tx: Tx, wrong: store.OpenedRow, request: NewCorrection, hash: string, asked: TimedAsk): number[] {
    refuseSecond(tx, wrong.id)
    const right = this.#right(tx, wrong, request, asked.by)
    const plan = isJudgement(wrong)
      ? judgedAnew(tx, wrong, right)
      : this.#movedAnew(tx, wrong, right, request, asked.by)
    if (plan.length === 0) throw AppError.field('none', 'nothing of this event is left that could be taken back')
    const { operator, reason: verification_notes, client_event_id } = request
    const common = { operator, verification_notes, client_event_id, corrects_event_id: wrong.id }
    const ids = plan.map(({ photoFrom, ...restated }, index) => {
      const event = { ...silent, ...restated, ...common }
      const isPhotoReused = photoFrom && isReusedBy(photoFrom)
      const within = { atMs: wrong.timestamp_ms, isKeyed: index === 0, requestSha256: hash, isPhotoReused }
      return this.#needs.recorder.append(tx, event, asked, within).id
    })
    const changes = { events: ids }
    this.#needs.audit.write(tx, asked.by, {
      action: 'event.corrected',
      entity: 'event',
      entityId: wrong.id,
      operator,
      changes,
    })
    return ids
  }

  #right(tx: Tx, wrong: store.OpenedRow, request: NewCorrection, by: RequestOrigin): Right | undefined {
    if (request.none === true) return undefined
    const { slot_id: id, slot_code: code } = request
    const names = id !== undefined || code !== undefined
    const slotId = names ? this.#needs.warehouse.slotReference(tx, { id, code }, by.caller).id : wrong.slot_id
    const assetBarcode = request.asset_barcode ?? wrong.asset_barcode
    const assetKey = this.#needs.assets.readBarcode(tx, assetBarcode).key
    if (slotId === wrong.slot_id && assetKey === wrong.asset_key)
      throw AppError.field(names ? 'slot_id' : 'asset_barcode', 'is what was booked')
    return { slotId, assetBarcode, assetKey }
  }

  /** Slots that the caller may not see stay as they are. */
  #movedAnew(
    tx: Tx,
    wrong: store.OpenedRow,
    right: Right | undefined,
    request: NewCorrection,
    by: RequestOrigin,
  ): Restated[] {
    const type = wrong.event_type as Step['type']
    const rightStep = right && { type, slotId: right.slotId, assetKey: right.assetKey }
    const { booked, wanted } = scenesAround(tx, wrong, rightStep)
    const isTakenBack = wrong.event_type === 'REMOVED' && rightStep?.assetKey !== wrong.asset_key
    const steps = compensation(booked, wanted, rightStep, isTakenBack ? [wrong.asset_key] : [])
    const seen = steps.filter(({ slotId }) => this.#needs.recorder.isVisible(tx, { slot_id: slotId }, by.caller))
    return seen.map((step) => {
      const isRight = right && step.type === type && step.slotId === right.slotId && step.assetKey === right.assetKey
      return isRight ? asItWas(step, wrong, right, request) : putBack(tx, step, wrong)
    })
  }
}

/** Fields that no event of a correction has. */
const silent = {
  slot_code: undefined,
  timestamp: undefined,
  photo_url: undefined,
  photo_sha256: undefined,
  photo_taken_at: undefined,
  scale_weight_kg: undefined,
  evidence_hash: undefined,
  cctv_clip_url: undefined,
  work_order_ref: undefined,
  scan: undefined,
  placement_event_id: undefined,
} as const

const isJudgement = ({ event_type }: store.OpenedRow) => event_type === 'VERIFIED' || event_type === 'DISPUTED'

function refuseSecond(tx: Tx, id: number): void {
  const earlier = correctionsOf(tx, id, Number.MAX_SAFE_INTEGER)
  if (earlier.length === 0) return
  throw new AppError('ALREADY_EXISTS', 'This event is corrected already', {
    details: `by ${earlier.map((one) => one.id).join(', ')}: correct those`,
  })
}

/** Returns the events of one correction: they follow each other and carry the client's id. */
function idsFrom(tx: Tx, first: RecordedEvent): number[] {
  const ids: number[] = []
  for (let row = store.findEvent(tx, first.id); row; row = store.findEvent(tx, row.id + 1)) {
    if (row.client_event_id !== first.client_event_id || row.corrects_event_id !== first.corrects_event_id) break
    ids.push(row.id)
  }
  return ids
}

function evidenceOf(row: store.OpenedRow | undefined): Partial<Evidence> {
  return {
    photoFrom: row,
    photo_url: row?.photo_url ?? undefined,
    photo_sha256: row?.photo_sha256 ?? undefined,
    photo_taken_at: row?.photo_taken_at_ms ?? undefined,
    scale_weight_kg: row?.scale_weight_kg ?? undefined,
    cctv_clip_url: row?.cctv_clip_url ?? undefined,
    work_order_ref: row?.work_order_ref ?? undefined,
  }
}

/** Returns the event as it should have been booked, with the evidence that it has; the body's photo comes before its own. */
function asItWas(step: Step, wrong: store.OpenedRow, right: Right, request: NewCorrection): Restated {
  const { photo_url, photo_sha256, photo_taken_at, scan } = request
  return {
    ...evidenceOf(wrong),
    ...(photo_url !== undefined && { photo_url, photo_sha256, photo_taken_at, photoFrom: undefined }),
    event_type: step.type,
    slot_id: right.slotId,
    asset_barcode: right.assetBarcode,
    scan,
  }
}

/** Returns an asset that the wrong event displaced or took, with the evidence by which it had come there. */
function putBack(tx: Tx, step: Step, wrong: store.OpenedRow): Restated {
  const moment = { timestampMs: wrong.timestamp_ms, withoutId: step.type === 'PLACED' ? wrong.id : 0 }
  const id = placementIdOf(tx, step.slotId, step.assetKey, moment)
  const row = id === undefined ? undefined : store.findEvent(tx, id)
  return {
    ...(step.type === 'PLACED' && evidenceOf(row)),
    event_type: step.type,
    slot_id: step.slotId,
    asset_barcode: row?.asset_barcode ?? wrong.asset_barcode,
  }
}

/**
 * Takes back a judgement by repeating the one before it. Without an earlier one it repeats the placement, which no one has judged.
 * A judgement without an effect needs nothing.
 */
function judgedAnew(tx: Tx, wrong: store.OpenedRow, right: Right | undefined): Restated[] {
  const standing = judgementAt(tx, wrong)
  const { slot_id, asset_barcode } = wrong
  const back: Restated[] = []
  if (standing && standing.now !== standing.without)
    back.push(
      standing.without
        ? { event_type: standing.without, slot_id, asset_barcode }
        : { ...evidenceOf(store.findEvent(tx, standing.placementId)), event_type: 'PLACED', slot_id, asset_barcode },
    )
  if (!right) return back
  return [...back, { event_type: wrong.event_type, slot_id: right.slotId, asset_barcode: right.assetBarcode }]
}
