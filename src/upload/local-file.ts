import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { errorCode } from '../platform/faults.ts'
import { ownFile } from '../platform/index.ts'
import { type Body, FileError } from './dav/dav.ts'

const pieceBytes = 16 * 1024

/** Returns a part of a file as a body. Reading throws FileError when it is missing or has another size by now. */
export function bodyOf(path: string, sizeBytes: number, from = 0, to = sizeBytes): Body {
  return { sizeBytes: to - from, open: () => pieces(path, sizeBytes, from, to) }
}

/** Returns bytes in memory as a body, in pieces that a narrow line takes one by one. */
export const bodyOfBytes = (bytes: Buffer): Body => ({ sizeBytes: bytes.length, open: () => piecesOf(bytes) })

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

async function* pieces(path: string, sizeBytes: number, from: number, to: number): AsyncGenerator<Buffer> {
  const file = await opened(path)
  try {
    const { size } = await file.stat()
    if (size !== sizeBytes)
      throw new FileError(`the file has ${size} bytes and not the ${sizeBytes} that were recorded`)
    for (let at = from; at < to; ) {
      const piece = Buffer.alloc(Math.min(pieceBytes, to - at))
      const { bytesRead } = await file.read(piece, 0, piece.length, at)
      if (bytesRead === 0) throw new FileError('the file became shorter while it was read')
      at += bytesRead
      yield piece.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

async function opened(path: string) {
  try {
    return await open(path, ownFile.read)
  } catch (error) {
    throw new FileError(`the file cannot be read: ${errorCode(error)}`, { cause: error })
  }
}

/** Returns the SHA-256 of a file as it is now. Throws FileError. */
export async function hashOf(path: string, sizeBytes: number): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of pieces(path, sizeBytes, 0, sizeBytes)) hash.update(piece)
  return hash.digest('hex')
}
