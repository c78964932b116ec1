import {
  blob,
  built,
  type Column,
  integer,
  maybe,
  pick,
  type ReadTx,
  statement,
  type Tx,
  text,
} from '../database/index.ts'
import { rootInPlace } from './merkle.ts'
import type { NodeAt } from './proofs.ts'
import { sql, tables } from './tables.ts'

/** Hashes in a full tile; a tile of level L spans 256^(L+1) leaves. Source: c2sp.org/tlog-tiles. */
export const tileWidth = 256
const tileHeight = 8
/** The highest level that the table takes. */
const topLevel = 7
const hashBytes = 32

const newTile = built(tables.log_tile, (row) => sql.insertInto('log_tile').values(row))
const nextRow = statement({ columns: { row: integer }, sql: 'SELECT coalesce(max(row), 0) + 1 AS row FROM log_tile' })
const tilesOfLevel = statement({
  columns: { n: integer },
  sql: 'SELECT coalesce(max(n), -1) + 1 AS n FROM main.log_tile WHERE log_id = +? AND level = +?',
})
const tileAt = statement({
  columns: pick(tables.log_tile, 'hashes', 'root'),
  sql: 'SELECT hashes, root FROM main.log_tile WHERE log_id = +? AND level = +? AND n = +?',
})
const firstTileFrom = statement({
  columns: pick(tables.log_tile, 'n'),
  sql: 'SELECT n FROM main.log_tile WHERE log_id = +? AND level = +? AND n >= +? ORDER BY n LIMIT 1',
})
/** Hashes one behind the other, in hex: one text is read in a fifth of the time of 256 rows. NULL without a row. */
const rootsBetween = statement({
  columns: { hashes: maybe(text) as Column<string | null> },
  sql: `SELECT group_concat(hash, '') AS hashes FROM (SELECT hex(root) AS hash
    FROM main.log_tile WHERE log_id = +? AND level = +? AND n >= +? AND n < +? ORDER BY n)`,
})
const hashesOfLeaves = statement({
  columns: { hashes: maybe(text) as Column<string | null> },
  sql: `SELECT group_concat(hash, '') AS hashes FROM (SELECT hex(hash) AS hash
    FROM main.log_leaf WHERE log_id = +? AND seq > +? AND seq <= +? ORDER BY seq)`,
})
const bytesOfLeaves = statement({
  columns: pick(tables.log_leaf, 'bytes'),
  sql: 'SELECT bytes FROM main.log_leaf WHERE log_id = +? AND seq > +? AND seq <= +? ORDER BY seq',
})
const leafAt = statement({
  columns: {
    seq: maybe(integer) as Column<number | null>,
    bytes: blob,
    kind: tables.log_leaf.kind,
    ref: tables.log_leaf.ref,
  },
  sql: 'SELECT seq, bytes, kind, ref FROM main.log_leaf WHERE log_id = +? AND seq = +?',
})

/** Returns a leaf of a log, by its number from 1 on. */
export function leafOfLog(tx: ReadTx, log: number, seq: number) {
  return tx.get(leafAt, [log, seq])
}

/** Returns how many full tiles of the lowest level are stored; each covers 256 leaves. */
export function storedTiles(tx: ReadTx, log: number): number {
  return tx.get(tilesOfLevel, [log, 0])?.n ?? 0
}

/** Returns whether `storeTiles` has work for a log with `size` leaves. */
export function lacksTiles(tx: ReadTx, log: number, size: number): boolean {
  return storedTiles(tx, log) < Math.floor(size / tileWidth)
}

/** Returns a stored tile that a log with `size` leaves cannot have filled; undefined when there is none. */
export function tileBeyond(tx: ReadTx, log: number, size: number): { level: number; n: number } | undefined {
  for (let level = 0; level <= topLevel; level += 1) {
    const found = tx.get(firstTileFrom, [log, level, Math.floor(size / tileWidth ** (level + 1))])
    if (found) return { level, n: found.n }
  }
  return undefined
}

/**
 * Stores the next full tiles of a log with `size` leaves. Stores at most `most` of the lowest level (about 0.3 ms each), and those
 * of the levels above that they complete. Returns whether there are more.
 */
export function storeTiles(tx: Tx, log: number, size: number, most: number): boolean {
  const full = Math.floor(size / tileWidth)
  let n = storedTiles(tx, log)
  for (const end = Math.min(full, n + most); n < end; n += 1) storeTile(tx, log, n)
  return n < full
}

/**
 * Stores the tile that a leaf completes, in the commit of that leaf. Other tiles are left to `storeTiles`. These are a tile behind
 * one that is not stored yet, one that completes a tile above, and one that lacks leaves. Missing leaves refuse no append.
 */
export function storeTileOfLeaf(tx: Tx, log: number, seq: number): void {
  const n = seq / tileWidth - 1
  if (!Number.isInteger(n) || seq % tileWidth ** 2 === 0 || storedTiles(tx, log) !== n) return
  const hashes = findHashes(tx, log, 0, n, tileWidth)
  if (hashes) addTile(tx, log, 0, n, hashes)
}

