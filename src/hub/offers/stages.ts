import { createHash } from 'node:crypto'

/** How many sites each stage adds; the last one adds the rest. */
const stageSizes = [1, 5] as const
export const lastStage = stageSizes.length + 1

/** What a site says that it runs, and how it is. */
export type SiteNow = {
  readonly siteId: string
  readonly version: string | null
  readonly health: string | null
  /** Whether it has been heard lately. */
  readonly isHeard: boolean
}

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
    if (now.version !== version) return [`${siteId} runs ${now.version ?? 'an unknown version'}`]
    if (!now.isHeard) return [`${siteId} has not been heard lately`]
    return now.health === 'healthy' ? [] : [`${siteId} is ${now.health ?? 'of unknown health'}`]
  })
}
