import { areSame, type Bytes, joined } from './bytes.ts'
import type { Crypto } from './web-crypto.ts'

/** A tree as a checkpoint names it. */
export type TreeHead = { readonly size: number; readonly root: Uint8Array }

type Side = 'left' | 'right'

/**
 * Returns on which side of the way up each hash of a path lies (RFC 9162, 2.1.3.2 and 2.1.4.2). Undefined when the path is too long
 * or too short.
 * @param index of the node where the way begins
 * @param last index of the last node of that level
 */
function sidesOf(index: number, last: number, count: number): readonly Side[] | undefined {
  const sides: Side[] = []
  let at = index
  let end = last
  for (let i = 0; i < count; i += 1) {
    if (end === 0) return undefined
    const isLeft = at % 2 === 1 || at === end
    sides.push(isLeft ? 'left' : 'right')
    // A node without a sibling goes up as it is.
    while (isLeft && at % 2 === 0 && at !== 0) {
      at /= 2
      end = half(end)
    }
    at = half(at)
    end = half(end)
  }
  return end === 0 ? sides : undefined
}

/** Returns the sides of an inclusion path of so many hashes; undefined when index and size demand another number. */
export function inclusionSides(index: number, size: number, count: number): readonly Side[] | undefined {
  const isLeaf = Number.isSafeInteger(index) && Number.isSafeInteger(size) && index >= 0 && index < size
  return isLeaf ? sidesOf(index, size - 1, count) : undefined
}

/** Hashes of a consistency proof in order: both trees begin with `start`, and the first tree takes only those on the left. */
export type Continuation = {
  readonly start: Uint8Array
  readonly rest: readonly Uint8Array[]
  readonly sides: readonly Side[]
}

/** Lays out a consistency proof between two sizes above zero. Undefined when it has not the length that they demand. */
export function continuation(first: TreeHead, size: number, path: readonly Uint8Array[]): Continuation | undefined {
  const isComplete = 2 ** Math.floor(Math.log2(first.size)) === first.size
  const [start, ...rest] = isComplete ? [first.root, ...path] : path
  let at = first.size - 1
  let last = size - 1
  while (at % 2 === 1) {
    at = half(at)
    last = half(last)
  }
  const sides = sidesOf(at, last, rest.length)
  return start && sides && { start, rest, sides }
}

const half = (n: number): number => Math.floor(n / 2)

/** Returns the hash of a leaf in the tree (RFC 6962). */
export const leafHash = (crypto: Crypto, leaf: Uint8Array): Promise<Bytes> => sha256(crypto, Uint8Array.of(0), leaf)

const nodeHash = (crypto: Crypto, left: Uint8Array, right: Uint8Array): Promise<Bytes> =>
  sha256(crypto, Uint8Array.of(1), left, right)

export async function sha256(crypto: Crypto, ...parts: readonly Uint8Array[]): Promise<Bytes> {
  return new Uint8Array(await crypto.digest('SHA-256', joined(...parts)))
}

/** Returns the root that follows from a leaf's hash and its inclusion path; undefined when the path has another length. */
export async function rootOfPath(
  crypto: Crypto,
  at: { readonly index: number; readonly size: number; readonly path: readonly Uint8Array[] },
  hash: Bytes,
): Promise<Bytes | undefined> {
  const sides = inclusionSides(at.index, at.size, at.path.length)
  if (!sides) return undefined
  let root = hash
  for (const [i, other] of at.path.entries()) {
    root = await (sides[i] === 'left' ? nodeHash(crypto, other, root) : nodeHash(crypto, root, other))
  }
  return root
}

/** Tells whether a consistency proof shows that the second tree continues the first. */
export async function continues(
  crypto: Crypto,
  trees: readonly [TreeHead, TreeHead],
  path: readonly Uint8Array[],
): Promise<boolean> {
  const [first, second] = trees
  if (first.size > second.size) return false
  if (first.size === second.size) return path.length === 0 && areSame(first.root, second.root)
  if (first.size === 0) return path.length === 0 && areSame(first.root, await sha256(crypto))
  const laid = continuation(first, second.size, path)
  if (!laid) return false
  let [one, two] = [laid.start, laid.start]
  for (const [i, other] of laid.rest.entries()) {
    if (laid.sides[i] === 'left') {
      one = await nodeHash(crypto, other, one)
      two = await nodeHash(crypto, other, two)
    } else two = await nodeHash(crypto, two, other)
  }
  return areSame(one, first.root) && areSame(two, second.root)
}
