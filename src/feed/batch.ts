import type { ReadTx } from '../database/index.ts'
import { type Checkpoint, consistencyPath, leavesBetween, nodesOf, peaksOf } from '../log/index.ts'
import type { Load, NamedLog } from './rides.ts'
import type { FeedBody } from './wire.ts'

/** Bytes of leaves in one feed, before base64 adds a third: the rest of 4 MiB is for the data beside them. */
const mostLeafBytes = 2 * 1024 * 1024

export type Batch = {
  readonly body: FeedBody
  /** Leaves that the head office has when it takes this in. */
  readonly end: number
  readonly log: NamedLog
  readonly load: Load
}

export type Amount = {
  /** Returns the data beside the leaves, for when the head office has them. */
  readonly load: (log: NamedLog) => Load
  readonly mostLeaves: number
  /** Whether the tree before the leaves is sent too: once, when the head office has named the place to continue from. */
  readonly showsBefore: boolean
}

/**
 * Returns the next leaves of a log behind `from`, under a checkpoint that covers them, with the data beside them. Without leaves
 * (`from` is the size of the checkpoint) it only names the size of the log.
 */
export function nextBatch(
  tx: ReadTx,
  { log_id: log, size, note }: Checkpoint,
  { logId, from }: { readonly logId: string; readonly from: number },
  { load: loadOf, mostLeaves, showsBefore }: Amount,
): Batch {
  const leaves: string[] = []
  let bytes = 0
  for (const leaf of leavesBetween(tx, log, from + 1, size, mostLeaves)) {
    bytes += leaf.bytes.length
    // A leaf has at most 65,535 bytes, so there is always one.
    if (bytes > mostLeafBytes) break
    leaves.push(leaf.bytes.toString('base64'))
  }
  const end = from + leaves.length
  const nodeAt = nodesOf(tx, log, size)
  const proof = end < size ? consistencyPath(end, size, nodeAt) : []
  const named = { number: log, logId, end }
  const load = loadOf(named)
  return {
    end,
    load,
    log: named,
    body: {
      checkpoint: note,
      from,
      leaves,
      ...(end < size && { consistency: proof.map((hash) => hash.toString('base64')) }),
      ...(showsBefore && { before: peaksOf(from, nodeAt).map((hash) => hash.toString('base64')) }),
      ...load.body,
    },
  }
}
