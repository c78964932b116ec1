/**
 * The Merkle tree of RFC 6962 §2.1, word for word and slow, and the checks of RFC 9162 §2.1.3.2 and §2.1.4.2. Written from the
 * two documents alone: nothing of `src` is imported here, so that a mistake there cannot be repeated here.
 */
import { createHash } from 'node:crypto'

export const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export const leafHash = (entry: Uint8Array): Buffer => sha256(Buffer.of(0), entry)
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right)

/** Returns the largest power of two smaller than `n`. */
function split(n: number): number {
  let k = 1
  while (k * 2 < n) k *= 2
  return k
}

/** MTH(D[n]) over the hashes of its leaves; of equal subtrees as well. */
export function treeOver(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves
  if (only === undefined) return sha256()
  if (leaves.length === 1) return only
  const k = split(leaves.length)
  return nodeHash(treeOver(leaves.slice(0, k)), treeOver(leaves.slice(k)))
}

/** PATH(m, D[n]). */
function path(m: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length <= 1) return []
  const k = split(leaves.length)
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)]
  return m < k ? [...path(m, left), treeOver(right)] : [...path(m - k, right), treeOver(left)]
}

/** SUBPROOF(m, D[n], b). */
function subproof(m: number, leaves: readonly Buffer[], isWhole: boolean): Buffer[] {
  if (m === leaves.length) return isWhole ? [] : [treeOver(leaves)]
  const k = split(leaves.length)
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)]
  return m <= k ? [...subproof(m, left, isWhole), treeOver(right)] : [...subproof(m - k, right, false), treeOver(left)]
}

export type NaiveTree = {
  readonly size: number
  /** Hash of each leaf. */
  readonly hashes: readonly Buffer[]
  /** Root over the first `size` leaves; all of them by default. */
  root(size?: number): Buffer
  /** Inclusion proof of the leaf at `index` in the tree of the first `size` leaves. */
  path(index: number, size?: number): Buffer[]
  /** Consistency proof from the first `from` leaves to the first `to`; empty when one of them has nothing to prove. */
  proof(from: number, to?: number): Buffer[]
}

/** Returns the tree over these entries. Throws RangeError for what a tree of this size does not have. */
export function naiveTree(entries: readonly Uint8Array[]): NaiveTree {
  const hashes = entries.map(leafHash)
  const first = (size: number) => {
    if (!Number.isInteger(size) || size < 0 || size > hashes.length) throw new RangeError(`no tree of size ${size}`)
    return hashes.slice(0, size)
  }
  return {
    size: hashes.length,
    hashes,
    root: (size = hashes.length) => treeOver(first(size)),
    path: (index, size = hashes.length) => {
      if (!Number.isInteger(index) || index < 0 || index >= size) throw new RangeError(`no leaf ${index} of ${size}`)
      return path(index, first(size))
    },
    proof: (from, to = hashes.length) => {
      if (!Number.isInteger(from) || from < 0 || from > to) throw new RangeError(`no proof from ${from} to ${to}`)
      return from === 0 ? [] : subproof(from, first(to), true)
    },
  }
}

const half = (n: number): number => Math.floor(n / 2)
const isOdd = (n: number): boolean => n % 2 === 1

export type Inclusion = {
  readonly hash: Uint8Array
  readonly index: number
  readonly size: number
  readonly path: readonly Uint8Array[]
}

/** Returns the root that an inclusion proof leads to (RFC 9162 §2.1.3.2); undefined when its length is wrong. */
export function rootFromPath({ hash, index, size, path }: Inclusion): Buffer | undefined {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return undefined
  let fn = index
  let sn = size - 1
  let r: Buffer = Buffer.from(hash)
  for (const p of path) {
    if (sn === 0) return undefined
    if (isOdd(fn) || fn === sn) {
      r = nodeHash(p, r)
      while (!isOdd(fn) && fn !== 0) {
        fn = half(fn)
        sn = half(sn)
      }
    } else r = nodeHash(r, p)
    fn = half(fn)
    sn = half(sn)
  }
  return sn === 0 ? r : undefined
}

/** Whether the leaf with this hash is at this index in the tree with this root. */
export function verifyInclusion(inclusion: Inclusion, root: Uint8Array): boolean {
  return inclusion.path.every((p) => p.length === 32) && (rootFromPath(inclusion)?.equals(root) ?? false)
}

export type Consistency = {
  readonly from: number
  readonly to: number
  readonly fromRoot: Uint8Array
  readonly toRoot: Uint8Array
  readonly proof: readonly Uint8Array[]
}

/** Whether the tree of size `to` continues the tree of size `from` (RFC 9162 §2.1.4.2). Everything continues the empty tree. */
export function verifyConsistency({ from, to, fromRoot, toRoot, proof }: Consistency): boolean {
  const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || from > to) return false
  if (proof.some((p) => p.length !== 32)) return false
  if (from === 0) return proof.length === 0 && same(fromRoot, sha256())
  if (from === to) return proof.length === 0 && same(fromRoot, toRoot)
  const isPowerOfTwo = split(from + 1) === from
  const [first, ...rest] = isPowerOfTwo ? [fromRoot, ...proof] : proof
  if (first === undefined || proof.length === 0) return false
  let fn = from - 1
  let sn = to - 1
  while (isOdd(fn)) {
    fn = half(fn)
    sn = half(sn)
  }
  let fr: Uint8Array = first
  let sr: Uint8Array = first
  for (const c of rest) {
    if (sn === 0) return false
    if (isOdd(fn) || fn === sn) {
      fr = nodeHash(c, fr)
      sr = nodeHash(c, sr)
      while (!isOdd(fn) && fn !== 0) {
        fn = half(fn)
        sn = half(sn)
      }
    } else sr = nodeHash(sr, c)
    fn = half(fn)
    sn = half(sn)
  }
  return sn === 0 && same(fr, fromRoot) && same(sr, toRoot)
}
