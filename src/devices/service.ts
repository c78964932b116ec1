import { createHmac } from 'node:crypto'
import {
  afterWrong,
  checkSecret,
  freeAttemptsOfDevice,
  hashSecret,
  nobodysHash,
  Recent,
  type Tries,
  waitMs,
} from '../auth/index.ts'
import type { Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Ask, Caller, Reply, RequestOrigin } from '../http/index.ts'
import type { AuditTrail, Idempotency } from '../journal/index.ts'
import { type Clock, isoTime, type RandomBytes, randomSecret } from '../platform/index.ts'
import type { WarehouseService } from '../warehouse/index.ts'
import type { BadgeNames } from './badge-names.ts'
import { qrPicture } from './qr-picture.ts'
import {
  type Device,
  type DeviceCredential,
  devicesPath,
  type Enrolment,
  type NewDevice,
  type NewOperator,
  type Operator,
  operatorsPath,
  type ShiftSession,
} from './schema.ts'
import * as store from './store.ts'
import { type DeviceSettings, deviceCaller, deviceMode, lesserRole, sha256 } from './verifier.ts'

const codeForMs = 15 * 60_000
const triesKept = 10_000

type DeviceServiceNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Codes and shifts end by this one. */
  readonly expiryClock: Pick<Clock, 'now'>
  readonly random: RandomBytes
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  readonly warehouse: WarehouseService
  readonly badgeKey: Uint8Array
  /** `caFingerprint`: of the CA of the box, which a device installs; undefined without one. */
  readonly site: () => DeviceSettings & { readonly siteId: string; readonly caFingerprint: string | undefined }
  readonly isAccount: (username: string) => boolean
  readonly badgeNames: BadgeNames
  /** Says whether a device would see a warehouse or a camera that its maker does not see. */
  readonly seesMore: (device: Caller, maker: Caller) => boolean
  /** Ends what the browser of a device keeps without its secret: messages about alerts. */
  readonly endMessages: (tx: Tx, name: string) => void
}

/** Manages handhelds, wall screens, badges and shifts. */
export class DeviceService {
  readonly #needs: DeviceServiceNeeds
  readonly #tries = new Recent<Tries>(triesKept)

  constructor(needs: DeviceServiceNeeds) {
    this.#needs = needs
  }

