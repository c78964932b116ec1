import { canonicalJson, type Json, parsedJson, sha256 } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { CountScanRow } from './tables.ts'

/**
 * Returns the hash of a scan, hex: SHA-256 over RFC 8785 JSON, made from the row alone. Events that rely on the scan
 * hold it in their leaves, so later changes of the scan are found. The format must never change.
 */
export function scanSha256(row: Omit<CountScanRow, 'sha256'>): string {
  const facts: Record<string, Json | null> = {
    v: 1,
    countId: row.count_id,
    scanId: row.id,
    slotId: row.slot_id,
    found: parsedJson(row.found),
    counter: row.counter_commitment,
    timestamp: isoTime(row.timestamp_ms),
    deviceTimestamp: row.device_timestamp_ms === null ? null : isoTime(row.device_timestamp_ms),
    receivedAt: isoTime(row.received_at_ms),
    clockOffsetMs: row.clock_offset_ms,
    timeQuality: row.time_quality,
    knownEventId: row.known_event_id,
    clientScanId: row.client_scan_id,
  }
  const stated = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null)) as Json
  return sha256(canonicalJson(stated)).toString('hex')
}
