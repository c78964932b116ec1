import type { ConfigNames } from '../../auth/index.ts'
import { change, type ReadTx, type Tx } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import { type Caller, demand, type RequestOrigin } from '../../http/index.ts'
import type { AuditTrail, Outbox } from '../../journal/index.ts'
import {
  canonicalJson,
  type Log,
  type Openings,
  type People,
  type Person,
  parsedJson,
  sha256,
  version1Of,
} from '../../log/index.ts'
import type { Photos } from '../../photos/index.ts'
import type { Clock } from '../../platform/index.ts'
import type { AssetService, Barcode, Slot, WarehouseService } from '../../warehouse/index.ts'
import { assetIsSeen, newestTimestampMs, slotState, stateAfterNewest } from '../derive/state.ts'
import { placementRecorded } from '../events.ts'
import { type Effect, type EventType, judge, type Moved } from '../judge.ts'
import type { NewPlacementEvent, PlacementEvent, RecordedEvent } from '../schema.ts'
import * as store from '../store.ts'
import type { PlacementEventRow } from '../tables.ts'
import { asksForHeld, asksForRegistered, type Requirements, type WarningCode, warningText } from '../warnings.ts'
import { type FilmsOf, holdDisputed } from './dispute-hold.ts'
import { type Grounds, groundColumns } from './grounds.ts'
import type { LedgerHead } from './head.ts'
import { refuseOtherPlacement } from './other-placement.ts'
import { isPhotoReused, type PhotoClaim, PhotoClaims } from './photo-claims.ts'
import { placementFacts, type UnsealedRow } from './placement-leaf.ts'
import { effectNow, lookAround } from './surroundings.ts'
import { type Acting, isRetiredBy, isUnregistered, madeBy, misfitWarnings, timeWarnings } from './warned.ts'
import { type DecidedTime, decideTime, settledTime } from './when.ts'

const beginAct = change('SAVEPOINT act')
const keepAct = change('RELEASE act')
const undoAct = change('ROLLBACK TO act')

/** `enforce`: warnings that refuse instead. */
export type LedgerSettings = Requirements & { readonly maxAgeMs: number | null }

/** Caller of an event, and the clock of its device. */
export type EventOrigin = {
  readonly by: RequestOrigin
  /** X-Device-Time. */
  readonly deviceTimeMs: number | undefined
}

/** `isNew` false: this client sent it before under its own id; the event is answered as it is now. */
export type Appended = { readonly event: RecordedEvent; readonly isNew: boolean }

/** Decisions about an event, for its row. */
type Decided = {
  readonly nowMs: number
  readonly slot: Slot
  readonly code: Barcode
  readonly people: Acting
  readonly when: DecidedTime
  readonly photo: PhotoClaim
  /** When the photo was taken; the first one goes into the row. */
  readonly taken: readonly number[]
  readonly scanEvidence: 'matched' | 'mismatched' | null
  readonly warnings: readonly WarningCode[]
  readonly grounds: Grounds | undefined
}

/** Properties that an act of several events adds to each of them. */
export type Within = {
  /** The event comes behind this time, whatever its own time is. */
  readonly afterMs?: number | undefined
  /** The event has exactly this time, and no device sent it. */
  readonly atMs?: number | undefined
  /** Hash of the whole act, to distinguish its repeat from a clash. */
  readonly requestSha256?: string | undefined
  /** False: the act's repeat is found by another of its events, though this one carries the client's id too. */
  readonly isKeyed?: boolean | undefined
  /** Result of the check when the photo was sent; undefined: it is sent now. */
  readonly isPhotoReused?: boolean | undefined
  /** Grounds in place of a photo. */
  readonly grounds?: Grounds | undefined
}

/**
 * Hears each event that happened in a slot, in its transaction; not those of opening stock, which no one saw happen. An error that
 * it throws undoes the event.
 */
export type OnRecorded = (
  tx: Tx,
  event: { readonly id: number; readonly slotCode: string; readonly timestampMs: number },
) => void