  /**
   * Makes a device and the code that enrols it once. It sees no warehouse and no camera that its maker does not see. Throws
   * ALREADY_EXISTS, REFERENCE_NOT_FOUND, PERMISSION_DENIED.
   */
  create({ name, kind = 'handheld', role, ...asked }: NewDevice, { by, claim }: Ask): Promise<Reply<Enrolment>> {
    const warehouseIds = asked.warehouseIds ?? by.caller.warehouseIds
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(
        tx,
        claim,
        () => {
          this.#refuseTaken(tx, name)
          for (const id of warehouseIds ?? []) this.#needs.warehouse.warehouseReference(tx, id, by.caller)
          const most = kind === 'kiosk' ? 'viewer' : (role ?? 'operator')
          if (kind === 'kiosk' && role !== undefined && role !== 'viewer') {
            throw AppError.field('role', 'a kiosk has the role viewer: it only shows')
          }
          const warehouses = warehouseIds ? JSON.stringify(warehouseIds) : null
          this.#refuseWider({ name, role: most, warehouses }, by.caller)
          const id = store.insertDevice(tx, { name, kind, role: most, warehouses }, this.#needs.clock.now())
          this.#tell(tx, by, 'device.created', id, { kind, role: most, ...(warehouseIds && { warehouseIds }) })
          return { status: 201, body: this.#withCode(tx, id), location: `${devicesPath}/${id}` }
        },
        {
          toStore: (body) => ({ ...body, enrolment: { ...body.enrolment, code: 'given', text: 'given', qr: 'given' } }),
        },
      ),
    )
  }

  /** Makes a new code for a device; the old secret works until the code is used. Throws NOT_FOUND. */
  renew(id: number | undefined, by: RequestOrigin): Promise<Enrolment> {
    return this.#needs.work.write((tx) => {
      const device = this.#inUse(tx, id)
      this.#tell(tx, by, 'device.code_given', device.id, {})
      return this.#withCode(tx, device.id)
    })
  }

  /** Exchanges a code for the device's secret, once. Throws INVALID_CREDENTIALS. */
  enrol(code: string, from: { requestId: string; address: string }): Promise<DeviceCredential> {
    return this.#needs.work.write((tx) => {
      const device = store.findDeviceByCode(tx, sha256(code))
      if (!device || (device.code_until_ms ?? 0) <= this.#needs.expiryClock.now()) {
        throw new AppError('INVALID_CREDENTIALS', 'The code is wrong, used or too old: ask for a new one')
      }
      const secret = randomSecret(this.#needs.random)
      store.enrol(tx, device.id, sha256(secret), this.#needs.clock.now())
      this.#needs.endMessages(tx, device.name)
      this.#needs.audit.write(tx, from, {
        action: 'device.enrolled',
        entity: 'caller',
        entityId: device.id,
        operator: device.name,
      })
      const { siteUrl, siteId } = this.#needs.site()
      const { name: username, role, id: deviceId } = device
      return { success: true, username, instance: siteUrl, secret, role, deviceId, siteId }
    })
  }

  /** Revokes a device at once, with everyone signed in on it. Throws NOT_FOUND. */
  revoke(id: number | undefined, by: RequestOrigin): Promise<Device> {
    return this.#needs.work.write((tx) => {
      const device = this.#inUse(tx, id)
      store.revokeDevice(tx, device.id, this.#needs.clock.now())
      this.#needs.endMessages(tx, device.name)
      this.#tell(tx, by, 'device.revoked', device.id, {})
      return store.toDevice({ ...device, revoked_at_ms: this.#needs.clock.now() })
    })
  }

  device(id: number | undefined): Device {
    const row = id === undefined ? undefined : this.#needs.work.read((tx) => store.findDevice(tx, id))
    if (!row) throw AppError.notFound('Device')
    return store.toDevice(row)
  }

  devices(): Device[] {
    return this.#needs.work.read((tx) => store.listDevices(tx)).map(store.toDevice)
  }

  /** Registers a badge with its PIN. Throws ALREADY_EXISTS. */
  async addOperator({ username, role = 'operator', badge, pin }: NewOperator, by: RequestOrigin) {
    const pin_hash = await hashSecret(this.#keyed(pin), this.#needs.random)
    return this.#needs.work.write((tx) => {
      this.#refuseTaken(tx, username, 'username')
      const badge_mark = this.#markOf(badge)
      if (store.findOperatorByBadge(tx, badge_mark)) {
        throw new AppError('ALREADY_EXISTS', 'The badge is already assigned; scan another', {
          details: 'badge: is taken',
        })
      }
      this.#needs.badgeNames.add(username)
      const id = store.insertOperator(tx, { username, role, badge_mark, pin_hash }, this.#needs.clock.now())
      this.#tell(tx, by, 'operator.registered', id, { role }, username)
      return { body: this.#operatorBody(tx, id), location: `${operatorsPath}/${id}` }
    })
  }

  async changePin(id: number | undefined, pin: string, by: RequestOrigin) {
    const hash = await hashSecret(this.#keyed(pin), this.#needs.random)
    return this.#needs.work.write((tx) => {
      const operator = this.#active(tx, id)
      store.changePin(tx, operator.id, hash)
      this.#tell(tx, by, 'operator.pin_changed', operator.id, {}, operator.username)
      return this.#operatorBody(tx, operator.id)
    })
  }

  revokeOperator(id: number | undefined, by: RequestOrigin) {
    return this.#needs.work.write((tx) => {
      const operator = this.#active(tx, id)
      store.revokeOperator(tx, operator.id, this.#needs.clock.now())
      this.#tell(tx, by, 'operator.revoked', operator.id, {}, operator.username)
      return this.#operatorBody(tx, operator.id)
    })
  }

  operators(): Operator[] {
    return this.#needs.work.read((tx) => store.listOperators(tx)).map(store.toOperator)
  }

  /**
   * Signs a person in on a handheld, by badge and PIN, until the shift ends. Throws PERMISSION_DENIED when the caller
   * is not a handheld, INVALID_CREDENTIALS, RATE_LIMITED after wrong PINs.
   */
  async signIn(badge: string, pin: string, by: RequestOrigin): Promise<ShiftSession> {
    const device = this.#askingDevice(by)
    const mark = this.#markOf(badge)
    const key = `${device.id} ${mark.toString('base64')}`
    const nowMs = this.#needs.clock.monotonic()
    const ofDevice = `${device.id}`
    const wait = Math.max(
      waitMs(this.#tries.get(key), nowMs),
      waitMs(this.#tries.get(ofDevice), nowMs, freeAttemptsOfDevice),
    )
    if (wait > 0) {
      const retryAfterSeconds = Math.ceil(wait / 1000)
      throw new AppError('RATE_LIMITED', 'Too many wrong PINs for this badge here', { retryAfterSeconds })
    }
    const operator = this.#needs.work.read((tx) => store.findOperatorByBadge(tx, mark))
    // Counted before the check: simultaneous tries must not all count as the fifth.
    for (const one of [key, ofDevice]) this.#tries.set(one, afterWrong(this.#tries.get(one), nowMs))
    // An unknown badge takes as long as a wrong PIN.
    const right = await checkSecret(this.#keyed(pin), operator?.pin_hash ?? nobodysHash, {
      address: `device ${device.id}`,
    })
    if (!operator || !right) {
      throw new AppError('INVALID_CREDENTIALS', 'Badge or PIN is wrong')
    }
    for (const one of [key, ofDevice]) this.#tries.set(one, { wrong: 0, lastMs: nowMs })
    return this.#beginShift(device, operator, by)
  }

  /** Ends the shift of this token, if it is one. */
  signOut(secret: string, by: RequestOrigin): Promise<void> {
    return this.#needs.work.write((tx) => {
      if (!store.endShift(tx, sha256(secret))) return
      this.#needs.audit.write(tx, by, { action: 'operator.signed_out', entity: 'caller' })
    })
  }

  #beginShift(device: store.DeviceRow, operator: store.OperatorRow, by: RequestOrigin): Promise<ShiftSession> {
    const secret = randomSecret(this.#needs.random)
    const { siteUrl, shiftMs } = this.#needs.site()
    return this.#needs.work.write((tx) => {
      const nowMs = this.#needs.expiryClock.now()
      // Both may have been revoked while the PIN was checked.
      this.#inUse(tx, device.id)
      this.#active(tx, operator.id)
      store.sweepShifts(tx, nowMs - shiftMs)
      store.beginShift(tx, sha256(secret), device.id, operator.id, nowMs)
      this.#tell(tx, by, 'operator.signed_in', operator.id, { deviceId: device.id }, operator.username)
      const role = lesserRole(operator.role, device.role)
      const { username } = operator
      return { success: true, username, instance: siteUrl, secret, role, expiresAt: isoTime(nowMs + shiftMs) }
    })
  }

  #askingDevice({ caller }: RequestOrigin): store.DeviceRow {
    const device =
      caller.authMode === deviceMode
        ? this.#needs.work.read((tx) => store.findDeviceByName(tx, caller.username))
        : undefined
    if (device?.kind !== 'handheld')
      throw new AppError('PERMISSION_DENIED', 'Only an enrolled handheld signs people in')
    return device
  }

  #withCode(tx: Tx, id: number): Enrolment {
    const code = randomSecret(this.#needs.random)
    const untilMs = this.#needs.expiryClock.now() + codeForMs
    store.giveCode(tx, id, sha256(code), untilMs)
    const device = store.findDevice(tx, id)
    if (!device) throw new Error('a device just written is not there')
    const { siteUrl: url, caFingerprint } = this.#needs.site()
    const text = JSON.stringify({ url, code, caFingerprint })
    const qr = qrPicture(text)
    return { success: true, ...store.toDevice(device), enrolment: { code, expiresAt: isoTime(untilMs), text, qr } }
  }

  #inUse(tx: Tx, id: number | undefined): store.DeviceRow {
    const device = id === undefined ? undefined : store.findDevice(tx, id)
    if (!device || device.revoked_at_ms !== null) throw AppError.notFound('Device')
    return device
  }

  #active(tx: Tx, id: number | undefined): store.OperatorRow {
    const operator = id === undefined ? undefined : store.findOperator(tx, id)
    if (!operator || operator.revoked_at_ms !== null) throw AppError.notFound('Operator')
    return operator
  }

  #operatorBody(tx: Tx, id: number) {
    const row = store.findOperator(tx, id)
    if (!row) throw new Error('an operator just written is not there')
    return { success: true as const, ...store.toOperator(row) }
  }

  /** Throws ALREADY_EXISTS when the config, a device or a badge has the name. */
  #refuseTaken(tx: Tx, name: string, field = 'name'): void {
    const taken = this.#needs.isAccount(name) || store.findDeviceByName(tx, name) || store.findOperatorByName(tx, name)
    if (!taken) return
    throw new AppError('ALREADY_EXISTS', 'The name is already taken; choose another', { details: `${field}: is taken` })
  }

  /** Throws PERMISSION_DENIED when the config gives this name of a device more than its maker sees. */
  #refuseWider(device: Parameters<typeof deviceCaller>[0], maker: Caller): void {
    if (!this.#needs.seesMore(deviceCaller(device, this.#needs.site().siteUrl), maker)) return
    throw new AppError('PERMISSION_DENIED', `device:${device.name} is in the config with more than you see`, {
      details: 'Choose another name, or ask an admin.',
    })
  }

  #tell(tx: Tx, by: RequestOrigin, action: string, entityId: number, changes: object, operator?: string): void {
    this.#needs.audit.write(tx, by, { action, entity: 'caller', entityId, operator, changes: { ...changes } })
  }

  /** Returns an HMAC of the PIN: all ten thousand PINs are soon tried, but not without the key of the box. */
  #keyed(pin: string): string {
    return createHmac('sha256', this.#needs.badgeKey).update(`pin\0${pin}`).digest('base64url')
  }

  #markOf(badge: string): Buffer {
    return createHmac('sha256', this.#needs.badgeKey).update(badge).digest()
  }
}
