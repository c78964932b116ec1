import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Ask, type Caller, demand, type Reply } from '../http/index.ts'
import type { Idempotency, Outbox } from '../journal/index.ts'
import {
  boundsOf,
  disputedPlacement,
  findEvent,
  momentOf,
  type OpenDispute,
  type OpenedResolution,
  openDisputes,
  type Resolutions,
  resolutionOf,
  resolutionsBehind,
  type When,
} from '../ledger/index.ts'
import { isoTime, ownTurn } from '../platform/index.ts'
import type { WarehouseService } from '../warehouse/index.ts'
import { type DiscrepancyQuery, shownTo } from './discrepancies.ts'
import { contradictionOfDispute, discrepancyKinds } from './discrepancy.ts'
import type { Discrepancy } from './discrepancy-schema.ts'
import { disputeResolved } from './events.ts'

/** Resolutions in one slice: a few milliseconds. */
const sliceRows = 30

type ResolvedDisputesNeeds = {
  readonly work: UnitOfWork
  readonly warehouse: WarehouseService
  readonly resolutions: Resolutions
  readonly idempotency: Idempotency
  readonly outbox: Outbox
}

/** Disputes that a supervisor ended by a note. */
export class ResolvedDisputes {
  readonly #needs: ResolvedDisputesNeeds

  constructor(needs: ResolvedDisputesNeeds) {
    this.#needs = needs
  }

  /**
   * Ends a dispute, and the hold on its evidence. Throws NOT_FOUND, INVALID_TRANSITION for a discrepancy that only the floor can end
   * and for a dispute that has ended, ALREADY_EXISTS for one that was resolved.
   */
  resolve(id: string, note: string, { by, claim }: Ask): Promise<Reply<{ success: true } & Discrepancy>> {
    const { work, idempotency, resolutions, outbox } = this.#needs
    demand(by.caller, 'events:verify')
    return work.write((tx) =>
      idempotency.once(tx, claim, () => {
        const open = this.#open(tx, id, by.caller)
        const resolution = resolutions.append(tx, open, note, by)
        const [discrepancy] = this.#shown(tx, resolution, by.caller, {})
        if (!discrepancy) throw AppError.notFound('Discrepancy')
        outbox.created(tx, disputeResolved(discrepancy, resolution.timestamp_ms))
        return { status: 200, body: { success: true as const, ...discrepancy } }
      }),
    )
  }

  /** Returns the resolved disputes, the newest resolution first. Works in slices. */
  async find(caller: Caller, when: When, query: DiscrepancyQuery): Promise<readonly Discrepancy[]> {
    if (query.kind !== undefined && query.kind !== 'disputed') return []
    const found: Discrepancy[] = []
    for (let behind: number | undefined = 0; behind !== undefined; ) {
      await ownTurn()
      const from: number = behind
      behind = this.#needs.work.read((tx) => {
        const moment = momentOf(boundsOf(tx, when))
        const rows = resolutionsBehind(tx, from, sliceRows)
        const known = rows.filter(({ timestamp_ms }) => timestamp_ms <= moment)
        for (const row of known) found.push(...this.#shown(tx, row, caller, query))
        return known.length < sliceRows ? undefined : rows.at(-1)?.id
      })
    }
    return found.toReversed()
  }

  #open(tx: Tx, id: string, caller: Caller): OpenDispute {
    const [, kind = '', placedId, disputeId] = idForm.exec(id) ?? []
    if (kind !== 'disputed' && discrepancyKinds.some((one) => one === kind))
      throw new AppError('INVALID_TRANSITION', 'A note does not end this discrepancy', {
        details: `${kind} ends when its cause ends: its todo says how`,
      })
    const dispute = disputeId === undefined ? undefined : findEvent(tx, Number(disputeId))
    const isSeen = dispute && this.#needs.warehouse.visibleSlot(tx, dispute.slot_id, caller) !== undefined
    if (!isSeen || dispute.event_type !== 'DISPUTED') throw AppError.notFound('Discrepancy')
    if (resolutionOf(tx, dispute.id))
      throw new AppError('ALREADY_EXISTS', 'This dispute is resolved already', {
        details: 'GET /api/whms/discrepancies?resolved=true lists it',
      })
    if (disputedPlacement(tx, dispute, now)?.id !== Number(placedId)) throw AppError.notFound('Discrepancy')
    const open = openDisputes(tx, dispute.slot_id, now).find((one) => one.dispute.id === dispute.id)
    if (open) return open
    throw new AppError('INVALID_TRANSITION', 'This dispute is not open', {
      details: 'the pallet was verified or disputed again, or the dispute was corrected',
    })
  }

  #shown(tx: ReadTx, resolution: OpenedResolution, caller: Caller, query: DiscrepancyQuery): Discrepancy[] {
    const dispute = findEvent(tx, resolution.dispute_event_id)
    if (!dispute) throw new Error(`there is no event ${resolution.dispute_event_id}`)
    const one = contradictionOfDispute(dispute.slot_id, { placed: { id: resolution.placement_event_id }, dispute })
    return shownTo(tx, this.#needs.warehouse, one, caller, query).map((shown) => ({
      ...shown,
      resolution: {
        note: resolution.note,
        resolvedBy: resolution.actor,
        resolvedAt: isoTime(resolution.timestamp_ms),
        eventId: resolution.event_id,
        seq: resolution.leaf_seq,
        evidenceHash: resolution.evidence_hash,
      },
    }))
  }
}

/** Kind and events of a discrepancy's id. */
const idForm = /^([a-z_]{1,40})-(\d{1,15})(?:-(\d{1,15}))?$/

const now = { atMs: undefined, lastId: undefined }
