import { createHash } from 'node:crypto'
import { closeSync, constants, fdatasyncSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { errorCode } from '../platform/faults.ts'
import { ownFile, type RandomBytes } from '../platform/index.ts'
import { FileSealer } from './sealing/sealed-file.ts'
import { tarEnd, tarHeader, tarPadding } from './tar.ts'

/** Seals the file under this key on its way to the disk. */
export type Sealing = { readonly recoveryKey: Uint8Array; readonly random: RandomBytes }

export type WrittenMember = { readonly name: string; readonly sizeBytes: number; readonly sha256: string }

const pieceBytes = 4 * 1024 * 1024

/** Writes a backup member by member, each hashed on its way. Blocks the thread. */
export class ArchiveWriter {
  readonly #fd: number
  readonly #nowMs: number
  readonly #onPiece: () => void
  readonly #piece = Buffer.alloc(pieceBytes)
  readonly #members: WrittenMember[] = []
  readonly #hash = createHash('sha256')
  readonly #sealer: FileSealer | undefined
  #sizeBytes = 0

  /**
   * @param onPiece is called after every 4 MiB, which are on disk then; it may wait, and may throw to give up
   * @param sealing without it the file is plain
   */
  constructor(path: string, nowMs: number, onPiece: () => void, sealing?: Sealing) {
    this.#fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
    this.#nowMs = nowMs
    this.#onPiece = onPiece
    this.#sealer = sealing && new FileSealer({ ...sealing, write: (bytes) => this.#store(bytes), name: '' })
  }

  get members(): readonly WrittenMember[] {
    return this.#members
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Adds a file of this box. Returns undefined when it is not there. Throws when it gets shorter meanwhile. */
  addFile(name: string, path: string): WrittenMember | undefined {
    const fd = openIfThere(path)
    if (fd === undefined) return undefined
    try {
      const { size } = fstatSync(fd)
      this.#write(tarHeader(name, size, this.#nowMs))
      const hash = createHash('sha256')
      for (let left = size; left > 0; ) {
        const got = readSync(fd, this.#piece, 0, Math.min(left, pieceBytes), null)
        if (got === 0) throw new Error(`${path} became shorter while it was copied`)
        const bytes = this.#piece.subarray(0, got)
        hash.update(bytes)
        this.#write(bytes)
        left -= got
        if (got === pieceBytes) this.#endPiece()
      }
      return this.#end(name, size, hash.digest('hex'))
    } finally {
      closeSync(fd)
    }
  }

  addBytes(name: string, bytes: Buffer): WrittenMember {
    this.#write(tarHeader(name, bytes.length, this.#nowMs))
    this.#write(bytes)
    return this.#end(name, bytes.length, createHash('sha256').update(bytes).digest('hex'))
  }

  /** Ends the file. It is on disk then, under the name that it was made with. Returns its SHA-256, hex. */
  finish(): string {
    this.#write(tarEnd)
    this.#sealer?.finish()
    fsyncSync(this.#fd)
    return this.#hash.digest('hex')
  }

  close(): void {
    closeSync(this.#fd)
  }

  #end(name: string, sizeBytes: number, sha256: string): WrittenMember {
    this.#write(tarPadding(sizeBytes))
    const member = { name, sizeBytes, sha256 }
    this.#members.push(member)
    return member
  }

  #write(bytes: Uint8Array): void {
    if (this.#sealer) this.#sealer.add(bytes)
    else this.#store(bytes)
  }

  #store(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at)
    this.#sizeBytes += bytes.length
  }

  #endPiece(): void {
    fdatasyncSync(this.#fd)
    this.#onPiece()
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, ownFile.read)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
