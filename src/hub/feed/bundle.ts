import { promisify } from 'node:util'
import { constants, type ZstdOptions, zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const compress = promisify(zstdCompress)
// Leaves are mostly hashes: a higher level takes twice the time and a fifth more room.
const settings = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** Memory for the output is taken in such pieces; each stays until the next big garbage collection. */
const mostPieceBytes = 64 * 1024
const settingsFor = (entries: Buffer) => ({
  ...settings,
  chunkSize: Math.min(Math.max(1024, entries.length), mostPieceBytes),
})

/** Leaves of a full bundle. */
export const bundleWidth = 256

/** So few leaves are not kept as a separate part, so that a bundle has at most 16 of those. */
export const fewestOfPart = 16

/** Packs leaves as an entry bundle of c2sp.org/tlog-tiles (each behind its length), compressed with zstd; in a thread of the pool. */
export function packBundle(leaves: readonly Uint8Array[]): Promise<Buffer> {
  const entries = entriesOf(leaves)
  return compress(entries, settingsFor(entries))
}

/** As `packBundle`, at once: for some leaves, which takes less than to ask another thread. */
export function packedAtOnce(leaves: readonly Uint8Array[]): Buffer {
  const entries = entriesOf(leaves)
  return zstdCompressSync(entries, settingsFor(entries))
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

/** Returns the leaves of a packed bundle, or of several packed parts of one behind each other. Throws when it is damaged. */
export function unpackBundle(packed: Uint8Array): Buffer[] {
  const leaves: Buffer[] = []
  for (let at = 0; at < packed.length; ) {
    // Node's types do not know what `info` changes. Reading ends with the part; the bytes behind it are left for the next read.
    const read = zstdDecompressSync(packed.subarray(at), { info: true } as ZstdOptions) as unknown as Unpacked
    addEntries(leaves, read.buffer)
    at += read.engine.bytesWritten
  }
  return leaves
}

type Unpacked = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }

function addEntries(leaves: Buffer[], entries: Buffer): void {
  for (let at = 0; at < entries.length; ) {
    const end = at + 2 + entries.readUInt16BE(at)
    if (end > entries.length) throw new Error('a stored entry bundle ends in the midst of a leaf')
    leaves.push(entries.subarray(at + 2, end))
    at = end
  }
}
