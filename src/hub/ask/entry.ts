import { AppError } from '../../errors/index.ts'
import { makeBundle, type ProofBundle, readNote, readVkey, tlogProof } from '../../evidence/index.ts'
import { inclusionPath } from '../../log/index.ts'
import type { StoredRoots } from '../feed/stored-tree.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import type { Sites } from './store.ts'

const provableLog = hubStatement(
  'provable-log',
  `SELECT coalesce(h.vkeys, l.vkeys) AS vkeys, h.size AS stored, h.witnessed_size AS size, h.witnessed_note AS note,
   h.witnessed_cosignature AS cosignature FROM log l JOIN log_head h ON h.log_id = l.log_id
   WHERE l.log_id = $1 AND ($2::text[] IS NULL OR l.site_id = ANY($2)) AND h.size >= $3`,
)
const keptOver = hubStatement(
  'kept-checkpoint-over',
  `SELECT size, note, cosignature FROM checkpoint WHERE log_id = $1 AND size >= $2 AND size <= $3 ORDER BY size DESC LIMIT 1`,
)

type Signed = { readonly size: string; readonly note: string | null; readonly cosignature: string | null }
type LogRow = Signed & { readonly vkeys: readonly string[]; readonly stored: string }

/**
 * Returns a leaf as its gateway sent it, with the proof that it is under a checkpoint. It is the newest checkpoint of which the
 * head office has all leaves. Check the file with `gatehouse ledger verify`. The argument `witness` is the vkey of the head office.
 * Throws NOT_FOUND for a leaf that is not stored, or of a site that the caller may not see.
 */
export async function entryOf(
  { db, roots }: { readonly db: HubTx; readonly roots: StoredRoots },
  { logId, seq }: { readonly logId: string; readonly seq: number },
  sites: Sites,
  witness: string,
): Promise<ProofBundle> {
  const [log] = await db.rows<LogRow>(provableLog, [logId, sites, seq])
  if (!log) throw AppError.notFound('Leaf')
  const signed = await newestOver(db, logId, seq, log)
  const size = Number(signed.size)
  const { leaf, nodeAt } = await roots.tree(db, logId, size, seq)
  if (!leaf) throw new Error(`leaf ${seq} of log ${logId} is not stored`)
  const note = `${signed.note}${signed.cosignature ?? ''}`
  const signers = new Set(readNote(note)?.signatures.map(({ name, id }) => `${name}+${id}`))
  const isSigner = (vkey: string) => {
    const key = readVkey(vkey)
    return key !== undefined && signers.has(`${key.name}+${key.id}`)
  }
  return makeBundle({
    leaf,
    tlogProof: tlogProof(seq - 1, inclusionPath(seq - 1, size, nodeAt), note),
    keys: [...log.vkeys, witness].filter(isSigner),
    openings: [],
    files: [],
    anchors: [],
  })
}

/**
 * Returns the newest checkpoint over a leaf that has no more leaves than are stored. It is the one in the head, or a kept one while
 * the head's is ahead.
 */
async function newestOver(db: HubTx, logId: string, seq: number, log: LogRow): Promise<Signed> {
  if (log.note !== null && Number(log.size) <= Number(log.stored)) return log
  const [kept] = await db.rows<Signed>(keptOver, [logId, seq, log.stored])
  if (!kept) throw AppError.notFound('Leaf')
  return kept
}
