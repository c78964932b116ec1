/** The part of MPEG-TS that is needed to cut one video stream at its key frames: ISO/IEC 13818-1, 2.4.3. */
import { giveBack, keep, takeBlock } from './video-blocks.ts'

export const packetBytes = 188
const syncByte = 0x47
const wrap = 2 ** 33
const ticksPerMs = 90
/** Pictures this close together have guessed times: ffmpeg did not know them, and counted. */
const uncertainMs = 1
/** At most this many times are corrected; a stream without any times passes unchanged. */
const mostUncertain = 50

const nothing: Buffer = Buffer.alloc(0)

export type Codec = 'h264' | 'hevc' | 'mjpeg' | 'other'

/** One picture with all packets up to the next one. */
export type Unit = {
  readonly bytes: Buffer
  /** Presentation time in milliseconds, without the wrap after 26.5 hours; from an arbitrary start. */
  readonly ptsMs: number
  /** Whether this is a key frame. */
  readonly key: boolean
  /** Monotonic time at which its first packet arrived, at the latest. */
  readonly arrivedMs: number
  /** Monotonic time at which it had not arrived; undefined: not known. */
  readonly sinceMs?: number | undefined
}

/** When bytes were read (monotonic), and when it was known that they had not come. */
export type ReadTime = Pick<Unit, 'arrivedMs' | 'sinceMs'>

/**
 * Cuts a transport stream with one video into units. Bytes before the first picture are dropped. Program tables are stored apart,
 * so that a part that is cut out later can begin with them.
 */
export class UnitSplitter {
  /** Bytes that have come, up to `#filled`. The packets before `#at` have been read. Undefined before the first bytes. */
  #block: Buffer | undefined
  #filled = 0
  #at = 0
  /** Where the open unit begins, whose packets are side by side; without one, `#at`. */
  #from = 0
  #open: Omit<Unit, 'bytes'> | undefined
  #lastPts: number | undefined
  #pat: Buffer | undefined
  #pmt: Buffer | undefined
  /** Both, once they were asked for. */
  #tables: Buffer | undefined
  #pmtPid = -1
  #videoPid = -1
  #codec: Codec = 'other'
  /** The first pictures, while their times are not known; undefined once they are. */
  #uncertain: Unit[] | undefined

  /** `timesAreKnown`: the stream was recorded from one whose first times have been corrected. */
  constructor({ timesAreKnown = false }: { readonly timesAreKnown?: boolean } = {}) {
    this.#uncertain = timesAreKnown ? undefined : []
  }