type RecorderNeeds = {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly openings: Openings
  readonly people: People
  readonly head: LedgerHead
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly photos: Photos
  readonly outbox: Outbox
  readonly audit: AuditTrail
  readonly makeId: () => string
  readonly clockIsTrusted: (nowMs: number) => boolean
  readonly settings: () => LedgerSettings
  readonly names: Pick<ConfigNames, 'ownsBareName'>
  readonly onRecorded: OnRecorded
}

/** Appends events inside the caller's transaction. The caller owns the unit of work, the idempotency key and the answer. */
export class Recorder {
  readonly #needs: RecorderNeeds
  readonly #photos: PhotoClaims
  #filmsOf: FilmsOf = () => []

  constructor(needs: RecorderNeeds) {
    this.#needs = needs
    this.#photos = new PhotoClaims(needs)
  }

  /** Sets the function that finds films; they stay on the disk while the placement is disputed. */
  heldWith(filmsOf: FilmsOf): void {
    this.#filmsOf = filmsOf
  }

  /**
   * Records one event of a client: permission, repeats by client_event_id, then the append. Throws PERMISSION_DENIED,
   * EVIDENCE_REQUIRED, REFERENCE_NOT_FOUND, TIMESTAMP_IN_FUTURE, CONSTRAINT_VIOLATED, PLACEMENT_MISMATCH, VALIDATION_ERROR. After
   * an error the transaction must be rolled back (see `attempt`).
   */
  appendIn(tx: Tx, request: NewPlacementEvent, asking: EventOrigin, within: Within = {}): Appended {
    demandFor(request.event_type, asking.by.caller)
    const repeated = this.repeated(tx, request.client_event_id, () => requestHash(request), asking.by.caller)
    return repeated
      ? { event: repeated, isNew: false }
      : { event: this.append(tx, request, asking, within), isNew: true }
  }

