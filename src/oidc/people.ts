import {
  type CallerMemory,
  type GrantVerifier,
  Recent,
  type ServerWellness,
  type SignedInByGrant,
  type Verified,
} from '../auth/index.ts'
import { oidcInstance, permissionsOf, type Role, roleNames, roleWhileUnconfirmed } from '../config/index.ts'
import type { Caller } from '../http/index.ts'
import { type Clock, KeyedHash, type Logger } from '../platform/index.ts'
import { ProviderFailure, refusalOf } from './failures.ts'
import { type Grant, readGrant, writeGrant } from './grant.ts'
import { Provider, type ProviderSettings } from './provider.ts'

export type PeopleSettings = {
  readonly providers: readonly ProviderSettings[]
  readonly siteUrl: string
  readonly freshForMs: number
  readonly staleForMs: number
  readonly defaultRole: Role
  readonly needsFactor: (role: Role) => boolean
}

type ProviderPeopleNeeds = {
  readonly settings: () => PeopleSettings
  readonly callers: Pick<CallerMemory, 'groupsOf' | 'verified' | 'ended'>
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'after'>
  readonly log: Logger
  /** 32 bytes, one key for each box. */
  readonly key: Uint8Array
}

/** The longest time that a known person waits for the provider. */
const patienceMs = 500
const grantsInMemory = 1000
const lookEveryMs = 30_000

const withheld = 'acts of an admin wait until the OpenID provider has answered; try again in some seconds'

/** Vouches for the people of the OpenID providers, and asks again whether they are still signed in there. */
export class ProviderPeople implements GrantVerifier {
  readonly #needs: ProviderPeopleNeeds
  readonly #key: KeyedHash
  /** By the entry of the config: a reload with another one brings another object. */
  readonly #providers = new WeakMap<ProviderSettings, Provider>()
  readonly #underWay = new Map<string, Promise<Grant>>()
  /** The newest grant of a session. A refresh token works once, so none is used again from a row that was read before. */
  readonly #newest = new Recent<Grant>(grantsInMemory)
  #stopLooking: (() => void) | undefined

  constructor(needs: ProviderPeopleNeeds) {
    this.#needs = needs
    this.#key = new KeyedHash(needs.key)
  }

  /** Lists the providers of the config. */
  get providers(): readonly Provider[] {
    return this.#needs.settings().providers.map((settings) => this.#providerOf(settings))
  }

  /** Returns the state of each provider, for health. One that was not asked yet is well. */
  wellness(): ServerWellness[] {
    return this.providers.map(({ wellness }) => wellness)
  }

  /** Tests providers that do not answer, regularly. */
  start(): void {
    const look = () => {
      for (const provider of this.providers) void provider.look()
      this.#stopLooking = this.#needs.clock.after(lookEveryMs, look)
    }
    this.#stopLooking ??= this.#needs.clock.after(lookEveryMs, look)
  }

  stop(): void {
    this.#stopLooking?.()
    this.#stopLooking = undefined
  }

  get siteUrl(): string {
    return this.#needs.settings().siteUrl
  }

  /** Returns the person of a new sign-in. Throws ProviderFailure for one whose role needs a factor that was not shown. */
  welcome(provider: Provider, grant: Grant): Caller {
    const caller = this.#callerOf(oidcInstance(provider.settings.issuer), provider, grant, false)
    if (!caller) throw new ProviderFailure('factor', 'did not say in amr that a second factor was shown')
    this.#remember(caller, grant)
    return caller
  }

