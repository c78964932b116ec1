import { blob, built, integer, pick, type ReadTx, type RowOf, type Tx, text } from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import type { Device, Operator } from './schema.ts'
import { type DeviceRow, type OperatorRow, sql, tables } from './tables.ts'

export type { DeviceRow, OperatorRow }

export const warehousesOf = (row: Pick<DeviceRow, 'warehouses'>): number[] | undefined =>
  row.warehouses === null ? undefined : (JSON.parse(row.warehouses) as number[])

const newDevice = built(pick(tables.device, 'name', 'kind', 'role', 'warehouses', 'created_at_ms'), (row) =>
  sql.insertInto('device').values(row),
)
const newOperator = built(
  pick(tables.badge_operator, 'username', 'role', 'badge_mark', 'pin_hash', 'created_at_ms'),
  (row) => sql.insertInto('badge_operator').values(row),
)
const newShift = built(tables.shift_session, (row) => sql.insertInto('shift_session').values(row))

const devices = () => sql.selectFrom('device').selectAll()
const deviceById = built({ id: integer }, ({ id }) => devices().where('id', '=', id))
const deviceByName = built({ name: text }, ({ name }) =>
  devices().where('name', '=', name).where('revoked_at_ms', 'is', null),
)
const deviceByCode = built({ code: blob }, ({ code }) =>
  devices().where('code_sha256', '=', code).where('revoked_at_ms', 'is', null),
)
const allDevices = built({}, () => devices().orderBy('id'))

const operators = () => sql.selectFrom('badge_operator').selectAll()
const operatorById = built({ id: integer }, ({ id }) => operators().where('id', '=', id))
const operatorByName = built({ username: text }, ({ username }) =>
  operators().where('username', '=', username).where('revoked_at_ms', 'is', null),
)
const operatorByBadge = built({ mark: blob }, ({ mark }) =>
  operators().where('badge_mark', '=', mark).where('revoked_at_ms', 'is', null),
)
const allOperators = built({}, () => operators().orderBy('id'))

const newCode = built({ id: integer, code_sha256: blob, code_until_ms: integer }, ({ id, ...code }) =>
  sql.updateTable('device').set(code).where('id', '=', id),
)
const enrolled = built({ id: integer, token_sha256: blob, enrolled_at_ms: integer }, ({ id, ...enrolment }) =>
  sql
    .updateTable('device')
    .set({ code_sha256: null, code_until_ms: null, ...enrolment })
    .where('id', '=', id),
)
const revokedDevice = built({ id: integer, revoked_at_ms: integer }, ({ id, revoked_at_ms }) =>
  sql.updateTable('device').set({ revoked_at_ms, code_sha256: null, token_sha256: null }).where('id', '=', id),
)
const seen = built({ id: integer, seen_at_ms: integer, seen_address: text }, ({ id, ...sight }) =>
  sql.updateTable('device').set(sight).where('id', '=', id),
)
const newPin = built({ id: integer, pin_hash: text }, ({ id, pin_hash }) =>
  sql.updateTable('badge_operator').set({ pin_hash }).where('id', '=', id),
)
const revokedOperator = built({ id: integer, revoked_at_ms: integer }, ({ id, revoked_at_ms }) =>
  sql.updateTable('badge_operator').set({ revoked_at_ms }).where('id', '=', id),
)

const shiftsOnDevice = built({ id: integer }, ({ id }) => sql.deleteFrom('shift_session').where('device_id', '=', id))
const shiftsOfOperator = built({ id: integer }, ({ id }) =>
  sql.deleteFrom('shift_session').where('operator_id', '=', id),
)
const shiftsBefore = built({ ms: integer }, ({ ms }) => sql.deleteFrom('shift_session').where('begun_at_ms', '<', ms))
const shiftEnded = built({ token: blob }, ({ token }) =>
  sql.deleteFrom('shift_session').where('token_sha256', '=', token),
)
const shiftByToken = built({ token: blob }, ({ token }) =>
  sql.selectFrom('shift_session').select(['begun_at_ms', 'operator_id', 'device_id']).where('token_sha256', '=', token),
)

const everyName = built({}, () => sql.selectFrom('badge_operator').select('username as name'))

