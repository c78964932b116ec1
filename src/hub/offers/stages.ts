import { createHash } from 'node:crypto'
import { isNewerRelease } from '../../feed/index.ts'

/** How many sites each stage adds; the last one adds the rest. */
const stageSizes = [1, 5] as const
export const lastStage = stageSizes.length + 1

/** A gateway sends a sign of life every five minutes. */
const heardWithinMs = 15 * 60_000

/** The offer to a site. With `hasNext`, another stage of it is to come. */
export type SiteOffer = { readonly version: string; readonly hasNext: boolean }

/** Version and health that a site reports. */
export type SiteNow = {
  readonly siteId: string
  readonly version: string | null
  readonly health: string | null
  readonly troubles: readonly { readonly kind: string; readonly message: string }[]
  /** Since the last feed of the site, in milliseconds; null: there was none. */
  readonly silentMs: number | null
}

/**
 * State of a version at a site that it is offered to.
 * - runs: the site runs it, or a newer one, well.
 * - undecided: the site runs an older one and has reported nothing else.
 * - failed: the site reports that a newer one was refused, could not be installed or was given up.
 * - silent: the site was not heard.
 * - unwell: the site runs it, or a newer one, and is not healthy.
 */
export const offerStates = ['runs', 'undecided', 'failed', 'silent', 'unwell'] as const
export type OfferState = (typeof offerStates)[number]

/** Returns the state of a version at a site that it is offered to. Pure. */
export function offerStateOf(version: string, now: Omit<SiteNow, 'siteId'>): OfferState {
  if (now.silentMs === null || now.silentMs > heardWithinMs) return 'silent'
  if (hasYetToTake(version, now)) return failureOf(now) ? 'failed' : 'undecided'
  return now.health === 'healthy' ? 'runs' : 'unwell'
}

/** A gateway takes no version that is not newer than its own, so the next stage does not wait until it does. */
const hasYetToTake = (version: string, { version: running }: Pick<SiteNow, 'version'>) =>
  running === null || isNewerRelease(version, running)

/** A box that does not reach its place of updates has not refused this one. */
const failureOf = ({ troubles }: Pick<SiteNow, 'troubles'>) =>
  troubles.find(({ kind }) => ['update.failed', 'update.refused', 'update.fell_back'].includes(kind))

/**
 * Chooses the sites that a stage adds to those that have the offer; undefined: all sites, also those that come later. The order is by
 * chance, and another one for each version, so that it is not always the same site that tries. Pure.
 */
export function chosenFor(version: string, stage: number, all: readonly string[], offered: readonly string[]) {
  const size = stageSizes[stage - 1]
  if (size === undefined) return undefined
  const lot = (siteId: string) => createHash('sha256').update(`${version} ${siteId}`).digest('hex')
  return all
    .filter((siteId) => !offered.includes(siteId))
    .map((siteId) => ({ siteId, lot: lot(siteId) }))
    .toSorted((a, b) => (a.lot < b.lot ? -1 : 1))
    .slice(0, size)
    .map(({ siteId }) => siteId)
}

/** Says why the next stage has to wait, a sentence for each site that is not ready; none: it may begin. Pure. */
export function obstacles(version: string, offered: readonly string[], sites: readonly SiteNow[]): string[] {
  return offered.flatMap((siteId) => {
    const now = sites.find((site) => site.siteId === siteId)
    if (!now) return []
    const state = offerStateOf(version, now)
    return state === 'runs' ? [] : [`${siteId} ${wordsOf[state](now)}`]
  })
}

const wordsOf: Record<Exclude<OfferState, 'runs'>, (now: SiteNow) => string> = {
  undecided: (now) => `runs ${now.version ?? 'an unknown version'} and has not installed it yet`,
  failed: (now) => `runs ${now.version ?? 'an unknown version'}: ${failureOf(now)?.message}`,
  silent: () => 'is out of contact',
  unwell: (now) => `is ${now.health ?? 'of unknown health'}`,
}
