import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto'
import type { RandomBytes } from '../platform/index.ts'
import type { Bytes } from './bytes.ts'

/**
 * A file of any size that only the recovery key opens. It has a first line (format and mark of the key), 32 bytes of salt, then
 * pieces of 1 MiB; the last one is shorter. AES-256-GCM seals each piece, with its tag behind it. The nonce of a piece is its
 * number in 11 bytes and a byte that is 1 in the last one. So pieces cannot be left out, exchanged or cut off.
 */
const format = 'gatehouse-sealed-file/1'
const saltBytes = 32
const tagBytes = 16
const pieceBytes = 1024 * 1024
const lineBytes = format.length + 18

/** Fault of a sealed file. The message continues its name: `… is cut`. */
export class SealedFileFault extends Error {
  override readonly name = 'SealedFileFault'
}

/** Identifies a recovery key without revealing it: 16 hex digits. */
const markOf = (recoveryKey: Uint8Array) =>
  hash('sha256', Buffer.from(hkdfSync('sha256', recoveryKey, '', `${format} mark`, 32))).slice(0, 16)

const firstLineOf = (recoveryKey: Uint8Array) => Buffer.from(`${format} ${markOf(recoveryKey)}\n`)

const keyOf = (recoveryKey: Uint8Array, salt: Uint8Array) =>
  Buffer.from(hkdfSync('sha256', recoveryKey, salt, format, 32))

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** Seals a file on its way to the disk: takes its bytes in order, and gives those of the sealed file. Holds one piece. */
export class FileSealer {
  readonly #firstLine: Buffer
  readonly #key: Buffer
  readonly #write: (bytes: Uint8Array) => void
  readonly #piece = Buffer.alloc(pieceBytes)
  #filled = 0
  #number = 0

  constructor(recoveryKey: Uint8Array, random: RandomBytes, write: (bytes: Uint8Array) => void) {
    const salt = random(saltBytes)
    this.#firstLine = firstLineOf(recoveryKey)
    this.#key = keyOf(recoveryKey, salt)
    this.#write = write
    write(this.#firstLine)
    write(salt)
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
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonceOf(this.#number, isLast)).setAAD(this.#firstLine)
    this.#write(cipher.update(this.#piece.subarray(0, this.#filled)))
    cipher.final()
    this.#write(cipher.getAuthTag())
    this.#number += 1
    this.#filled = 0
  }
}

/** Says whether a file begins as a sealed one, of whatever version. */
export function isSealedFile(file: Bytes): boolean {
  const begin = format.slice(0, format.indexOf('/') + 1)
  return file.sizeBytes >= begin.length && file.read(0, begin.length).toString('latin1') === begin
}

/**
 * Returns what a sealed file holds, to be read at any place; one piece at a time is opened. Each piece is authenticated before a
 * byte of it is given. Throws SealedFileFault, also when it is read.
 */
export function openSealedFile(file: Bytes, recoveryKey: Uint8Array | undefined): Bytes {
  if (file.sizeBytes < lineBytes + saltBytes) throw new SealedFileFault('is cut')
  const firstLine = file.read(0, lineBytes)
  demandKey(firstLine.toString('latin1'), recoveryKey)
  const begin = lineBytes + saltBytes
  const whole = pieceBytes + tagBytes
  const pieces = Math.ceil((file.sizeBytes - begin) / whole)
  const sizeBytes = file.sizeBytes - begin - pieces * tagBytes
  if (pieces < 1 || sizeBytes < (pieces - 1) * pieceBytes) throw new SealedFileFault('is cut')
  const key = keyOf(recoveryKey, file.read(lineBytes, saltBytes))
  let known: { readonly number: number; readonly plain: Buffer } | undefined
  const piece = (number: number): Buffer => {
    if (known?.number === number) return known.plain
    const at = begin + number * whole
    const sealed = file.read(at, Math.min(whole, file.sizeBytes - at))
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, number === pieces - 1))
    decipher.setAAD(firstLine).setAuthTag(sealed.subarray(-tagBytes))
    const plain = decipher.update(sealed.subarray(0, -tagBytes))
    try {
      decipher.final()
    } catch {
      throw new SealedFileFault(`does not open at byte ${at}: it was cut or changed`)
    }
    known = { number, plain }
    return plain
  }
  // The last piece proves that nothing was cut off behind it.
  piece(pieces - 1)
  return { sizeBytes, read: (at, length) => readAcross(piece, at, length) }
}

function readAcross(piece: (number: number) => Buffer, at: number, length: number): Buffer {
  const parts: Buffer[] = []
  for (let from = at; from < at + length; ) {
    const within = from % pieceBytes
    const part = piece(Math.floor(from / pieceBytes)).subarray(within, within + at + length - from)
    if (part.length === 0) throw new SealedFileFault(`ends before byte ${at + length}`)
    parts.push(part)
    from += part.length
  }
  return Buffer.concat(parts, length)
}

function demandKey(line: string, recoveryKey: Uint8Array | undefined): asserts recoveryKey is Uint8Array {
  const [, version, mark = ''] = /^gatehouse-sealed-file\/(\d+) ([0-9a-f]{16})\n/.exec(line) ?? []
  if (version !== '1')
    throw new SealedFileFault('has a format that a newer gatehouse wrote, or it is damaged; restore it with that one')
  if (!recoveryKey) {
    throw new SealedFileFault(
      'is sealed under a recovery key: add --recovery-key FILE, with the line that gatehouse backup key printed',
    )
  }
  const own = markOf(recoveryKey)
  if (own !== mark) {
    throw new SealedFileFault(`was sealed under another recovery key: its mark is ${mark}, and that of this key ${own}`)
  }
}
