import { stringify } from 'csv-stringify/sync'
import type { PlacementEvent } from '../ledger/index.ts'

/** Columns of an export. Add new ones at the end only: spreadsheets refer to them by position. */
const columns = [
  'id',
  'seq',
  'eventId',
  'event_type',
  'slot_id',
  'slot_code',
  'asset_barcode',
  'asset_key',
  'operator',
  'actor',
  'timestamp',
  'received_at',
  'device_timestamp',
  'clock_offset_ms',
  'time_quality',
  'photo_url',
  'photo_sha256',
  'photoEvidence',
  'photo_taken_at',
  'scale_weight_kg',
  'cctv_clip_url',
  'work_order_ref',
  'verification_notes',
  'scan',
  'client_event_id',
  'corrects_event_id',
  'warnings',
  'client_evidence_hash',
  'evidence_hash',
  'scanEvidence',
] as const satisfies readonly (keyof PlacementEvent)[]

/** Byte order mark: spreadsheets need it to recognize UTF-8. */
export const byteOrderMark = '\ufeff'

export function csvHead(): string {
  return toCsv([[...columns]])
}

/** Returns a line for each event. A cell that a spreadsheet would run as a formula begins with an apostrophe. */
export function csvLines(events: readonly PlacementEvent[]): string {
  return toCsv(events.map((event) => columns.map((column) => cell(event, column))))
}

function cell(event: PlacementEvent, column: (typeof columns)[number]): string | number | null {
  switch (column) {
    case 'warnings':
      return event.warnings.map(({ code }) => code).join(' ')
    case 'scan':
      return event.scan === null ? null : JSON.stringify(event.scan)
    default:
      return event[column]
  }
}

type Rows = readonly (readonly (string | number | null)[])[]

/** Writes rows as CSV for programs: each cell as it is. */
export const exactCsv = (rows: Rows): string => written(rows, false)

/** Writes rows as CSV. A cell that a spreadsheet would run as a formula begins with an apostrophe. */
export const toCsv = (rows: Rows): string => written(rows, true)

function written(rows: Rows, escape_formulas: boolean): string {
  return stringify(rows as (string | number | null)[][], { record_delimiter: 'windows', escape_formulas })
}
