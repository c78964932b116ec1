import { hash } from 'node:crypto'

/** RFC 6962: leaves are hashed behind 0x00, nodes behind 0x01, so that neither can pass for the other. */
const leafPrefix = 0
const nodePrefix = 1
const hashBytes = 32

/**
 * The hash as a text of its bytes. Node makes each Buffer that `hash` answers separate memory, which takes longer
 * than the hashing.
 */
const digest = (bytes: Uint8Array | string): string => hash('sha256', bytes, 'binary')
const put = (digested: string, into: Buffer, at: number) => into.write(digested, at, hashBytes, 'latin1')

export function sha256(bytes: Uint8Array | string): Buffer {
  return Buffer.from(digest(bytes), 'latin1')
}

/** Written before each hash and read by it at once; there is one of each in a thread. */
const leafSpace = Buffer.alloc(1 + 65_535, leafPrefix)
const nodeSpace = Buffer.alloc(1 + 2 * hashBytes, nodePrefix)

export function leafHash(bytes: Uint8Array): Buffer {
  if (bytes.length >= leafSpace.length) return sha256(Buffer.concat([Buffer.of(leafPrefix), bytes]))
  leafSpace.set(bytes, 1)
  return sha256(leafSpace.subarray(0, 1 + bytes.length))
}

/** Returns the hash of a leaf that is given as text, in hex; its bytes are the text in UTF-8. */
export function leafHashOfText(text: string): string {
  return hash('sha256', `\0${text}`, 'hex')
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  if (left.length !== hashBytes || right.length !== hashBytes) {
    return sha256(Buffer.concat([Buffer.of(nodePrefix), left, right]))
  }
  nodeSpace.set(left, 1)
  nodeSpace.set(right, 1 + hashBytes)
  return sha256(nodeSpace)
}

/** Returns the root (MTH of RFC 6962) over `count` hashes, one behind the other at the start of `space`, which it overwrites. */
export function rootInPlace(space: Buffer, count: number): Buffer {
  for (let width = count; width > 1; ) {
    const pairs = Math.floor(width / 2)
    for (let i = 0; i < pairs; i += 1) {
      space.copy(nodeSpace, 1, 2 * i * hashBytes, 2 * (i + 1) * hashBytes)
      put(digest(nodeSpace), space, i * hashBytes)
    }
    // The last of an odd number goes up as it is.
    if (width % 2 === 1) space.copyWithin(pairs * hashBytes, (width - 1) * hashBytes, width * hashBytes)
    width = pairs + (width % 2)
  }
  return count === 0 ? sha256('') : Buffer.from(space.subarray(0, hashBytes))
}

/** Levels of subtrees in a tree whose size is a safe integer. */
const levels = 53

/**
 * A growing tree that keeps only the roots of its complete subtrees: one hash for each set bit of `size`. These hashes are enough
 * to append and to compute the root, in logarithmic memory.
 */
export class MerkleFrontier {
  #size = 0
  /** The root of the complete subtree of each level, where `size` has the bit of the level. */
  readonly #peaks = Buffer.alloc(levels * hashBytes)

  /**
   * Goes on from a frontier that was stored: `peaks` are 32 bytes each, one behind the other, the largest subtree first. Throws
   * when their number does not fit the size.
   */
  static from(size: number, peaks: Buffer): MerkleFrontier {
    const frontier = new MerkleFrontier()
    frontier.#size = size
    const own = frontier.#levels()
    if (peaks.length !== own.length * hashBytes) throw new Error(`a frontier of ${size} leaves has ${own.length} peaks`)
    for (const [i, level] of own.entries()) {
      peaks.copy(frontier.#peaks, level * hashBytes, i * hashBytes, (i + 1) * hashBytes)
    }
    return frontier
  }

  get size(): number {
    return this.#size
  }

  /** Returns what `from` takes. */
  get peaks(): Buffer {
    return Buffer.concat(this.#levels().map((level) => this.#peak(level)))
  }

  append(hash: Uint8Array): void {
    nodeSpace.set(hash, 1 + hashBytes)
    let level = 0
    let above = this.#size
    let merged: string | undefined
    for (; above % 2 === 1; above = Math.floor(above / 2)) {
      this.#peaks.copy(nodeSpace, 1, level * hashBytes, (level + 1) * hashBytes)
      merged = digest(nodeSpace)
      put(merged, nodeSpace, 1 + hashBytes)
      level += 1
    }
    if (merged === undefined) this.#peaks.set(hash, 0)
    else put(merged, this.#peaks, level * hashBytes)
    this.#size += 1
  }

  /** Returns the root (MTH of RFC 6962) of all appended leaves; the hash of the empty string for an empty tree. */
  root(): Buffer {
    if (this.#size === 0) return sha256('')
    return this.#levels()
      .map((level) => this.#peak(level))
      .reduceRight((right, left) => nodeHash(left, right))
  }

  /** Returns a copy, so that a returned peak does not change. */
  #peak(level: number): Buffer {
    return Buffer.from(this.#peaks.subarray(level * hashBytes, (level + 1) * hashBytes))
  }

  /** Returns the levels of the complete subtrees, the largest first. */
  #levels(): number[] {
    const found: number[] = []
    for (let level = 0, rest = this.#size; rest > 0; rest = Math.floor(rest / 2), level += 1) {
      if (rest % 2 === 1) found.unshift(level)
    }
    return found
  }
}
