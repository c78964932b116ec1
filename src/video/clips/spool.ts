import { type FileHandle, open } from 'node:fs/promises'
import { ownFile } from '../../platform/index.ts'
import type { Codec, Unit } from '../format/transport-stream.ts'
import { giveBack, keep } from '../format/video-blocks.ts'
import { writeParts } from '../format/write-parts.ts'
import type { Ring, StreamEnd } from '../stream/ring.ts'
import type { ClipRoom } from './clip-room.ts'

export type SpoolOptions = {
  readonly path: string
  readonly ring: Ring
  /** The spool begins at the key frame at or before this (monotonic). */
  readonly fromMs: number
  /** Asked before each write; `release` returns the room that it gave. */
  readonly room: Pick<ClipRoom, 'take' | 'giveBack'>
  /** No earlier picture (monotonic) is shown. */
  readonly notBeforeMs: number
  /** Called when the beginning is known; nothing is written before it resolves. */
  readonly prepare: (beginning: Beginning) => Promise<void>
}

/** The beginning of a spool. */
export type Beginning = {
  /** Monotonic time of the picture that is shown first. */
  readonly startMs: number
  /** The same in the time of the stream. */
  readonly startPtsMs: number
  /** Milliseconds of the spool before that: the rest of its group of pictures. */
  readonly leadMs: number
  readonly codec: Codec
}

/** A closed spool. */
export type Spooled = Beginning & {
  /** Why it ends before it was closed; null: it does not. */
  readonly cutShort: 'disk-full' | 'disk-too-slow' | 'disk-failed' | null
  /** Why its stream did not continue before it was closed; absent: it did. */
  readonly streamEnd?: StreamEnd | undefined
}

/** Bytes waiting for the disk, beside the pre-roll, at which a clip ends. */
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
 * Writes an open clip to a file as a transport stream: the past that the ring holds, and every picture that comes.
 * Taking from the ring never waits for the disk.
 */
export class Spool {
  readonly #path: string
  readonly #ring: Ring
  readonly #fromMs: number
  readonly #notBeforeMs: number
  readonly #unsubscribe: () => void
  readonly #room: SpoolOptions['room']
  #roomBytes = 0
  /** Bytes that are in the file for certain. */
  #writtenBytes = 0
  readonly #prepare: SpoolOptions['prepare']
  #pending: Buffer[] = []
  #pendingBytes = 0
  /** Bytes of the pre-roll. All of it waits at first, because the ring had it in memory anyway. */
  #pastBytes = 0
  #writing: Promise<void> = Promise.resolve()
  #file: FileHandle | undefined
  #error: unknown
  #begin: Beginning | undefined
  #streamEnd: StreamEnd | undefined
  /** Time of each picture that was taken, and its end in the file. */
  readonly #pictures: { readonly ptsMs: number; readonly endByte: number }[] = []
  #takenBytes = 0

