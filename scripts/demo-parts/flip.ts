import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { leafBytes } from './leaf.ts'

/**
 * Changes one bit of a leaf as it lies in a database file that no one has open: another digit in the barcode of leaf
 * `seq`. SQLite keeps no checksums, so to it the file is as good as before.
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
    // A page that SQLite has split keeps what it moved away in its unused space: this was such a shadow.
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
