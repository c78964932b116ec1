import type { FileHandle } from 'node:fs/promises'
import { type Codec, payloadOf, type Unit, UnitSplitter } from './transport-stream.ts'

const headerBytes = 32
const ticksPerSecond = 90_000

/**
 * Yields the pictures of a spooled transport stream as an IVF file, the simplest container with a time for each picture. In IVF,
 * ffmpeg recognizes Motion JPEG; in a transport stream it does not.
 */
export async function* asIvf(spool: FileHandle): AsyncGenerator<Buffer> {
  const splitter = new UnitSplitter()
  yield ivfHeader('mjpeg')
  for await (const bytes of spool.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    for (const unit of splitter.push(bytes, 0)) yield ivfPicture(unit)
  }
  for (const unit of splitter.flush()) yield ivfPicture(unit)
}

/** Codecs of pictures in IVF. ffmpeg recognizes all but H.265, whose decoder must be named. */
export type IvfCodec = Exclude<Codec, 'other'>

const fourCharacters: Readonly<Record<IvfCodec, string>> = { h264: 'H264', hevc: 'HEVC', mjpeg: 'MJPG' }

/** Returns how an IVF file begins. ffmpeg takes width and height from the pictures. */
export function ivfHeader(codec: IvfCodec): Buffer {
  const bytes = Buffer.alloc(headerBytes)
  bytes.write('DKIF', 0, 'latin1')
  bytes.writeUInt16LE(headerBytes, 6)
  bytes.write(fourCharacters[codec], 8, 'latin1')
  bytes.writeUInt32LE(ticksPerSecond, 16)
  bytes.writeUInt32LE(1, 20)
  return bytes
}

/** Returns a picture with its time, as it is in an IVF file. */
export function ivfPicture(unit: Unit): Buffer {
  return ivfPictureAt(Math.round((unit.ptsMs * ticksPerSecond) / 1000), payloadOf(unit))
}

/** Returns a picture with its time in ticks of 1/90,000 s. */
export function ivfPictureAt(ticks: number, payload: Buffer): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32LE(payload.length, 0)
  bytes.writeBigUInt64LE(BigInt(ticks), 4)
  return Buffer.concat([bytes, payload])
}
