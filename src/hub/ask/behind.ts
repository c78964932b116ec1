import { isLate } from './problems.ts'
import type { SiteLog } from './store.ts'

export const behindReasons = ['forked', 'late', 'missing'] as const

/**
 * A site that may have done something that the head office does not know.
 * - forked: its log takes no more entries.
 * - late: no feed for 15 minutes; `fedAtMs` is null when there never was one.
 * - missing: its gateway has signed `leavesBehind` more log entries than have come.
 */
export type SiteBehind = {
  readonly siteId: string
  readonly reason: (typeof behindReasons)[number]
  readonly fedAtMs: number | null
  readonly leavesBehind: number
}

/** Returns the sites for which an answer may be wrong by now, from the logs that say how each is. Pure. */
export function sitesBehind(current: readonly SiteLog[], nowMs: number): SiteBehind[] {
  return [...Map.groupBy(current, ({ site_id }) => site_id).values()].flatMap((ofSite) => {
    const now = ofSite.at(-1)
    if (!now) return []
    const fedAtMs = now.fed_at?.getTime() ?? null
    const leavesBehind = Math.max(0, Number(now.witnessed_size) - Number(now.size))
    const reason = reasonOf(now.state, fedAtMs === null ? null : (nowMs - fedAtMs) / 1000, leavesBehind)
    return reason === undefined ? [] : [{ siteId: now.site_id, reason, fedAtMs, leavesBehind }]
  })
}

function reasonOf(state: string, lagSeconds: number | null, leavesBehind: number): SiteBehind['reason'] | undefined {
  if (state === 'forked') return 'forked'
  if (isLate(lagSeconds)) return 'late'
  return leavesBehind > 0 ? 'missing' : undefined
}
