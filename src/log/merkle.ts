import { hash } from 'node:crypto'

/** RFC 6962: leaves are hashed behind 0x00, nodes behind 0x01, so that neither can pass for the other. */
const leafPrefix = Buffer.of(0)
const nodePrefix = Buffer.of(1)

export function sha256(bytes: Uint8Array | string): Buffer {
  return hash('sha256', bytes, 'buffer')
}

/** Written before each hash and read by it at once; there is one of each in a thread. */
const leafSpace = Buffer.alloc(1 + 65_535)
const nodeSpace = Buffer.alloc(1 + 2 * 32)
leafPrefix.copy(leafSpace)
nodePrefix.copy(nodeSpace)

export function leafHash(bytes: Uint8Array): Buffer {
  if (bytes.length >= leafSpace.length) return hash('sha256', Buffer.concat([leafPrefix, bytes]), 'buffer')
  leafSpace.set(bytes, 1)
  return hash('sha256', leafSpace.subarray(0, 1 + bytes.length), 'buffer')
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  if (left.length !== 32 || right.length !== 32) {
    return hash('sha256', Buffer.concat([nodePrefix, left, right]), 'buffer')
  }
  nodeSpace.set(left, 1)
  nodeSpace.set(right, 33)
  return hash('sha256', nodeSpace, 'buffer')
}

/**
 * A growing tree that keeps only the roots of its complete subtrees: one hash for each set bit of `size`. That is enough to
 * append and to compute the root, in logarithmic memory.
 */
export class MerkleFrontier {
  #size = 0
  readonly #peaks: Buffer[] = []

  /**
   * Goes on from a frontier that was stored: `peaks` are 32 bytes each, one behind the other, the largest subtree first. Throws
   * when their number does not fit the size.
   */
  static from(size: number, peaks: Buffer): MerkleFrontier {
    const frontier = new MerkleFrontier()
    let expected = 0
    for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) expected += rest % 2
    if (peaks.length !== expected * 32) throw new Error(`a frontier of ${size} leaves has ${expected} peaks`)
    frontier.#size = size
    for (let at = 0; at < peaks.length; at += 32) frontier.#peaks.push(peaks.subarray(at, at + 32))
    return frontier
  }

  get size(): number {
    return this.#size
  }

  /** Returns what `from` takes. */
  get peaks(): Buffer {
    return Buffer.concat(this.#peaks)
  }

  append(hash: Buffer): void {
    let merged = hash
    for (let level = this.#size; level % 2 === 1; level = Math.floor(level / 2)) {
      const left = this.#peaks.pop()
      if (!left) throw new Error('a frontier lacks a peak')
      merged = nodeHash(left, merged)
    }
    this.#peaks.push(merged)
    this.#size += 1
  }

  /** Returns the root (MTH of RFC 6962) of all appended leaves; the hash of the empty string for an empty tree. */
  root(): Buffer {
    if (this.#peaks.length === 0) return sha256('')
    return this.#peaks.reduceRight((right, left) => nodeHash(left, right))
  }
}
