import { isoTime } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import type { SeenLog } from './seen-log.ts'

const checkpoints = hubStatement(
  'checkpoints-of-log',
  `SELECT size, root, note, cosignature, at FROM (
     SELECT k.size, k.root, k.note, k.cosignature, k.seen_at AS at FROM checkpoint k WHERE k.log_id = $1 AND k.size < $2
     UNION ALL
     SELECT h.witnessed_size, h.witnessed_root, h.witnessed_note, h.witnessed_cosignature, h.witnessed_at FROM log_head h
     WHERE h.log_id = $1 AND h.witnessed_note IS NOT NULL AND h.witnessed_size < $2
       AND NOT EXISTS (SELECT 1 FROM checkpoint c WHERE c.log_id = $1 AND c.size = h.witnessed_size)
   ) AS seen ORDER BY size DESC LIMIT $3`,
)

type Row = {
  readonly size: string
  readonly root: Buffer
  readonly note: string
  readonly cosignature: string | null
  readonly at: Date
}

/** Which checkpoints: those over fewer leaves than `before`, so many of them. */
export type CheckpointPage = { readonly before: number | undefined; readonly limit: number }

/** Returns checkpoints of a log that are kept, the newest first, each with the signatures of its gateway and of the head office. */
export async function checkpointsOf(db: HubTx, { logId }: SeenLog, { before, limit }: CheckpointPage) {
  const rows = await db.rows<Row>(checkpoints, [logId, before ?? Number.MAX_SAFE_INTEGER, limit])
  return rows.map(({ size, root, note, cosignature, at }) => ({
    size: Number(size),
    rootHash: root.toString('base64'),
    timestamp: isoTime(at.getTime()),
    note: `${note}${cosignature ?? ''}`,
    isConfirmed: cosignature !== null,
  }))
}
