import type { Tx } from '../../database/index.ts'
import type { RequestOrigin } from '../../http/index.ts'
import type { AuditTrail } from '../../journal/index.ts'
import type { Log, Openings, People } from '../../log/index.ts'
import type { Clock } from '../../platform/index.ts'
import type { OpenDispute } from '../derive/disputes.ts'
import { appendResolution, endOfResolutions, type OpenedResolution } from '../resolution-store.ts'
import { releaseEnded } from './dispute-hold.ts'
import type { LedgerHead } from './head.ts'
import { resolutionFacts, type UnsealedResolution } from './resolution-leaf.ts'

type ResolutionsNeeds = {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly openings: Openings
  readonly people: People
  readonly head: LedgerHead
  readonly audit: AuditTrail
  readonly makeId: () => string
}

/** Ends disputes by a supervisor's note, inside the caller's transaction. */
export class Resolutions {
  readonly #needs: ResolutionsNeeds

  constructor(needs: ResolutionsNeeds) {
    this.#needs = needs
  }

  /** Appends leaf, row and audit entry, and ends the hold on the evidence. The caller has checked that the dispute is open. */
  append(tx: Tx, { placed, dispute }: OpenDispute, note: string, by: RequestOrigin): OpenedResolution {
    const { clock, log, openings, people, head, audit, makeId } = this.#needs
    const end = endOfResolutions(tx)
    const actor = people.ofCaller(tx, by.caller)
    const unsealed: UnsealedResolution = {
      id: end.id + 1,
      event_id: makeId(),
      dispute_event_id: dispute.id,
      placement_event_id: placed.id,
      note_commitment: openings.text(tx, note),
      actor_commitment: actor.inLeaf(log.next(), 'actor'),
      timestamp_ms: Math.max(head.nowMs(clock.now()), end.timestamp_ms),
    }
    const row = { ...unsealed, ...log.append(tx, 'dispute-resolution', String(unsealed.id), resolutionFacts(unsealed)) }
    appendResolution(tx, row)
    people.link(tx, actor, { subject: 'dispute_resolution', row: row.id, field: 'actor' })
    releaseEnded(tx)
    const changes = { resolution: row.id }
    audit.write(tx, by, { action: 'dispute.resolved', entity: 'event', entityId: dispute.id, changes })
    return { ...row, actor: actor.name, note }
  }
}
