import { AppError } from '../../errors/index.ts'
import { Status } from '../../feed/index.ts'
import { type Clock, isoTime } from '../../platform/index.ts'
import { isCurrent } from '../ask/service.ts'
import { logsOf } from '../ask/store.ts'
import type { HubDatabase } from '../store/database.ts'
import { chosenFor, lastStage, obstacles, type SiteNow, type SiteOffer } from './stages.ts'
import { endStages, type OfferStage, putStage, stagesOf } from './store.ts'

/** How old the offer may be that is reported to a feed. */
const freshForMs = 10_000

/** The open offer. `sites`: those that have it; null: all. `waitsFor`: why the next stage may not begin yet. */
export type Offer = {
  readonly version: string
  readonly stage: number
  readonly sites: readonly string[] | null
  readonly since: string
  readonly by: string
  readonly waitsFor: readonly string[]
}

type OfferNeeds = { readonly db: HubDatabase; readonly clock: Pick<Clock, 'now'> }

/**
 * Offers a version to gateways: to one, then to five more, then to the rest. Each stage is begun by a person. The gateway's own
 * admin decides whether to install it.
 */
export class OfferService {
  readonly #needs: OfferNeeds
  #known: { readonly stages: Promise<readonly OfferStage[]>; readonly atMs: number } | undefined

  constructor(needs: OfferNeeds) {
    this.#needs = needs
  }

  /** Returns the offer to a site; undefined: nothing. */
  async offerFor(siteId: string): Promise<SiteOffer | undefined> {
    const nowMs = this.#needs.clock.now()
    const isFresh = this.#known && nowMs >= this.#known.atMs && nowMs - this.#known.atMs < freshForMs
    const stages = isFresh && this.#known ? this.#known.stages : stagesOf(this.#needs.db)
    this.#known = isFresh && this.#known ? this.#known : { stages, atMs: nowMs }
    try {
      const found = (await stages).find(({ sites }) => sites === null || sites.includes(siteId))
      return found && { version: found.version, hasNext: offeredBy(await stages) !== null }
    } catch (error) {
      this.#known = undefined
      throw error
    }
  }

  /** Returns the open offer; undefined when there is none. */
  async open(): Promise<Offer | undefined> {
    const stages = await stagesOf(this.#needs.db)
    const last = stages.at(-1)
    if (!last) return undefined
    const sites = offeredBy(stages)
    return {
      ...{
        version: last.version,
        stage: last.stage,
        sites,
        by: last.offered_by,
        since: isoTime(last.offered_at.getTime()),
      },
      waitsFor: sites === null ? [] : obstacles(last.version, sites, await this.#sites()),
    }
  }

  /** Offers a version to the first site, which may be named. Another offer ends. Throws VALIDATION_ERROR for a site that is not known. */
  async begin(version: string, by: string, first?: string): Promise<void> {
    const all = (await this.#sites()).map(({ siteId }) => siteId)
    if (all.length === 0) throw AppError.field('version', 'no gateway has joined this head office')
    if (first !== undefined && !all.includes(first)) throw AppError.field('first', `no gateway is of the site ${first}`)
    const sites = first === undefined ? chosenFor(version, 1, all, []) : [first]
    await this.#needs.db.transaction(async (tx) => {
      await endStages(tx, this.#needs.clock.now())
      await putStage(tx, { version, stage: 1, sites: sites ?? null, offered_by: by }, this.#needs.clock.now())
    })
  }

  /**
   * Begins the next stage. Throws INVALID_TRANSITION while a site that has the offer does not run the version well, unless
   * `anyway`. Throws it too when there is no offer, or no next stage.
   */
  async next(by: string, anyway: boolean): Promise<void> {
    const stages = await stagesOf(this.#needs.db)
    const last = stages.at(-1)
    const offered = offeredBy(stages)
    if (!last || offered === null || last.stage >= lastStage) {
      throw new AppError('INVALID_TRANSITION', last ? 'Every site has the offer' : 'There is no offer')
    }
    const now = await this.#sites()
    const waits = obstacles(last.version, offered, now)
    if (waits.length > 0 && !anyway) {
      throw new AppError('INVALID_TRANSITION', `Not every site runs ${last.version} well: ${waits.join('; ')}`)
    }
    const stage = last.stage + 1
    const all = now.map(({ siteId }) => siteId)
    const sites = chosenFor(last.version, stage, all, offered) ?? null
    await putStage(this.#needs.db, { version: last.version, stage, sites, offered_by: by }, this.#needs.clock.now())
  }

  /** Takes the offer back. Installed versions stay. */
  async end(): Promise<void> {
    await endStages(this.#needs.db, this.#needs.clock.now())
  }

  async #sites(): Promise<SiteNow[]> {
    const nowMs = this.#needs.clock.now()
    // The newest log of a site last, so that it counts.
    const logs = new Map((await logsOf(this.#needs.db, null)).filter(isCurrent).map((log) => [log.site_id, log]))
    return [...logs.values()].map(({ site_id: siteId, status, fed_at }) => {
      const { version, health, troubles } = Status.parse(status)
      return { siteId, version, health, troubles, silentMs: fed_at && nowMs - fed_at.getTime() }
    })
  }
}

/** The sites that have the offer after these stages; null: all. */
function offeredBy(stages: readonly OfferStage[]): readonly string[] | null {
  return stages.some(({ sites }) => sites === null) ? null : stages.flatMap(({ sites }) => sites ?? [])
}
