import { hkdfSync } from 'node:crypto'
import { join } from 'node:path'
import { Authenticator, LocalAccounts, Slowing, StorageClient, StorageUsers } from '../../auth/index.ts'
import type { HubConfig } from '../../config/index.ts'
import { type Clock, type Logger, loadBoxKey, type RandomBytes } from '../../platform/index.ts'
import { grantsOf } from '../ask/reach.ts'
import type { HubDatabase } from '../store/database.ts'
import { GroupUsers } from './group-users.ts'
import { StorageMemory } from './memory.ts'
import { namesOf } from './names.ts'

type HubCallersNeeds = {
  readonly db: HubDatabase
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  readonly version: string
}

export type HubCallers = {
  readonly authenticator: Authenticator
  /** How many storage servers do not answer; undefined where none is configured. */
  readonly storageDown: () => number | undefined
  /** Tests the storage servers regularly. */
  start(): void
  /** Resolves when what was remembered of sign-ins is stored. */
  stop(): Promise<void>
}

/** Everyone who may ask: accounts of the config, and users of the storage servers by their groups. */
export async function composeHubCallers(config: HubConfig, needs: HubCallersNeeds): Promise<HubCallers> {
  const { clock, random } = needs
  const { auth, site, storage } = config
  const slowing = new Slowing({ clock })
  const accounts = new LocalAccounts({
    accounts: (username) => auth.users.find((u) => u.username === username),
    settings: () => ({ siteUrl: site.url, freshForMs: auth.freshFor }),
    clock,
    random,
    slowing,
  })
  const names = namesOf(config)
  if (storage.instances.length === 0) {
    const authenticator = new Authenticator({ verifiers: [accounts], instances: () => [names.siteUrl] })
    return { authenticator, storageDown: () => undefined, start: () => {}, stop: () => Promise.resolve() }
  }
  const { users, memory } = await storageUsersOf(config, needs, slowing)
  const inGroups = new GroupUsers({ users, rolesOf: (caller) => grantsOf(config, caller).map(({ role }) => role) })
  return {
    authenticator: new Authenticator({
      verifiers: [accounts, inGroups],
      instances: () => [names.siteUrl, ...names.instances],
    }),
    storageDown: () => users.status().down,
    start: () => users.start(),
    stop: () => {
      users.stop()
      return memory.stored()
    },
  }
}

async function storageUsersOf(
  config: HubConfig,
  { db, clock, random, log, version }: HubCallersNeeds,
  slowing: Slowing,
) {
  const boxKey = loadBoxKey(join(config.dataDir, 'keys', 'box.key'), random)
  const derivedKey = (use: string) => new Uint8Array(hkdfSync('sha256', boxKey, '', use, 32))
  const memory = await StorageMemory.read({ db, clock, log, key: derivedKey('gatehouse storage tries') })
  const { freshFor: freshForMs, staleFor: staleForMs } = config.auth
  const users = new StorageUsers({
    settings: () => ({ ...namesOf(config), freshForMs, staleForMs, defaultRole: 'viewer' }),
    client: new StorageClient({ clock, instances: () => config.storage.instances, version }),
    callers: memory,
    tries: memory,
    slowing,
    clock,
    log,
    key: derivedKey('gatehouse known credentials'),
    onOutcome: () => {},
  })
  return { users, memory }
}
