import type { ReadTx } from '../../database/index.ts'
import { checkpointCovering, inclusionPath, leafOfLog, nodesOf } from '../../log/index.ts'
import { handOversOf } from '../transparency/hand-over.ts'
import { makeBundle, type ProofBundle, tlogProof } from './bundle.ts'

/**
 * Proves each hand-over of a log under the first checkpoint that covers its leaf, which the keys before and after it have signed;
 * oldest first. One whose checkpoint is not signed yet is left out.
 */
export function handOverProofs(tx: ReadTx, log: number): ProofBundle[] {
  return handOversOf(tx, log).flatMap((row) => {
    const leaf = leafOfLog(tx, log, row.leaf_seq)
    const checkpoint = checkpointCovering(tx, log, row.leaf_seq)
    if (!leaf || !checkpoint) return []
    const index = row.leaf_seq - 1
    const path = inclusionPath(index, checkpoint.size, nodesOf(tx, log, checkpoint.size))
    return makeBundle({
      leaf: leaf.bytes,
      tlogProof: tlogProof(index, path, checkpoint.note),
      keys: [row.previous_ed25519, row.previous_ml_dsa_44, row.ed25519, row.ml_dsa_44],
      openings: [],
      files: [],
      anchors: [],
    })
  })
}