  /** As `appendIn`, for a request of which permission and repeats are settled. */
  append(tx: Tx, request: NewPlacementEvent, { by, deviceTimeMs }: EventOrigin, within: Within = {}): RecordedEvent {
    const nowMs = this.nowMs()
    const slot = this.#needs.warehouse.slotReference(tx, { id: request.slot_id, code: request.slot_code }, by.caller)
    const code = this.#needs.assets.readBarcode(tx, request.asset_barcode)
    this.#demandCorrected(tx, request, by.caller)
    const sight = this.#needs.warehouse.sightOf(by.caller)
    const newestMs = newestTimestampMs(tx, slot.id, code.key, sight)
    const when = this.timeOf({ timestampMs: request.timestamp, deviceTimeMs }, newestMs, within)
    const known = this.#needs.assets.find(tx, code.key)
    // An asset that only hidden warehouses have seen is judged like a barcode that no one has seen.
    const asset = known && assetIsSeen(tx, { ...known, key: code.key }, sight) ? known : undefined
    const actor = this.#needs.people.ofCaller(tx, by.caller)
    const people = { operator: this.#operatorOf(tx, request, by.caller, within.grounds), actor }
    const isOther = people.operator !== actor
    const moved = { eventType: request.event_type, slotId: slot.id, assetKey: code.key, timestampMs: when.timestampMs }
    const { around, placement } = lookAround(tx, moved, newestMs, sight)
    refuseOtherPlacement(tx, request, slot, { placement, timestampMs: when.timestampMs })
    const judged = judge(moved, around)
    const { grounds } = within
    const settings = this.#needs.settings()
    const photo = this.#photos.of(tx, request, grounds !== undefined, by.caller)
    const taken = this.#photos.takenAt(tx, request, photo, slot, when.timestampMs)
    const scanEvidence = this.#scanEvidenceOf(tx, request.scan, slot, code)
    const warnings: WarningCode[] = [
      ...judged.warnings,
      ...code.warnings,
      ...(asksForRegistered(settings) && isUnregistered(asset) ? (['UNKNOWN_ASSET'] as const) : []),
      ...misfitWarnings(request, slot, asset),
      ...(isRetiredBy(request, slot, when.timestampMs) ? (['SLOT_RETIRED'] as const) : []),
      ...(scanEvidence === 'mismatched' ? (['SCAN_MISMATCH'] as const) : []),
      ...timeWarnings(taken, when, around),
      ...(asksForHeld(settings) && photo.evidence === 'claimed' ? (['PHOTO_NOT_HELD'] as const) : []),
      ...((within.isPhotoReused ?? this.#isPhotoReused(tx, request, photo, moved, by.caller))
        ? (['PHOTO_REUSED'] as const)
        : []),
      ...(isOther && grounds?.kind !== 'count' ? (['OPERATOR_DIFFERS'] as const) : []),
      ...(request.event_type === 'VERIFIED' && madeBy(tx, placement, people) ? (['SELF_VERIFIED'] as const) : []),
    ]
    // Events at a time that the gateway sets restate older events: a rule of today must not keep an error in the ledger.
    if (within.atMs === undefined && grounds?.kind !== 'count') this.#enforce(warnings)
    this.#needs.assets.note(tx, request.asset_barcode, code, known)
    const decided = { nowMs, slot, code, people, when, photo, taken, scanEvidence, warnings, grounds }
    const row = this.#rowOf(tx, request, decided)
    const { laterKnown } = around
    return this.#seal(tx, row, request, { by, people, slot, effect: judged.effect, laterKnown, within })
  }

  /**
   * Runs `work` in a separate savepoint inside the transaction. A refusal that it throws is returned, with its changes undone and
   * the heads in memory as before. Any other error reaches the unit of work, which ends the whole.
   */
  attempt<T>(tx: Tx, work: () => T): { readonly done: T } | { readonly refused: AppError } {
    const before = { log: this.#needs.log.save(), people: this.#needs.people.save(), head: this.#needs.head.save() }
    tx.run(beginAct)
    try {
      const done = work()
      tx.run(keepAct)
      return { done }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      tx.run(undoAct)
      tx.run(keepAct)
      this.#needs.log.restore(before.log)
      this.#needs.people.restore(before.people)
      this.#needs.head.restore(before.head)
      return { refused: error }
    }
  }

  /** Returns the gateway's own time. */
  nowMs(): number {
    return this.#needs.head.nowMs(this.#needs.clock.now())
  }

  /** Returns when an event happened. Throws TIMESTAMP_IN_FUTURE, VALIDATION_ERROR. */
  timeOf(claim: Parameters<typeof decideTime>[0], newestMs: number, within: Within = {}): DecidedTime {
    const nowMs = this.nowMs()
    // By the clock itself: the gateway's own time hides that it fell behind.
    const trusted = this.#needs.clockIsTrusted(this.#needs.clock.now())
    if (within.atMs !== undefined) return settledTime(within.atMs, nowMs, trusted)
    const decided = decideTime(claim, nowMs, newestMs, trusted, this.#needs.settings().maxAgeMs)
    return { ...decided, timestampMs: Math.max(decided.timestampMs, (within.afterMs ?? -1) + 1) }
  }

  /** The answer to an event that this client sent before under its own id; undefined for a new one. */
  repeated(
    tx: Tx,
    clientEventId: string | undefined,
    requestSha256: () => string,
    caller: Caller,
  ): RecordedEvent | undefined {
    if (clientEventId === undefined) return undefined
    const commitment = this.#needs.names.ownsBareName(caller) ? version1Of(tx, caller.username) : undefined
    const known = store.findByClientEventId(tx, store.callerMark(tx, caller), commitment, clientEventId)
    if (!known) return undefined
    const row = store.findEvent(tx, known.event_id)
    const isSeen = row !== undefined && this.isVisible(tx, row, caller)
    if (known.request_sha256 !== requestSha256()) {
      const which = isSeen ? `event ${known.event_id}` : 'another event'
      throw AppError.field('client_event_id', `was used for ${which} with another body`)
    }
    // Out of sight by now: the request is judged anew, and meets the refusal that any unknown slot has.
    return isSeen ? this.asItIsNow(tx, known.event_id, caller) : undefined
  }

  /** Returns an event that was recorded, as its POST would answer it now. */
  asItIsNow(tx: ReadTx, id: number, caller: Caller): RecordedEvent {
    const row = store.findEvent(tx, id)
    if (!row) throw new Error(`there is no event ${id}`)
    return answer(store.toPlacementEvent(row), effectNow(tx, row, this.#needs.warehouse.sightOf(caller)), {
      id: row.slot_id,
      slot_id: row.slot_code,
      ...slotState(tx, row.slot_id),
    })
  }

  isVisible(tx: ReadTx, event: { slot_id: number }, caller: Caller): boolean {
    return this.#needs.warehouse.visibleSlot(tx, event.slot_id, caller) !== undefined
  }

  /** Makes the row of the next leaf. Call it once: the notes get their commitment here. */
  #rowOf(
    tx: Tx,
    request: NewPlacementEvent,
    { nowMs, slot, code, people, when, photo, taken, scanEvidence, warnings, grounds }: Decided,
  ): UnsealedRow {
    const place = this.#needs.log.next()
    return {
      id: this.#needs.head.nextId,
      event_id: this.#needs.makeId(),
      event_type: request.event_type,
      slot_id: slot.id,
      slot_code: slot.slot_id,
      asset_barcode: request.asset_barcode,
      asset_key: code.key,
      operator_commitment: people.operator.inLeaf(place, 'operator'),
      actor_commitment: people.actor.inLeaf(place, 'actor'),
      timestamp_ms: when.timestampMs,
      device_timestamp_ms: when.deviceTimestampMs,
      received_at_ms: nowMs,
      clock_offset_ms: when.clockOffsetMs,
      time_quality: when.timeQuality,
      photo_url: request.photo_url ?? null,
      photo_sha256: photo.sha256,
      photo_evidence: photo.evidence,
      photo_taken_at_ms: taken[0] ?? null,
      scale_weight_kg: request.scale_weight_kg ?? null,
      cctv_clip_url: request.cctv_clip_url ?? null,
      work_order_ref: request.work_order_ref ?? null,
      notes_commitment:
        request.verification_notes === undefined ? null : this.#needs.openings.text(tx, request.verification_notes),
      scan: request.scan ? JSON.stringify(request.scan) : null,
      scan_evidence: scanEvidence,
      client_event_id: request.client_event_id ?? null,
      client_evidence_hash: request.evidence_hash ?? null,
      corrects_event_id: request.corrects_event_id ?? null,
      warnings: JSON.stringify(warnings),
      ...groundColumns(grounds),
    }
  }

  /** Leaf, row, notification and audit entry: the four that are there together or not at all. */
  #seal(
    tx: Tx,
    unsealed: UnsealedRow,
    request: NewPlacementEvent,
    {
      by,
      people,
      slot,
      effect,
      laterKnown,
      within,
    }: { by: RequestOrigin; people: Acting; slot: Slot; effect: Effect; laterKnown: boolean; within: Within },
  ): RecordedEvent {
    const leaf = this.#needs.log.append(tx, 'placement', String(unsealed.id), placementFacts(unsealed))
    const row: PlacementEventRow = { ...unsealed, ...leaf }
    store.append(tx, row)
    store.linkPeople(tx, row, people)
    this.#needs.head.advance(row.id, row.received_at_ms)
    const opened = {
      ...row,
      operator: people.operator.name,
      actor: people.actor.name,
      operator_id: people.operator.id,
      actor_id: people.actor.id,
      notes: request.verification_notes ?? null,
      counted_at_ms: null,
    }
    const state = laterKnown ? slotState(tx, slot.id) : (stateAfterNewest(row) ?? slotState(tx, slot.id))
    const event = answer(store.toPlacementEvent(opened), effect, { id: slot.id, slot_id: slot.slot_id, ...state })
    holdDisputed(tx, row, this.#filmsOf)
    if (request.client_event_id !== undefined && within.isKeyed !== false) {
      const hash = within.requestSha256 ?? requestHash(request)
      store.keepClientEventId(tx, store.callerMark(tx, by.caller), request.client_event_id, row.id, hash)
    }
    if (within.grounds?.kind !== 'opening') {
      this.#needs.onRecorded(tx, { id: row.id, slotCode: row.slot_code, timestampMs: row.timestamp_ms })
    }
    this.#needs.outbox.publish(tx, placementRecorded(event, slot.warehouseId))
    this.#needs.audit.write(tx, by, {
      action: auditActions[row.event_type],
      entity: 'event',
      entityId: row.id,
      operator: people.operator,
    })
    return event
  }

  /** Returns the operator: for a scan of a count the person who scanned the slot. */
  #operatorOf(tx: Tx, request: NewPlacementEvent, caller: Caller, grounds: Grounds | undefined): Person {
    const counter = grounds?.kind === 'count' ? grounds.counter : undefined
    return counter ? this.#needs.people.of(tx, counter) : this.#needs.people.ofOperator(tx, request.operator, caller)
  }

