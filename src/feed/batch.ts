import type { ReadTx } from '../database/index.ts'
import { type Checkpoint, consistencyPath, leavesBetween, nodesOf, peaksOf } from '../log/index.ts'
import { assetsAfter } from '../warehouse/index.ts'
import type { FeedBody } from './wire.ts'

/** Bytes of leaves in one feed, before base64 adds a third: the rest of 4 MiB is for what rides along. */
const mostLeafBytes = 2 * 1024 * 1024
const mostAssets = 500

export type Batch = {
  readonly body: FeedBody
  /** Leaves that the head office has when it takes this in. */
  readonly end: number
  /** Id of the last asset in it; undefined when there were no more. */
  readonly lastAssetId: number | undefined
}

export type Rides = {
  /** Assets behind this id ride along; undefined: none. */
  readonly afterAsset: number | undefined
  /** Rises with each snapshot. */
  readonly version: number
  readonly mostLeaves: number
  /** Whether the tree before the leaves is shown too: once, when the head office has said where to go on. */
  readonly showsBefore: boolean
}

/**
 * Returns the next leaves of a log behind `from`, under a checkpoint that covers them, with the next assets behind an id. Without
 * leaves (`from` is the size of the checkpoint) it only says where the log is.
 */
export function nextBatch(
  tx: ReadTx,
  { log_id: log, size, note }: Checkpoint,
  from: number,
  { afterAsset, version, mostLeaves, showsBefore }: Rides,
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
  const assets = afterAsset === undefined ? [] : assetsAfter(tx, afterAsset, mostAssets)
  return {
    end,
    lastAssetId: assets.at(-1)?.id,
    body: {
      ...{ checkpoint: note, from, leaves },
      ...(end < size && { consistency: proof.map((hash) => hash.toString('base64')) }),
      ...(showsBefore && { before: peaksOf(from, nodeAt).map((hash) => hash.toString('base64')) }),
      ...(assets.length > 0 && { snapshot: { version, assets: assets.map(printedOn) } }),
    },
  }
}

function printedOn({ asset_key: key, best_before, ...printed }: ReturnType<typeof assetsAfter>[number]) {
  const { sscc, gtin, lot, serial } = printed
  return { key, sscc, gtin, lot, serial, bestBefore: best_before }
}
