import type { Role } from '../../config/index.ts'
import type { Tx, UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller, RequestOrigin } from '../../http/index.ts'
import type { AuditTrail } from '../../journal/index.ts'
import { type Clock, isoTime, type RandomBytes, type SecretBox } from '../../platform/index.ts'
import { afterWrong, type Tries, waitMs } from '../rates/patience.ts'
import { Recent } from '../rates/recent.ts'
import { type NewPasskey, type PasskeyAnswer, Passkeys } from './passkeys.ts'
import { isRecoveryCode, markOfRecoveryCode, newRecoveryCodes } from './recovery-codes.ts'
import * as store from './store.ts'
import { base32, stepOfCode, totpUri } from './totp.ts'

/** A factor as its owner sends it: a code of an app, a recovery code, or a passkey. */
export type ShownFactor = { readonly code?: string | undefined; readonly passkey?: PasskeyAnswer | undefined }

export type FactorState = {
  readonly required: boolean
  readonly factors: readonly {
    readonly id: number
    readonly kind: 'totp' | 'passkey'
    readonly name: string
    readonly createdAt: string
    readonly usedAt: string | null
  }[]
  readonly recoveryCodes: number
}

export type FactorSettings = {
  readonly siteId: string
  readonly siteUrl: string
  readonly required: (role: Role) => boolean
  /** Whether the config has the account; its credential is for programs too. */
  readonly isConfigured: (username: string) => boolean
}

type SecondFactorsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Never goes back, so that a factor that is too old stays so. */
  readonly expiryClock: Pick<Clock, 'now'>
  readonly random: RandomBytes
  readonly audit: AuditTrail
  readonly box: SecretBox
  readonly settings: () => FactorSettings
}

type Local = Pick<Caller, 'username' | 'instance' | 'role' | 'isDevice'>

/** How long a shown factor lets its session give secrets and footage away. */
export const steppedUpForMs = 10 * 60_000
const triesKept = 10_000
const secretBytes = 20
const mostFactors = 20
const sealedFor = 'second factor'

/** Second factors of local accounts: codes of an app (TOTP), passkeys, recovery codes. */
export class SecondFactors {
  readonly #needs: SecondFactorsNeeds
  readonly passkeys: Passkeys
  readonly #tries = new Recent<Tries>(triesKept)
  /** Secrets whose first code was not typed yet, by user name. */
  readonly #begun = new Recent<Buffer>(triesKept)

  constructor(needs: SecondFactorsNeeds) {
    this.#needs = needs
    this.passkeys = new Passkeys(needs)
  }

