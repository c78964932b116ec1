import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** Leaves of a full bundle. */
export const bundleWidth = 256

/** Packs leaves as an entry bundle of c2sp.org/tlog-tiles (each behind its length), compressed with zstd. */
export function packBundle(leaves: readonly Uint8Array[]): Buffer {
  const parts = leaves.flatMap((leaf) => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(leaf.length)
    return [length, leaf]
  })
  return zstdCompressSync(Buffer.concat(parts))
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
