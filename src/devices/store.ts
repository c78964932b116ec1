import type { DeviceRole } from '../config/index.ts'
import type { ReadTx, Tx } from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import type { Device, Operator } from './schema.ts'

export type DeviceRow = {
  id: number
  name: string
  kind: 'handheld' | 'kiosk'
  role: DeviceRole
  warehouses: string | null
  code_sha256: Buffer | null
  code_until_ms: number | null
  token_sha256: Buffer | null
  enrolled_at_ms: number | null
  seen_at_ms: number | null
  seen_address: string | null
  created_at_ms: number
  revoked_at_ms: number | null
}

export type OperatorRow = {
  id: number
  username: string
  role: DeviceRole
  badge_mark: Buffer
  pin_hash: string
  created_at_ms: number
  revoked_at_ms: number | null
}

export const warehousesOf = (row: Pick<DeviceRow, 'warehouses'>): number[] | undefined =>
  row.warehouses === null ? undefined : (JSON.parse(row.warehouses) as number[])

export function insertDevice(
  tx: Tx,
  device: Pick<DeviceRow, 'name' | 'kind' | 'role' | 'warehouses'>,
  nowMs: number,
): number {
  const { name, kind, role, warehouses } = device
  return tx.runOf('INSERT INTO device (name, kind, role, warehouses, created_at_ms) VALUES (?, ?, ?, ?, ?)', [
    name,
    kind,
    role,
    warehouses,
    nowMs,
  ]).lastId
}

export const findDevice = (tx: ReadTx, id: number): DeviceRow | undefined =>
  tx.oneOf<DeviceRow>('SELECT * FROM device WHERE id = +?', [id])

/** Finds a device that is in use or waits for its enrolment. */
export const findDeviceByName = (tx: ReadTx, name: string): DeviceRow | undefined =>
  tx.oneOf<DeviceRow>('SELECT * FROM device WHERE name = ? AND revoked_at_ms IS NULL', [name])

export const findDeviceByCode = (tx: ReadTx, codeSha256: Buffer): DeviceRow | undefined =>
  tx.oneOf<DeviceRow>('SELECT * FROM device WHERE code_sha256 = ? AND revoked_at_ms IS NULL', [codeSha256])

export const listDevices = (tx: ReadTx): DeviceRow[] => tx.allOf<DeviceRow>('SELECT * FROM device ORDER BY id')

export function giveCode(tx: Tx, id: number, codeSha256: Buffer, untilMs: number): void {
  tx.runOf('UPDATE device SET code_sha256 = ?, code_until_ms = ? WHERE id = +?', [codeSha256, untilMs, id])
}

/** Stores the new secret, deletes the code, and ends the shifts on the device. */
export function enrol(tx: Tx, id: number, tokenSha256: Buffer, nowMs: number): void {
  tx.runOf(
    'UPDATE device SET code_sha256 = NULL, code_until_ms = NULL, token_sha256 = ?, enrolled_at_ms = ? WHERE id = +?',
    [tokenSha256, nowMs, id],
  )
  tx.runOf('DELETE FROM shift_session WHERE device_id = +?', [id])
}

export function revokeDevice(tx: Tx, id: number, nowMs: number): void {
  tx.runOf('UPDATE device SET revoked_at_ms = ?, code_sha256 = NULL, token_sha256 = NULL WHERE id = +?', [nowMs, id])
  tx.runOf('DELETE FROM shift_session WHERE device_id = +?', [id])
}

export function noteSeen(tx: Tx, id: number, nowMs: number, address: string): void {
  tx.runOf('UPDATE device SET seen_at_ms = ?, seen_address = ? WHERE id = +?', [nowMs, address, id])
}

export function insertOperator(
  tx: Tx,
  operator: Pick<OperatorRow, 'username' | 'role' | 'badge_mark' | 'pin_hash'>,
  nowMs: number,
): number {
  const { username, role, badge_mark, pin_hash } = operator
  return tx.runOf(
    'INSERT INTO badge_operator (username, role, badge_mark, pin_hash, created_at_ms) VALUES (?, ?, ?, ?, ?)',
    [username, role, badge_mark, pin_hash, nowMs],
  ).lastId
}

