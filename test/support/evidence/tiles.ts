/** An auditor's mirror of a tiled log, from C2SP tlog-tiles alone: no import from `src`. */
import { openCheckpoint } from './checkpoint.ts'
import { leafHash, sha256 } from './merkle.ts'
import type { Signed, Vkey } from './note.ts'

const tileWidth = 256

/** Returns the index of a tile in elements of three digits: 1234067 is `x001/x234/067`. */
export function tileIndex(n: number): string {
  const digits = String(n).padStart(Math.ceil(String(n).length / 3) * 3, '0')
  const parts = digits.match(/.{3}/g) ?? []
  return parts.map((part, i) => (i < parts.length - 1 ? `x${part}` : part)).join('/')
}

/** Returns the path of a tile below the log's prefix. `width` below 256 names a partial one. */
export function tilePath(level: number | 'entries', n: number, width = tileWidth): string {
  return `tile/${level}/${tileIndex(n)}${width < tileWidth ? `.p/${width}` : ''}`
}

/** Reads an entry bundle: entries behind their length in two bytes. Throws when it does not hold `count` whole entries. */
export function readEntries(bundle: Buffer, count: number): Buffer[] {
  const entries: Buffer[] = []
  let at = 0
  while (at < bundle.length) {
    const end = at + 2 <= bundle.length ? at + 2 + bundle.readUInt16BE(at) : Number.POSITIVE_INFINITY
    if (end > bundle.length) throw new Error(`an entry bundle that ends within entry ${entries.length}`)
    entries.push(bundle.subarray(at + 2, end))
    at = end
  }
  if (entries.length !== count) throw new Error(`an entry bundle of ${entries.length} entries, not ${count}`)
  return entries
}

/** Returns the tiles of one level in a tree of `size` leaves, in order, each with its width. */
export function tilesOf(level: number, size: number): { n: number; width: number }[] {
  const hashes = Math.floor(size / tileWidth ** level)
  return Array.from({ length: Math.ceil(hashes / tileWidth) }, (_, n) => ({
    n,
    width: Math.min(tileWidth, hashes - n * tileWidth),
  }))
}

export type Mirror = {
  readonly origin: string
  readonly size: number
  readonly root: Buffer
  readonly signed: readonly Signed[]
  /** Every leaf's bytes. */
  readonly leaves: readonly Buffer[]
  /** Paths of all that was fetched. */
  readonly fetched: readonly string[]
}

/**
 * Fetches a whole log as an auditor would: the checkpoint, every tile and every entry bundle. Throws with the path of a
 * missing resource, or of one that does not fit the signed root.
 *
 * @param fetch returns the bytes below the log's prefix, such as `checkpoint` or `tile/0/000.p/7`; undefined for 404
 */
export async function mirrorLog({
  fetch,
  keys,
}: {
  fetch: (path: string) => Promise<Uint8Array | undefined>
  keys: readonly Vkey[]
}): Promise<Mirror> {
  const fetched: string[] = []
  const get = async (path: string): Promise<Buffer> => {
    fetched.push(path)
    const bytes = await fetch(path)
    if (bytes === undefined) throw new Error(`${path} is missing`)
    return Buffer.from(bytes)
  }
  const checkpoint = openCheckpoint(await get('checkpoint'), keys)
  const { origin, size, root, signed } = checkpoint
  const leaves: Buffer[] = []
  let below: Buffer[] = []
  for (let level = 0; tileWidth ** level <= size; level++) {
    const hashes: Buffer[] = []
    for (const { n, width } of tilesOf(level, size)) {
      const tile = await readTile(get, tilePath(level, n, width), width)
      if (level === 0) leaves.push(...(await readLeaves(get, n, width, tile)))
      else checkTile(tilePath(level, n, width), tile, below.slice(n * tileWidth))
      hashes.push(...tile)
    }
    // The level above must hold a hash for each full tile.
    below = fullTiles(hashes)
    if (level === 0 && !treeHash(hashes).equals(root)) throw new Error('the tiles do not lead to the signed root')
  }
  if (size === 0 && !root.equals(sha256())) throw new Error('an empty log with a root')
  return { origin, size, root, signed, leaves, fetched }
}

async function readTile(get: (path: string) => Promise<Buffer>, path: string, width: number): Promise<Buffer[]> {
  const bytes = await get(path)
  if (bytes.length !== width * 32) throw new Error(`${path} has ${bytes.length} bytes, not ${width * 32}`)
  return Array.from({ length: width }, (_, i) => bytes.subarray(i * 32, i * 32 + 32))
}

async function readLeaves(get: (path: string) => Promise<Buffer>, n: number, width: number, tile: Buffer[]) {
  const path = tilePath('entries', n, width)
  const entries = readEntries(await get(path), width)
  const wrong = entries.findIndex((entry, i) => !tile[i]?.equals(leafHash(entry)))
  if (wrong >= 0) throw new Error(`entry ${wrong} of ${path} is not the one of its tile`)
  return entries
}

function checkTile(path: string, tile: readonly Buffer[], expected: readonly Buffer[]): void {
  const wrong = tile.findIndex((hash, i) => !expected[i]?.equals(hash))
  if (wrong >= 0) throw new Error(`hash ${wrong} of ${path} is not that of the tile below`)
}

const fullTiles = (hashes: readonly Buffer[]): Buffer[] =>
  Array.from({ length: Math.floor(hashes.length / tileWidth) }, (_, n) =>
    treeHash(hashes.slice(n * tileWidth, (n + 1) * tileWidth)),
  )

/** Root over hashes, level by level: an unpaired last one moves up. */
function treeHash(hashes: readonly Buffer[]): Buffer {
  let row = [...hashes]
  while (row.length > 1)
    row = Array.from({ length: Math.ceil(row.length / 2) }, (_, i) => {
      const [left, right] = row.slice(i * 2, i * 2 + 2)
      return right === undefined ? (left as Buffer) : sha256(Buffer.of(1), left as Buffer, right)
    })
  return row[0] ?? sha256()
}