  /** Takes the past from the ring at once; the file is written afterwards. */
  constructor({ path, ring, fromMs, notBeforeMs, room, prepare }: SpoolOptions) {
    this.#path = path
    this.#ring = ring
    this.#fromMs = fromMs
    this.#notBeforeMs = notBeforeMs
    this.#room = room
    this.#prepare = prepare
    this.#takePast()
    this.#unsubscribe = ring.subscribe({
      unit: (unit) => this.#take(unit),
      broken: (why) => {
        this.#streamEnd = why
        this.#unsubscribe()
      },
      // Video that is not read yet is lost if the gateway dies.
      isPrompt: true,
    })
  }

  /** Resolves when the file has all video that was taken, or when writing has failed. */
  get drained(): Promise<void> {
    return this.#writing.catch(() => {})
  }

  /** Bytes that wait for the disk. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /**
   * Ends the spool and cuts off the pictures that are later than `endMs` (monotonic). Resolves when all is in the file, or as much
   * as the disk took. Rejects with SpoolError or the disk's error when there is nothing to show.
   */
  async close(endMs: number): Promise<Spooled> {
    this.#unsubscribe()
    try {
      await this.#writing.catch(() => {})
      if (this.#begin && this.#isWorthIt(this.#begin)) {
        await this.#file?.truncate(Math.min(this.#bytesUntil(endMs, this.#begin), this.#wholeBytes()))
      }
      await this.#file?.close()
    } catch (error) {
      // The bytes in the file can still be read; they may show a little more than they should.
      this.#error ??= error
      await this.#file?.close().catch(() => {})
    }
    if (this.#begin && this.#isWorthIt(this.#begin))
      return { ...this.#begin, cutShort: cutOf(this.#error), streamEnd: this.#streamEnd }
    throw this.#error ?? new SpoolError('no-video')
  }

  /** Ends the clip here, because it takes too much memory: the disk is slower than the camera. */
  giveUp(): void {
    this.#fail(new SpoolError('disk-too-slow'))
  }

  /** Gives the room on the disk back. Call it when the clip is finished. */
  release(): void {
    this.#room.giveBack(this.#roomBytes)
    this.#roomBytes = 0
  }

  /** Says whether the file shows something: nothing failed, or the disk has taken at least one picture that is shown. */
  #isWorthIt({ startPtsMs }: Beginning): boolean {
    if (!this.#error) return true
    return this.#pictures.some(({ ptsMs, endByte }) => ptsMs >= startPtsMs && endByte <= this.#writtenBytes)
  }

  /** Returns where the last picture ends that is in the file as a whole. */
  #wholeBytes(): number {
    return this.#pictures.findLast(({ endByte }) => endByte <= this.#writtenBytes)?.endByte ?? 0
  }

  /** Up to the first picture that is shown later: the pictures after it in the file may need it. One is left in any case. */
  #bytesUntil(endMs: number, { startMs, startPtsMs }: Beginning): number {
    const endPtsMs = startPtsMs + endMs - startMs
    const later = this.#pictures.findIndex(({ ptsMs }) => ptsMs > endPtsMs)
    const count = later < 0 ? this.#completeCount() : later
    return this.#pictures[Math.max(count - 1, 0)]?.endByte ?? this.#takenBytes
  }

  /** Returns the number of pictures whose B-frames have all arrived. */
  #completeCount(): number {
    const times = this.#pictures.map(({ ptsMs }) => ptsMs)
    const isReordered = times.some((ms, i) => ms < (times[i - 1] ?? ms))
    return isReordered ? times.indexOf(Math.max(...times)) : times.length
  }

  #takePast(): void {
    const cut = this.#ring.since(this.#fromMs, this.#notBeforeMs)
    const wantedPtsMs = this.#ring.ptsAt(this.#fromMs)
    if (!cut || wantedPtsMs === undefined) return
    // A little before the wanted moment, or later when the ring begins later.
    const startMs = this.#fromMs + cut.startPtsMs - wantedPtsMs
    const { startPtsMs, codec } = cut
    this.#begin = { startMs, startPtsMs, leadMs: startPtsMs - cut.firstPtsMs, codec }
    this.#pastBytes = cut.units.reduce((sum, { bytes }) => sum + bytes.length, 0)
    this.#append([cut.tables])
    this.#takenBytes = cut.tables.length
    for (const unit of cut.units) this.#take(unit)
  }

  #take(unit: Unit): void {
    if (!this.#begin) {
      if (unit.key) this.#takePast()
      return
    }
    this.#takenBytes += unit.bytes.length
    this.#pictures.push({ ptsMs: unit.ptsMs, endByte: this.#takenBytes })
    this.#append([unit.bytes])
  }

  #append(bytes: readonly Buffer[]): void {
    if (this.#error) return
    for (const part of bytes) {
      keep(part)
      this.#pending.push(part)
      this.#pendingBytes += part.length
    }
    if (this.#pendingBytes > this.#pastBytes + mostPendingBytes) this.giveUp()
    else this.#writing = this.#writing.then(() => this.#write())
  }

  async #write(): Promise<void> {
    const batch = this.#pending
    if (batch.length === 0 || this.#error) return
    this.#pending = []
    try {
      const bytes = batch.reduce((sum, part) => sum + part.length, 0)
      if (!this.#room.take(bytes)) throw new SpoolError('disk-full')
      this.#roomBytes += bytes
      this.#file ??= await this.#open()
      await writeParts(this.#file, batch, (written) => {
        this.#writtenBytes += written
      })
      this.#pendingBytes = Math.max(this.#pendingBytes - bytes, 0)
      batch.forEach(giveBack)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #open(): Promise<FileHandle> {
    if (this.#begin) await this.#prepare(this.#begin)
    return open(this.#path, ownFile.write, 0o640)
  }

  #fail(error: unknown): void {
    this.#error ??= error
    this.#pending = []
    this.#pendingBytes = 0
    this.#unsubscribe()
  }
}

/** Says why a spool ended before it was closed; null: it did not. */
function cutOf(error: unknown): Spooled['cutShort'] {
  if (!error) return null
  const { reason, code } = error as { reason?: SpoolError['reason']; code?: string }
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'disk-full'
  return reason === 'disk-full' || reason === 'disk-too-slow' ? reason : 'disk-failed'
}