export const findOperator = (tx: ReadTx, id: number): OperatorRow | undefined =>
  tx.oneOf<OperatorRow>('SELECT * FROM badge_operator WHERE id = +?', [id])

export const findOperatorByName = (tx: ReadTx, username: string): OperatorRow | undefined =>
  tx.oneOf<OperatorRow>('SELECT * FROM badge_operator WHERE username = ? AND revoked_at_ms IS NULL', [username])

export const findOperatorByBadge = (tx: ReadTx, mark: Buffer): OperatorRow | undefined =>
  tx.oneOf<OperatorRow>('SELECT * FROM badge_operator WHERE badge_mark = ? AND revoked_at_ms IS NULL', [mark])

/** Lists the names of devices and badges, revoked ones too. */
export const namesEver = (tx: ReadTx): string[] =>
  tx
    .allOf<{ name: string }>('SELECT name FROM device UNION SELECT username AS name FROM badge_operator')
    .map(({ name }) => name)

export const listOperators = (tx: ReadTx): OperatorRow[] =>
  tx.allOf<OperatorRow>('SELECT * FROM badge_operator ORDER BY id')

/** Stores the PIN's hash and signs the operator out everywhere. */
export function changePin(tx: Tx, id: number, pinHash: string): void {
  tx.runOf('UPDATE badge_operator SET pin_hash = ? WHERE id = +?', [pinHash, id])
  tx.runOf('DELETE FROM shift_session WHERE operator_id = +?', [id])
}

export function revokeOperator(tx: Tx, id: number, nowMs: number): void {
  tx.runOf('UPDATE badge_operator SET revoked_at_ms = ? WHERE id = +?', [nowMs, id])
  tx.runOf('DELETE FROM shift_session WHERE operator_id = +?', [id])
}

export function beginShift(tx: Tx, tokenSha256: Buffer, deviceId: number, operatorId: number, nowMs: number): void {
  tx.runOf('INSERT INTO shift_session VALUES (?, ?, ?, ?)', [tokenSha256, deviceId, operatorId, nowMs])
}

/** Deletes shifts that began before this time. */
export function sweepShifts(tx: Tx, beforeMs: number): void {
  tx.runOf('DELETE FROM shift_session WHERE begun_at_ms < ?', [beforeMs])
}

export const endShift = (tx: Tx, tokenSha256: Buffer): boolean =>
  tx.runOf('DELETE FROM shift_session WHERE token_sha256 = ?', [tokenSha256]).changes > 0

export type ShiftRow = { begun_at_ms: number; operator_id: number; device_id: number }

export const findShift = (tx: ReadTx, tokenSha256: Buffer): ShiftRow | undefined =>
  tx.oneOf<ShiftRow>('SELECT begun_at_ms, operator_id, device_id FROM shift_session WHERE token_sha256 = ?', [
    tokenSha256,
  ])

/** Returns when the operator last signed in on the device, among shifts that were not ended. */
export const newestShift = (tx: ReadTx, username: string, deviceName: string): number | undefined =>
  tx.oneOf<{ begun_at_ms: number }>(
    `SELECT s.begun_at_ms FROM shift_session s JOIN badge_operator o ON o.id = s.operator_id JOIN device d ON d.id = s.device_id
     WHERE o.username = ? AND d.name = ? AND o.revoked_at_ms IS NULL AND d.revoked_at_ms IS NULL
     ORDER BY s.begun_at_ms DESC LIMIT 1`,
    [username, deviceName],
  )?.begun_at_ms

const orNull = (ms: number | null) => (ms === null ? null : isoTime(ms))

export function toDevice(row: DeviceRow): Device {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    role: row.role,
    warehouseIds: warehousesOf(row) ?? null,
    status: row.revoked_at_ms !== null ? 'revoked' : row.token_sha256 === null ? 'waiting' : 'enrolled',
    createdAt: isoTime(row.created_at_ms),
    enrolledAt: orNull(row.enrolled_at_ms),
    seenAt: orNull(row.seen_at_ms),
    seenAddress: row.seen_address,
    revokedAt: orNull(row.revoked_at_ms),
  }
}

export function toOperator(row: OperatorRow): Operator {
  return {
    id: row.id,
    username: row.username,
    role: row.role,
    createdAt: isoTime(row.created_at_ms),
    revokedAt: orNull(row.revoked_at_ms),
  }
}
