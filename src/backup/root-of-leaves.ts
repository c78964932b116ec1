import type { ReadTx } from '../database/index.ts'
import { leavesBetween, MerkleFrontier } from '../log/index.ts'

const batch = 2000

/** Returns the root over the first leaves of a log, from the leaves themselves. */
export function rootOfLeaves(tx: ReadTx, log: number, size: number): Buffer {
  const tree = new MerkleFrontier()
  while (tree.size < size) {
    const leaves = leavesBetween(tx, log, tree.size + 1, size, batch)
    if (leaves.length === 0) throw new Error(`leaf ${tree.size + 1} is missing`)
    for (const { hash } of leaves) tree.append(hash)
  }
  return tree.root()
}
