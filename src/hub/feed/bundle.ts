import { promisify } from 'node:util'
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const compress = promisify(zstdCompress)
// Leaves are mostly hashes: a higher level takes twice the time and a fifth more room.
const settings = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, chunkSize: 64 * 1024 }

/** Leaves of a full bundle. */
export const bundleWidth = 256

/** Packs leaves as an entry bundle of c2sp.org/tlog-tiles (each behind its length), compressed with zstd; in a thread of the pool. */
export function packBundle(leaves: readonly Uint8Array[]): Promise<Buffer> {
  return compress(entriesOf(leaves), settings)
}

/** As `packBundle`, at once: for what is kept of a contradiction. */
export function packedAtOnce(leaves: readonly Uint8Array[]): Buffer {
  return zstdCompressSync(entriesOf(leaves), settings)
}

function entriesOf(leaves: readonly Uint8Array[]): Buffer {
  const entries = Buffer.allocUnsafe(leaves.reduce((bytes, leaf) => bytes + 2 + leaf.length, 0))
  let at = 0
  for (const leaf of leaves) {
    entries.writeUInt16BE(leaf.length, at)
    entries.set(leaf, at + 2)
    at += 2 + leaf.length
  }
  return entries
}

/** Returns the leaves of a packed bundle. Throws when it is damaged. */
export function unpackBundle(packed: Uint8Array): Buffer[] {
  const bytes = zstdDecompressSync(packed)
  const leaves: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 2 + bytes.readUInt16BE(at)
    if (end > bytes.length) throw new Error('a stored entry bundle ends in the midst of a leaf')
    leaves.push(bytes.subarray(at + 2, end))
    at = end
  }
  return leaves
}
