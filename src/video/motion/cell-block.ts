/**
 * Stored cells are blocks of some seconds, each complete in itself. A file can be cut off anywhere, and all blocks before that are
 * whole. All numbers are little-endian; all times are whole milliseconds.
 *
 * - block: "GHC1", payload length u32, CRC-32 of all that follows u32, entries u16, two bytes 0, first time f64, wall clock minus
 *   times f64, payload
 * - payload: zstd of length of the times u32, flags (one byte an entry), times, cells
 * - flags:
 *   - bits 0-1: 0 frame, 1 another connection, 2 interruption
 *   - bits 2-3: whole (0 no, 1 light, 2 view)
 *   - bit 4: the frame has cells over 0
 *   - bit 5: the entry has times
 *   - bits 6-7: view (0 normal, 1 covered, 2 turned, 3 not known)
 * - times: zigzag varints
 *   - of a frame: time minus (time before + 200), lateness minus lateness before in steps of 500 ms
 *   - of an interruption: its time and the end of the clip, both minus the time before; its cause (0 stopped, 1 ended)
 * - cells: bit map of 144 bits of the cells over 0, then these cells, one byte each, 0 to 100
 */
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { framesPerSecond } from '../decoding/frames.ts'
import type { FrameCells, WholeChange } from './cells.ts'
import type { Interruption } from './detector.ts'
import { cellCount } from './grid.ts'
import { type FrameTimes, latenessStepMs } from './motion-judge.ts'
import type { View } from './view-watch.ts'

/** Events of a camera's motion detection, in order. */
export type CellEntry =
  | { readonly kind: 'frame'; readonly cells: FrameCells; readonly times: FrameTimes }
  | { readonly kind: 'reconnected' }
  | { readonly kind: 'interrupted'; readonly why: Interruption; readonly endMs: number; readonly nowMs: number }

export type CellBlock = {
  /** From the times of the entries to the wall clock. */
  readonly wallOffsetMs: number
  readonly entries: readonly CellEntry[]
}

const magic = Buffer.from('GHC1')
const headBytes = 32
/** Entries of one block; a larger number is damage. */
export const mostEntries = 1000
const mostPayloadBytes = mostEntries * 256
const frameMs = 1000 / framesPerSecond
const mapBytes = cellCount / 8
const wholes: readonly (WholeChange | null)[] = [null, 'light', 'view']
const views: readonly View[] = ['normal', 'covered', 'turned', null]
const causes: readonly Interruption[] = ['stopped', 'stream-ended']
const hasCells = 16
const hasTimes = 32
const level = { params: { [constants.ZSTD_c_compressionLevel]: 6 } }

/** Returns the bytes of a block; `firstMs` is the time of its first frame, or any for a block without frames. */
export function writeBlock({ wallOffsetMs, entries }: CellBlock, firstMs: number): Buffer {
  const flags = Buffer.alloc(entries.length)
  const times: number[] = []
  const cells: Buffer[] = []
  let before: FrameTimes = { takenMs: firstMs - frameMs, arrivedMs: firstMs - frameMs }
  entries.forEach((entry, i) => {
    flags[i] = writeEntry(entry, before, times, cells)
    if (entry.kind === 'frame') before = entry.times
  })
  const sizes = Buffer.alloc(4)
  sizes.writeUInt32LE(times.length)
  const payload = zstdCompressSync(Buffer.concat([sizes, flags, Buffer.from(times), ...cells]), level)
  const head = Buffer.alloc(headBytes)
  magic.copy(head)
  head.writeUInt32LE(payload.length, 4)
  head.writeUInt16LE(entries.length, 12)
  head.writeDoubleLE(firstMs, 16)
  head.writeDoubleLE(wallOffsetMs, 24)
  const block = Buffer.concat([head, payload])
  block.writeUInt32LE(crc32(block.subarray(12)), 8)
  return block
}

function writeEntry(entry: CellEntry, before: FrameTimes, times: number[], cells: Buffer[]): number {
  switch (entry.kind) {
    case 'reconnected':
      return 1
    case 'interrupted':
      writeSigned(times, entry.nowMs - before.takenMs)
      writeSigned(times, entry.endMs - before.takenMs)
      times.push(causes.indexOf(entry.why))
      return 2 | hasTimes
    case 'frame': {
      const { changed, whole, view } = entry.cells
      const flag = (wholes.indexOf(whole) << 2) | (views.indexOf(view) << 6)
      const [ahead, later] = [
        entry.times.takenMs - before.takenMs - frameMs,
        latenessOf(entry.times) - latenessOf(before),
      ]
      const timed = ahead === 0 && later === 0 ? 0 : hasTimes
      if (timed) {
        writeSigned(times, ahead)
        writeSigned(times, later)
      }
      const over = overZero(changed)
      if (!over) return flag | timed
      cells.push(over)
      return flag | timed | hasCells
    }
  }
}