  /** Demands that the corrected event is there, and that the caller may book such an event: a dispute ends by its correction. */
  #demandCorrected(tx: ReadTx, request: NewPlacementEvent, caller: Caller): void {
    const corrected = request.corrects_event_id
    if (corrected === undefined) return
    const found = store.findEvent(tx, corrected)
    if (!found || !this.isVisible(tx, found, caller))
      throw new AppError('REFERENCE_NOT_FOUND', 'There is no such event to correct', {
        fields: [{ path: 'corrects_event_id', message: `no event ${corrected}` }],
      })
    demandFor(found.event_type, caller)
  }

  /**
   * Compares the scans with the event: `matched` when both name its slot and asset, `mismatched` when one does not. Null when they
   * were not both sent.
   */
  #scanEvidenceOf(
    tx: ReadTx,
    scan: NewPlacementEvent['scan'],
    slot: Slot,
    code: Barcode,
  ): 'matched' | 'mismatched' | null {
    const isSlot = scan?.slot === undefined ? undefined : this.#needs.warehouse.isScanOf(tx, scan.slot, slot)
    const isAsset =
      scan?.asset === undefined ? undefined : this.#needs.assets.readBarcode(tx, scan.asset).key === code.key
    if (isSlot === false || isAsset === false) return 'mismatched'
    return isSlot && isAsset ? 'matched' : null
  }

  #isPhotoReused(tx: ReadTx, request: NewPlacementEvent, photo: PhotoClaim, moved: Moved, caller: Caller): boolean {
    const isSeen = (slotId: number) => this.isVisible(tx, { slot_id: slotId }, caller)
    return isPhotoReused(tx, request, photo, { ...moved, id: this.#needs.head.nextId }, isSeen)
  }

  #enforce(warnings: readonly WarningCode[]): void {
    const refused = warnings.filter((code) => this.#needs.settings().enforce.includes(code))
    if (refused.length === 0) return
    throw new AppError('CONSTRAINT_VIOLATED', 'The rules of this site refuse the event', {
      details: refused.map((code) => `${code}: ${warningText[code]}`).join('; '),
    })
  }
}

const auditActions = {
  PLACED: 'placement.recorded',
  REMOVED: 'removal.recorded',
  VERIFIED: 'verification.recorded',
  DISPUTED: 'dispute.recorded',
} as const

export function demandFor(type: EventType, caller: Caller): void {
  demand(caller, type === 'VERIFIED' || type === 'DISPUTED' ? 'events:verify' : 'events:create')
}

/** Hashes the request as understood, so that white space and the order of keys do not count. */
export function requestHash(request: object): string {
  return sha256(canonicalJson(parsedJson(JSON.stringify(request)))).toString('hex')
}

function answer(event: PlacementEvent, effect: Effect, slot: RecordedEvent['slot']): RecordedEvent {
  return { success: true, ...event, effect, slot }
}
