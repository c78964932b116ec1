import { type Json, type LeafFacts, parsedJson, type Stated } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { UnitHistoryRow } from './tables.ts'

/** A row before its leaf is appended: everything but what comes from the leaf. */
export type UnsealedHistoryRow = Omit<UnitHistoryRow, keyof Stated>

/**
 * Returns the facts of a unit-history leaf, made from the row alone. Fields are absent where the row is empty. Never changes; new
 * columns become new keys, when present.
 */
export function unitHistoryFacts(row: UnsealedHistoryRow): LeafFacts {
  const facts: Record<string, Json | null> = {
    eventId: row.event_id,
    row: row.row,
    unitId: row.unit_id,
    action: row.action,
    fromStage: row.from_stage,
    toStage: row.stage,
    status: row.status,
    operator: row.operator_commitment,
    actor: row.actor_commitment,
    note: row.note_commitment,
    reason: row.reason_commitment,
    timestamp: isoTime(row.timestamp_ms),
    deviceTimestamp: row.device_timestamp_ms === null ? null : isoTime(row.device_timestamp_ms),
    receivedAt: isoTime(row.received_at_ms),
    clockOffsetMs: row.clock_offset_ms,
    timeQuality: row.time_quality,
    photos: row.photos === null ? null : parsedJson(row.photos),
    scaleWeightKg: row.scale_weight_kg,
    scaleReadingId: row.scale_reading_id,
    scaleId: row.scale_id,
    scaleStable: row.scale_stable === null ? null : row.scale_stable === 1,
    reference: row.reference,
    sscc: row.sscc,
    direction: row.direction,
    warehouseId: row.warehouse_id,
    carrier: row.carrier,
    vehicle: row.vehicle_commitment,
    clientEventId: row.client_event_id,
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null)) as LeafFacts
}
