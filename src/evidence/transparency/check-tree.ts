import type { ReadTx } from '../../database/index.ts'
import {
  checkpointsBetween,
  type KnownLog,
  type MerkleFrontier,
  rootOfTile,
  storedTile,
  storedTiles,
  tileWidth,
} from '../../log/index.ts'
import type { Findings } from '../findings.ts'
import { originOfLog } from './keys.ts'
import { readCheckpointText, readNote } from './note.ts'

/**
 * Compares the stored tiles and the signed heads of one log with its leaves, while a verification walks over them. It gets the
 * hash of each leaf, computed from its bytes.
 */
export class TreeCheck {
  readonly #tx: ReadTx
  readonly #log: KnownLog
  readonly #findings: Findings
  readonly #tiles: number
  #row: Buffer[] = []
  #roots: Buffer[][] = []
  #heads: ReturnType<typeof checkpointsBetween>

  constructor(tx: ReadTx, log: KnownLog, findings: Findings) {
    this.#tx = tx
    this.#log = log
    this.#findings = findings
    this.#tiles = storedTiles(tx, log.number)
    this.#heads = checkpointsBetween(tx, log.number, 0, log.size)
    this.#empty()
  }

  /** Looks at the tree after a leaf was appended to it. */
  leaf(hash: Buffer, tree: MerkleFrontier): void {
    this.#row.push(hash)
    if (this.#row.length === tileWidth) {
      this.#tile(0, tree.size / tileWidth - 1, this.#row)
      this.#row = []
    }
    while (this.#heads[0] && this.#heads[0].size <= tree.size) {
      const head = this.#heads.shift()
      if (head?.size === tree.size) this.#head(head, tree.root())
    }
  }

  /** Looks for heads that cover more leaves than there are: a tail was cut off. */
  end(): void {
    const { number, size } = this.#log
    const beyond = checkpointsBetween(this.#tx, number, size + 1, Number.MAX_SAFE_INTEGER)
    const last = beyond.at(-1)
    if (last) this.#findings.add(this.#nameOf(last.size), `was signed, but the log has only ${size} leaves`)
  }

  #empty(): void {
    for (const head of this.#heads.filter(({ size }) => size === 0)) this.#text(head)
    this.#heads = this.#heads.filter(({ size }) => size > 0)
  }

  /** Checks a tile of any level, and puts its root into the tile above. */
  #tile(level: number, n: number, hashes: readonly Buffer[]): void {
    const isExpected = level > 0 || n < this.#tiles
    if (!isExpected) return
    const root = rootOfTile(hashes)
    const stored = storedTile(this.#tx, this.#log.number, level, n)
    if (!stored) this.#findings.add(this.#tileName(level, n), 'is missing')
    else if (!stored.root.equals(root) || !stored.hashes.equals(Buffer.concat(hashes))) {
      this.#findings.add(this.#tileName(level, n), 'does not have the hashes of its leaves')
    }
    const above = this.#roots[level] ?? []
    above.push(root)
    this.#roots[level] = above
    if (above.length < tileWidth) return
    this.#roots[level] = []
    this.#tile(level + 1, Math.floor(n / tileWidth), above)
  }

  #head(head: { size: number; root: Buffer; note: string }, root: Buffer): void {
    if (!head.root.equals(root)) this.#findings.add(this.#nameOf(head.size), 'was signed over another root')
    else this.#text(head)
  }

  /** The note must say what its row says. */
  #text({ size, root, note }: { size: number; root: Buffer; note: string }): void {
    const text = readCheckpointText(readNote(note)?.text ?? '')
    const isSame = text?.origin === originOfLog(this.#log) && text.size === size && text.root.equals(root)
    if (!isSame) this.#findings.add(this.#nameOf(size), 'its note says something else than its row')
  }

  #nameOf(size: number): string {
    return `checkpoint over ${size} leaves of log ${this.#log.logId}`
  }

  #tileName(level: number, n: number): string {
    return `tile ${level}/${n} of log ${this.#log.logId}`
  }
}
