import { type FileHandle, open } from 'node:fs/promises'
import type { Codec, Ring, Unit } from '../cameras/index.ts'

export type SpoolOptions = {
  readonly path: string
  readonly ring: Ring
  /** The spool begins at the key frame at or before this (monotonic). */
  readonly fromMs: number
  /** Asked before each write. */
  readonly hasRoom: () => boolean
  /** Called once there is a beginning; nothing is written before it resolves. */
  readonly prepare: (beginning: Beginning) => Promise<void>
}

/** Where a spool begins. */
export type Beginning = {
  /** Monotonic time of what is to be shown first. */
  readonly startMs: number
  /** How much of the spool lies before that: the rest of its group of pictures. */
  readonly leadMs: number
  readonly codec: Codec
}

/** A disk that is slower than the camera for so long is given up. */
const mostPendingBytes = 64 * 1024 * 1024

export class SpoolError extends Error {
  override readonly name = 'SpoolError'
  readonly reason: 'no-video' | 'disk-too-slow' | 'disk-full'

  constructor(reason: 'no-video' | 'disk-too-slow' | 'disk-full') {
    super(reason)
    this.reason = reason
  }
}

/**
 * A clip that is open: what the ring holds of the past, and every picture that comes, as a transport stream in a file.
 * Taking from the ring never waits for the disk.
 */
export class Spool {
  readonly #path: string
  readonly #ring: Ring
  readonly #fromMs: number
  readonly #unsubscribe: () => void
  readonly #hasRoom: () => boolean
  readonly #prepare: SpoolOptions['prepare']
  #pending: Buffer[] = []
  #pendingBytes = 0
  #writing: Promise<void> = Promise.resolve()
  #file: FileHandle | undefined
  #error: unknown
  #begin: Beginning | undefined

  /** Takes hold of the past at once; the file follows. */
  constructor({ path, ring, fromMs, hasRoom, prepare }: SpoolOptions) {
    this.#path = path
    this.#ring = ring
    this.#fromMs = fromMs
    this.#hasRoom = hasRoom
    this.#prepare = prepare
    this.#takePast()
    this.#unsubscribe = ring.subscribe({ unit: (unit) => this.#take(unit), broken: () => this.#unsubscribe() })
  }

  /** Takes nothing more; resolves when all is in the file. Rejects with SpoolError or the disk's error. */
  async close(): Promise<Beginning> {
    this.#unsubscribe()
    await this.#writing.catch(() => {})
    await this.#file?.close()
    if (this.#error) throw this.#error
    if (!this.#begin) throw new SpoolError('no-video')
    return this.#begin
  }

  #takePast(): void {
    const cut = this.#ring.since(this.#fromMs)
    const wantedPtsMs = this.#ring.ptsAt(this.#fromMs)
    if (!cut || wantedPtsMs === undefined) return
    // The past may not reach back so far; then the clip starts later than wanted.
    const startMs = this.#fromMs + cut.startPtsMs - wantedPtsMs
    this.#begin = { startMs, leadMs: cut.startPtsMs - cut.firstPtsMs, codec: cut.codec }
    this.#append(cut.bytes)
  }

  #take(unit: Unit): void {
    if (this.#begin) this.#append([unit.bytes])
    else if (unit.key) this.#takePast()
  }

  #append(bytes: readonly Buffer[]): void {
    if (this.#error) return
    this.#pending.push(...bytes)
    this.#pendingBytes += bytes.reduce((sum, part) => sum + part.length, 0)
    if (this.#pendingBytes > mostPendingBytes) this.#fail(new SpoolError('disk-too-slow'))
    else this.#writing = this.#writing.then(() => this.#write())
  }

  async #write(): Promise<void> {
    const batch = this.#pending
    if (batch.length === 0 || this.#error) return
    this.#pending = []
    try {
      if (!this.#hasRoom()) throw new SpoolError('disk-full')
      this.#file ??= await this.#open()
      await writeAll(this.#file, Buffer.concat(batch))
      this.#pendingBytes -= batch.reduce((sum, part) => sum + part.length, 0)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #open(): Promise<FileHandle> {
    if (this.#begin) await this.#prepare(this.#begin)
    return open(this.#path, 'w', 0o640)
  }

  #fail(error: unknown): void {
    this.#error ??= error
    this.#pending = []
    this.#pendingBytes = 0
    this.#unsubscribe()
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
}
