import { AppError } from '../../errors/index.ts'
import { makeBundle, type ProofBundle, readNote, readVkey, tlogProof } from '../../evidence/index.ts'
import { inclusionPath, leafHash, type NodeAt, nodeHash } from '../../log/index.ts'
import { bundleWidth, unpackBundle } from '../feed/bundle.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import type { Sites } from './store.ts'

/** Level of the subtree over a full bundle. */
const bundleLevel = Math.log2(bundleWidth)

const provableLog = hubStatement(
  'log-with-checkpoint',
  `SELECT h.log_id, coalesce(h.vkeys, l.vkeys) AS vkeys, c.size, c.note, c.cosignature FROM log l
   JOIN log_head h ON h.log_id = l.log_id JOIN checkpoint c ON c.log_id = h.log_id
   WHERE l.log_id = $1 AND ($2::text[] IS NULL OR l.site_id = ANY($2)) AND c.size >= $3 AND c.size <= h.size
   ORDER BY c.size DESC LIMIT 1`,
)
const fullRoots = hubStatement(
  'roots-of-bundles',
  'SELECT n, root FROM entry_bundle WHERE log_id = $1 AND n < $2 AND root IS NOT NULL ORDER BY n',
)
const bundlesAt = hubStatement(
  'bundles-at',
  'SELECT n, packed FROM entry_bundle WHERE log_id = $1 AND n = ANY($2::bigint[])',
)

type LogRow = {
  readonly vkeys: readonly string[]
  readonly size: string
  readonly note: string
  readonly cosignature: string | null
}

/**
 * Returns a leaf as its gateway sent it, with the proof that it is under the newest checkpoint that the head office has all leaves of;
 * `gatehouse ledger verify` checks the file. `witness`: vkey of the head office. Throws NOT_FOUND for a leaf that is not stored, or of
 * a site that the caller may not see.
 */
export async function entryOf(
  db: HubTx,
  { logId, seq }: { readonly logId: string; readonly seq: number },
  sites: Sites,
  witness: string,
): Promise<ProofBundle> {
  const [log] = await db.rows<LogRow>(provableLog, [logId, sites, seq])
  if (!log) throw AppError.notFound('Leaf')
  const size = Number(log.size)
  const { leaf, nodeAt } = await treeOf(db, logId, seq, size)
  const note = log.note + (log.cosignature ?? '')
  const signers = new Set(readNote(note)?.signatures.map(({ name, id }) => `${name}+${id}`))
  const isSigner = (vkey: string) => {
    const key = readVkey(vkey)
    return key !== undefined && signers.has(`${key.name}+${key.id}`)
  }
  return makeBundle({
    leaf,
    tlogProof: tlogProof(seq - 1, inclusionPath(seq - 1, size, nodeAt), note),
    keys: [...log.vkeys, witness].filter(isSigner),
    ...{ openings: [], files: [], anchors: [] },
  })
}

/** Two bundles are unpacked: that of the leaf, and the last one when it is not full. Of the others the stored root is enough. */
async function treeOf(db: HubTx, logId: string, seq: number, size: number) {
  const own = Math.floor((seq - 1) / bundleWidth)
  const full = Math.floor(size / bundleWidth)
  const [roots, bundles] = await Promise.all([
    db.rows<{ n: string; root: Buffer }>(fullRoots, [logId, full]),
    db.rows<{ n: string; packed: Buffer }>(bundlesAt, [logId, [...new Set([own, full])]]),
  ])
  const nodes = new Map(roots.map(({ n, root }) => [nameOf(bundleLevel, Number(n)), root]))
  const leaves = new Map(bundles.map(({ n, packed }) => [Number(n), unpackBundle(packed)]))
  for (const [n, ofBundle] of leaves) {
    for (const [i, leaf] of ofBundle.entries()) nodes.set(nameOf(0, n * bundleWidth + i), leafHash(leaf))
  }
  const nodeAt: NodeAt = (level, index) => {
    const known = nodes.get(nameOf(level, index))
    if (known) return known
    if (level === 0) throw new Error(`leaf ${index + 1} of log ${logId} is not stored`)
    const made = nodeHash(nodeAt(level - 1, 2 * index), nodeAt(level - 1, 2 * index + 1))
    nodes.set(nameOf(level, index), made)
    return made
  }
  const leaf = leaves.get(own)?.[(seq - 1) % bundleWidth]
  if (!leaf) throw new Error(`leaf ${seq} of log ${logId} is not stored`)
  return { leaf, nodeAt }
}

const nameOf = (level: number, index: number) => `${level} ${index}`
