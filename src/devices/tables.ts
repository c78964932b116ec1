import type { DeviceRole } from '../config/index.ts'
import { blob, builderOver, defaulted, integer, maybe, type RowOf, text, word } from '../database/index.ts'

export const tables = {
  device: {
    id: defaulted(integer),
    name: text,
    kind: word<'handheld' | 'kiosk'>(),
    role: word<DeviceRole>(),
    warehouses: maybe(text),
    code_sha256: maybe(blob),
    code_until_ms: maybe(integer),
    token_sha256: maybe(blob),
    enrolled_at_ms: maybe(integer),
    seen_at_ms: maybe(integer),
    seen_address: maybe(text),
    created_at_ms: integer,
    revoked_at_ms: maybe(integer),
  },
  badge_operator: {
    id: defaulted(integer),
    username: text,
    role: word<DeviceRole>(),
    badge_mark: blob,
    pin_hash: text,
    created_at_ms: integer,
    revoked_at_ms: maybe(integer),
  },
  shift_session: {
    token_sha256: blob,
    device_id: integer,
    operator_id: integer,
    begun_at_ms: integer,
  },
} as const

export const sql = builderOver(tables)

export type DeviceRow = RowOf<typeof tables.device>
export type OperatorRow = RowOf<typeof tables.badge_operator>