/** Stores a tile of the lowest level and each tile above that it completes. */
function storeTile(tx: Tx, log: number, first: number): void {
  let n = first
  for (let level = 0; ; level += 1) {
    addTile(tx, log, level, n, readHashes(tx, log, level, n, tileWidth))
    if ((n + 1) % tileWidth !== 0) return
    n = Math.floor(n / tileWidth)
  }
}

function addTile(tx: Tx, log: number, level: number, n: number, hashes: Buffer): void {
  const row = tx.get(nextRow)?.row ?? 1
  tx.run(newTile, { row, log_id: log, level, n, hashes, root: rootOfTile(hashes) })
}

/** As `findHashes`. Throws when one is missing. */
function readHashes(tx: ReadTx, log: number, level: number, n: number, width: number): Buffer {
  const found = findHashes(tx, log, level, n, width)
  if (!found) throw new Error(`tile ${level}/${n} of log ${log} lacks some of its ${width} hashes`)
  return found
}

/**
 * Returns the first `width` hashes of a tile, one behind the other. They come from the leaves, or from the tiles of the level
 * below. Undefined when one is missing.
 */
function findHashes(tx: ReadTx, log: number, level: number, n: number, width: number): Buffer | undefined {
  const first = n * tileWidth
  const found =
    level === 0
      ? tx.get(hashesOfLeaves, [log, first, first + width])
      : tx.get(rootsBetween, [log, level - 1, first, first + width])
  const packed = Buffer.from(found?.hashes ?? '', 'hex')
  return packed.length === width * hashBytes ? packed : undefined
}

/** Returns how many hashes the tile has in the tree over `size` leaves: 256, fewer at the right edge, or 0 beyond it. */
export function widthOfTile(level: number, n: number, size: number): number {
  const hashes = Math.floor(size / tileWidth ** level)
  return Math.max(0, Math.min(tileWidth, hashes - n * tileWidth))
}

/** Returns a stored tile: its hashes one behind the other, and the root over them. */
export function storedTile(tx: ReadTx, log: number, level: number, n: number) {
  return tx.get(tileAt, [log, level, n])
}

/** Returns the first `width` hashes of a tile, one behind the other. The tree must have them. */
export function tileHashes(tx: ReadTx, log: number, level: number, n: number, width: number): Buffer {
  const stored = storedTile(tx, log, level, n)
  if (stored) return stored.hashes.subarray(0, width * hashBytes)
  return readHashes(tx, log, level, n, width)
}

/** Returns the bytes of leaves behind one number, up to and with another. */
export function leafBytes(tx: ReadTx, log: number, from: number, to: number): Buffer[] {
  return tx.all(bytesOfLeaves, [log, from, to]).map(({ bytes }) => bytes)
}

/** Returns the first `width` leaves of an entry bundle: each behind its length as a big-endian uint16. */
export function entryBundle(tx: ReadTx, log: number, n: number, width: number): Buffer {
  const first = n * tileWidth
  const parts = leafBytes(tx, log, first, first + width).flatMap((bytes) => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(bytes.length)
    return [length, bytes]
  })
  return Buffer.concat(parts)
}

/**
 * Returns a reader of subtree hashes for the tree over `size` leaves, for `proofs.ts`. It reads each tile once, so a proof
 * reads as many rows as the tree has levels of tiles. The full tiles of `size` must be stored.
 */
export function nodesOf(tx: ReadTx, log: number, size: number): NodeAt {
  const tiles = new Map<string, Buffer>()
  /** The roots of two sizes have most subtrees in common. */
  const nodes = new Map<string, Buffer>()
  const nodeAt: NodeAt = (level, index) => {
    const tileLevel = Math.floor(level / tileHeight)
    const width = 2 ** (level % tileHeight)
    const first = index * width
    const n = Math.floor(first / tileWidth)
    const key = `${tileLevel}/${n}`
    let tile = tiles.get(key)
    if (!tile) {
      tile = tileHashes(tx, log, tileLevel, n, widthOfTile(tileLevel, n, size))
      tiles.set(key, tile)
    }
    const from = (first % tileWidth) * hashBytes
    const hashes = tile.subarray(from, from + width * hashBytes)
    if (hashes.length !== width * hashBytes) throw new Error(`tile ${key} of log ${log} ends before ${index}`)
    return rootOfTile(hashes)
  }
  return (level, index) => {
    const key = `${level}/${index}`
    const known = nodes.get(key)
    if (known) return known
    const node = nodeAt(level, index)
    nodes.set(key, node)
    return node
  }
}

const space = Buffer.alloc(tileWidth * hashBytes)

/** Returns the root over the hashes of a tile, or of fewer, one behind the other. */
export function rootOfTile(hashes: Uint8Array): Buffer {
  space.set(hashes)
  return rootInPlace(space, hashes.length / hashBytes)
}
