import type { Fleet } from '../../feed/index.ts'

/** How a site is, the worst first. */
export const standings = ['forked', 'unhealthy', 'late', 'degraded', 'retired', 'silent', 'well'] as const
export type Standing = (typeof standings)[number]

/** Problems of a site that a person should look after. */
export const problemKinds = [
  'forked',
  'unhealthy',
  'late',
  'degraded',
  'alerts',
  'behind',
  'older-log',
  'cameras',
  'certificate',
  'disk',
  'backup',
  'unbacked',
  'gateway-alerts',
  'drift',
] as const
/** `amount`: how many, or how many days or bytes; 0 where nothing is counted. */
export type Problem = { readonly kind: (typeof problemKinds)[number]; readonly amount: number }

/** The present facts of a site. */
type SiteNow = {
  readonly state: string
  readonly health: 'healthy' | 'degraded' | 'unhealthy' | null
  readonly fleet: Fleet | null
  /** Since the last feed of the site; null: there was none. */
  readonly lagSeconds: number | null
  readonly leavesBehind: number
  /** Logs of the site, besides the newest one, that still fill its slots. */
  readonly unendedLogs: readonly string[]
  /** At the head office. */
  readonly openAlerts: number
  /** Sections of the config in which it differs from most sites. */
  readonly differsIn: readonly string[]
}

/** A gateway sends a sign of life every 5 minutes; two of them may be lost on the way. */
const lateSeconds = 15 * 60
const dayMs = 86_400_000
const certificateDays = 14
const backupDays = 2
const fewBytes = 2 * 1024 ** 3

/** Whether the last feed of a site is so old that a sign of life is missing. Pure. */
export const isLate = (lagSeconds: number | null): boolean => lagSeconds === null || lagSeconds > lateSeconds

/** Returns the worst that is known of a site. Pure. */
export function standingOf({
  state,
  health,
  lagSeconds,
  openAlerts,
}: Omit<SiteNow, 'differsIn' | 'unendedLogs'>): Standing {
  if (state === 'forked' || state === 'retired') return state
  if (health === 'unhealthy') return 'unhealthy'
  if (isLate(lagSeconds)) return 'late'
  if (health === 'degraded' || openAlerts > 0) return 'degraded'
  return health === null ? 'silent' : 'well'
}

/**
 * Returns the problems of a site that a person should look after. Every filter for sites with problems means one of these. A site
 * that is closed has none but its open alerts. Pure.
 */
export function problemsOf(site: SiteNow, nowMs: number): Problem[] {
  const alerts = many('alerts', site.openAlerts)
  if (site.state === 'retired') return alerts
  const standing = standingOf(site)
  // Open alerts alone make a site degraded, too; they are named below.
  const worst = standing === 'degraded' && site.health !== 'degraded' ? 'well' : standing
  return [
    ...problemKinds.filter((kind) => kind === worst).map((kind) => ({ kind, amount: 0 })),
    ...alerts,
    ...many('behind', site.leavesBehind),
    ...many('older-log', site.unendedLogs.length),
    ...(site.fleet ? fleetProblemsOf(site.fleet, nowMs) : []),
    ...many('drift', site.differsIn.length),
  ]
}

const many = (kind: Problem['kind'], amount: number): Problem[] => (amount > 0 ? [{ kind, amount }] : [])

function fleetProblemsOf(fleet: Fleet, nowMs: number): Problem[] {
  const { cameras, certificateUntil, freeBytes, backupAt, openAlerts } = fleet
  const leftDays = certificateUntil === null ? null : Math.floor((Date.parse(certificateUntil) - nowMs) / dayMs)
  const oldDays = backupAt === null ? 0 : Math.floor((nowMs - Date.parse(backupAt)) / dayMs)
  return [
    ...many('cameras', cameras.withoutPictures),
    ...(leftDays !== null && leftDays < certificateDays ? [{ kind: 'certificate', amount: leftDays } as const] : []),
    ...(freeBytes !== null && freeBytes < fewBytes ? [{ kind: 'disk', amount: freeBytes } as const] : []),
    ...(oldDays > backupDays ? [{ kind: 'backup', amount: oldDays } as const] : []),
    ...(backupAt === null ? [{ kind: 'unbacked', amount: 0 } as const] : []),
    ...many('gateway-alerts', openAlerts ?? 0),
  ]
}
