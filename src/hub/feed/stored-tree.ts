import { Recent } from '../../auth/index.ts'
import { leafHash, type NodeAt, nodeHash, rootInPlace, rootOf } from '../../log/index.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import { bundleWidth, unpackBundle } from './bundle.ts'

/** Level of the subtree over a full bundle. */
const bundleLevel = Math.log2(bundleWidth)

const fullRoots = hubStatement(
  'roots-of-bundles',
  'SELECT n, root FROM entry_bundle WHERE log_id = $1 AND n >= $2 AND n < $3 AND root IS NOT NULL ORDER BY n',
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
 * Reads the tree over the first `size` leaves, all of which are stored, and leaf `seq` when it is asked for. Two bundles are
 * unpacked: that of the leaf, and the last one when it is not full. The stored root is enough of the others. The roots over the
 * full blocks are `known`, so only the leaf's own block has its bundles' roots read.
 */
async function storedTree(
  db: HubTx,
  logId: string,
  size: number,
  known: readonly Buffer[],
  seq: number | undefined,
): Promise<StoredTree> {
  const own = seq === undefined ? [] : [Math.floor((seq - 1) / bundleWidth)]
  const full = Math.floor(size / bundleWidth)
  const last = size % bundleWidth === 0 ? [] : [full]
  const behind = await rootsOf(db, logId, known.length * blockWidth, full)
  const ownBlocks = own.map((n) => Math.floor(n / blockWidth)).filter((block) => block < known.length)
  const beside = await Promise.all(
    ownBlocks.map((block) => rootsOf(db, logId, block * blockWidth, (block + 1) * blockWidth)),
  )
  const bundles = await db.rows<{ n: string; packed: Buffer }>(bundlesAt, [logId, [...new Set([...own, ...last])]])
  const nodes = new Map([...behind, ...beside.flat()].map(({ n, root }) => [nameOf(bundleLevel, Number(n)), root]))
  for (const [n, root] of known.entries()) nodes.set(nameOf(blockLevel, n), root)
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

const rootsOf = (db: HubTx, logId: string, from: number, end: number) =>
  db.rows<{ n: string; root: Buffer }>(fullRoots, [logId, from, end])

/** Bundles of a block: 65,536 leaves. */
const blockWidth = 256
const blockLevel = bundleLevel + Math.log2(blockWidth)
/** Over 4 billion leaves; each takes some 200 bytes. */
const blocksInMemory = 65_536

/**
 * Trees over the first leaves of logs, for callers that may ask again and again. Examples are a gateway under an old checkpoint,
 * and anybody with an old note. A full block never changes, so its bundles are read once. Then a root reads 255 bundles at most,
 * and a proof 511, however long the log is. The parts of a head office have one in common.
 */
export class StoredRoots {
  readonly #blocks = new Recent<Buffer>(blocksInMemory)

  /** The root over the first `size` leaves, all of which are stored. */
  async at(db: HubTx, logId: string, size: number): Promise<Buffer> {
    return rootOf(size, (await this.tree(db, logId, size)).nodeAt)
  }

  /** The tree over the first `size` leaves, all of which are stored, with leaf `seq` when it is asked for. */
  async tree(db: HubTx, logId: string, size: number, seq?: number): Promise<StoredTree> {
    const known: Buffer[] = []
    for (let n = 0; n < Math.floor(size / bundleWidth / blockWidth); n += 1) {
      const name = nameOf(n, logId)
      const block = this.#blocks.get(name) ?? (await blockOf(db, logId, n))
      this.#blocks.set(name, block)
      known.push(block)
    }
    return storedTree(db, logId, size, known, seq)
  }
}

async function blockOf(db: HubTx, logId: string, n: number): Promise<Buffer> {
  const rows = await rootsOf(db, logId, n * blockWidth, (n + 1) * blockWidth)
  if (rows.length < blockWidth) throw new Error(`the bundles of block ${n} of log ${logId} are not all stored`)
  return rootInPlace(Buffer.concat(rows.map(({ root }) => root)), blockWidth)
}

const nameOf = (level: number, index: number | string) => `${level} ${index}`
