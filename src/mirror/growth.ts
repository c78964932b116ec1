import { leafHash, MerkleFrontier, peaksOf, rootInPlace, tileWidth } from '../log/index.ts'
import { type Level, leavesIn, type StoredTiles } from './tiles.ts'

/** A tile of the grown log. */
export type GrownTile = { readonly level: Level; readonly n: number; readonly width: number; readonly bytes: Buffer }

/**
 * A log that grows from its stored full bundles by fetched ones. It computes every hash itself, so its root depends on nothing that
 * the log claims.
 */
export class Growth {
  readonly #frontier: MerkleFrontier
  /** Hashes of the last tile of each level. */
  readonly #open: Buffer[][] = []
  readonly #keep: (tile: GrownTile) => void

  readonly #heldSize: number
  #heldRoot: Buffer | undefined

  /** `heldSize`: leaves of the stored log, of which those in full bundles are not fetched again. */
  constructor(stored: StoredTiles, heldSize: number, keep: (tile: GrownTile) => void) {
    const size = heldSize - (heldSize % tileWidth)
    this.#heldSize = heldSize
    this.#keep = keep
    const { nodeAt } = stored
    this.#frontier = MerkleFrontier.from(size, Buffer.concat(size === 0 ? [] : peaksOf(size, nodeAt)))
    if (size === heldSize) this.#heldRoot = this.#frontier.root()
    for (let level = 0; tileWidth ** level <= size; level += 1) {
      const count = Math.floor(size / tileWidth ** level)
      const width = count % tileWidth
      const n = Math.floor(count / tileWidth)
      this.#open[level] = Array.from({ length: width }, (_, i) => nodeAt(8 * level, n * tileWidth + i))
    }
  }

  get size(): number {
    return this.#frontier.size
  }

  /** Root over the leaves of the stored log, as fetched now. */
  get heldRoot(): Buffer | undefined {
    return this.#heldRoot
  }

  /** Adds the first `width` leaves of a bundle. Returns false when it has fewer. */
  add(n: number, width: number, bundle: Buffer): boolean {
    const leaves = leavesIn(bundle, width)
    if (!leaves) return false
    for (const leaf of leaves) {
      const hash = leafHash(leaf)
      this.#frontier.append(hash)
      this.#push(0, hash)
      if (this.size === this.#heldSize) this.#heldRoot = this.#frontier.root()
    }
    const length = leaves.reduce((sum, leaf) => sum + 2 + leaf.length, 0)
    this.#keep({ level: 'entries', n, width, bytes: bundle.subarray(0, length) })
    return true
  }

  /** Keeps the partial tiles, and returns the root. */
  finish(): Buffer {
    for (const [level, hashes] of this.#open.entries()) {
      const n = Math.floor(this.size / tileWidth ** (level + 1))
      if (hashes.length > 0) this.#keep({ level, n, width: hashes.length, bytes: Buffer.concat(hashes) })
    }
    return this.#frontier.root()
  }

  #push(level: number, hash: Buffer): void {
    const hashes = this.#open[level] ?? []
    this.#open[level] = hashes
    hashes.push(hash)
    if (hashes.length < tileWidth) return
    const bytes = Buffer.concat(hashes)
    const n = Math.floor(this.size / tileWidth ** (level + 1)) - 1
    this.#keep({ level, n, width: tileWidth, bytes })
    this.#open[level] = []
    this.#push(level + 1, rootInPlace(Buffer.from(bytes), tileWidth))
  }
}
