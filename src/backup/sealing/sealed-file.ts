import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import type { RandomBytes } from '../../platform/index.ts'
import type { Bytes } from '../bytes.ts'
import { largestHeaderBytes, newHeader, readHeader } from './age-header.ts'
import { isOlderFile, openOlderFile } from './older-file.ts'
import { nonceOf, openPieces, SealedFileFault, tagBytes } from './pieces.ts'

/**
 * A file of any size that only the recovery key opens: an age file (c2sp.org/age), so that `age -d` opens it too. Behind the header
 * are 16 bytes of nonce, then pieces of 64 KiB. ChaCha20-Poly1305 seals each piece, with its tag behind it. The nonce of a piece is
 * its number in 11 bytes and a byte that is 1 in the last one. So pieces cannot be left out, exchanged or cut off. The package
 * age-encryption answers with promises, but a backup is written and read in one synchronous thread.
 */
const begin = 'age-encryption.org/'
const nonceBytes = 16
const pieceBytes = 64 * 1024
const cipherName = 'chacha20-poly1305'
const tag = { authTagLength: tagBytes } as const

const payloadKey = (fileKey: Uint8Array, nonce: Uint8Array) =>
  Buffer.from(hkdfSync('sha256', fileKey, nonce, 'payload', 32))

export type SealingNeeds = {
  readonly recoveryKey: Uint8Array
  readonly random: RandomBytes
  /** Takes the bytes of the sealed file, in order. */
  readonly write: (bytes: Uint8Array) => void
  /** Under another name the file does not open; empty for a file that people may rename. */
  readonly name: string
}

/** Seals a file on its way to the disk: takes its bytes in order, and gives those of the sealed file. Holds one piece. */
export class FileSealer {
  readonly #key: Buffer
  readonly #write: (bytes: Uint8Array) => void
  readonly #piece = Buffer.alloc(pieceBytes)
  #filled = 0
  #number = 0

  constructor({ recoveryKey, random, write, name }: SealingNeeds) {
    const { bytes, fileKey } = newHeader(recoveryKey, name, random)
    const nonce = random(nonceBytes)
    this.#key = payloadKey(fileKey, nonce)
    this.#write = write
    write(Buffer.concat([bytes, nonce]))
  }

  /** A full piece waits for the next byte: only then it is known that it is not the last. */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#filled === pieceBytes) this.#seal(false)
      const part = bytes.subarray(at, at + pieceBytes - this.#filled)
      this.#piece.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
    }
  }

  finish(): void {
    this.#seal(true)
  }

  #seal(isLast: boolean): void {
    const cipher = createCipheriv(cipherName, this.#key, nonceOf(this.#number, isLast), tag)
    const sealed = [cipher.update(this.#piece.subarray(0, this.#filled)), cipher.final()]
    this.#write(Buffer.concat([...sealed, cipher.getAuthTag()]))
    this.#number += 1
    this.#filled = 0
  }
}

/** Says whether a file begins as a sealed one, of whatever version. */
export function isSealedFile(file: Bytes): boolean {
  const isAge = file.sizeBytes >= begin.length && file.read(0, begin.length).toString('latin1') === begin
  return isAge || isOlderFile(file)
}

/**
 * Returns what a sealed file holds, to be read at any place; one piece at a time is opened. Each piece is authenticated before a
 * byte of it is given. Throws SealedFileFault, also when it is read.
 */
export function openSealedFile(file: Bytes, recoveryKey: Uint8Array | undefined, name = ''): Bytes {
  if (isOlderFile(file)) return openOlderFile(file, recoveryKey)
  const header = readHeader(file.read(0, Math.min(file.sizeBytes, largestHeaderBytes)), recoveryKey, name)
  const start = header.bytes.length + nonceBytes
  if (file.sizeBytes < start) throw new SealedFileFault('is cut')
  const key = payloadKey(header.fileKey, file.read(header.bytes.length, nonceBytes))
  return openPieces(file, { start, pieceBytes, decipher: (nonce) => createDecipheriv(cipherName, key, nonce, tag) })
}
