import type { PlacementEventRow, ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Caller, demand, type IdempotencyClaim, type Reply, type RequestOrigin } from '../http/index.ts'
import type { AuditTrail, Idempotency, Outbox } from '../journal/index.ts'
import { canonicalJson, type Json, type Log, type Openings, sha256 } from '../log/index.ts'
import { type Asset, readBarcode, type Slot, type WarehouseService } from '../warehouse/index.ts'
import type { Clock } from '../world/index.ts'
import { placementRecorded } from './events.ts'
import type { LedgerHead } from './head.ts'
import { type Effect, judge, misfits, type Surroundings } from './judge.ts'
import { type Photos, photosPath } from './photos.ts'
import { placementFacts, type UnsealedRow } from './placement-leaf.ts'
import type { NewPlacementEvent, PlacementEvent, RecordedEvent, StoredPhoto } from './schema.ts'
import {
  boundsOf,
  judgedAfter,
  newestInSlot,
  newestOfAsset,
  newestTimestampMs,
  type Placement,
  slotState,
} from './state.ts'
import * as store from './store.ts'
import { type WarningCode, warningText } from './warnings.ts'
import { type DecidedTime, decideTime } from './when.ts'

const photoToleranceMs = 15 * 60 * 1000

export type LedgerSettings = {
  /** Warnings that refuse instead. */
  readonly enforce: readonly WarningCode[]
  readonly maxAgeMs: number | null
}

export type Asked = {
  readonly by: RequestOrigin
  readonly claim: IdempotencyClaim | undefined
  /** X-Device-Time. */
  readonly deviceTimeMs: number | undefined
}

export type HistoryQuery = {
  slot_id?: number | undefined
  asset_barcode?: string | undefined
  event_type?: string | undefined
}

/** The placement ledger: decides what an event means, appends it with its leaf, and reads what follows from it. */
export class LedgerService {
  readonly #work: UnitOfWork
  readonly #clock: Pick<Clock, 'now'>
  readonly #log: Log
  readonly #openings: Openings
  readonly #head: LedgerHead
  readonly #warehouse: WarehouseService
  readonly #photos: Photos
  readonly #outbox: Outbox
  readonly #audit: AuditTrail
  readonly #idempotency: Idempotency
  readonly #makeId: () => string
  readonly #clockIsTrusted: (nowMs: number) => boolean
  readonly #settings: () => LedgerSettings

  constructor(options: {
    work: UnitOfWork
    clock: Pick<Clock, 'now'>
    log: Log
    openings: Openings
    head: LedgerHead
    warehouse: WarehouseService
    photos: Photos
    outbox: Outbox
    audit: AuditTrail
    idempotency: Idempotency
    makeId: () => string
    clockIsTrusted: (nowMs: number) => boolean
    settings: () => LedgerSettings
  }) {
    this.#work = options.work
    this.#clock = options.clock
    this.#log = options.log
    this.#openings = options.openings
    this.#head = options.head
    this.#warehouse = options.warehouse
    this.#photos = options.photos
    this.#outbox = options.outbox
    this.#audit = options.audit
    this.#idempotency = options.idempotency
    this.#makeId = options.makeId
    this.#clockIsTrusted = options.clockIsTrusted
    this.#settings = options.settings
  }

