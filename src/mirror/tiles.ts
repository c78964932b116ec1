import { readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { numberPath } from '../evidence/index.ts'
import { type NodeAt, rootInPlace, tileWidth } from '../log/index.ts'
import { readFileIfThere } from '../platform/index.ts'

const hashBytes = 32

/** A level of hash tiles, or the entry bundles beside level 0. */
export type Level = number | 'entries'

/** Returns the path of a tile below the prefix of a log (c2sp.org/tlog-tiles). */
export function tilePath(level: Level, n: number, width: number): string {
  return `tile/${level}/${numberPath(n)}${width < tileWidth ? `.p/${width}` : ''}`
}

/** The tiles of one log in a folder. Each number has one file, the widest. */
export class StoredTiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  pathOf(level: Level, n: number, width: number): string {
    return join(this.#folder, tilePath(level, n, width))
  }

  /** Returns the first `width` hashes of a tile, or leaves of a bundle. Undefined when the folder has fewer. */
  read(level: Level, n: number, width: number): Buffer | undefined {
    const stored = this.#widest(level, n, width)
    return stored && (level === 'entries' ? firstEntries(stored, width) : firstHashes(stored, width))
  }

  /** Removes the narrower files of a number. */
  removeNarrower(level: Level, n: number, width: number): void {
    for (const other of this.#partialWidths(level, n)) {
      if (other < width) rmSync(this.pathOf(level, n, other), { force: true })
    }
    if (width === tileWidth) rmSync(dirname(this.pathOf(level, n, 1)), { recursive: true, force: true })
  }

  /** Gives the hashes of complete subtrees. Throws where the folder lacks them. */
  get nodeAt(): NodeAt {
    return (level, index) => {
      const tileLevel = Math.floor(level / 8)
      const width = 2 ** (level - 8 * tileLevel)
      const first = index * width
      const n = Math.floor(first / tileWidth)
      const from = first - n * tileWidth
      const tile = this.read(tileLevel, n, from + width)
      if (!tile) throw new Error(`${this.#folder} lacks ${tilePath(tileLevel, n, from + width)}`)
      return rootInPlace(Buffer.from(tile.subarray(from * hashBytes)), width)
    }
  }

  #widest(level: Level, n: number, width: number): Buffer | undefined {
    const full = readFileIfThere(this.pathOf(level, n, tileWidth))
    if (full) return full
    const partial = this.#partialWidths(level, n).find((other) => other >= width)
    return partial === undefined ? undefined : readFileIfThere(this.pathOf(level, n, partial))
  }

  /** Widths of the partial tiles of a number, the widest first. */
  #partialWidths(level: Level, n: number): number[] {
    try {
      const names = readdirSync(dirname(this.pathOf(level, n, 1)))
      return names.map(Number).toSorted((a, b) => b - a)
    } catch {
      return []
    }
  }
}

function firstHashes(tile: Buffer, width: number): Buffer | undefined {
  return tile.length < width * hashBytes ? undefined : tile.subarray(0, width * hashBytes)
}

function firstEntries(bundle: Buffer, width: number): Buffer | undefined {
  const ends = endsOf(bundle, width)
  return ends && bundle.subarray(0, ends.at(-1) ?? 0)
}

/** Returns the leaves of a bundle: each behind its length as a big-endian uint16. Undefined when it has fewer than `count`. */
export function leavesIn(bundle: Buffer, count: number): Buffer[] | undefined {
  return endsOf(bundle, count)?.map((end, i, ends) => bundle.subarray((ends[i - 1] ?? 0) + 2, end))
}

function endsOf(bundle: Buffer, count: number): number[] | undefined {
  const ends: number[] = []
  let at = 0
  while (ends.length < count) {
    if (at + 2 > bundle.length) return undefined
    at += 2 + bundle.readUInt16BE(at)
    if (at > bundle.length) return undefined
    ends.push(at)
  }
  return ends
}
