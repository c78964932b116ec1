import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { leafBytes } from './leaf.ts'

/**
 * Changes one bit of a leaf in a closed database file: another digit in the barcode of leaf `seq`. SQLite has no
 * checksums, so it reads the file without an error.
 */
export function flipByteOfLeaf(file: string, seq: number): { offset: number; from: string; to: string } {
  const leaf = leafBytes(file, seq)
  const field = '"assetBarcode":"'
  const inLeaf = leaf.indexOf(field) + field.length
  const before = leaf[inLeaf] ?? 0
  const after = before ^ 1
  for (const start of placesOf(leaf, readFileSync(file))) {
    const offset = start + inLeaf
    writeByte(file, offset, after)
    if (!leafBytes(file, seq).equals(leaf))
      return { offset, from: String.fromCharCode(before), to: String.fromCharCode(after) }
    // When SQLite splits a page, the moved bytes stay in the unused space of the old page. This was such a copy.
    writeByte(file, offset, before)
  }
  throw new Error(`the bytes of leaf ${seq} do not stand in ${file} in one piece`)
}

function placesOf(part: Buffer, whole: Buffer): number[] {
  const places: number[] = []
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1)) places.push(at)
  return places
}

function writeByte(file: string, offset: number, value: number): void {
  const fd = openSync(file, 'r+')
  try {
    writeSync(fd, Buffer.of(value), 0, 1, offset)
  } finally {
    closeSync(fd)
  }
}