export function insertDevice(
  tx: Tx,
  device: Pick<DeviceRow, 'name' | 'kind' | 'role' | 'warehouses'>,
  nowMs: number,
): number {
  const { name, kind, role, warehouses } = device
  return tx.run(newDevice, { name, kind, role, warehouses, created_at_ms: nowMs }).lastId
}

export const findDevice = (tx: ReadTx, id: number): DeviceRow | undefined => tx.get(deviceById, { id })

/** Finds a device that is in use or waits for its enrolment. */
export const findDeviceByName = (tx: ReadTx, name: string): DeviceRow | undefined => tx.get(deviceByName, { name })

export const findDeviceByCode = (tx: ReadTx, codeSha256: Buffer): DeviceRow | undefined =>
  tx.get(deviceByCode, { code: codeSha256 })

export const listDevices = (tx: ReadTx): DeviceRow[] => tx.all(allDevices)

export function giveCode(tx: Tx, id: number, codeSha256: Buffer, untilMs: number): void {
  tx.run(newCode, { id, code_sha256: codeSha256, code_until_ms: untilMs })
}

/** Stores the new secret, deletes the code, and ends the shifts on the device. */
export function enrol(tx: Tx, id: number, tokenSha256: Buffer, nowMs: number): void {
  tx.run(enrolled, { id, token_sha256: tokenSha256, enrolled_at_ms: nowMs })
  tx.run(shiftsOnDevice, { id })
}

export function revokeDevice(tx: Tx, id: number, nowMs: number): void {
  tx.run(revokedDevice, { id, revoked_at_ms: nowMs })
  tx.run(shiftsOnDevice, { id })
}

export function noteSeen(tx: Tx, id: number, nowMs: number, address: string): void {
  tx.run(seen, { id, seen_at_ms: nowMs, seen_address: address })
}

export function insertOperator(
  tx: Tx,
  operator: Pick<OperatorRow, 'username' | 'role' | 'badge_mark' | 'pin_hash'>,
  nowMs: number,
): number {
  const { username, role, badge_mark, pin_hash } = operator
  return tx.run(newOperator, { username, role, badge_mark, pin_hash, created_at_ms: nowMs }).lastId
}

export const findOperator = (tx: ReadTx, id: number): OperatorRow | undefined => tx.get(operatorById, { id })

export const findOperatorByName = (tx: ReadTx, username: string): OperatorRow | undefined =>
  tx.get(operatorByName, { username })

export const findOperatorByBadge = (tx: ReadTx, mark: Buffer): OperatorRow | undefined =>
  tx.get(operatorByBadge, { mark })

/** Lists the names of badges, revoked ones too. */
export const namesEver = (tx: ReadTx): string[] => tx.all(everyName).map(({ name }) => name)

export const listOperators = (tx: ReadTx): OperatorRow[] => tx.all(allOperators)

/** Stores the PIN's hash and signs the operator out everywhere. */
export function changePin(tx: Tx, id: number, pinHash: string): void {
  tx.run(newPin, { id, pin_hash: pinHash })
  tx.run(shiftsOfOperator, { id })
}

export function revokeOperator(tx: Tx, id: number, nowMs: number): void {
  tx.run(revokedOperator, { id, revoked_at_ms: nowMs })
  tx.run(shiftsOfOperator, { id })
}

export function beginShift(tx: Tx, tokenSha256: Buffer, deviceId: number, operatorId: number, nowMs: number): void {
  tx.run(newShift, { token_sha256: tokenSha256, device_id: deviceId, operator_id: operatorId, begun_at_ms: nowMs })
}

/** Deletes shifts that began before this time. */
export function sweepShifts(tx: Tx, beforeMs: number): void {
  tx.run(shiftsBefore, { ms: beforeMs })
}

export const endShift = (tx: Tx, tokenSha256: Buffer): boolean => tx.run(shiftEnded, { token: tokenSha256 }).changes > 0

export type ShiftRow = Pick<RowOf<typeof tables.shift_session>, 'begun_at_ms' | 'operator_id' | 'device_id'>

export const findShift = (tx: ReadTx, tokenSha256: Buffer): ShiftRow | undefined =>
  tx.get(shiftByToken, { token: tokenSha256 })

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

const anyBadge = built({}, () => sql.selectFrom('badge_operator').select('id').limit(1))

/** Whether a badge was ever registered. Its mark is under the key of the box. */
export const hasBadges = (tx: ReadTx): boolean => tx.all(anyBadge).length > 0
