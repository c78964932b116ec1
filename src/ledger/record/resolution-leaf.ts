import type { LeafFacts, Stated } from '../../log/index.ts'
import { isoTime } from '../../platform/index.ts'
import type { ResolutionRow } from '../tables.ts'

/** A row before its leaf is appended. */
export type UnsealedResolution = Omit<ResolutionRow, keyof Stated>

/** Returns the facts of a dispute-resolution leaf, made from the row alone. */
export function resolutionFacts(row: UnsealedResolution): LeafFacts {
  return {
    eventId: row.event_id,
    id: row.id,
    disputeEventId: row.dispute_event_id,
    placementEventId: row.placement_event_id,
    note: row.note_commitment,
    actor: row.actor_commitment,
    timestamp: isoTime(row.timestamp_ms),
  }
}