const latenessOf = ({ takenMs, arrivedMs }: FrameTimes): number => (arrivedMs - takenMs) / latenessStepMs

function overZero(changed: Uint8Array): Buffer | undefined {
  const bytes = Buffer.alloc(mapBytes + cellCount)
  let length = mapBytes
  for (let i = 0; i < cellCount; i += 1) {
    const share = changed[i] ?? 0
    if (share === 0) continue
    bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7))
    bytes[length] = share
    length += 1
  }
  return length === mapBytes ? undefined : bytes.subarray(0, length)
}

/** Reads the block at the begin of `bytes`. Returns undefined where none is whole: the file was cut off, or is damaged. */
export function readBlock(bytes: Buffer): { readonly block: LazyBlock; readonly length: number } | undefined {
  if (bytes.length < headBytes || !bytes.subarray(0, 4).equals(magic)) return undefined
  const length = headBytes + bytes.readUInt32LE(4)
  if (length > bytes.length || crc32(bytes.subarray(12, length)) !== bytes.readUInt32LE(8)) return undefined
  const count = bytes.readUInt16LE(12)
  const [firstMs, wallOffsetMs] = [bytes.readDoubleLE(16), bytes.readDoubleLE(24)]
  const payload = bytes.subarray(headBytes, length)
  const entries = () => new EntryReader(payload, count, firstMs).all()
  return { length, block: { fromMs: firstMs + wallOffsetMs, wallOffsetMs, entries } }
}

/** A block that is unpacked when its entries are asked for. */
export type LazyBlock = {
  /** Wall clock time of its first frame. */
  readonly fromMs: number
  readonly wallOffsetMs: number
  readonly entries: () => CellEntry[]
}

const nothing = new Uint8Array(cellCount)

class EntryReader {
  readonly #bytes: Buffer
  readonly #count: number
  #flagAt = 4
  #timeAt: number
  #cellAt: number
  #before: FrameTimes

  constructor(payload: Buffer, count: number, firstMs: number) {
    this.#bytes = zstdDecompressSync(payload, { maxOutputLength: mostPayloadBytes })
    this.#count = count
    this.#timeAt = 4 + count
    this.#cellAt = this.#timeAt + this.#bytes.readUInt32LE(0)
    this.#before = { takenMs: firstMs - frameMs, arrivedMs: firstMs - frameMs }
  }

  all(): CellEntry[] {
    return Array.from({ length: this.#count }, () => this.#next())
  }

  #next(): CellEntry {
    const flag = this.#bytes[this.#flagAt++] ?? 0
    if ((flag & 3) === 1) return { kind: 'reconnected' }
    if ((flag & 3) === 2) {
      const nowMs = this.#before.takenMs + this.#signed()
      const endMs = this.#before.takenMs + this.#signed()
      return { kind: 'interrupted', why: causes[this.#bytes[this.#timeAt++] ?? 0] ?? 'stopped', endMs, nowMs }
    }
    let late = latenessOf(this.#before)
    let takenMs = this.#before.takenMs + frameMs
    if (flag & hasTimes) {
      takenMs += this.#signed()
      late += this.#signed()
    }
    this.#before = { takenMs, arrivedMs: takenMs + late * latenessStepMs }
    const changed = flag & hasCells ? this.#cells() : nothing
    const [whole, view] = [wholes[(flag >> 2) & 3] ?? null, views[(flag >> 6) & 3] ?? null]
    return { kind: 'frame', cells: { changed, whole, view }, times: this.#before }
  }

  #cells(): Uint8Array {
    const changed = new Uint8Array(cellCount)
    const map = this.#cellAt
    let at = map + mapBytes
    for (let byte = 0; byte < mapBytes; byte += 1) {
      const bits = this.#bytes[map + byte] ?? 0
      if (bits === 0) continue
      for (let bit = 0; bit < 8; bit += 1) {
        if (bits & (1 << bit)) changed[byte * 8 + bit] = this.#bytes[at++] ?? 0
      }
    }
    this.#cellAt = at
    return changed
  }

  #signed(): number {
    let value = 0
    let factor = 1
    for (;;) {
      const byte = this.#bytes[this.#timeAt++] ?? 0
      value += (byte & 127) * factor
      if (byte < 128) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
      factor *= 128
    }
  }
}

/** Writes a whole number of up to 52 bits, small ones of either sign in one byte. */
function writeSigned(into: number[], number: number): void {
  let value = number < 0 ? -2 * number - 1 : 2 * number
  while (value >= 128) {
    into.push((value % 128) | 128)
    value = Math.floor(value / 128)
  }
  into.push(value)
}
