import type { KeyObject } from 'node:crypto'
import { addressResolver, ownHosts, tlsResolver } from '../app/index.ts'
import type { HubConfig, Permission } from '../config/index.ts'
import { loadWitnessKey, type NoteKey, noteKey, publicBytes } from '../evidence/index.ts'
import { SlidingWindow } from '../flow/index.ts'
import { type Api, type Caller, HttpListener, newRoot, type WireLimits, wireLimits } from '../http/index.ts'
import { buildInfo } from '../platform/bundle.ts'
import { type Clock, type Logger, type RandomBytes, uuidv7Maker } from '../platform/index.ts'
import { reachOf } from './ask/reach.ts'
import { askRoutes } from './ask/routes.ts'
import { AskService } from './ask/service.ts'
import { authorityOf } from './authority.ts'
import { EnrolService } from './enrol/service.ts'
import { TokenLimit } from './enrol/tokens.ts'
import { FeedService } from './feed/service.ts'
import { StoredRoots } from './feed/stored-tree.ts'
import { OfferService } from './offers/service.ts'
import { OfficeDisk } from './operations/disk.ts'
import { HubFigures } from './operations/figures.ts'
import { HubMetrics } from './operations/metrics.ts'
import { operationRoutes } from './operations/routes.ts'
import { missingOfficePage, pageRoutes } from './page/routes.ts'
import { PageSessions } from './page/sessions.ts'
import { gatewayRoutes } from './routes.ts'
import { composeHubCallers } from './sign-in/callers.ts'
import { connectionOf, HubDatabase } from './store/database.ts'
import { demandSchema } from './store/migrate.ts'
import { HubWitness } from './witness.ts'

export type HubOutside = { readonly clock: Clock; readonly random: RandomBytes; readonly log: Logger }

export type Hub = {
  readonly api: Api
  readonly enrolments: EnrolService
  readonly witness: HubWitness
  /** Begins what goes on by itself: tests of the storage servers. */
  readonly start: () => void
  readonly close: () => Promise<void>
}

/** Builds a head office. Throws ExitError when the database cannot be reached or has another schema than this version. */
export async function composeHub(config: HubConfig, { clock, random, log }: HubOutside): Promise<Hub> {
  const connection = connectionOf(config.hub.database, 'app')
  await demandSchema(connection)
  const db = new HubDatabase({ connection, log })
  const roots = new StoredRoots()
  const witness = new HubWitness({ db, clock, log, roots, ...witnessKeyOf(config) })
  const offers = new OfferService({ db, clock })
  const feeds = new FeedService({
    ...{ db, clock, log, roots, openings: config.hub.openings },
    offerFor: (siteId) => offers.offerFor(siteId),
    cosign: (text, nowMs) => witness.cosign(text, nowMs),
  })
  const enrolments = new EnrolService({ db, clock, random, log, vkey: witness.vkey })
  const { version } = buildInfo()
  const figures = new HubFigures({ db, clock })
  const metrics = new HubMetrics({ figures, version })
  const disk = new OfficeDisk({ clock })
  const window = new SlidingWindow({ clock })
  const api = newRoot({
    ...{ log, clock, makeRequestId: uuidv7Maker(clock, random) },
    ...{ addressOf: addressResolver(config.http.trustedProxies), isOurHost: ownHosts(() => config) },
    isOverTls: tlsResolver(config.http.trustedProxies),
    ...{ onAnswer: (answer) => metrics.answered(answer), missingPage: (c) => missingOfficePage(c, window) },
  })
  const tokens = await TokenLimit.read(db, {
    ...{ window: new SlidingWindow({ clock }), log },
    onRefused: (how) => metrics.tokenRefused(how),
  })
  gatewayRoutes(api, {
    ...{ clock, feeds, enrolments, witness, tokens, strangers: new SlidingWindow({ clock }) },
    authority: () => authorityOf(config.listen)?.pem,
    onFed: (outcome, leaves) => {
      metrics.fed(outcome, leaves)
      if (outcome === 'full') disk.refused()
    },
  })
  const { id: siteId, url: instance } = config.site
  const callers = await composeHubCallers(config, { db, clock, random, log, version })
  const { authenticator, storageDown } = callers
  const sessions = await PageSessions.open({ ...{ db, clock, random, authenticator }, instance })
  const storageInstances = config.storage.instances.map(({ url }) => url)
  pageRoutes(api, { sessions, window, site: { siteId, instance, storageInstances } })
  const sitesOf = (caller: Caller, permission: Permission) => reachOf(config, caller, permission)
  askRoutes(api, {
    asks: new AskService({
      ...{ db, clock, roots, openings: config.hub.openings, vkey: witness.vkey, regions: config.hub.regions },
      offerFor: (siteId) => offers.offerFor(siteId),
    }),
    authenticator,
    sessions,
    window,
    sitesOf,
  })
  operationRoutes(api, { figures, metrics, disk, window, clock, version, sitesOf, storageDown })
  const close = async () => {
    await callers.stop()
    await db.close()
  }
  return { api, enrolments, witness, start: () => callers.start(), close }
}

/** The key under which the head office cosigns; made at the first start. */
function witnessKeyOf({ dataDir, site, hub }: HubConfig): { readonly key: NoteKey; readonly pair: KeyObject } {
  const pair = loadWitnessKey(dataDir)
  const name = hub.witness.name ?? `${new URL(site.url).hostname}/w1`
  return { key: noteKey(name, 4, publicBytes(pair)), pair }
}

/** A fleet may stand behind one address, and each gateway keeps its connection for a while. */
export const officeLimits: WireLimits = { ...wireLimits, most: 6000, mostTogether: 3000 }

export type RunningHub = {
  readonly ports: readonly number[]
  readonly hub: Hub
  /** No new requests; those under way are answered. */
  stop(): Promise<void>
}

/** Starts a head office with its listeners; stops what it started when one fails. */
export async function startHub(config: HubConfig, outside: HubOutside): Promise<RunningHub> {
  const hub = await composeHub(config, outside)
  const listeners = config.listen.map((options) => new HttpListener(options, hub.api, officeLimits))
  const started: HttpListener[] = []
  const stop = async () => {
    for (const listener of started.toReversed()) await listener.stop()
    await hub.close()
  }
  try {
    hub.start()
    const ports: number[] = []
    for (const listener of listeners) {
      ports.push(await listener.start())
      started.push(listener)
    }
    return { ports, hub, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
