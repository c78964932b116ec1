import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../../test/support/postgres.ts'
import { postgresBin } from '../../bench/postgres.ts'
import type { GatewayCommand } from '../gateway.ts'
import { freePort } from '../ports.ts'
import { type PlayedStep, playIn, type Stage } from '../steps.ts'
import {
  arrives,
  confirms,
  goesOn,
  isCaught,
  isPutBack,
  joins,
  recalls,
  receives,
  type Scene,
  ships,
  survives,
} from './acts.ts'
import { Office } from './office.ts'
import { openSite, recalledPallet, type Site, type SiteId, siteIds } from './sites.ts'

/** A reason not to begin, shown to the user as it is. */
export class NoPostgres extends Error {
  override readonly name = 'NoPostgres'

  constructor(folder: string | undefined) {
    const where = folder === undefined ? 'it is not installed' : `${folder} has no initdb and postgres`
    super(`this demo needs PostgreSQL 15 or later, and ${where}. On Debian: apt-get install postgresql`)
  }
}

export type HubStoryOptions = GatewayCommand & {
  /** Folder of initdb and postgres; undefined: where Debian puts them. */
  readonly postgres?: string | undefined
  readonly print: (line: string) => void
  /** Ends the story in the middle, without leaving anything behind. */
  readonly signal?: AbortSignal | undefined
  /** Runs after the story, before everything is ended. */
  readonly after?: (scene: Scene) => Promise<void>
}

/** The steps, by the names under which they are played. */
export const hubTitles = {
  postgres: 'a PostgreSQL of its own starts',
  office: 'the head office makes its tables and is up, over HTTPS',
  sites: 'three gateways start, each with a hall and pallets',
  join: 'each gateway joins by a code that is good once',
  receive: 'pallets are received at all three sites',
  recall: 'a recall by GTIN and lot lists those of the lot, at every site, and no others',
  ship: 'a pallet of the lot leaves Hamburg: it is in transit, with its truck',
  arrive: 'it arrives in Bremen: one way over both sites',
  recallAgain: 'the recall finds it where it is now',
  confirm: 'what a site signed is confirmed by the head office',
  crash: 'after kill -9 of the head office nothing is lost, and nothing is there twice',
  putBack: 'the database of Kassel is put back by hand: its gateway says that it is behind',
  fork: 'Kassel goes on with another history: it is caught by name',
  accept: 'Kassel accepts the fork and goes on with a new log',
} as const

/**
 * Plays the story of the head office: a PostgreSQL, a head office and three gateways on free ports, in temporary folders. All of
 * them are ended. Throws NoPostgres, and StepFailed with the failed step; only then the folder stays.
 */
export async function playHubStory(options: HubStoryOptions): Promise<PlayedStep[]> {
  const bin = options.postgres ?? postgresBin()
  if (bin === undefined || !hasPrograms(bin)) throw new NoPostgres(options.postgres)
  return playIn(options, async (stage) => {
    const scene = await play(options, { ...stage, bin })
    await options.after?.(scene)
  })
}

type HubStage = Stage & { readonly bin: string }

async function play(options: HubStoryOptions, stage: HubStage): Promise<Scene> {
  const { steps } = stage
  const scene = await open(options, stage)
  const { hamburg, bremen, kassel } = scene.sites
  await steps.play(hubTitles.join, () => joins(scene))
  await steps.play(hubTitles.receive, () => receives(scene))
  const ofLot = (site: Site, n: number) => [site.siteId, recalledPallet(site, n)] as const
  const first = [hamburg, bremen, kassel].flatMap((site) => [ofLot(site, 0), ofLot(site, 1)])
  await steps.play(hubTitles.recall, () => recalls(scene, first))
  await steps.play(hubTitles.ship, () => ships(scene))
  await steps.play(hubTitles.arrive, () => arrives(scene))
  const moved = ['bremen', recalledPallet(hamburg, 0)] as const
  await steps.play(hubTitles.recallAgain, () => recalls(scene, [...first.slice(1), moved]))
  await steps.play(hubTitles.confirm, () => confirms(scene))
  await steps.play(hubTitles.crash, () => survives(scene))
  await steps.play(hubTitles.putBack, () => isPutBack(scene))
  await steps.play(hubTitles.fork, () => isCaught(scene))
  await steps.play(hubTitles.accept, () => goesOn(scene))
  return scene
}

async function open(options: HubStoryOptions, { steps, bin, folder, atEnd }: HubStage): Promise<Scene> {
  const { postgres } = await steps.play(hubTitles.postgres, async () => {
    const started = await startPostgres({ teardown: atEnd }, { bin })
    const [row] = await started.ask('postgres', 'SHOW server_version')
    return { postgres: started, detail: `version ${row?.['server_version']}, reached by a socket alone` }
  })
  const { office, account } = await steps.play(hubTitles.office, async () => {
    const one = new Office({ ...options, folder, port: await freePort() })
    atEnd(() => one.close())
    const made = await one.prepare(postgres)
    await one.start()
    return { office: one, account: made.account, detail: one.url }
  })
  const { sites } = await steps.play(hubTitles.sites, async () => {
    const opened = await Promise.all(siteIds.map((siteId) => openSite({ ...options, folder, atEnd }, siteId)))
    const bySite = Object.fromEntries(opened.map((site) => [site.siteId, site])) as Record<SiteId, Site>
    return { sites: bySite, detail: opened.map(({ siteId, gateway }) => `${siteId} ${gateway.url}`).join(', ') }
  })
  return { office, account, sites }
}

function hasPrograms(bin: string): boolean {
  return ['initdb', 'postgres'].every((program) => existsSync(join(bin, program)))
}
