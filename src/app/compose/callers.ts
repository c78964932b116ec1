import { Accounts, OpenSessions } from '../../accounts/index.ts'
import { removeSubscriptionsOf } from '../../alerting/index.ts'
import {
  Admission,
  Authenticator,
  BasicTries,
  ConfigNames,
  FirstUses,
  forgetCaller,
  KnownCallers,
  LocalAccounts,
  normaliseInstance,
  Refusals,
  roleOfGroups,
  SecondFactors,
  Sessions,
  Slowing,
  StorageClient,
  StorageUsers,
  StrangerWork,
  Tally,
} from '../../auth/index.ts'
import { type Config, isOidcInstance, permissionsOf, type Role, sharedNamePlaces } from '../../config/index.ts'
import type { Tx } from '../../database/index.ts'
import { BadgeNames, DeviceVerifier, SignedUrls } from '../../devices/index.ts'
import { SlidingWindow } from '../../flow/index.ts'
import type { Metrics } from '../../health/index.ts'
import { type Caller, servedAuthority } from '../../http/index.ts'
import { ProviderPeople, SignIns } from '../../oidc/index.ts'
import { secretBox } from '../../platform/index.ts'
import { madeOf } from '../as-of.ts'
import type { Outside } from '../outside.ts'
import type { ComposedStorage } from './storage.ts'

export type ComposedCallers = ReturnType<typeof composeCallers>

/** Builds the callers: accounts of the config, users of the storage servers, devices; their sessions and limits. */
export function composeCallers(live: { config: Config }, outside: Outside, storage: ComposedStorage, metrics: Metrics) {
  const { clock, random } = outside
  const { work, audit, tx, derivedKey, expiryClock } = storage
  const siteUrl = () => normaliseInstance(live.config.site.url) ?? live.config.site.url
  const slowing = new Slowing({ clock })
  const localAccounts = localAccountsOf(live, outside, storage, slowing)
  // A disabled account still has its name.
  const isAccount = (username: string) =>
    localAccounts.knows(username) || storage.storedAccounts.find(username)?.isDormant === false
  const badgeNames = new BadgeNames({ tx })
  const names = new ConfigNames({
    settings: () => nameSettings(live.config, siteUrl()),
    isLocal: (name) => isAccount(name) || badgeNames.has(name),
  })
  const knownCallers = new KnownCallers({ work, clock: expiryClock, audit })
  const storageUsers = storageUsersOf(live, outside, storage, { slowing, metrics, siteUrl, knownCallers })
  const people = providerPeopleOf(live, outside, storage, { siteUrl, knownCallers })
  const authority = () => servedAuthority(live.config.listen)
  const badges = () => ({ siteUrl: siteUrl(), shiftMs: live.config.auth.shift })
  const site = () => ({ ...badges(), siteId: live.config.site.id, caFingerprint: authority()?.fingerprint })
  const deviceVerifier = new DeviceVerifier({
    // Asked for each request: `site` reads the certificate of the box.
    ...{ work, clock, expiryClock, settings: badges, isAccount },
    refuse: (presented, instance, address) => localAccounts.verify(presented, instance, address),
  })
  const authenticator = new Authenticator({
    verifiers: [deviceVerifier, localAccounts, storageUsers],
    instances: () => [siteUrl(), ...nameSettings(live.config, siteUrl()).instances],
  })
  const signedUrls = new SignedUrls({
    box: secretBox(derivedKey('gatehouse signed urls'), random),
    clock: expiryClock,
    recall: (username, instance) => authenticator.recall(username, instance),
    isLiveSession: (hash) => sessions.isLive(hash),
    onShift: (hash) => deviceVerifier.onShift(hash),
    remembered: (username, instance, isStale) =>
      storageUsers.remembered(username, instance, isStale) ?? people.remembered(username, instance, isStale),
  })
  const firstUses = new FirstUses({ work, audit, clock })
  const admission = new Admission({
    ...{ window: new SlidingWindow({ clock }), strangerWork: new StrangerWork({ clock }), names },
    rates: () => live.config.rateLimit,
  })
  const tally = new Tally({ work, audit, clock })
  const refusals = new Refusals({ tally })
  const secondFactors = new SecondFactors({
    ...{ work, clock, expiryClock, random, audit, box: secretBox(derivedKey('gatehouse second factors'), random) },
    settings: () => factorSettings(live.config, siteUrl()),
  })
  const sessions = new Sessions({
    ...{ work, clock: expiryClock, random, tally, authenticator, admission, refusals, firstUses, secondFactors },
    people,
    siteUrl: () => live.config.site.url,
  })
  const providerSignIns = new SignIns({
    ...{ people, sessions, random, clock: expiryClock, log: outside.log },
    box: secretBox(derivedKey('gatehouse provider sign-ins'), random),
  })
  const accounts = new Accounts({
    ...{ work, clock, random, audit, authenticator, stored: storage.storedAccounts, secondFactors },
    openSessions: () => sessions.list(),
    endSessions: (tx, username) => signOutEverywhere(tx, username, siteUrl()),
    isDeviceName: (name) => deviceVerifier.knows(name),
    sharedNamePlaces: (name) => sharedNamePlaces(live.config, name),
    settings: () => accountSettings(live.config, siteUrl()),
  })
  /** Finds a caller by name without a credential, as far as the gateway knows it. */
  const callerNamed = (username: string, instance: string, isDevice: boolean): Caller | undefined => {
    if (isOidcInstance(instance)) return people.named(username, instance)
    if (instance !== siteUrl()) return storageCaller(live.config, siteUrl(), knownCallers, { username, instance })
    if (isDevice || !isAccount(username)) return deviceVerifier.named(username, instance)
    return authenticator.recall(username, instance)?.caller
  }
  const openSessions = new OpenSessions({ work, audit, sessions, siteUrl })
  return {
    ...{ accounts, openSessions, callerNamed, secondFactors, providerSignIns, providerPeople: people },
    ...{ siteUrl, site, authority, names, isAccount, badgeNames, storageUsers, authenticator, signedUrls },
    ...{ firstUses, admission, tally, refusals, sessions },
  }
}

