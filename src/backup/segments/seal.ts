import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { RandomBytes } from '../../platform/index.ts'
import { markOf } from '../sealing/age-header.ts'
import { isOlderSegment, OlderSeal } from '../sealing/older-segment.ts'
import { SealedFileFault } from '../sealing/pieces.ts'
import { FileSealer, openSealedFile } from '../sealing/sealed-file.ts'

/** A file is written with at most about 16 MiB inside; a larger one is not ours. */
const largestPlainBytes = 512 * 1024 * 1024

/** Seals and opens files under the recovery key: zstd, then age. */
export class Seal {
  /** Identifies the key without revealing it: 16 hex digits. */
  readonly mark: string
  readonly #recoveryKey: Uint8Array

  constructor(recoveryKey: Uint8Array) {
    this.#recoveryKey = recoveryKey
    this.mark = markOf(recoveryKey)
  }

  /** Returns the file. `name` is its path below the source: under another name it does not open. */
  seal(plain: Uint8Array, name: string, random: RandomBytes): Buffer {
    const parts: Uint8Array[] = []
    const write = (bytes: Uint8Array) => void parts.push(bytes)
    const sealer = new FileSealer({ recoveryKey: this.#recoveryKey, random, write, name })
    sealer.add(zstdCompressSync(plain))
    sealer.finish()
    return Buffer.concat(parts)
  }

  /** Returns what was sealed under this name. Throws SealedFileFault. */
  open(file: Uint8Array, name: string): Buffer {
    if (isOlderSegment(file)) return new OlderSeal(this.#recoveryKey).open(file, name)
    const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
    const whole = { sizeBytes: bytes.length, read: (at: number, length: number) => bytes.subarray(at, at + length) }
    const opened = openSealedFile(whole, this.#recoveryKey, name)
    const packed = opened.read(0, opened.sizeBytes)
    try {
      return zstdDecompressSync(packed, { maxOutputLength: largestPlainBytes })
    } catch {
      throw new SealedFileFault('does not hold what gatehouse packs into a sealed file')
    }
  }
}
