import type { MiddlewareHandler } from 'hono'
import {
  Admission,
  Authenticator,
  BasicTries,
  ConfigNames,
  door,
  FirstUses,
  KnownCallers,
  LocalAccounts,
  Refusals,
  Slowing,
  StorageClient,
  StorageUsers,
  StrangerWork,
  Tally,
} from '../../src/auth/index.ts'
import { floorRoutes } from '../../src/floor/index.ts'
import { SlidingWindow } from '../../src/flow/index.ts'
import { type Api, type AppEnv, HttpListener, newRoot } from '../../src/http/index.ts'
import { silentLogger, systemClock, systemRandom } from '../../src/platform/index.ts'
import { StorageServer } from '../../test/support/storage-server.ts'
import { type Figure, rounded } from './figure.ts'
import type { Load, LoadResult } from './load.ts'
import { openRooms, origin, type Rooms, siteUrl } from './rooms.ts'
import { furnish } from './seed.ts'
import { makeAccount, signedIn, stateOf } from './site.ts'
import { median } from './statistics.ts'
import type { Helper, Workshop } from './workshop.ts'

const slots = 100
const rounds = 7
const secondsOfRound = 1.5

/** Measures a request of a known caller beside the same route without a guard, over real connections, in turns. */
export async function measureAuth(workshop: Workshop): Promise<Figure[]> {
  const rooms = openRooms(stateOf(workshop.newFolder('auth')), systemClock)
  const server = await StorageServer.start({ users: [{ id: 'otto', groups: [], tokens: ['otto-token'] }] })
  const load = workshop.start('load')
  const listeners: HttpListener[] = []
  try {
    await furnish(rooms, slots, slots)
    const ask = async (guard: MiddlewareHandler<AppEnv>) => {
      const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, apiBehind(guard, rooms))
      listeners.push(listener)
      return `http://127.0.0.1:${await listener.start()}/api/whms/slots/1`
    }
    const open = await ask((c, next) => {
      c.set('caller', origin.caller)
      return next()
    })
    const guarded = await ask(await realDoor(rooms, server))
    const otto = { ...signedIn, Authorization: 'Bearer otto-token', 'X-Storage-Instance': server.url }
    const taken = await inRounds(load, {
      open: { url: open, headers: signedIn },
      local: { url: guarded, headers: signedIn },
      storage: { url: guarded, headers: { ...otto, 'X-Storage-Username': 'otto' } },
    })
    if (server.requests.length !== 1) throw new Error(`the storage server was asked ${server.requests.length} times`)
    return [figureOf('local', 'a local account', taken), figureOf('storage', 'a user of a storage server', taken)]
  } finally {
    await load.end()
    await Promise.all(listeners.map((listener) => listener.stop()))
    await server.stop()
    rooms.close()
  }
}

type Taken = Record<'open' | 'local' | 'storage', number>

/** The median of requests a second of each; the first round, which fills caches, is left out. */
async function inRounds(
  load: Helper,
  asked: Record<keyof Taken, { url: string; headers: Record<string, string> }>,
): Promise<Taken> {
  const names = ['open', 'local', 'storage'] as const
  const perSecond = { open: [] as number[], local: [] as number[], storage: [] as number[] }
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const one: Load = { ...asked[name], method: 'GET', clients: 4, seconds: secondsOfRound }
      const result = await load.ask<LoadResult>(one)
      if (result.failures > 0) throw new Error(`${result.failures} requests failed: ${name}`)
      if (round > 0) perSecond[name].push(result.perSecond)
    }
  }
  return { open: median(perSecond.open), local: median(perSecond.local), storage: median(perSecond.storage) }
}

function figureOf(id: 'local' | 'storage', who: string, taken: Taken): Figure {
  return {
    id: `auth-${id}`,
    what: `Time of a request by ${who} who is known, against the same route behind no door`,
    value: taken.open / taken[id],
    unit: '×',
    target: { limit: 1.1, sense: 'at most' },
    raw: `${rounded(taken[id])} requests/s against ${rounded(taken.open)}`,
    numbers: { openPerSecond: taken.open, guardedPerSecond: taken[id] },
  }
}

function apiBehind(guard: MiddlewareHandler<AppEnv>, { makeId, floor }: Rooms): Api {
  const addressOf = ({ peer }: { peer: string | undefined }) => peer ?? 'unknown'
  const root = newRoot({ log: silentLogger(), makeRequestId: makeId, addressOf })
  root.use('/api/*', guard)
  floorRoutes(root, floor)
  return root
}

/** The door as the gateway has it, without the console. */
async function realDoor({ work, audit }: Rooms, server: StorageServer): Promise<MiddlewareHandler<AppEnv>> {
  const clock = systemClock
  const account = await makeAccount()
  const slowing = new Slowing({ clock })
  const accounts = new LocalAccounts({
    accounts: (username) => (username === account.username ? account : undefined),
    settings: () => ({ siteUrl, freshForMs: 300_000 }),
    clock,
    slowing,
    random: systemRandom,
  })
  const instances = [{ url: server.url, caFile: null }]
  const named = { siteUrl, instances: instances.map(({ url }) => url), groupRoles: {} }
  const believed = { ...named, freshForMs: 300_000, staleForMs: 43_200_000, defaultRole: 'viewer' } as const
  const names = new ConfigNames({ settings: () => named, isLocal: (name) => name === account.username })
  const users = new StorageUsers({
    settings: () => believed,
    client: new StorageClient({ clock, instances: () => instances, version: 'bench' }),
    callers: new KnownCallers({ work, clock, audit }),
    tries: new BasicTries({ work, clock, key: systemRandom(32) }),
    slowing,
    clock,
    log: silentLogger(),
    key: systemRandom(32),
    onOutcome: () => {},
  })
  const rates = () => ({ requestsPerMinute: 1_000_000, users: {}, roles: {} })
  return door({
    authenticator: new Authenticator({ verifiers: [accounts, users], instances: () => named.instances }),
    sessions: { callerOf: async () => undefined },
    signedUrls: { callerOf: () => undefined },
    admission: new Admission({
      ...{ window: new SlidingWindow({ clock }), strangerWork: new StrangerWork({ clock }) },
      ...{ rates, names },
    }),
    clock,
    firstUses: new FirstUses({ work, audit, clock }),
    refusals: new Refusals({ tally: new Tally({ work, audit, clock }) }),
    isPublic: () => false,
    isFullerForCallers: () => false,
    isLive: () => false,
    site: () => ({ instance: siteUrl }),
  })
}
