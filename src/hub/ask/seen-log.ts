import { AppError } from '../../errors/index.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import type { Sites } from './store.ts'

const seen = hubStatement(
  'seen-log',
  `SELECT l.log_id, l.site_id, l.origin, l.vkeys, h.vkeys AS newer, CASE WHEN l.retired_at IS NULL THEN h.state ELSE 'retired' END AS state,
     l.superseded_by, h.size
   FROM log l JOIN log_head h ON h.log_id = l.log_id WHERE l.log_id = $1 AND ($2::text[] IS NULL OR l.site_id = ANY($2))`,
)

type Row = {
  readonly log_id: string
  readonly site_id: string
  readonly origin: string
  readonly vkeys: readonly string[]
  readonly newer: readonly string[] | null
  readonly state: 'live' | 'forked' | 'retired'
  readonly superseded_by: string | null
  readonly size: string
}

/** A log that a caller may see. `keys`: verifier keys by which its checkpoints were signed, and that of the head office. */
export type SeenLog = {
  readonly logId: string
  readonly siteId: string
  readonly origin: string
  readonly state: Row['state']
  readonly size: number
  /** The log that goes on behind it; null: none. */
  readonly continuedBy: string | null
  readonly keys: readonly string[]
}

/** Returns a log. `witness`: vkey of the head office. Throws NOT_FOUND for one that is not known, or of a site that the caller may not see. */
export async function seenLog(db: HubTx, logId: string, sites: Sites, witness: string): Promise<SeenLog> {
  const [row] = await db.rows<Row>(seen, [logId, sites])
  if (!row) throw AppError.notFound('Log')
  return {
    logId: row.log_id,
    siteId: row.site_id,
    origin: row.origin,
    state: row.state,
    size: Number(row.size),
    continuedBy: row.superseded_by,
    keys: [...new Set([...row.vkeys, ...(row.newer ?? []), witness])],
  }
}