  state({ username, role }: Pick<Caller, 'username' | 'role'>): FactorState {
    return this.#needs.work.read((tx) => ({
      required: this.#needs.settings().required(role),
      factors: store.factorsOf(tx, username).map(({ id, kind, name, created_at_ms, used_at_ms }) => ({
        ...{ id, kind, name, createdAt: isoTime(created_at_ms) },
        usedAt: used_at_ms === null ? null : isoTime(used_at_ms),
      })),
      recoveryCodes: store.countCodes(tx, username),
    }))
  }

  /**
   * Demands the factor of an account at its sign-in. Returns when it was shown; null: the account has none. Throws
   * SECOND_FACTOR_REQUIRED, SECOND_FACTOR_WRONG, RATE_LIMITED.
   */
  async atSignIn(caller: Local, shown: ShownFactor): Promise<number | null> {
    if (!this.#isLocal(caller) || !this.#has(caller.username)) return null
    if (shown.code === undefined && shown.passkey === undefined) {
      throw new AppError('SECOND_FACTOR_REQUIRED', 'Show your second factor as well: a code or a passkey')
    }
    return this.show(caller, shown)
  }

  /** Checks a factor of a local account. Returns the time. Throws SECOND_FACTOR_WRONG, RATE_LIMITED. */
  async show(caller: Local, shown: ShownFactor): Promise<number> {
    const { username } = caller
    if (!this.#isLocal(caller)) throw factorWrong()
    const nowMs = this.#needs.clock.monotonic()
    const wait = waitMs(this.#tries.get(username), nowMs)
    if (wait > 0) {
      const retryAfterSeconds = Math.ceil(wait / 1000)
      throw new AppError('RATE_LIMITED', 'Too many wrong codes for this account', { retryAfterSeconds })
    }
    // Counted before the check: simultaneous tries must not all count as the fifth.
    this.#tries.set(username, afterWrong(this.#tries.get(username), nowMs))
    const isRight =
      shown.passkey === undefined
        ? await this.#takeCode(username, (shown.code ?? '').trim())
        : (await this.ownerOf(shown.passkey)) === username
    if (!isRight) throw factorWrong()
    this.#tries.delete(username)
    return this.#needs.expiryClock.now()
  }

  /** Returns the account whose passkey gave the answer; undefined for a wrong answer. */
  async ownerOf(answer: PasskeyAnswer): Promise<string | undefined> {
    const row = this.#needs.work.read((tx) => store.findPasskey(tx, answer.id))
    if (!row) return undefined
    const passkey = { id: answer.id, publicKey: row.secret, counter: row.counter }
    const counter = await this.passkeys.answered(answer, passkey)
    if (counter === undefined) return undefined
    await this.#needs.work.write((tx) => store.noteUse(tx, row.id, counter, this.#needs.clock.now()))
    return row.username
  }

  /**
   * Returns the state of a session's factor: undefined where nothing is to do.
   * @param shownAtMs when the session last showed it; null: never
   */
  ofSession(caller: Local, shownAtMs: number | null): Caller['secondFactor'] {
    if (!this.#isLocal(caller)) return undefined
    if (!this.#has(caller.username)) {
      return this.#needs.settings().required(caller.role) ? 'missing' : undefined
    }
    return isSteppedUp(shownAtMs, this.#needs.expiryClock.now()) ? undefined : 'stale'
  }

  /**
   * Refuses the headers of an account with a second factor, which headers cannot show: its password alone would be a way around.
   * Accounts of the config are for programs too, so theirs work. Throws SECOND_FACTOR_REQUIRED.
   */
  refuseHeaders(caller: Caller): void {
    const { isConfigured, required } = this.#needs.settings()
    if (caller.authMode !== 'local' || isConfigured(caller.username)) return
    if (!required(caller.role) && !this.#has(caller.username)) return
    throw new AppError('SECOND_FACTOR_REQUIRED', 'This account signs in at the console, with its second factor', {
      details: 'give a program its own account in auth.users of the config',
    })
  }

  /** Begins an app: its secret, in two forms. It counts once its first code is confirmed. */
  beginTotp(username: string): { secret: string; uri: string } {
    const secret = this.#needs.random(secretBytes)
    this.#begun.set(username, secret)
    const { siteId } = this.#needs.settings()
    return { secret: base32(secret), uri: totpUri(secret, `gatehouse ${siteId}`, username) }
  }

  /** Stores the app whose code is right. Returns the recovery codes of a first factor. Throws VALIDATION_ERROR. */
  confirmTotp(code: string, name: string, by: RequestOrigin): Promise<string[]> {
    const { username } = by.caller
    const secret = this.#begun.get(username)
    const step = secret && stepOfCode(secret, code.trim(), this.#needs.clock.now(), -1)
    if (!secret || step === undefined) {
      throw AppError.field('code', 'is not the code of the app now; check the clock of the phone, or begin again')
    }
    this.#begun.delete(username)
    const sealed = this.#needs.box.seal(secret.toString('base64'), sealedFor)
    return this.#add({ kind: 'totp', name, credential_id: null, secret: sealed, counter: step }, by)
  }

  /** Returns the browser's options for a new passkey. */
  creationOf(username: string) {
    const known = this.#needs.work.read((tx) => store.factorsOf(tx, username))
    return this.passkeys.creation(
      username,
      known.flatMap(({ credential_id }) => credential_id ?? []),
    )
  }

  /** Stores a passkey. Returns the recovery codes of a first factor. Throws VALIDATION_ERROR. */
  async addPasskey(answer: NewPasskey, name: string, by: RequestOrigin): Promise<string[]> {
    const made = await this.passkeys.created(by.caller.username, answer)
    if (!made) throw AppError.field('passkey', 'is not a new passkey for this gateway; begin again')
    const { id, publicKey, counter } = made
    if (this.#needs.work.read((tx) => store.findPasskey(tx, id))) throw AppError.field('passkey', 'is known already')
    return this.#add({ kind: 'passkey', name, credential_id: id, secret: Buffer.from(publicKey), counter }, by)
  }

  /** Removes one factor of the caller. Throws NOT_FOUND. */
  async remove(id: number | undefined, by: RequestOrigin): Promise<void> {
    await this.#needs.work.write((tx) => {
      if (id === undefined || !store.removeFactor(tx, by.caller.username, id)) throw AppError.notFound('Second factor')
      if (!store.hasFactors(tx, by.caller.username)) store.removeFactors(tx, by.caller.username)
      this.#audit(tx, by, 'account.factor_removed', by.caller.username, { id })
    })
  }

  /** Gives the caller new recovery codes; the old ones end. Throws NOT_FOUND without a factor. */
  newCodes(by: RequestOrigin): Promise<string[]> {
    return this.#needs.work.write((tx) => {
      if (!store.hasFactors(tx, by.caller.username)) throw AppError.notFound('Second factor')
      this.#audit(tx, by, 'account.recovery_codes_made', by.caller.username, {})
      return this.#codes(tx, by.caller.username)
    })
  }

  /** Removes all factors of an account, in the transaction of the one who decides it. @returns whether it had one */
  removeAll(tx: Tx, username: string): boolean {
    this.#tries.delete(username)
    return store.removeFactors(tx, username)
  }

  #add(factor: Omit<store.FactorRow, 'id' | 'username' | 'created_at_ms' | 'used_at_ms'>, by: RequestOrigin) {
    const { username } = by.caller
    return this.#needs.work.write((tx) => {
      const before = store.factorsOf(tx, username).length
      if (before >= mostFactors)
        throw AppError.field('name', `the account has ${mostFactors} factors; remove one first`)
      store.insertFactor(tx, { ...factor, username, created_at_ms: this.#needs.clock.now() })
      this.#audit(tx, by, 'account.factor_added', username, { kind: factor.kind })
      return before === 0 ? this.#codes(tx, username) : []
    })
  }

  #codes(tx: Tx, username: string): string[] {
    const codes = newRecoveryCodes(this.#needs.random)
    store.putCodes(
      tx,
      username,
      codes.map((code) => markOfRecoveryCode(username, code)),
    )
    return codes
  }

  /** Uses a code of an app or a recovery code up. @returns whether it was right */
  async #takeCode(username: string, code: string): Promise<boolean> {
    return this.#needs.work.write((tx) => {
      if (isRecoveryCode(code)) return store.takeCode(tx, markOfRecoveryCode(username, code))
      const nowMs = this.#needs.clock.now()
      for (const { id, kind, secret, counter } of store.factorsOf(tx, username)) {
        if (kind !== 'totp') continue
        const step = stepOfCode(this.#opened(secret), code.replaceAll(' ', ''), nowMs, counter)
        if (step === undefined) continue
        store.noteUse(tx, id, step, nowMs)
        return true
      }
      return false
    })
  }

  #opened(sealed: Buffer): Buffer {
    return Buffer.from(this.#needs.box.open(sealed, sealedFor), 'base64')
  }

  #has(username: string): boolean {
    return this.#needs.work.read((tx) => store.hasFactors(tx, username))
  }

  #isLocal({ instance, isDevice }: Local): boolean {
    return instance === this.#needs.settings().siteUrl && isDevice !== true
  }

  #audit(tx: Tx, by: RequestOrigin, action: string, username: string, changes: Record<string, unknown>): void {
    const operator = { name: username, instance: this.#needs.settings().siteUrl }
    this.#needs.audit.write(tx, by, { action, entity: 'caller', operator, changes })
  }
}

/** Says whether what was shown at this time still gives secrets and footage away; null: nothing was shown. */
export const isSteppedUp = (shownAtMs: number | null, nowMs: number): boolean =>
  shownAtMs !== null && nowMs - shownAtMs < steppedUpForMs

export const factorWrong = () =>
  new AppError('SECOND_FACTOR_WRONG', 'The code or the passkey is wrong, too old, or used')
