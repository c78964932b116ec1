import {
  type Authenticator,
  type FactorState,
  hashSecret,
  type OpenSession,
  passwordProblem,
  type SecondFactors,
  type StoredAccount,
  type StoredAccounts,
} from '../auth/index.ts'
import type { Role } from '../config/index.ts'
import type { Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { type Clock, isoTime, type RandomBytes, randomSecret } from '../platform/index.ts'
import type { Account, AccountChange, AccountSecret, NewAccount, OwnAccount } from './schema.ts'

type ConfigAccount = { readonly username: string; readonly role: Role }

export type AccountsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly random: RandomBytes
  readonly audit: AuditTrail
  readonly stored: StoredAccounts
  readonly authenticator: Pick<Authenticator, 'verify'>
  readonly secondFactors: Pick<SecondFactors, 'state' | 'removeAll'>
  readonly openSessions: () => readonly OpenSession[]
  /** Signs an account out everywhere, in the transaction. */
  readonly endSessions: (tx: Tx, username: string) => void
  /** Says whether a device or a badge has the name. */
  readonly isDeviceName: (name: string) => boolean
  /** Returns the places of the config where this short name could also mean somebody of the storage server. */
  readonly sharedNamePlaces: (name: string) => readonly string[]
  /** Read at every use, so that a reload of the config applies. */
  readonly settings: () => {
    readonly siteId: string
    readonly siteUrl: string
    /** The accounts of the config. */
    readonly configured: readonly ConfigAccount[]
    /** Whether a storage server's groups make admins. */
    readonly hasAdminsElsewhere: boolean
  }
}

/** Manages the accounts of the database. Those of the config are shown and never changed. */
export class Accounts {
  readonly #needs: AccountsNeeds

  constructor(needs: AccountsNeeds) {
    this.#needs = needs
  }

