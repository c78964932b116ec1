import { blob, builderOver, integer, maybe, type RowOf, text, word } from '../database/index.ts'
import { stated } from '../log/index.ts'

export const tables = {
  incident_change: {
    ...stated,
    id: integer,
    event_id: text,
    incident_id: integer,
    status: word<'open' | 'investigating' | 'resolved'>(),
    severity: maybe(word<'low' | 'medium' | 'high' | 'critical'>()),
    category: maybe(text),
    warehouse_id: maybe(integer),
    title_commitment: maybe(text),
    description_commitment: maybe(text),
    evidence: maybe(text),
    resolution_commitment: maybe(text),
    actor_commitment: text,
    timestamp_ms: integer,
  },
  report: {
    ...stated,
    id: integer,
    event_id: text,
    type: word<'compliance'>(),
    from_ms: integer,
    to_ms: integer,
    warehouses: text,
    log_size: integer,
    log_root: text,
    sha256: text,
    size_bytes: integer,
    actor_commitment: text,
    created_at_ms: integer,
  },
  report_person: {
    report_id: integer,
    n: integer,
    name: maybe(text),
    instance: maybe(text),
    is_operator: integer,
    self_verified: integer,
  },
  account_seen: {
    person_id: integer,
    role: text,
    secret_mark: blob,
  },
} as const

export const sql = builderOver(tables)

export type IncidentChangeRow = RowOf<typeof tables.incident_change>
export type ReportRow = RowOf<typeof tables.report>
