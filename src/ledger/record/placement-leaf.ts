import { type Json, type LeafFacts, parsedJson, type Stated } from '../../log/index.ts'
import { isoTime } from '../../platform/index.ts'
import type { PlacementEventRow } from '../tables.ts'

/** A row before its leaf is appended: everything but what comes from the leaf. */
export type UnsealedRow = Omit<PlacementEventRow, keyof Stated>

/**
 * Returns the facts of a placement leaf, made from the row alone. So a holder of the row can make the leaf again and compare. A
 * fact that is absent in the row is absent here. Never changes; new columns become new keys, when present.
 */
export function placementFacts(row: UnsealedRow): LeafFacts {
  const facts: Record<string, Json | null | undefined> = {
    eventId: row.event_id,
    id: row.id,
    eventType: row.event_type,
    slotId: row.slot_id,
    slotCode: row.slot_code,
    assetBarcode: row.asset_barcode,
    assetKey: row.asset_key,
    operator: row.operator_commitment,
    actor: row.actor_commitment,
    timestamp: isoTime(row.timestamp_ms),
    deviceTimestamp: timeOf(row.device_timestamp_ms),
    receivedAt: isoTime(row.received_at_ms),
    clockOffsetMs: row.clock_offset_ms,
    timeQuality: row.time_quality,
    photoUrl: row.photo_url,
    photoSha256: row.photo_sha256,
    photoEvidence: row.photo_evidence,
    photoTakenAt: timeOf(row.photo_taken_at_ms),
    scaleWeightKg: row.scale_weight_kg,
    cctvClipUrl: row.cctv_clip_url,
    workOrderRef: row.work_order_ref,
    verificationNotes: row.notes_commitment,
    scan: row.scan === null ? null : parsedJson(row.scan),
    scanEvidence: row.scan_evidence,
    clientEventId: row.client_event_id,
    clientEvidenceHash: row.client_evidence_hash,
    correctsEventId: row.corrects_event_id,
    warnings: parsedJson(row.warnings),
    openingList: row.opening_list,
    openingLine: row.opening_line,
    countId: row.count_id,
    countScanId: row.count_scan_id,
    countScanSha256: row.count_scan_sha256,
  }
  for (const key in facts) if (facts[key] === null) facts[key] = undefined
  return facts as LeafFacts
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}
