/**
 * Makes an MP4 of a transport stream without ffmpeg, a part at a time. The start of ffmpeg takes more processor time than all of
 * this work. The video is copied bit by bit, as ffmpeg copies it. Streams that are in any way unusual are left to it.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { ownFile } from '../../platform/index.ts'
import { mostHeaderBytes, mp4Header, type Sample, sampleEntry } from '../format/mp4-writing.ts'
import { beginsNalUnit, mostBytes, nalUnits, writeWithLengths } from '../format/nal-units.ts'
import { isNalCodec, type NalCodec, nalType, parameterTypes, sequenceFacts } from '../format/sequence-parameters.ts'
import {
  type Codec,
  packetBytes,
  pictureOf,
  type TimedPicture,
  type Unit,
  UnitSplitter,
} from '../format/transport-stream.ts'
import { giveBack } from '../format/video-blocks.ts'

/** Properties of the clip that a spool becomes. */
export type Part = {
  /** Milliseconds of the beginning that are hidden. */
  readonly hiddenMs: number
  readonly codec: Codec
}

/** Read in one turn of the event loop, which cameras wait for. */
const partBytes = 1024 * packetBytes
/** Unit of the times in a transport stream. */
const ticksPerSecond = 90_000
/** Pictures are not decoded this long before they are shown. */
const mostReorderTicks = 10 * ticksPerSecond

/** In one picture: each is compared with all others, and the header of a clip counts 31 sequences and 255 pictures at most. */
const mostSets = 31

/** The stream has something that is not known here. */
class Unknown extends Error {
  override readonly name = 'Unknown'
}

/**
 * Writes the clip into the file `part`, with its header first. Resolves with false when the stream has anything unknown; the
 * content of the file then means nothing. Rejects with the disk's error.
 */
export async function remuxHere(spool: string, part: string, { hiddenMs, codec }: Part): Promise<boolean> {
  if (!isNalCodec(codec)) return false
  const from = await open(spool, ownFile.read)
  try {
    const to = await open(part, ownFile.write, 0o640)
    await copy(from, to, codec, hiddenMs).finally(() => to.close())
    return true
  } catch (error) {
    if (error instanceof Unknown || error instanceof RangeError) return false
    throw error
  } finally {
    await from.close()
  }
}

async function copy(from: FileHandle, to: FileHandle, codec: NalCodec, hiddenMs: number): Promise<void> {
  const { size } = await from.stat()
  const mediaAt = mostHeaderBytes(await countPictures(from), size)
  const pictures = new Pictures(codec)
  const splitter = new UnitSplitter({ timesAreKnown: true })
  // The pictures are written from here on; the header before them is known at the end.
  let at = mediaAt
  const write = async (units: readonly Unit[]) => {
    const bytes = pictures.take(units)
    for (const unit of units) giveBack(unit.bytes)
    at += await writeAt(to, bytes, at)
  }
  for await (const bytes of partsOf(from)) await write(splitter.push(bytes, 0))
  if (splitter.codec !== codec) throw new Unknown('another codec')
  await write(splitter.flush())
  await writeAt(to, pictures.header(mediaAt, hiddenMs), 0)
}

/** Yields a file part by part, each in the same memory. */
async function* partsOf(file: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(partBytes)
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}

/** Returns how many pictures there are at most: so many packets of one stream begin something. Tables are streams too. */
async function countPictures(file: FileHandle): Promise<number> {
  const counts = new Map<number, number>()
  for await (const bytes of partsOf(file))
    for (let at = 1; at + 1 < bytes.length; at += packetBytes) {
      if (((bytes[at] ?? 0) & 0x40) === 0) continue
      const pid = bytes.readUInt16BE(at) & 0x1fff
      counts.set(pid, (counts.get(pid) ?? 0) + 1)
    }
  return Math.max(0, ...counts.values())
}

async function writeAt(file: FileHandle, bytes: Buffer, at: number): Promise<number> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
  return bytes.length
}

