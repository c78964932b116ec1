import { join } from 'node:path'
import { type LeafFacts, parsedJson, type Stated } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { ReportRow } from './tables.ts'

/** A row before its leaf is appended. */
export type UnsealedReport = Omit<ReportRow, keyof Stated>

/** Returns the facts of a report leaf, made from the row alone. */
export function reportFacts(row: UnsealedReport): LeafFacts {
  return {
    eventId: row.event_id,
    id: row.id,
    type: row.type,
    from: isoTime(row.from_ms),
    to: isoTime(row.to_ms),
    warehouses: parsedJson(row.warehouses),
    logSize: row.log_size,
    logRoot: row.log_root,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    actor: row.actor_commitment,
    createdAt: isoTime(row.created_at_ms),
  }
}

/** Returns the path of a report's file, which is named by its hash. */
export function reportFile(dataDir: string, sha256: string): string {
  return join(dataDir, 'reports', `${sha256}.json`)
}
