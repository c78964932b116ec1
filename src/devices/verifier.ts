import { createHash, timingSafeEqual } from 'node:crypto'
import { type CredentialVerifier, type Presented, twoNames, type Verified } from '../auth/index.ts'
import { type DeviceRole, deviceRoles, permissionsOf } from '../config/index.ts'
import type { ReadTx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'
import type { Clock } from '../platform/index.ts'
import * as store from './store.ts'

export type DeviceSettings = {
  readonly siteUrl: string
  /** How long a sign-in by badge lasts. */
  readonly shiftMs: number
}

const seenEveryMs = 5 * 60_000

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Returns the lesser of two roles. */
export const lesserRole = (a: DeviceRole, b: DeviceRole): DeviceRole =>
  deviceRoles.indexOf(a) < deviceRoles.indexOf(b) ? a : b

type DeviceVerifierNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  /** Shifts end by this one. */
  readonly expiryClock: Pick<Clock, 'now'>
  readonly settings: () => DeviceSettings
  /** Says whether the config has an account of this name, which comes first. */
  readonly isAccount: (username: string) => boolean
  /** Refuses a wrong secret after the work of an unknown name, so that timing reveals no names. */
  readonly refuse: CredentialVerifier['verify']
}

/**
 * Vouches for enrolled devices and for people signed in on one by badge. Both send the usual headers with their secret
 * as bearer token, for this gateway's `site.url`. Its database reads take microseconds.
 */
export class DeviceVerifier implements CredentialVerifier {
  readonly #needs: DeviceVerifierNeeds
  /** Hash of each secret; the next request of a connection presents the same object. */
  readonly #hashes = new WeakMap<Presented, Buffer>()

  constructor(needs: DeviceVerifierNeeds) {
    this.#needs = needs
  }

  vouchesFor(instance: string, username: string): boolean {
    return instance === this.#needs.settings().siteUrl && !this.#needs.isAccount(username) && this.knows(username)
  }

  verify(presented: Presented, instance: string, address: string): Verified | Promise<Verified> {
    const { basicUser, username } = presented
    if (basicUser !== undefined && basicUser !== username) return Promise.reject(twoNames(basicUser, username))
    try {
      const token = this.#hashOf(presented)
      const known = this.#needs.work.read(
        () => this.#device(username, token, instance) ?? this.#onShift(username, token, instance),
      )
      if (!known) return this.#needs.refuse(presented, instance, address)
      this.#seen(known.device, address)
      return known.verified
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Returns a device, for the console on a wall screen; undefined for badges, which have no console session. */
  recall(username: string, instance: string): Verified | undefined {
    const row = this.#needs.work.read((tx) => store.findDeviceByName(tx, username))
    if (!row?.token_sha256 || !this.vouchesFor(instance, username)) return undefined
    return { caller: deviceCaller(row, instance), mark: row.token_sha256 }
  }

  /** Returns a device or a badge by its name, to say what it may see; a badge without the limits of a device. */
  named(username: string, instance: string): Caller | undefined {
    return this.#needs.work.read((tx) => {
      const device = store.findDeviceByName(tx, username)
      if (device) return deviceCaller(device, instance)
      const badge = store.findOperatorByName(tx, username)
      return badge && callerOf(username, instance, badge.role, badgeMode, { warehouses: null })
    })
  }

  /** Returns the caller of the shift with this hash as it is now; undefined once it has ended. */
  onShift(hash: string): Caller | undefined {
    const token = Buffer.from(hash, 'base64url')
    const found = this.#needs.work.read((tx) => shiftOf(tx, token))
    return found && !this.#isOver(found) ? this.#callerOnShift(found, token) : undefined
  }

  knows(username: string): boolean {
    return this.#needs.work.read(
      (tx) =>
        store.findDeviceByName(tx, username) !== undefined || store.findOperatorByName(tx, username) !== undefined,
    )
  }

  #hashOf(presented: Presented): Buffer {
    const known = this.#hashes.get(presented)
    if (known) return known
    const hash = sha256(presented.secret)
    this.#hashes.set(presented, hash)
    return hash
  }

  #device(username: string, token: Buffer, instance: string) {
    const row = this.#needs.work.read((tx) => store.findDeviceByName(tx, username))
    if (!row?.token_sha256 || !timingSafeEqual(row.token_sha256, token)) return undefined
    return { verified: { caller: deviceCaller(row, instance), mark: row.token_sha256 }, device: row }
  }

  #onShift(username: string, token: Buffer, instance: string) {
    const found = this.#needs.work.read((tx) => shiftOf(tx, token))
    if (!found || found.operator.username !== username) return undefined
    if (this.#isOver(found)) throw new AppError('SESSION_ENDED', 'The shift has ended: scan your badge again')
    return { verified: { caller: this.#callerOnShift(found, token, instance) }, device: found.device }
  }

  #isOver({ shift }: Shift): boolean {
    return this.#needs.expiryClock.now() - shift.begun_at_ms >= this.#needs.settings().shiftMs
  }

  #callerOnShift({ operator, device }: Shift, token: Buffer, instance = this.#needs.settings().siteUrl): Caller {
    const role = lesserRole(operator.role, device.role)
    const caller = callerOf(operator.username, instance, role, `badge@${device.name}`, device)
    return { ...caller, signIn: { kind: 'shift', hash: token.toString('base64url') } }
  }

  /** Notes when the device was last seen, in the background. */
  #seen({ id, seen_at_ms: before }: store.DeviceRow, address: string): void {
    const nowMs = this.#needs.clock.now()
    if (before !== null && Math.abs(nowMs - before) < seenEveryMs) return
    void this.#needs.work.write((tx) => store.noteSeen(tx, id, nowMs, address)).catch(() => undefined)
  }
}

type Shift = { readonly shift: store.ShiftRow; readonly operator: store.OperatorRow; readonly device: store.DeviceRow }

/** Returns the shift of a token; undefined for none, and once its badge or device was revoked. */
function shiftOf(tx: ReadTx, token: Buffer): Shift | undefined {
  const shift = store.findShift(tx, token)
  const operator = shift && store.findOperator(tx, shift.operator_id)
  const device = shift && store.findDevice(tx, shift.device_id)
  if (!operator || !device || operator.revoked_at_ms !== null || device.revoked_at_ms !== null) return undefined
  return { shift, operator, device }
}

export const deviceMode = 'device'
/** Mode of a person who is known by name alone, without a shift. */
export const badgeMode = 'badge'

export const deviceCaller = (row: Pick<store.DeviceRow, 'name' | 'role' | 'warehouses'>, instance: string): Caller => ({
  ...callerOf(row.name, instance, row.role, deviceMode, row),
  isDevice: true,
})

function callerOf(
  username: string,
  instance: string,
  role: DeviceRole,
  authMode: string,
  device: Pick<store.DeviceRow, 'warehouses'>,
): Caller {
  const warehouseIds = store.warehousesOf(device)
  const permissions = permissionsOf(role)
  return { username, instance, role, groups: [], permissions, authMode, ...(warehouseIds && { warehouseIds }) }
}
