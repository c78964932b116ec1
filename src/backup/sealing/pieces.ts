import type { DecipherGCM } from 'node:crypto'
import type { Bytes } from '../bytes.ts'

/** Fault of a sealed file. The message continues its name: `… is cut`. */
export class SealedFileFault extends Error {
  override readonly name = 'SealedFileFault'
}

/** Throws SealedFileFault without a key, or when the mark in a file is another key's. */
export function demandSameMark(
  mark: string,
  recoveryKey: Uint8Array | undefined,
  markOf: (recoveryKey: Uint8Array) => string,
): asserts recoveryKey is Uint8Array {
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

/** Length of the tag behind each piece. */
export const tagBytes = 16

/** Returns the nonce of a piece: its number in 11 bytes, big-endian, and a byte that is 1 in the last piece. */
export function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** Pieces of one length from `start` on, each with its tag; the last one may be shorter. */
type Pieces = {
  readonly start: number
  readonly pieceBytes: number
  readonly decipher: (nonce: Buffer) => DecipherGCM
}

/**
 * Returns what the pieces of a file hold, to be read at any place; one piece at a time is opened. Each piece is authenticated before
 * a byte of it is given. Throws SealedFileFault, also when it is read.
 */
export function openPieces(file: Bytes, { start, pieceBytes, decipher: decipherOf }: Pieces): Bytes {
  const whole = pieceBytes + tagBytes
  const pieces = Math.ceil((file.sizeBytes - start) / whole)
  const sizeBytes = file.sizeBytes - start - pieces * tagBytes
  if (pieces < 1 || sizeBytes < (pieces - 1) * pieceBytes) throw new SealedFileFault('is cut')
  let known: { readonly number: number; readonly plain: Buffer } | undefined
  const piece = (number: number): Buffer => {
    if (known?.number === number) return known.plain
    const at = start + number * whole
    const sealed = file.read(at, Math.min(whole, file.sizeBytes - at))
    const decipher = decipherOf(nonceOf(number, number === pieces - 1)).setAuthTag(sealed.subarray(-tagBytes))
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
  return { sizeBytes, read: (at, length) => readAcross(piece, pieceBytes, { at, length }) }
}

function readAcross(
  piece: (number: number) => Buffer,
  pieceBytes: number,
  { at, length }: { readonly at: number; readonly length: number },
): Buffer {
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
