import { createHash, timingSafeEqual } from 'node:crypto'
import { type CredentialVerifier, type Presented, twoNames, type Verified } from '../auth/index.ts'
import { type DeviceRole, deviceRoles, permissionsOf } from '../config/index.ts'
import type { UnitOfWork } from '../database/index.ts'
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

  /** Says whether this person is still signed in by badge on the device of that name. */
  onShift(username: string, deviceName: string): boolean {
    return this.#needs.work.read((tx) => {
      const begunMs = store.newestShift(tx, username, deviceName)
      return begunMs !== undefined && this.#needs.expiryClock.now() - begunMs < this.#needs.settings().shiftMs
    })
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
    const found = this.#needs.work.read((tx) => {
      const shift = store.findShift(tx, token)
      const operator = shift && store.findOperator(tx, shift.operator_id)
      const device = shift && store.findDevice(tx, shift.device_id)
      return shift && operator && device ? { shift, operator, device } : undefined
    })
    if (!found || found.operator.username !== username) return undefined
    const { shift, operator, device } = found
    if (operator.revoked_at_ms !== null || device.revoked_at_ms !== null) return undefined
    if (this.#needs.expiryClock.now() - shift.begun_at_ms >= this.#needs.settings().shiftMs) {
      throw new AppError('SESSION_ENDED', 'The shift has ended: scan your badge again')
    }
    const role = lesserRole(operator.role, device.role)
    const caller = callerOf(username, instance, role, `badge@${device.name}`, device)
    return { verified: { caller }, device }
  }

  /** Notes when the device was last seen, in the background. */
  #seen({ id, seen_at_ms: before }: store.DeviceRow, address: string): void {
    const nowMs = this.#needs.clock.now()
    if (before !== null && Math.abs(nowMs - before) < seenEveryMs) return
    void this.#needs.work.write((tx) => store.noteSeen(tx, id, nowMs, address)).catch(() => undefined)
  }
}

export const deviceMode = 'device'

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
