import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'

/**
 * Changes one bit of a leaf as it lies in a database file that nobody has open: another digit in the barcode of leaf
 * `seq`. SQLite keeps no checksums, so to it the file is as good as before.
 */
export function flipByteOfLeaf(file: string, seq: number): { offset: number; from: string; to: string } {
  const leaf = leafBytes(file, seq)
  const content = readFileSync(file)
  const start = content.indexOf(leaf)
  if (start < 0) throw new Error(`the bytes of leaf ${seq} do not stand in ${file} in one piece`)
  if (content.indexOf(leaf, start + 1) >= 0) throw new Error(`the bytes of leaf ${seq} stand in ${file} twice`)
  const field = '"assetBarcode":"'
  const offset = start + leaf.indexOf(field) + field.length
  const before = content[offset] ?? 0
  const after = before ^ 1
  const fd = openSync(file, 'r+')
  writeSync(fd, Buffer.of(after), 0, 1, offset)
  closeSync(fd)
  return { offset, from: String.fromCharCode(before), to: String.fromCharCode(after) }
}

function leafBytes(file: string, seq: number): Buffer {
  const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
  try {
    return db.prepare('SELECT bytes FROM log_leaf WHERE seq = ?').pluck().get(seq) as Buffer
  } finally {
    db.close()
  }
}
