import type { Permission } from '../../config/index.ts'
import { AppError } from '../../errors/index.ts'
import type { SlidingWindow } from '../../flow/index.ts'
import type { Api, Caller } from '../../http/index.ts'
import { type Clock, isoTime } from '../../platform/index.ts'
import type { Sites } from '../ask/store.ts'
import type { OfficeDisk } from './disk.ts'
import type { Figures, HubFigures } from './figures.ts'
import type { HubMetrics } from './metrics.ts'

const asksAMinute = 600

export type OperationRouteParts = {
  readonly figures: Pick<HubFigures, 'read'>
  readonly metrics: Pick<HubMetrics, 'text'>
  readonly disk: Pick<OfficeDisk, 'isFull'>
  readonly window: SlidingWindow
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  readonly version: string
  /** The sites at which a caller has a permission; null: all. */
  readonly sitesOf: (caller: Caller, permission: Permission) => Sites
  /** How many storage servers do not answer; undefined where none is configured. */
  readonly storageDown: () => number | undefined
}

/** Serves health to everybody. Serves the metrics to callers who may read them and see every site. */
export function operationRoutes(api: Api, parts: OperationRouteParts): void {
  const { figures, metrics, disk, window, clock, version, sitesOf, storageDown } = parts
  const startedMs = clock.monotonic()
  api.get('/api/health', async (c) => {
    const retryAfterSeconds = window.take(`health ${c.get('address')}`, asksAMinute)
    if (retryAfterSeconds > 0) throw new AppError('RATE_LIMITED', 'Too many requests', { retryAfterSeconds })
    const checks = checksOf(await figures.read(), disk.isFull, storageDown())
    const status = worstOf(Object.values(checks).map((one) => one.status))
    const uptime = Math.round((clock.monotonic() - startedMs) / 1000)
    const body = { status, timestamp: isoTime(clock.now()), uptime, version, checks }
    return c.json(body, status === 'unhealthy' ? 503 : 200)
  })
  api.get('/api/metrics', async (c) => {
    // An account may have another role at every site than the first one that its entry names.
    const sites = sitesOf(c.get('caller'), 'metrics:read')
    if (sites?.length === 0) throw new AppError('PERMISSION_DENIED', 'This needs the permission metrics:read')
    // The figures are sums over all sites.
    if (sites !== null) {
      throw new AppError('PERMISSION_DENIED', 'The metrics are of all sites; this account sees some of them')
    }
    return c.body(await metrics.text(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' })
  })
}

const levels = ['healthy', 'degraded', 'unhealthy'] as const
type Level = (typeof levels)[number]
type Check = { readonly status: Level; readonly responseTime?: number; readonly reason?: string }

const worstOf = (all: readonly Level[]): Level => levels.findLast((level) => all.includes(level)) ?? 'healthy'

const diskFull = 'The disk of the database is full. Gateways keep their logs and send them later.'

/** Everybody may ask, so nothing here names a site or says what is wrong with one: the metrics and the alerts do. */
function checksOf(
  found: Figures | undefined,
  isDiskFull: boolean,
  storageDown: number | undefined,
): Record<string, Check> {
  const storage: Record<string, Check> =
    storageDown === undefined ? {} : { storage: { status: storageDown > 0 ? 'degraded' : 'healthy' } }
  if (!found) {
    const reason = 'The database does not answer. Gateways keep their logs and send them later.'
    return { database: { status: 'unhealthy', reason }, ...storage }
  }
  const { logs, late, tookMs } = found
  return {
    database: { status: 'healthy', responseTime: Math.round(tookMs) },
    disk: isDiskFull ? { status: 'degraded', reason: diskFull } : { status: 'healthy' },
    logs: { status: logs.forked > 0 ? 'degraded' : 'healthy' },
    gateways: { status: late > 0 ? 'degraded' : 'healthy' },
    ...storage,
  }
}