  async standing(signedIn: SignedInByGrant, keep: (grant: string) => Promise<void>): Promise<Caller | undefined> {
    const provider = this.#providerAt(signedIn.instance)
    const stored = readGrant(signedIn.grant)
    if (!provider || !stored) return undefined
    const newest = this.#newest.get(signedIn.session)
    const grant = newest && newest.verifiedAtMs >= stored.verifiedAtMs ? newest : stored
    const { freshForMs, staleForMs } = this.#needs.settings()
    const ageMs = Math.max(0, this.#needs.clock.now() - grant.verifiedAtMs)
    if (ageMs < freshForMs) return this.#callerOf(signedIn.instance, provider, grant, false)
    const asked = this.#underWay.get(signedIn.session) ?? this.#askAgain(provider, signedIn, grant, keep)
    const mayBeStale = ageMs <= staleForMs
    try {
      const now = mayBeStale ? await this.#soon(asked) : await asked
      return this.#callerOf(signedIn.instance, provider, now ?? grant, now === undefined)
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      if (error.isEnded) return undefined
      if (mayBeStale) return this.#callerOf(signedIn.instance, provider, grant, true)
      throw refusalOf(new ProviderFailure('unreachable', error.message), Math.ceil(provider.closedForMs / 1000) || 5)
    }
  }

  signedOut({ instance, grant: text, session }: SignedInByGrant): string | undefined {
    const provider = this.#providerAt(instance)
    const grant = this.#newest.get(session) ?? readGrant(text)
    this.#newest.delete(session)
    if (!provider || !grant) return undefined
    void provider.revoke(grant)
    return provider.signOutUrl(grant, `${this.siteUrl}/sign-in`)
  }

  /** Returns a person by the groups that the provider named last; undefined for one that it never vouched for. */
  named(username: string, instance: string): Caller | undefined {
    const provider = this.#providerAt(instance)
    const groups = provider && this.#needs.callers.groupsOf(instance, username)
    return groups && this.#withRole({ username, instance, groups }, provider, false)
  }

  /** As `named`, for what the person has handed out. */
  remembered(username: string, instance: string, isStale: boolean): Verified | undefined {
    const provider = this.#providerAt(instance)
    const groups = provider && this.#needs.callers.groupsOf(instance, username)
    // The address ends with the session, so nothing else marks the account.
    return groups && { caller: this.#withRole({ username, instance, groups }, provider, isStale), mark: Buffer.of(1) }
  }

  #askAgain(
    provider: Provider,
    { session, instance }: SignedInByGrant,
    grant: Grant,
    keep: (grant: string) => Promise<void>,
  ): Promise<Grant> {
    const ask = async () => {
      try {
        const next = await provider.again(grant)
        this.#newest.set(session, next)
        const caller = this.#callerOf(instance, provider, next, false)
        if (caller) this.#remember(caller, next)
        await keep(writeGrant(next))
        return next
      } catch (error) {
        if (error instanceof ProviderFailure && error.isEnded)
          this.#needs.callers.ended(this.#idOf(instance, grant.sub))
        throw error
      }
    }
    const asked = ask().finally(() => this.#underWay.delete(session))
    // The request may have gone on with the last answer, so a rejection may have no listener.
    asked.catch(() => {})
    this.#underWay.set(session, asked)
    return asked
  }

  /** Resolves with the provider's answer, or with undefined after half a second; the question goes on. */
  #soon(asked: Promise<Grant>): Promise<Grant | undefined> {
    return new Promise((resolve, reject) => {
      const cancel = this.#needs.clock.after(patienceMs, () => resolve(undefined))
      asked.then(resolve, reject).finally(cancel)
    })
  }

  #callerOf(instance: string, provider: Provider, grant: Grant, isStale: boolean): Caller | undefined {
    const { username, groups, factor } = grant
    const caller = this.#withRole({ username, instance, groups }, provider, isStale)
    return !factor && this.#needs.settings().needsFactor(caller.role) ? undefined : caller
  }

  #withRole(
    { username, instance, groups }: Pick<Caller, 'username' | 'instance' | 'groups'>,
    provider: Provider,
    isStale: boolean,
  ): Caller {
    const role = roleIn(groups, provider.settings, this.#needs.settings().defaultRole)
    const now = isStale ? roleWhileUnconfirmed(role) : role
    return {
      ...{ username, instance, groups, role: now, permissions: permissionsOf(now) },
      authMode: isStale ? 'offline-cache' : 'session',
      ...(now !== role && { withheld }),
    }
  }

  #remember({ username, instance, groups, role }: Caller, { sub }: Grant): void {
    this.#needs.callers.verified({ id: this.#idOf(instance, sub), asBearer: true, username, instance, groups, role })
  }

  #idOf(instance: string, sub: string): Buffer {
    return Buffer.from(this.#key.of('base64', JSON.stringify([instance, sub])), 'base64')
  }

  #providerAt(instance: string): Provider | undefined {
    return this.providers.find(({ settings }) => oidcInstance(settings.issuer) === instance)
  }

  #providerOf(settings: ProviderSettings): Provider {
    const known = this.#providers.get(settings)
    if (known) return known
    const provider = new Provider({ settings, clock: this.#needs.clock, log: this.#needs.log })
    this.#providers.set(settings, provider)
    return provider
  }
}

/** Returns the role that the groups give: the last one of the table of roles, or the default. Pure. */
function roleIn(groups: readonly string[], { groupRoles }: ProviderSettings, defaultRole: Role): Role {
  const named = new Set(groups)
  const given = Object.entries(groupRoles).flatMap(([group, role]) => (named.has(group) ? [role] : []))
  return roleNames.findLast((role) => given.includes(role)) ?? defaultRole
}
