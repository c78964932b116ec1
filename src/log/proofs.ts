import { continuation, inclusionSides, type TreeHead } from '../proof/index.ts'
import { nodeHash, sha256 } from './merkle.ts'

/**
 * Returns the hash of a complete subtree: that over the leaves from `index` · 2^`level` on, 2^`level` of them.
 * It is asked only for subtrees that lie within the tree.
 */
export type NodeAt = (level: number, index: number) => Buffer

/** Returns the root (MTH of RFC 6962, section 2.1) over the first `size` leaves; the hash of the empty string for none. */
export function rootOf(size: number, nodeAt: NodeAt): Buffer {
  return size === 0 ? sha256('') : spanHash(0, size, nodeAt)
}

/**
 * Returns the inclusion path (PATH of RFC 6962, section 2.1.1) of the leaf with this index (from 0 on) in the tree over `size`
 * leaves. It has hashes from the leaf's sibling up to the child of the root.
 */
export function inclusionPath(index: number, size: number, nodeAt: NodeAt): Buffer[] {
  const path: Buffer[] = []
  let low = 0
  let high = size
  while (high - low > 1) {
    const middle = low + split(high - low)
    if (index < middle) {
      path.push(spanHash(middle, high, nodeAt))
      high = middle
    } else {
      path.push(spanHash(low, middle, nodeAt))
      low = middle
    }
  }
  return path.reverse()
}

/**
 * Returns the consistency proof (PROOF of RFC 6962, section 2.1.2) from the tree over `from` leaves to the tree over `to`. It is
 * empty when they are the same or when the first is empty.
 */
export function consistencyPath(from: number, to: number, nodeAt: NodeAt): Buffer[] {
  if (from === 0 || from === to) return []
  const path: Buffer[] = []
  let low = 0
  let high = to
  /** Whether the first tree itself is a node on the way; the verifier knows its hash then. */
  let isWhole = true
  while (high !== from) {
    const middle = low + split(high - low)
    if (from <= middle) {
      path.push(spanHash(middle, high, nodeAt))
      high = middle
    } else {
      path.push(spanHash(low, middle, nodeAt))
      low = middle
      isWhole = false
    }
  }
  if (!isWhole) path.push(spanHash(low, high, nodeAt))
  return path.reverse()
}

/**
 * Returns the root that follows from a leaf's hash and its inclusion path (RFC 9162, section 2.1.3.2). Undefined when the path does
 * not have the length that index and size demand.
 */
export function rootOfPath(
  index: number,
  size: number,
  hash: Uint8Array,
  path: readonly Uint8Array[],
): Buffer | undefined {
  const sides = inclusionSides(index, size, path.length)
  return sides && path.reduce<Buffer>((root, other, i) => above(sides[i], root, other), Buffer.from(hash))
}

const above = (side: 'left' | 'right' | undefined, hash: Buffer, other: Uint8Array): Buffer =>
  side === 'left' ? nodeHash(other, hash) : nodeHash(hash, other)

/** Returns the roots of the complete subtrees of the tree over `size` leaves, the largest first, for `MerkleFrontier.from`. */
export function peaksOf(size: number, nodeAt: NodeAt): Buffer[] {
  const peaks: Buffer[] = []
  let at = 0
  for (let level = Math.floor(Math.log2(size)); level >= 0; level -= 1) {
    const width = 2 ** level
    if (size - at < width) continue
    peaks.push(nodeAt(level, at / width))
    at += width
  }
  return peaks
}

/** Tells whether a consistency proof shows that the second tree continues the first (RFC 9162, section 2.1.4.2). */
export function isContinuation(first: TreeHead, second: TreeHead, path: readonly Uint8Array[]): boolean {
  if (first.size > second.size) return false
  if (first.size === second.size) return path.length === 0 && same(first.root, second.root)
  if (first.size === 0) return path.length === 0 && same(first.root, sha256(''))
  const laid = continuation(first, second.size, path)
  if (!laid) return false
  let firstRoot: Buffer = Buffer.from(laid.start)
  let secondRoot = firstRoot
  for (const [i, other] of laid.rest.entries()) {
    if (laid.sides[i] === 'left') firstRoot = nodeHash(other, firstRoot)
    secondRoot = above(laid.sides[i], secondRoot, other)
  }
  return same(firstRoot, first.root) && same(secondRoot, second.root)
}

/** Returns the hash over the leaves from `low` to before `high`. A span on the left of a split is always a complete subtree. */
function spanHash(low: number, high: number, nodeAt: NodeAt): Buffer {
  const width = high - low
  const level = Math.log2(width)
  if (Number.isInteger(level)) return nodeAt(level, low / width)
  const middle = low + split(width)
  return nodeHash(spanHash(low, middle, nodeAt), spanHash(middle, high, nodeAt))
}

/** Returns the largest power of two that is less than `width`. */
function split(width: number): number {
  return 2 ** Math.ceil(Math.log2(width) - 1)
}

const same = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0