  /**
   * Records one event. Resolves after it is on disk.
   * Throws PERMISSION_DENIED, EVIDENCE_REQUIRED, REFERENCE_NOT_FOUND, TIMESTAMP_IN_FUTURE, CONSTRAINT_VIOLATED.
   */
  record(request: NewPlacementEvent, asked: Asked): Promise<Reply<RecordedEvent>> {
    demandFor(request, asked.by.caller)
    return this.#work.write((tx) =>
      this.#idempotency.once(tx, asked.claim, () => {
        const repeated = this.#repeated(tx, request, asked.by.caller)
        if (repeated) return { status: 200 as const, body: repeated, location: pathOf(repeated.id) }
        const event = this.#append(tx, request, asked)
        return { status: 201 as const, body: event, location: pathOf(event.id) }
      }),
    )
  }

  /** Throws NOT_FOUND. */
  event(id: number | undefined, caller: Caller): PlacementEvent {
    return this.#work.read((tx) => {
      const row = id === undefined ? undefined : store.findEvent(tx, id)
      if (!row || !this.#isVisible(tx, row, caller)) throw AppError.notFound('Event')
      return store.toPlacementEvent(row)
    })
  }

  /** Keeps a photo: first the file, then its row. Throws UNSUPPORTED_MEDIA_TYPE, STORAGE_FULL. */
  async storePhoto(bytes: Buffer, { by, claim }: Pick<Asked, 'by' | 'claim'>): Promise<Reply<StoredPhoto>> {
    const media = await this.#photos.keepFile(bytes)
    return this.#work.write((tx) =>
      this.#idempotency.once(tx, claim, () => {
        const body = this.#photos.note(tx, media, by)
        return { status: 201 as const, body, location: `${photosPath}/${media.sha256}` }
      }),
    )
  }

  events(
    query: HistoryQuery,
    page: store.HistoryPage,
    caller: Caller,
  ): { events: PlacementEvent[]; hasMore: boolean; total: number | null } {
    const filter = {
      slotId: query.slot_id,
      assetKey: query.asset_barcode === undefined ? undefined : readBarcode(query.asset_barcode).key,
      eventType: query.event_type,
      hiddenWarehouses: this.#warehouse.hiddenFrom(caller),
    }
    const { rows, hasMore, total } = this.#work.read((tx) => store.listEvents(tx, filter, page))
    return { events: rows.map(store.toPlacementEvent), hasMore, total }
  }

  #append(tx: Tx, request: NewPlacementEvent, { by, deviceTimeMs }: Asked): RecordedEvent {
    const nowMs = this.#head.nowMs(this.#clock.now())
    const slot = this.#warehouse.slotReference(tx, { id: request.slot_id, code: request.slot_code }, by.caller)
    const code = readBarcode(request.asset_barcode)
    this.#refuseUnknownCorrection(tx, request, by.caller)
    const newestMs = newestTimestampMs(tx, slot.id, code.key)
    const when = decideTime(
      { timestampMs: request.timestamp, deviceTimeMs },
      nowMs,
      newestMs,
      this.#clockIsTrusted(nowMs),
      this.#settings().maxAgeMs,
    )
    const asset = this.#warehouse.findAsset(tx, code.key)
    const people = {
      operator: this.#openings.person(tx, request.operator ?? by.caller.username),
      actor: this.#openings.person(tx, by.caller.username),
    }
    const moved = { eventType: request.event_type, slotId: slot.id, assetKey: code.key, timestampMs: when.timestampMs }
    const { around, placement } = lookAround(tx, moved, newestMs)
    const judged = judge(moved, around)
    const photo = this.#photoOf(tx, request)
    const warnings: WarningCode[] = [
      ...judged.warnings,
      ...code.warnings,
      ...assetWarnings(request, slot, asset),
      ...timeWarnings(request, when, around),
      ...(photo.evidence === 'claimed' ? (['PHOTO_NOT_HELD'] as const) : []),
      ...(request.operator !== undefined && request.operator !== by.caller.username
        ? (['OPERATOR_DIFFERS'] as const)
        : []),
      ...(request.event_type === 'VERIFIED' && madeBy(tx, placement, people) ? (['SELF_VERIFIED'] as const) : []),
    ]
    this.#enforce(warnings)
    if (!asset) this.#warehouse.noteAsset(tx, request.asset_barcode, code.key)
    const row: UnsealedRow = {
      id: this.#head.nextId,
      event_id: this.#makeId(),
      event_type: request.event_type,
      slot_id: slot.id,
      slot_code: slot.slot_id,
      asset_barcode: request.asset_barcode,
      asset_key: code.key,
      operator_commitment: people.operator,
      actor_commitment: people.actor,
      timestamp_ms: when.timestampMs,
      device_timestamp_ms: when.deviceTimestampMs,
      received_at_ms: nowMs,
      clock_offset_ms: when.clockOffsetMs,
      time_quality: when.timeQuality,
      photo_url: request.photo_url ?? null,
      photo_sha256: photo.sha256,
      photo_evidence: photo.evidence,
      photo_taken_at_ms: request.photo_taken_at ?? null,
      scale_weight_kg: request.scale_weight_kg ?? null,
      cctv_clip_url: request.cctv_clip_url ?? null,
      work_order_ref: request.work_order_ref ?? null,
      notes_commitment:
        request.verification_notes === undefined ? null : this.#openings.text(tx, request.verification_notes),
      scan: request.scan ? JSON.stringify(request.scan) : null,
      client_event_id: request.client_event_id ?? null,
      client_evidence_hash: request.evidence_hash ?? null,
      corrects_event_id: request.corrects_event_id ?? null,
      warnings: JSON.stringify(warnings),
    }
    return this.#seal(tx, row, request, { by, slot, effect: judged.effect })
  }

  /** Leaf, row, notification and audit entry: the four that are there together or not at all. */
  #seal(
    tx: Tx,
    unsealed: UnsealedRow,
    request: NewPlacementEvent,
    { by, slot, effect }: { by: RequestOrigin; slot: Slot; effect: Effect },
  ): RecordedEvent {
    const leaf = this.#log.append(tx, 'placement', String(unsealed.id), placementFacts(unsealed))
    const row: PlacementEventRow = { ...unsealed, leaf_seq: leaf.seq, evidence_hash: leaf.evidenceHash }
    store.append(tx, row)
    this.#head.advance(row.id, row.received_at_ms)
    const operator = request.operator ?? by.caller.username
    const opened = { ...row, operator, actor: by.caller.username, notes: request.verification_notes ?? null }
    const event = answer(store.toPlacementEvent(opened), effect, slotNow(tx, slot.id, slot.slot_id))
    if (request.client_event_id !== undefined) {
      store.keepClientEventId(
        tx,
        store.callerMark(tx, by.caller),
        request.client_event_id,
        row.id,
        requestHash(request),
      )
    }
    this.#outbox.publish(tx, placementRecorded(event, slot.warehouseId))
    this.#audit.write(tx, by, {
      action: auditActions[row.event_type],
      entity: 'event',
      entityId: row.id,
      operator: request.operator,
    })
    return event
  }

  /** The answer to an event that this client sent before under its own id; undefined for a new one. */
  #repeated(tx: Tx, request: NewPlacementEvent, caller: Caller): RecordedEvent | undefined {
    if (request.client_event_id === undefined) return undefined
    const commitment = this.#openings.findPerson(tx, caller.username)
    const known = store.findByClientEventId(tx, store.callerMark(tx, caller), commitment, request.client_event_id)
    if (!known) return undefined
    if (known.request_sha256 !== requestHash(request)) {
      throw AppError.field('client_event_id', `was used for event ${known.event_id} with another body`)
    }
    const row = store.findEvent(tx, known.event_id)
    if (!row) throw new Error('a client event id leads nowhere')
    return answer(store.toPlacementEvent(row), effectNow(tx, row), slotNow(tx, row.slot_id, row.slot_code))
  }

  #isVisible(tx: ReadTx, event: { slot_id: number }, caller: Caller): boolean {
    return this.#warehouse.visibleSlot(tx, event.slot_id, caller) !== undefined
  }

  #refuseUnknownCorrection(tx: ReadTx, request: NewPlacementEvent, caller: Caller): void {
    const corrected = request.corrects_event_id
    if (corrected === undefined) return
    const found = store.findEvent(tx, corrected)
    if (found && this.#isVisible(tx, found, caller)) return
    throw new AppError('REFERENCE_NOT_FOUND', 'The event to correct is not there', {
      fields: [{ path: 'corrects_event_id', message: `no event ${corrected}` }],
    })
  }

  #photoOf(tx: ReadTx, request: NewPlacementEvent): { sha256: string | null; evidence: 'held' | 'claimed' | null } {
    if (request.event_type === 'PLACED' && request.photo_url === undefined) {
      throw new AppError('EVIDENCE_REQUIRED', 'A placement needs a photo', {
        fields: [{ path: 'photo_url', message: 'required' }],
      })
    }
    if (request.photo_url === undefined && request.photo_sha256 === undefined) return { sha256: null, evidence: null }
    const own = request.photo_url === undefined ? undefined : this.#photos.hashOf(request.photo_url)
    if (own && request.photo_sha256 !== undefined && request.photo_sha256 !== own) {
      throw AppError.field('photo_sha256', 'is not the hash of the photo at photo_url')
    }
    const hash = own ?? request.photo_sha256 ?? null
    return { sha256: hash, evidence: hash !== null && this.#photos.isHeld(tx, hash) ? 'held' : 'claimed' }
  }

  #enforce(warnings: readonly WarningCode[]): void {
    const refused = warnings.filter((code) => this.#settings().enforce.includes(code))
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

const pathOf = (id: number) => `/api/whms/events/${id}`

function demandFor(request: NewPlacementEvent, caller: Caller): void {
  const judging = request.event_type === 'VERIFIED' || request.event_type === 'DISPUTED'
  demand(caller, judging ? 'events:verify' : 'events:create')
}

/** Of the request as understood, so that white space and the order of keys don't count. */
function requestHash(request: NewPlacementEvent): string {
  return sha256(canonicalJson(JSON.parse(JSON.stringify(request)) as Json)).toString('hex')
}

function answer(event: PlacementEvent, effect: Effect, slot: RecordedEvent['slot']): RecordedEvent {
  return { success: true, ...event, effect, slot }
}

function slotNow(tx: ReadTx, id: number, code: string): RecordedEvent['slot'] {
  return { id, slot_id: code, ...slotState(tx, id) }
}

type Around = { around: Surroundings & { laterKnown: boolean }; placement: Placement | undefined }

/**
 * What is known around the event's place in the order.
 * @param newestMs newest timestamp of its slot and its asset: most events come after all that is known, and then
 *   nothing has to be looked up behind them
 */
function lookAround(
  tx: ReadTx,
  event: { slotId: number; assetKey: string; timestampMs: number },
  newestMs: number,
  beforeId?: number,
): Around {
  const laterKnown = newestMs > event.timestampMs
  const upTo = {
    ...boundsOf(tx, { atMs: event.timestampMs }),
    lastId: beforeId === undefined ? undefined : beforeId - 1,
  }
  const inSlot = newestInSlot(tx, event.slotId, upTo)
  const ofAsset = newestOfAsset(tx, event.assetKey, upTo)
  const everywhere = boundsOf(tx)
  const isLater = (row: Pick<Placement, 'timestamp_ms'> | undefined) =>
    row !== undefined && row.timestamp_ms > event.timestampMs
  const placement = inSlot?.event_type === 'PLACED' ? inSlot : undefined
  return {
    placement,
    around: {
      occupant: placement && { assetKey: placement.asset_key, placedAtMs: placement.timestamp_ms },
      assetSlotId: ofAsset?.event_type === 'PLACED' ? ofAsset.slot_id : undefined,
      slotMovedLater: laterKnown && isLater(newestInSlot(tx, event.slotId, everywhere)),
      assetMovedLater: laterKnown && isLater(newestOfAsset(tx, event.assetKey, everywhere)),
      judgedLater: laterKnown && judgedAfter(tx, event.slotId, event.assetKey, event.timestampMs),
      laterKnown,
    },
  }
}

/** Effect of a recorded event as it is now. */
function effectNow(tx: ReadTx, row: PlacementEventRow): Effect {
  const moved = {
    eventType: row.event_type,
    slotId: row.slot_id,
    assetKey: row.asset_key,
    timestampMs: row.timestamp_ms,
  }
  return judge(moved, lookAround(tx, moved, newestTimestampMs(tx, row.slot_id, row.asset_key), row.id).around).effect
}

function assetWarnings(request: NewPlacementEvent, slot: Slot, asset: Asset | undefined): WarningCode[] {
  const unknown: WarningCode[] = !asset || asset.provisional ? ['UNKNOWN_ASSET'] : []
  if (request.event_type !== 'PLACED') return unknown
  const weightKg = request.scale_weight_kg ?? asset?.weight_kg
  return [
    ...unknown,
    ...misfits({ constraints: slot.constraints, type: asset?.type, weightKg, heightCm: asset?.dimensions?.height }),
  ]
}

function timeWarnings(request: NewPlacementEvent, when: DecidedTime, around: { laterKnown: boolean }): WarningCode[] {
  const warnings: WarningCode[] = []
  if (when.isLate || around.laterKnown) warnings.push('LATE_EVENT')
  if (when.isAhead) warnings.push('CLOCK_AHEAD')
  const takenAt = request.photo_taken_at
  if (takenAt !== undefined && Math.abs(takenAt - when.timestampMs) > photoToleranceMs)
    warnings.push('PHOTO_TIME_MISMATCH')
  return warnings
}

function madeBy(tx: ReadTx, placement: Placement | undefined, people: { operator: string; actor: string }): boolean {
  const placers = placement && store.placersOf(tx, placement.id)
  if (!placers) return false
  return [people.operator, people.actor].some(
    (p) => p === placers.operator_commitment || p === placers.actor_commitment,
  )
}
