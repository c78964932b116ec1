import { leafHash, type NodeAt, nodeHash, rootOf } from '../../log/index.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import { bundleWidth, unpackBundle } from './bundle.ts'

/** Level of the subtree over a full bundle. */
const bundleLevel = Math.log2(bundleWidth)

const fullRoots = hubStatement(
  'roots-of-bundles',
  'SELECT n, root FROM entry_bundle WHERE log_id = $1 AND n < $2 AND root IS NOT NULL ORDER BY n',
)
const bundlesAt = hubStatement(
  'bundles-at',
  'SELECT n, packed FROM entry_bundle WHERE log_id = $1 AND n = ANY($2::bigint[])',
)

/** The tree over the first leaves that are stored. */
export type StoredTree = {
  readonly nodeAt: NodeAt
  /** The leaf that was asked for. */
  readonly leaf: Buffer | undefined
}

/**
 * Reads the tree over the first `size` leaves, all of which are stored, and leaf `seq` when it is asked for. Two bundles are unpacked: that of
 * the leaf, and the last one when it is not full. Of the others the stored root is enough.
 */
export async function storedTree(db: HubTx, logId: string, size: number, seq?: number): Promise<StoredTree> {
  const own = seq === undefined ? [] : [Math.floor((seq - 1) / bundleWidth)]
  const full = Math.floor(size / bundleWidth)
  const last = size % bundleWidth === 0 ? [] : [full]
  const roots = await db.rows<{ n: string; root: Buffer }>(fullRoots, [logId, full])
  const bundles = await db.rows<{ n: string; packed: Buffer }>(bundlesAt, [logId, [...new Set([...own, ...last])]])
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
  const leaf = seq === undefined ? undefined : leaves.get(own[0] ?? -1)?.[(seq - 1) % bundleWidth]
  return { nodeAt, leaf }
}

/** The root over the first `size` leaves, all of which are stored. */
export async function storedRoot(db: HubTx, logId: string, size: number): Promise<Buffer> {
  return rootOf(size, (await storedTree(db, logId, size)).nodeAt)
}

const nameOf = (level: number, index: number) => `${level} ${index}`