  /** Returns the newest program tables; a file that begins with them and a key unit can be played. */
  get tables(): Buffer {
    if (this.#pat && this.#pmt) this.#tables ??= Buffer.concat([this.#pat, this.#pmt])
    return this.#tables ?? nothing
  }

  get codec(): Codec {
    return this.#codec
  }

  /**
   * Returns the units that `bytes` completes: each is complete when the next one begins. Their bytes are in blocks (see
   * `video-blocks.ts`) and are the caller's until it gives them back. `bytes` may be written over afterwards.
   */
  push(bytes: Buffer, arrivedMs: number, sinceMs?: number): Unit[] {
    const units: Unit[] = []
    for (let taken = 0; taken < bytes.length; ) {
      const block = this.#room()
      const length = Math.min(bytes.length - taken, block.length - this.#filled)
      bytes.copy(block, this.#filled, taken, taken + length)
      this.#filled += length
      taken += length
      this.#read(block, { arrivedMs, sinceMs }, units)
    }
    return units
  }

  /** Returns the last picture, as far as it arrived, when nothing follows. */
  flush(): Unit[] {
    const last = this.#block && this.#close(this.#block, this.#at)
    return [...(this.#uncertain ?? []), ...(last ? [last] : [])]
  }

  /** Returns a block that is not full. Bytes of an incomplete unit move to a new block. */
  #room(): Buffer {
    const before = this.#block
    if (before && this.#filled < before.length) return before
    const length = this.#filled - this.#from
    const block = takeBlock(length * 2 || packetBytes)
    before?.copy(block, 0, this.#from, this.#filled)
    if (before) giveBack(before)
    this.#block = block
    this.#at -= this.#from
    this.#from = 0
    this.#filled = length
    return block
  }

  /** Reads the packets that are there as a whole, and adds the units that end before them. */
  #read(block: Buffer, read: ReadTime, units: Unit[]): void {
    let at = this.#at
    while (at + packetBytes <= this.#filled) {
      if (block[at] !== syncByte) {
        at = this.#skip(block, at)
        continue
      }
      // Most packets continue a picture, and need no further reading.
      if (((block[at + 1] ?? 0) & 0x40) !== 0) {
        const next = this.#starting(block.subarray(at, at + packetBytes), read)
        if (next) {
          const unit = this.#close(block, at)
          if (unit) units.push(...this.#certain(unit))
          this.#open = next
        }
      }
      at += packetBytes
      if (!this.#open) this.#from = at
    }
    this.#at = at
  }

  /** Leaves out bytes that are no packet, and joins the bytes before them with those after. Returns where that begins. */
  #skip(block: Buffer, at: number): number {
    const found = block.subarray(at + 1, this.#filled).indexOf(syncByte)
    const next = found < 0 ? this.#filled : at + 1 + found
    const from = next - (at - this.#from)
    block.copyWithin(from, this.#from, at)
    this.#from = from
    return next
  }

  /** Ends the open unit before `at`, where another one begins. */
  #close(block: Buffer, at: number): Unit | undefined {
    const bytes = block.subarray(this.#from, at)
    const unit = this.#open && { ...this.#open, bytes }
    if (unit) keep(bytes)
    this.#open = undefined
    this.#from = at
    return unit
  }

  /**
   * Corrects the times of a connection's first pictures. These are unknown to ffmpeg, which writes them one tick apart. They are
   * spaced evenly before the first known one.
   */
  #certain(unit: Unit): Unit[] {
    if (!this.#uncertain) return [unit]
    const known = this.#uncertain.at(-1)
    this.#uncertain.push(unit)
    if (!known) return []
    if (this.#uncertain.length < mostUncertain && Math.abs(unit.ptsMs - known.ptsMs) <= uncertainMs) return []
    const stepMs = unit.ptsMs - known.ptsMs
    const last = this.#uncertain.length - 2
    const certain = this.#uncertain.map((one, i) => (i >= last ? one : retimed(one, known.ptsMs - (last - i) * stepMs)))
    this.#uncertain = undefined
    // Times that run back are those of B-frames: the pictures before them cannot be placed.
    return stepMs > 0 ? certain : [unit]
  }

  /** Reads a packet that begins something; returns the picture that it begins, if it does. */
  #starting(packet: Buffer, read: ReadTime): Omit<Unit, 'bytes'> | undefined {
    const pid = pidOf(packet)
    if (pid === 0) this.#readPat(packet)
    else if (pid === this.#pmtPid) this.#readPmt(packet)
    const pts = pid === this.#videoPid ? presentationTime(packet) : undefined
    if (pts === undefined) return undefined
    if (this.#codec === 'other' && beginsJpeg(packet)) this.#codec = 'mjpeg'
    this.#lastPts = unwrapped(pts, this.#lastPts)
    return { ptsMs: this.#lastPts / ticksPerMs, key: isRandomAccess(packet), ...read }
  }

  #readPat(packet: Buffer): void {
    const section = packet.subarray(payloadAt(packet) + 1)
    if (section.length < 12) return
    this.#pat = Buffer.from(packet)
    this.#tables = undefined
    this.#pmtPid = section.readUInt16BE(10) & 0x1fff
  }

  #readPmt(packet: Buffer): void {
    const section = packet.subarray(payloadAt(packet) + 1)
    if (section.length < 17) return
    const stream = 12 + (section.readUInt16BE(10) & 0x0fff)
    if (section.length < stream + 3) return
    this.#pmt = Buffer.from(packet)
    this.#tables = undefined
    const codec = codecOf(section.readUInt8(stream))
    // Motion JPEG is recognized by its pictures; the repeated table must not overwrite that.
    if (codec !== 'other' || this.#codec !== 'mjpeg') this.#codec = codec
    this.#videoPid = section.readUInt16BE(stream + 1) & 0x1fff
  }
}

function codecOf(streamType: number): Codec {
  if (streamType === 0x1b) return 'h264'
  return streamType === 0x24 ? 'hevc' : 'other'
}

function payloadAt(packet: Buffer): number {
  const hasAdaptation = (packet.readUInt8(3) & 0x20) !== 0
  return hasAdaptation ? Math.min(5 + packet.readUInt8(4), packetBytes - 1) : 4
}

function isRandomAccess(packet: Buffer): boolean {
  const hasAdaptation = (packet.readUInt8(3) & 0x20) !== 0
  return hasAdaptation && packet.readUInt8(4) > 0 && (packet.readUInt8(5) & 0x40) !== 0
}

/** Returns the time in ticks of 90 kHz; undefined when the packet begins no picture with a time. */
function presentationTime(packet: Buffer): number | undefined {
  const pes = packet.subarray(payloadAt(packet))
  if (pes.length < 14 || pes.readUIntBE(0, 3) !== 1 || (pes.readUInt8(7) & 0x80) === 0) return undefined
  return timeAt(pes, 9)
}

/** Reads a time of five bytes, in ticks. */
function timeAt(pes: Buffer, at: number): number {
  const high = (pes.readUInt8(at) >> 1) & 0x07
  return high * 2 ** 30 + (pes.readUInt16BE(at + 1) >> 1) * 2 ** 15 + (pes.readUInt16BE(at + 3) >> 1)
}

/** Returns the bytes of a unit's picture, without packet headers. */
export function payloadOf(unit: Unit): Buffer {
  const pid = pidOf(unit.bytes)
  const parts: Buffer[] = []
  for (let at = 0; at + packetBytes <= unit.bytes.length; at += packetBytes) {
    const packet = unit.bytes.subarray(at, at + packetBytes)
    if (pidOf(packet) !== pid || (packet.readUInt8(3) & 0x10) === 0) continue
    const payload = packet.subarray(payloadAt(packet))
    parts.push(at === 0 ? payload.subarray(9 + payload.readUInt8(8)) : payload)
  }
  return Buffer.concat(parts)
}

/** A picture without packet headers, and its times in ticks of 90 kHz. */
export type TimedPicture = {
  readonly payload: Buffer
  readonly pts: number
  /** When it is decoded: earlier than it is shown, where later pictures need it. */
  readonly dts: number
  /** Counter of its last packet. The next picture continues it. */
  readonly counter: number
}

/**
 * Reads a unit into `into`, which has room for it. Undefined when its packets do not follow each other, or `counter`, that of the
 * packet before them.
 */
export function pictureOf(unit: Unit, into: Buffer, counter?: number): TimedPicture | undefined {
  const { bytes } = unit
  const pid = pidOf(bytes)
  const head = bytes.subarray(payloadAt(bytes))
  let [last, end] = [counter, 0]
  for (let at = 0; at + packetBytes <= bytes.length; at += packetBytes) {
    const [second = 0, third = 0, fourth = 0] = [bytes[at + 1], bytes[at + 2], bytes[at + 3]]
    if (((second & 0x1f) << 8) + third !== pid || (fourth & 0x10) === 0) continue
    const expected = last === undefined ? fourth & 0x0f : (last + 1) & 0x0f
    if ((fourth & 0x0f) !== expected || ((second & 0x40) !== 0) !== (at === 0) || (second & 0x80) !== 0)
      return undefined
    last = expected
    const payload = (fourth & 0x20) === 0 ? 4 : Math.min(5 + (bytes[at + 4] ?? 0), packetBytes)
    const from = at === 0 ? payload + 9 + head.readUInt8(8) : payload
    end += bytes.copy(into, end, at + from, at + packetBytes)
  }
  const pts = Math.round(unit.ptsMs * ticksPerMs)
  const aheadTicks = (head.readUInt8(7) & 0x40) === 0 ? 0 : (timeAt(head, 9) - timeAt(head, 14) + wrap) % wrap
  return { payload: into.subarray(0, end), pts, dts: pts - aheadTicks, counter: last ?? 0 }
}

function pidOf(packet: Buffer): number {
  return packet.readUInt16BE(1) & 0x1fff
}

/** Says whether a packet begins a JPEG. Motion JPEG has no stream type, so ffmpeg writes it as private data. */
function beginsJpeg(packet: Buffer): boolean {
  const pes = packet.subarray(payloadAt(packet))
  const picture = pes.subarray(9 + (pes[8] ?? 0))
  return picture.length >= 3 && picture.readUIntBE(0, 3) === 0xffd8ff
}

/** Returns the same picture with another time, also in its bytes. */
export function retimed(unit: Unit, ptsMs: number): Unit {
  const bytes = Buffer.from(unit.bytes)
  const pes = bytes.subarray(payloadAt(bytes))
  const ticks = (Math.round(ptsMs * ticksPerMs) + wrap) % wrap
  writeTime(pes, 9, ticks)
  if ((pes.readUInt8(7) & 0x40) !== 0) writeTime(pes, 14, ticks)
  return { ...unit, bytes, ptsMs }
}

/** Writes a time as five bytes, keeping the marker in the first byte's upper four bits. */
function writeTime(pes: Buffer, at: number, ticks: number): void {
  pes.writeUInt8((pes.readUInt8(at) & 0xf0) | (Math.floor(ticks / 2 ** 30) << 1) | 1, at)
  pes.writeUInt16BE((Math.floor(ticks / 2 ** 15) % 2 ** 15) * 2 + 1, at + 1)
  pes.writeUInt16BE((ticks % 2 ** 15) * 2 + 1, at + 3)
}

/** Returns the time nearest to `before` among those with the same lower 33 bits. */
function unwrapped(pts: number, before: number | undefined): number {
  if (before === undefined) return pts
  const turns = Math.round((before - pts) / wrap)
  return pts + turns * wrap
}
