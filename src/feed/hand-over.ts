import type { ReadTx } from '../database/index.ts'
import { handOversOf } from '../evidence/index.ts'
import { type Checkpoint, checkpointCovering } from '../log/index.ts'

/** Returns the first checkpoint over each change of keys of a log, oldest first: the keys before and after it have signed it. */
export function handedOver(tx: ReadTx, log: number): Checkpoint[] {
  return handOversOf(tx, log).flatMap(({ leaf_seq }) => checkpointCovering(tx, log, leaf_seq) ?? [])
}

/**
 * Returns the next of them that is over more than the head office has: it must see that one before it can read later signatures.
 */
export function handedOverBehind(tx: ReadTx, log: number, place: number): Checkpoint | undefined {
  const next = handOversOf(tx, log).find(({ leaf_seq }) => leaf_seq > place)
  return next && checkpointCovering(tx, log, next.leaf_seq)
}
