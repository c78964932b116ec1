import { isoTime } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import type { Sites } from './store.ts'

/** So many alerts are read at once. */
export const alertSlice = 500

const alerts = hubStatement(
  'alerts-of-sites',
  `SELECT l.site_id, a.log_id, a.alert_id, a.type, a.severity, a.opened_at, a.closed_at, a.closed_by, a.detail FROM alert a
   JOIN log l ON l.log_id = a.log_id WHERE ($1::text[] IS NULL OR l.site_id = ANY($1))
     AND ($2::timestamptz IS NULL OR (a.closed_at IS NULL, a.opened_at, a.log_id, a.alert_id) < ($5::boolean, $2, $3::uuid, $4::text))
   ORDER BY a.closed_at IS NULL DESC, a.opened_at DESC, a.log_id DESC, a.alert_id DESC LIMIT ${alertSlice + 1}`,
)

// Leaves that a restore lost are kept as evidence, and no one has to look after them.
const openAlerts = hubStatement(
  'open-alerts-of-sites',
  `SELECT a.log_id, l.site_id, count(*)::int AS open FROM alert a JOIN log l ON l.log_id = a.log_id
   WHERE a.closed_at IS NULL AND a.type NOT IN ('log.leaves-behind-fork', 'log.branch-lost') AND ($1::text[] IS NULL OR l.site_id = ANY($1)) GROUP BY a.log_id, l.site_id`,
)

const siteOfAlert = hubStatement(
  'site-of-alert',
  `SELECT l.site_id FROM alert a JOIN log l ON l.log_id = a.log_id WHERE a.log_id = $1 AND a.alert_id = $2`,
)

const closedAlert = hubStatement(
  'close-alert',
  'UPDATE alert SET closed_at = $3, closed_by = $4 WHERE log_id = $1 AND alert_id = $2 AND closed_at IS NULL',
)

export type AlertRow = {
  readonly site_id: string
  readonly log_id: string
  readonly alert_id: string
  readonly type: string
  readonly severity: string
  readonly opened_at: Date
  readonly closed_at: Date | null
  readonly closed_by: string | null
  readonly detail: unknown
}

/** Returns how many open alerts of each site somebody has to look after. */
export async function openAlertsOf(db: HubTx, sites: Sites): Promise<Map<string, number>> {
  const counted = new Map<string, number>()
  for (const { site_id, open } of await db.rows<{ site_id: string; open: number }>(openAlerts, [sites])) {
    counted.set(site_id, (counted.get(site_id) ?? 0) + open)
  }
  return counted
}

/** The place of an alert in the list of them. */
export type AlertPlace = {
  readonly isOpen: boolean
  readonly openedAt: string
  readonly logId: string
  readonly id: string
}

/** Returns alerts behind a place, open ones first, then the newest first; one more than are shown at once, when there are more. */
export function alertsOf(db: HubTx, sites: Sites, after: AlertPlace | undefined): Promise<AlertRow[]> {
  const place = [after?.openedAt ?? null, after?.logId ?? null, after?.id ?? null, after?.isOpen ?? null]
  return db.rows<AlertRow>(alerts, [sites, ...place])
}

/** Returns the site of an alert; undefined when there is none. */
export async function findSiteOfAlert(db: HubTx, logId: string, id: string): Promise<string | undefined> {
  return (await db.rows<{ site_id: string }>(siteOfAlert, [logId, id]))[0]?.site_id
}

/** Closes an alert, unless somebody has. */
export async function closeAlert(
  db: HubTx,
  logId: string,
  id: string,
  by: { readonly atMs: number; readonly name: string },
) {
  await db.rows(closedAlert, [logId, id, isoTime(by.atMs), by.name])
}
