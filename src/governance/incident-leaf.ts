import { type Json, type LeafFacts, parsedJson, type Stated } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { IncidentChangeRow } from './tables.ts'

/** A row before its leaf is appended. */
export type UnsealedIncidentChange = Omit<IncidentChangeRow, keyof Stated>

/** Returns the facts of an incident-change leaf, made from the row alone. Empty columns are left out. */
export function incidentFacts(row: UnsealedIncidentChange): LeafFacts {
  const facts: Record<string, Json | null> = {
    eventId: row.event_id,
    id: row.id,
    incidentId: row.incident_id,
    status: row.status,
    severity: row.severity,
    category: row.category,
    warehouseId: row.warehouse_id,
    title: row.title_commitment,
    description: row.description_commitment,
    evidence: row.evidence === null ? null : parsedJson(row.evidence),
    resolution: row.resolution_commitment,
    actor: row.actor_commitment,
    timestamp: isoTime(row.timestamp_ms),
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null)) as LeafFacts
}
