import type { DecisionRow, ExportRow } from './tables.ts'

/** Time in which a granted export can be downloaded. */
const openMs = 24 * 60 * 60 * 1000
/** Longest wait of an export for a second person. */
const waitsMs = 7 * 24 * 60 * 60 * 1000

export type ExportState = 'waiting' | 'granted' | 'refused' | 'ended'

/** Returns the state of an export at a time, from its row and the decision of the second person. */
export function exportState(row: ExportRow, decision: DecisionRow | undefined, nowMs: number): ExportState {
  if (decision?.decision === 'refused') return 'refused'
  const endsMs = exportEndsAt(row, decision)
  if (endsMs === undefined) return nowMs < row.requested_at_ms + waitsMs ? 'waiting' : 'ended'
  return nowMs < endsMs ? 'granted' : 'ended'
}

/** Returns the time until when the file can be downloaded; undefined while nothing is granted. */
export function exportEndsAt(row: ExportRow, decision: DecisionRow | undefined): number | undefined {
  if (decision) return decision.decision === 'approved' ? decision.decided_at_ms + openMs : undefined
  return row.needs_approval === 1 ? undefined : row.requested_at_ms + openMs
}
