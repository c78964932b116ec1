import { standings } from './problems.ts'
import type { AskService } from './service.ts'

type Site = Awaited<ReturnType<AskService['sites']>>[number]

/** Which sites a list has: all, those with any problem, those in a standing, or those with one problem. */
export const siteKinds = ['all', 'trouble', ...standings, 'behind', 'drift'] as const
export type SiteFilter = {
  /** Part of the name, the id or the version, in any case; empty: any. */
  readonly q: string
  readonly show: (typeof siteKinds)[number]
  /** Empty: of any region. */
  readonly region: string
}

/** Returns whether a site is in a list, as the page lists it. Pure. */
export const isListed =
  ({ q, show, region }: SiteFilter) =>
  (site: Site): boolean =>
    (region === '' || site.regions.includes(region)) &&
    `${site.siteId}\n${site.name}\n${site.version ?? ''}`.toLowerCase().includes(q.trim().toLowerCase()) &&
    (show === 'all' || site.standing === show || site.problems.some(({ kind }) => show === 'trouble' || kind === show))
