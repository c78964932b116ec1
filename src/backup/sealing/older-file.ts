import { createDecipheriv, hash, hkdfSync } from 'node:crypto'
import type { Bytes } from '../bytes.ts'
import { demandSameMark, openPieces, SealedFileFault } from './pieces.ts'

/**
 * Reads `gatehouse-sealed-file/1`. It has a first line (format and mark of the key), 32 bytes of salt, then
 * pieces of 1 MiB; the last one is shorter. AES-256-GCM seals each piece, with its tag behind it. The nonce of a piece is its
 * number in 11 bytes and a byte that is 1 in the last one.
 */
const format = 'gatehouse-sealed-file/1'
const saltBytes = 32
const pieceBytes = 1024 * 1024
const lineBytes = format.length + 18

/** Identifies a recovery key without revealing it: 16 hex digits. */
const markOf = (recoveryKey: Uint8Array) =>
  hash('sha256', Buffer.from(hkdfSync('sha256', recoveryKey, '', `${format} mark`, 32))).slice(0, 16)

const keyOf = (recoveryKey: Uint8Array, salt: Uint8Array) =>
  Buffer.from(hkdfSync('sha256', recoveryKey, salt, format, 32))

/** Says whether a file begins as one of this format, of whatever version. */
export function isOlderFile(file: Bytes): boolean {
  const begin = format.slice(0, format.indexOf('/') + 1)
  return file.sizeBytes >= begin.length && file.read(0, begin.length).toString('latin1') === begin
}

/** Opens a sealed file of this format; see `openSealedFile`. */
export function openOlderFile(file: Bytes, recoveryKey: Uint8Array | undefined): Bytes {
  if (file.sizeBytes < lineBytes + saltBytes) throw new SealedFileFault('is cut')
  const firstLine = file.read(0, lineBytes)
  demandKey(firstLine.toString('latin1'), recoveryKey)
  const key = keyOf(recoveryKey, file.read(lineBytes, saltBytes))
  return openPieces(file, {
    start: lineBytes + saltBytes,
    pieceBytes,
    decipher: (nonce) => createDecipheriv('aes-256-gcm', key, nonce).setAAD(firstLine),
  })
}

function demandKey(line: string, recoveryKey: Uint8Array | undefined): asserts recoveryKey is Uint8Array {
  const [, version, mark = ''] = /^gatehouse-sealed-file\/(\d+) ([0-9a-f]{16})\n/.exec(line) ?? []
  if (version !== '1')
    throw new SealedFileFault('has a format that a newer gatehouse wrote, or it is damaged; restore it with that one')
  demandSameMark(mark, recoveryKey, markOf)
}