  /** Lists the accounts of the config, then those of the database, by name. */
  list(): Account[] {
    const open = this.#needs.openSessions()
    const { configured } = this.#needs.settings()
    return [
      ...configured.map((account) => this.#ofConfig(account, open)),
      ...this.#needs.stored.all().map((account) => this.#ofDatabase(account, open)),
    ]
  }

  /** Returns the account that counts under a name. Throws NOT_FOUND. */
  account(username: string): Account {
    const found = this.list().find((one) => hasName(username)(one) && one.status !== 'overridden')
    if (!found) throw AppError.notFound('Account')
    return found
  }

  /** Returns the caller's own account. Throws NOT_FOUND for callers of storage servers, devices and badges. */
  own(caller: Caller): OwnAccount {
    if (!this.#isLocal(caller)) throw AppError.notFound('Account')
    const account = this.account(caller.username)
    const state = this.#needs.secondFactors.state(caller)
    return { success: true, ...account, canChangePassword: account.source === 'database', ...ownFactors(state) }
  }

  /** Makes an account with a secret for its first sign-in. Throws ALREADY_EXISTS. */
  async add({ username, role, groups = [] }: NewAccount, by: RequestOrigin): Promise<AccountSecret> {
    const { secret, secretHash } = await this.#newSecret()
    return this.#needs.work.write((tx) => {
      this.#refuseTaken(username)
      const createdAtMs = this.#needs.clock.now()
      const made = {
        username,
        role,
        secretHash,
        groups: distinct(groups),
        createdAtMs,
        disabledAtMs: null,
        passkeyAlone: false,
      }
      const account = this.#needs.stored.put(tx, made)
      this.#audit(tx, by, 'account.created', username, { role, groups: account.groups })
      return { success: true, ...this.#ofDatabase(account), secret }
    })
  }

  /** Changes role and groups. Throws NOT_FOUND, INVALID_TRANSITION. */
  change(username: string, { role, groups, passkeyAlone }: AccountChange, by: RequestOrigin): Promise<Account> {
    return this.#needs.work.write((tx) => {
      const before = this.#changeable(username)
      const after = {
        ...before,
        role: role ?? before.role,
        groups: groups === undefined ? before.groups : distinct(groups ?? []),
        passkeyAlone: passkeyAlone ?? before.passkeyAlone,
      }
      if (after.role !== 'admin') this.#keepAnAdmin(before)
      const changes = {
        ...(after.role !== before.role && { role: { from: before.role, to: after.role } }),
        ...(after.groups.join('\n') !== before.groups.join('\n') && {
          groups: { from: before.groups, to: after.groups },
        }),
      }
      if (after.passkeyAlone !== before.passkeyAlone) Object.assign(changes, { passkeyAlone: after.passkeyAlone })
      if (Object.keys(changes).length === 0) return this.#ofDatabase(before)
      this.#audit(tx, by, 'account.changed', username, changes)
      return this.#ofDatabase(this.#needs.stored.put(tx, after))
    })
  }

  /** Disables an account and signs it out everywhere. Throws NOT_FOUND, INVALID_TRANSITION. */
  disable(username: string, by: RequestOrigin): Promise<Account> {
    return this.#needs.work.write((tx) => {
      const before = this.#changeable(username)
      if (before.disabledAtMs !== null) throw notPossible(`${username} is disabled already`)
      this.#keepAnAdmin(before)
      const account = this.#needs.stored.put(tx, { ...before, disabledAtMs: this.#needs.clock.now() })
      this.#needs.endSessions(tx, username)
      this.#audit(tx, by, 'account.disabled', username, { role: before.role })
      return this.#ofDatabase(account)
    })
  }

  /** Enables a disabled account, with the password that it had. Throws NOT_FOUND, INVALID_TRANSITION. */
  enable(username: string, by: RequestOrigin): Promise<Account> {
    return this.#needs.work.write((tx) => {
      const before = this.#changeable(username)
      if (before.disabledAtMs === null) throw notPossible(`${username} is not disabled`)
      this.#audit(tx, by, 'account.enabled', username, { role: before.role })
      return this.#ofDatabase(this.#needs.stored.put(tx, { ...before, disabledAtMs: null }))
    })
  }

  /** Gives an account a new secret, without second factors, and signs it out. A disabled one stays disabled. Throws NOT_FOUND. */
  async reset(username: string, by: RequestOrigin): Promise<AccountSecret> {
    const { secret, secretHash } = await this.#newSecret()
    return this.#needs.work.write((tx) => {
      const account = this.#needs.stored.put(tx, { ...this.#changeable(username), secretHash })
      this.#needs.secondFactors.removeAll(tx, username)
      this.#needs.endSessions(tx, username)
      this.#audit(tx, by, 'account.secret_reset', username, { secret: 'changed' })
      return { success: true, ...this.#ofDatabase(account), secret }
    })
  }

  /** Removes the second factors of an account, of the config too, and signs it out. Throws NOT_FOUND, INVALID_TRANSITION. */
  removeFactors(username: string, by: RequestOrigin): Promise<Account> {
    return this.#needs.work.write((tx) => {
      const account = this.account(username)
      if (!this.#needs.secondFactors.removeAll(tx, username)) throw notPossible(`${username} has no second factor`)
      this.#needs.endSessions(tx, username)
      this.#audit(tx, by, 'account.factors_removed', username, {})
      return { ...account, factors: 0, sessions: 0 }
    })
  }

  /**
   * Throws INVALID_TRANSITION when the erasure of this name would take the last admin away, or pass its rights to a storage user of
   * the same name.
   */
  refuseErasure(username: string): void {
    const account = this.#needs.stored.find(username)
    if (!account) return
    this.#keepAnAdmin(account)
    const [place] = this.#needs.sharedNamePlaces(username)
    if (place !== undefined) throw notPossible(`${place} of the config names ${username}: remove the name there first`)
  }

  /** Forgets the account of an erased person, with the second factors. The erasure has its own entry of the audit trail. */
  async forget(username: string): Promise<void> {
    await this.#needs.work.write((tx) => {
      this.#needs.secondFactors.removeAll(tx, username)
      if (this.#needs.stored.find(username)) this.#needs.stored.remove(tx, username)
    })
  }

  /** Returns the caller's own name. Throws NOT_FOUND for callers without an account of this gateway. */
  ownName(caller: Caller): string {
    if (!this.#isLocal(caller)) throw AppError.notFound('Account')
    return caller.username
  }

  /** Says whether a passkey alone signs an account in. */
  mayUsePasskeyAlone(username: string): boolean {
    const isConfigured = this.#needs.settings().configured.some(hasName(username))
    return !isConfigured && this.#needs.stored.find(username)?.passkeyAlone === true
  }

  /**
   * Changes the caller's own password and ends all sessions of the account. Throws VALIDATION_ERROR for a wrong current password
   * and for one that is easy to guess, INVALID_TRANSITION for an account that is not in the database.
   */
  async changePassword({ current, password }: { current: string; password: string }, by: RequestOrigin): Promise<void> {
    const { username, instance } = by.caller
    const { siteId } = this.#needs.settings()
    if (!this.#isLocal(by.caller) || this.account(username).source !== 'database') {
      throw notPossible('only people with an account of the database choose their password here')
    }
    await this.#demandSecret({ username, instance, secret: current }, by.address)
    const problem = passwordProblem(password, [username, siteId])
    if (problem !== undefined) throw AppError.field('password', problem)
    const secretHash = await hashSecret(password, this.#needs.random)
    await this.#needs.work.write((tx) => {
      this.#needs.stored.put(tx, { ...this.#changeable(username), secretHash })
      this.#needs.endSessions(tx, username)
      this.#audit(tx, by, 'account.password_changed', username, { secret: 'changed' })
    })
  }

  async #demandSecret(
    { username, instance, secret }: { username: string; instance: string; secret: string },
    address: string,
  ): Promise<void> {
    try {
      await this.#needs.authenticator.verify({ scheme: 'bearer', username, instance, secret }, address)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'INVALID_CREDENTIALS') throw error
      throw AppError.field('current', 'is not the password of this account')
    }
  }

  /** Says whether the caller is an account of this gateway, and neither a device nor a badge. */
  #isLocal(caller: Caller): boolean {
    const { siteUrl, configured } = this.#needs.settings()
    const isKnown =
      configured.some(hasName(caller.username)) || this.#needs.stored.active(caller.username) !== undefined
    return caller.instance === siteUrl && caller.isDevice !== true && isKnown
  }

  async #newSecret(): Promise<{ secret: string; secretHash: string }> {
    const secret = randomSecret(this.#needs.random)
    return { secret, secretHash: await hashSecret(secret, this.#needs.random) }
  }

  /** Throws ALREADY_EXISTS for the name of another caller of this gateway. */
  #refuseTaken(username: string): void {
    const stored = this.#needs.stored.find(username)
    const holder = this.#needs.settings().configured.some(hasName(username))
      ? 'an account of the config'
      : stored && !stored.isDormant
        ? 'an account'
        : this.#needs.isDeviceName(username)
          ? 'a device or a badge'
          : this.#holderByConfig(username)
    if (holder === undefined) return
    throw new AppError('ALREADY_EXISTS', `The user name is taken by ${holder}`, { details: 'username: is taken' })
  }

  /** An account must not take a right that the config gives to a user or a group of the storage server. */
  #holderByConfig(username: string): string | undefined {
    const [place] = this.#needs.sharedNamePlaces(username)
    if (place === undefined) return undefined
    return `${place} of the config, which may mean the storage server: write the full name there first`
  }

  /** Returns an account of the database. Throws NOT_FOUND; INVALID_TRANSITION for one of the config. */
  #changeable(username: string): StoredAccount {
    if (this.#needs.settings().configured.some(hasName(username))) {
      throw notPossible(`${username} is an account of the config: change it there, under auth.users`)
    }
    const account = this.#needs.stored.find(username)
    if (!account) throw AppError.notFound('Account')
    return account
  }

  /** Throws INVALID_TRANSITION when this is the last account that can manage the gateway. */
  #keepAnAdmin(account: StoredAccount): void {
    const { configured, hasAdminsElsewhere } = this.#needs.settings()
    if (account.role !== 'admin' || account.disabledAtMs !== null || hasAdminsElsewhere) return
    const isOther = (one: ConfigAccount) => one.role === 'admin' && !hasName(account.username)(one)
    const others = this.#needs.stored.all().filter(({ disabledAtMs }) => disabledAtMs === null)
    if ([...configured, ...others].some(isOther)) return
    throw notPossible(`${account.username} is the last admin: make another one first`)
  }

  #audit(tx: Tx, by: RequestOrigin, action: string, username: string, changes: Record<string, unknown>): void {
    const operator = { name: username, instance: this.#needs.settings().siteUrl }
    this.#needs.audit.write(tx, by, { action, entity: 'caller', operator, changes })
  }

  #ofConfig({ username, role }: ConfigAccount, open: readonly OpenSession[]): Account {
    return {
      ...{ username, role, source: 'config', groups: [], status: 'active', createdAt: null, disabledAt: null },
      ...{ factors: this.#factorsOf({ username, role }), passkeyAlone: false },
      sessions: this.#sessionsOf(username, open),
    }
  }

  #ofDatabase(account: StoredAccount, open: readonly OpenSession[] = this.#needs.openSessions()): Account {
    const { username, role, groups, createdAtMs, disabledAtMs, passkeyAlone } = account
    const isOverridden = this.#needs.settings().configured.some(hasName(username))
    return {
      ...{ username, role, source: 'database', groups: [...groups] },
      status: isOverridden ? 'overridden' : disabledAtMs === null ? 'active' : 'disabled',
      createdAt: isoTime(createdAtMs),
      disabledAt: disabledAtMs === null ? null : isoTime(disabledAtMs),
      ...{ factors: this.#factorsOf({ username, role }), passkeyAlone },
      sessions: isOverridden || disabledAtMs !== null ? 0 : this.#sessionsOf(username, open),
    }
  }

  #factorsOf(account: ConfigAccount): number {
    return this.#needs.secondFactors.state(account).factors.length
  }

  #sessionsOf(username: string, open: readonly OpenSession[]): number {
    const { siteUrl } = this.#needs.settings()
    return open.filter((session) => session.instance === siteUrl && hasName(username)(session)).length
  }
}

const ownFactors = ({ required, factors, recoveryCodes }: FactorState) => ({
  secondFactor: { required, factors: [...factors], recoveryCodes },
})

/** Compares local names alone: the accounts of one gateway. */
const hasName =
  (username: string) =>
  ({ username: other }: { readonly username: string }): boolean =>
    other === username

const distinct = (groups: readonly string[]): string[] => [...new Set(groups)].toSorted()

const notPossible = (why: string) => new AppError('INVALID_TRANSITION', why)
