import type { ReadTx } from '../../database/index.ts'
import {
  checkpointsBetween,
  type KnownLog,
  leafCount,
  type MerkleFrontier,
  rootOfTile,
  sha256,
  storedTile,
  storedTiles,
  tileBeyond,
  tileWidth,
} from '../../log/index.ts'
import { originOfLog } from '../../proof/index.ts'
import type { Findings } from '../findings.ts'
import { nameOfHead } from './check-signatures.ts'
import { readCheckpointText, readNote } from './note.ts'

/** Checkpoints read at once; a note has 4 KiB. */
const headsAtOnce = 256

/**
 * Compares the stored tiles and the checkpoints of one log with its leaves, while a verification walks over them. It gets the
 * hash of each leaf, computed from its bytes.
 */
export class TreeCheck {
  readonly #tx: ReadTx
  readonly #log: KnownLog
  readonly #findings: Findings
  readonly #tiles: number
  readonly #row = Buffer.alloc(tileWidth * 32)
  #roots: Buffer[][] = []
  #heads: ReturnType<typeof checkpointsBetween> = []
  /** Up to which size heads were read. */
  #readTo = -1

  constructor(tx: ReadTx, log: KnownLog, findings: Findings) {
    this.#tx = tx
    this.#log = log
    this.#findings = findings
    this.#tiles = storedTiles(tx, log.number)
    this.#headsAt(0, () => sha256(''))
  }

  /** Looks at the tree after a leaf was appended to it. */
  leaf(hash: Uint8Array, tree: MerkleFrontier): void {
    this.#row.set(hash, ((tree.size - 1) % tileWidth) * 32)
    if (tree.size % tileWidth === 0) this.#tile(0, tree.size / tileWidth - 1, this.#row)
    this.#headsAt(tree.size, () => tree.root())
  }

  /** Looks for heads and tiles that cover more leaves than there are: a tail was cut off. */
  end(): void {
    const { number, size } = this.#log
    for (const head of this.#heads)
      this.#findings.add(nameOfHead(this.#log, head.size), 'covers leaves that are missing')
    const [beyond] = checkpointsBetween(this.#tx, number, size + 1, Number.MAX_SAFE_INTEGER, 1)
    const tile = tileBeyond(this.#tx, number, size)
    if (!beyond && !tile) return
    // A running gateway appends and signs meanwhile, so the leaves are counted after the heads that cover them were read.
    const now = leafCount(this.#tx, number)
    if (beyond && beyond.size > now) {
      this.#findings.add(nameOfHead(this.#log, beyond.size), `was signed, but the log has only ${now} leaves`)
    }
    const late = tile && tileBeyond(this.#tx, number, now)
    if (late) this.#findings.add(this.#tileName(late.level, late.n), `is stored, but the log has only ${now} leaves`)
  }

  /** Compares the heads over this many leaves with the root, which is computed only when there is one. */
  #headsAt(size: number, root: () => Buffer): void {
    if (this.#heads.length === 0 && this.#readTo < this.#log.size) {
      this.#heads = checkpointsBetween(this.#tx, this.#log.number, this.#readTo + 1, this.#log.size, headsAtOnce)
      this.#readTo = this.#heads.length < headsAtOnce ? this.#log.size : (this.#heads.at(-1)?.size ?? this.#log.size)
    }
    while (this.#heads[0] && this.#heads[0].size <= size) {
      const head = this.#heads.shift()
      if (head?.size === size) this.#head(head, root())
    }
  }

  /** Checks a tile of any level, and puts its root into the tile above. */
  #tile(level: number, n: number, hashes: Buffer): void {
    const isExpected = level > 0 || n < this.#tiles
    if (!isExpected) return
    const root = rootOfTile(hashes)
    const stored = storedTile(this.#tx, this.#log.number, level, n)
    if (!stored) this.#findings.add(this.#tileName(level, n), 'is missing')
    else if (!stored.root.equals(root) || !stored.hashes.equals(hashes)) {
      this.#findings.add(this.#tileName(level, n), 'does not have the hashes of its leaves')
    }
    const above = this.#roots[level] ?? []
    above.push(root)
    this.#roots[level] = above
    if (above.length < tileWidth) return
    this.#roots[level] = []
    this.#tile(level + 1, Math.floor(n / tileWidth), Buffer.concat(above))
  }

  #head(head: { size: number; root: Buffer; note: string }, root: Buffer): void {
    if (!head.root.equals(root)) this.#findings.add(nameOfHead(this.#log, head.size), 'was signed over another root')
    else this.#text(head)
  }

  /** The note must state the values of its row. */
  #text({ size, root, note }: { size: number; root: Buffer; note: string }): void {
    const text = readCheckpointText(readNote(note)?.text ?? '')
    const isSame = text?.origin === originOfLog(this.#log) && text.size === size && text.root.equals(root)
    if (!isSame) this.#findings.add(nameOfHead(this.#log, size), 'its note says something else than its row')
  }

  #tileName(level: number, n: number): string {
    return `tile ${level}/${n} of log ${this.#log.logId}`
  }
}