/** Ends the sessions of an account, and its messages about alerts: a phone that was signed in may be in other hands. */
function signOutEverywhere(tx: Tx, username: string, siteUrl: string): void {
  forgetCaller(tx, username, siteUrl)
  removeSubscriptionsOf(tx, username, siteUrl)
}

function localAccountsOf(
  live: { config: Config },
  { clock, random }: Outside,
  { storedAccounts }: ComposedStorage,
  slowing: Slowing,
): LocalAccounts {
  return new LocalAccounts({
    accounts: (username) =>
      live.config.auth.users.find((u) => u.username === username) ?? storedAccounts.active(username),
    settings: () => ({ siteUrl: live.config.site.url, freshForMs: live.config.auth.freshFor }),
    ...{ clock, slowing, random },
  })
}

function factorSettings({ site, auth }: Config, siteUrl: string) {
  return {
    siteId: site.id,
    siteUrl,
    required: (role: Role) => auth.secondFactor[role] === 'required',
    isConfigured: (username: string) => auth.users.find((u) => u.username === username) !== undefined,
  }
}

function nameSettings(config: Config, siteUrl: string) {
  return {
    siteUrl,
    instances: config.storage.instances.map(({ url }) => url),
    groupRoles: config.auth.groupRoles,
  }
}

/** Returns a storage user with the groups that the server last named; undefined for one that it never verified. */
function storageCaller(
  config: Config,
  siteUrl: string,
  known: KnownCallers,
  { username, instance }: { username: string; instance: string },
): Caller | undefined {
  const groups = known.groupsOf(instance, username)
  if (!groups) return undefined
  const { defaultRole } = config.auth
  const role = roleOfGroups(groups, instance, { ...nameSettings(config, siteUrl), defaultRole })
  return { username, instance, groups, role, permissions: permissionsOf(role), authMode: 'storage' }
}

function accountSettings({ site, auth, storage }: Config, siteUrl: string) {
  const ofStorage = storage.instances.length > 0 ? [auth.defaultRole, ...Object.values(auth.groupRoles)] : []
  const ofProviders = auth.oidc.flatMap(({ groupRoles }) => [auth.defaultRole, ...Object.values(groupRoles)])
  const hasAdminsElsewhere = [...ofStorage, ...ofProviders].includes('admin')
  return { siteId: site.id, siteUrl, configured: auth.users, hasAdminsElsewhere }
}

function providerPeopleOf(
  live: { config: Config },
  { clock, log }: Outside,
  { expiryClock, derivedKey }: ComposedStorage,
  { siteUrl, knownCallers }: { siteUrl: () => string; knownCallers: KnownCallers },
): ProviderPeople {
  return new ProviderPeople({
    settings: madeOf(
      () => live.config,
      ({ auth }) => ({
        ...{ providers: auth.oidc, siteUrl: siteUrl(), defaultRole: auth.defaultRole },
        ...{ freshForMs: auth.freshFor, staleForMs: auth.staleFor },
        needsFactor: (role: Role) => auth.secondFactor[role] === 'required',
      }),
    ),
    callers: knownCallers,
    clock: {
      now: () => expiryClock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, work) => clock.after(ms, work),
    },
    log,
    key: derivedKey('gatehouse people of providers'),
  })
}

function storageUsersOf(
  live: { config: Config },
  { clock, log, version }: Outside,
  { work, derivedKey }: ComposedStorage,
  {
    slowing,
    metrics,
    siteUrl,
    knownCallers,
  }: { slowing: Slowing; metrics: Metrics; siteUrl: () => string; knownCallers: KnownCallers },
): StorageUsers {
  return new StorageUsers({
    // One object until a reload: a caller who is known is made anew only for another.
    settings: madeOf(
      () => live.config,
      (config) => ({
        ...nameSettings(config, siteUrl()),
        freshForMs: config.auth.freshFor,
        staleForMs: config.auth.staleFor,
        defaultRole: config.auth.defaultRole,
      }),
    ),
    client: new StorageClient({ clock, instances: () => live.config.storage.instances, version }),
    callers: knownCallers,
    tries: new BasicTries({ work, clock, key: derivedKey('gatehouse storage tries') }),
    ...{ slowing, clock, log },
    key: derivedKey('gatehouse known credentials'),
    onOutcome: (outcome) => metrics.verified(outcome),
  })
}