/** The pictures of a clip, as they are copied. */
class Pictures {
  readonly #codec: NalCodec
  readonly #samples: Sample[] = []
  /** Parameter sets of the first picture. All later ones are the same. */
  #sets: Buffer[] = []
  /** Continuity of the packets. */
  #counter: number | undefined
  // Both are filled again: memory taken anew keeps the garbage collector at work.
  #payload: Buffer = Buffer.alloc(0)
  #written: Buffer = Buffer.alloc(0)

  constructor(codec: NalCodec) {
    this.#codec = codec
  }

  /** Takes note of pictures and returns them as they are in the file, until the next ones are taken. Throws Unknown. */
  take(units: readonly Unit[]): Buffer {
    this.#written = roomFor(
      units.reduce((sum, { bytes }) => sum + mostBytes(bytes.length), 0),
      this.#written,
    )
    let at = 0
    for (const unit of units) {
      this.#payload = roomFor(unit.bytes.length, this.#payload)
      const picture = pictureOf(unit, this.#payload, this.#counter)
      if (!picture) throw new Unknown('packets that do not follow each other')
      this.#counter = picture.counter
      const end = this.#write(picture, this.#written, at)
      this.#note(picture, unit.key, end - at)
      at = end
    }
    return this.#written.subarray(0, at)
  }

  /** Returns the bytes before the pictures. Throws Unknown when there are none. */
  header(mediaAt: number, hiddenMs: number): Buffer {
    const [first] = this.#samples
    const sequence = this.#sets.find((set) => nalType(set, this.#codec) === parameterTypes[this.#codec][0])
    if (!first || !sequence) throw new Unknown('nothing to show')
    const facts = sequenceFacts(sequence, this.#codec)
    if (!facts.isPlain) throw new Unknown('fields, or pixels that are not square')
    const entry = sampleEntry({ codec: this.#codec, sets: this.#sets, facts })
    const shownFrom = first.pts + Math.round((hiddenMs * ticksPerSecond) / 1000)
    const { width, height } = facts
    return mp4Header({ entry, width, height, samples: this.#samples, shownFrom, ticksPerSecond }, mediaAt)
  }

  #write({ payload }: TimedPicture, to: Buffer, at: number): number {
    if (!beginsNalUnit(payload)) throw new Unknown('no start code')
    const types: readonly number[] = parameterTypes[this.#codec]
    const nals = [...nalUnits(payload)]
    const sets = nals.filter((nal) => types.includes(nalType(nal, this.#codec)))
    if (sets.length > mostSets) throw new Unknown('too many parameter sets')
    if (this.#samples.length === 0) this.#sets = firstOfEach(sets)
    else if (!sets.every((set) => this.#sets.some((known) => known.equals(set)))) throw new Unknown('other parameters')
    if (types.some((type) => !this.#sets.some((set) => nalType(set, this.#codec) === type)))
      throw new Unknown('no parameters')
    return writeWithLengths(nals, to, at)
  }

  #note({ pts, dts }: TimedPicture, isKey: boolean, sizeBytes: number): void {
    const before = this.#samples.at(-1)
    if (!before && !isKey) throw new Unknown('no key frame at the beginning')
    if ((before && dts <= before.dts) || pts < dts || pts > dts + mostReorderTicks) throw new Unknown('times run back')
    this.#samples.push({ sizeBytes, dts, pts, isKey })
  }
}

/** Returns memory of at least so many bytes: `there`, or a larger one. */
function roomFor(bytes: number, there: Buffer): Buffer {
  return there.length < bytes ? Buffer.allocUnsafeSlow(bytes * 2) : there
}

/** Returns each parameter set once, copied. */
function firstOfEach(sets: readonly Buffer[]): Buffer[] {
  const firsts = sets.filter((set, i) => sets.findIndex((other) => other.equals(set)) === i)
  return firsts.map((set) => Buffer.from(set))
}
