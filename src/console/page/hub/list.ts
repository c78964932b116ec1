/** A site as the head office lists it. */
export type Site = {
  readonly siteId: string
  readonly name: string
  readonly timezone: string
  readonly size: number
  readonly logId: string
  /** Earlier logs of the site, the oldest first. */
  readonly earlierLogs: readonly string[]
  readonly state: 'live' | 'forked' | 'retired'
  readonly health: 'healthy' | 'degraded' | 'unhealthy' | null
  readonly version: string | null
  readonly troubles: readonly { readonly message: string; readonly since: string }[]
  readonly fedAt: string | null
  readonly lagSeconds: number | null
  /** Signed by the gateway, and not at the head office yet. */
  readonly leavesBehind: number
  /** Logs besides `logId` that still fill slots of the site. */
  readonly unendedLogs: readonly string[]
  readonly openAlerts: number
  /** The worst that is known of it. */
  readonly standing: SiteState
  /** Problems that need a person; the head office decides. */
  readonly problems: readonly { readonly kind: string; readonly amount: number }[]
  readonly regions: readonly string[]
  /** Permissions of this account at the site, besides seeing it. */
  readonly permissions: readonly string[]
  /** The version that it is offered. */
  readonly offered: string | null
  readonly offerState: 'runs' | 'undecided' | 'failed' | 'silent' | 'unwell' | null
  /** The next stage of the offer waits for it. */
  readonly offerWaits: boolean
  readonly fleet: Fleet | null
  readonly config: {
    readonly differsIn: readonly string[]
    readonly changedAt: string | null
    readonly changed: readonly string[]
  }
}

/** Figures of a gateway; null: not known, or there is none. */
export type Fleet = {
  readonly openAlerts: number | null
  /** The newest of them; missing in feeds of older versions. */
  readonly alerts?: readonly { readonly kind: string; readonly at: string }[]
  readonly cameras: { readonly configured: number; readonly withoutPictures: number }
  readonly freeBytes: number | null
  readonly certificateUntil: string | null
  readonly backupAt: string | null
  readonly rehearsedAt: string | null
  readonly configHash: string
}

/** How a site is, the worst first. */
export const siteStates = ['forked', 'unhealthy', 'late', 'degraded', 'retired', 'silent', 'well'] as const
export type SiteState = (typeof siteStates)[number]

export const columns = ['state', 'name', 'contact', 'size', 'alerts', 'version'] as const
export type Column = (typeof columns)[number]
export const kinds = ['all', 'trouble', ...siteStates, 'behind', 'drift'] as const
export type Kind = (typeof kinds)[number]
type CountedKind = SiteState | 'trouble'

export type Wanted = {
  readonly text: string
  readonly kind: Kind
  /** Empty: of any region. */
  readonly region: string
  readonly by: Column
  readonly isDown: boolean
}

/** Returns the sites that somebody wants to see, in their order. Pure. */
export function listed(sites: readonly Site[], wanted: Wanted): Site[] {
  const order = comparers[wanted.by]
  return found(sites, wanted)
    .filter(isOfKind(wanted.kind))
    .toSorted((a, b) => (wanted.isDown ? order(b, a) : order(a, b)) || byName(a, b))
}

/** Those of the region and the text, as the head office filters the file. */
function found(sites: readonly Site[], { text, region }: Wanted): Site[] {
  const words = text.trim().toLowerCase()
  const isThere = ({ regions }: Site) => region === '' || regions.includes(region)
  return sites.filter((site) => isThere(site) && textOf(site).includes(words))
}

const textOf = ({ siteId, name, version }: Site) => `${siteId}\n${name}\n${version ?? ''}`.toLowerCase()

const isOfKind =
  (show: Kind) =>
  ({ standing, problems }: Site): boolean =>
    show === 'all' || standing === show || problems.some(({ kind }) => show === 'trouble' || kind === show)

/** Returns the regions that any of the sites belongs to. Pure. */
export const regionsOf = (sites: readonly Site[]): string[] =>
  [...new Set(sites.flatMap(({ regions }) => regions))].toSorted()

/** Returns how many sites of a filter have any problem, and are in each state, the worst first; none without a site. Pure. */
export function countsOf(
  sites: readonly Site[],
  wanted: Wanted,
): { readonly kind: CountedKind; readonly count: number }[] {
  const among = found(sites, wanted)
  return (['trouble', ...siteStates] as const)
    .map((kind) => ({ kind, count: among.filter(isOfKind(kind)).length }))
    .filter(({ count }) => count > 0)
}

/** Whether a site runs the version that it is offered, or a newer one. A silent site may run it, too. Pure. */
export const runsOffered = ({ offered, offerState, version }: Site): boolean =>
  offered !== null && (offerState === 'runs' || offerState === 'unwell' || version === offered)

/** Returns which versions are offered, to how many sites, how many of those run just it, and which are not ready for the next stage. Pure. */
export function offersOf(sites: readonly Site[]) {
  const versions = new Set(sites.flatMap(({ offered }) => offered ?? []))
  return [...versions].map((version) => {
    const having = sites.filter(({ offered }) => offered === version)
    const running = having.filter((site) => site.version === version).length
    const waitsFor = having.flatMap(({ name, offerState, offerWaits }) =>
      offerWaits && offerState !== null && offerState !== 'runs' ? [{ name, state: offerState }] : [],
    )
    return { version, sites: having.length, running, waitsFor }
  })
}

const inOrder = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
const byName = (a: Site, b: Site) => inOrder.compare(a.name, b.name) || inOrder.compare(a.siteId, b.siteId)
/** Out of contact for ever comes behind every lag. */
const lagOf = ({ lagSeconds }: Site) => lagSeconds ?? Number.MAX_SAFE_INTEGER

const comparers: Readonly<Record<Column, (a: Site, b: Site) => number>> = {
  state: (a, b) =>
    siteStates.indexOf(a.standing) - siteStates.indexOf(b.standing) || b.problems.length - a.problems.length,
  name: byName,
  contact: (a, b) => lagOf(a) - lagOf(b),
  size: (a, b) => a.size - b.size,
  alerts: (a, b) => a.openAlerts - b.openAlerts,
  version: (a, b) => inOrder.compare(a.version ?? '', b.version ?? ''),
}

/** Returns rows as a spreadsheet takes them from the clipboard. Formulas become text, as in the file. Pure. */
export const pastedOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(pastedCell).join('\t')).join('\n')

const pastedCell = (text: string): string =>
  `${/^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) ? "'" : ''}${text}`.replace(/[\t\r\n]+/g, ' ')

export const rowsAPage = 50

/** Returns one page of rows, and where it is; a number behind the end is the last page. Pure. */
export function pageOf<T>(rows: readonly T[], wanted: number) {
  const pages = Math.max(1, Math.ceil(rows.length / rowsAPage))
  const at = Math.min(Math.max(wanted, 1), pages)
  return { at, pages, rows: rows.slice((at - 1) * rowsAPage, at * rowsAPage) }
}
