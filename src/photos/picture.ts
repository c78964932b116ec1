import { crc32 } from 'node:zlib'
import type { Bytes } from './file-bytes.ts'

/** Type of a photo by its own bytes; a header is not trusted. */
type PictureType = { readonly mediaType: string; readonly extension: string }

type Form = PictureType & {
  /** @param head the first bytes, `signatureBytes` of them where there are so many */
  readonly begins: (head: Buffer) => boolean
  /** Returns whether the file is whole by its own structure. Nothing is decoded. */
  readonly isWhole: (bytes: Bytes) => boolean
  /** Returns the size of a whole file; undefined where the file does not state it. */
  readonly sizeOf: (bytes: Bytes) => PictureSize | undefined
  /** The EXIF block of a whole file: a complete TIFF. */
  readonly exifOf: (bytes: Bytes) => Buffer | undefined
}

/** Pixels by the header, before any turning. */
export type PictureSize = { readonly width: number; readonly height: number }

/** First bytes that decide the type of a file. */
export const signatureBytes = 12

/** Cameras write some hundreds. Millions of empty ones would hold up the thread. */
const mostPieces = 20_000
/** The times are at the beginning of an EXIF block; behind them come thumbnails. */
const mostExifBytes = 256 * 1024
const blockBytes = 64 * 1024

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')

const forms: readonly Form[] = [
  {
    mediaType: 'image/jpeg',
    extension: 'jpg',
    begins: (head) => head.length > 3 && head.readUIntBE(0, 3) === 0xffd8ff,
    isWhole: isWholeJpeg,
    sizeOf: sizeOfJpeg,
    exifOf: exifOfJpeg,
  },
  {
    mediaType: 'image/png',
    extension: 'png',
    begins: (head) => head.subarray(0, 8).equals(pngSignature),
    isWhole: isWholePng,
    sizeOf: (bytes) => ({ width: u32be(bytes, 16), height: u32be(bytes, 20) }),
    exifOf: (bytes) => firstPiece(pngChunks(bytes), 'eXIf', bytes),
  },
  {
    mediaType: 'image/webp',
    extension: 'webp',
    begins: (head) => head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP',
    isWhole: isWholeWebp,
    sizeOf: sizeOfWebp,
    exifOf: exifOfWebp,
  },
]

export function beginsAsPicture(head: Buffer): boolean {
  return forms.some((form) => form.begins(head))
}

/** Returns the type of a whole picture; `damaged` names the type of one that only begins like one. */
export function readPicture(
  bytes: Bytes,
): { readonly mediaType: string; readonly size: PictureSize | undefined } | { readonly damaged: string } | undefined {
  const head = bytes.at(0, signatureBytes)
  const form = forms.find((f) => f.begins(head))
  if (!form) return undefined
  const { mediaType } = form
  return form.isWhole(bytes) ? { mediaType, size: form.sizeOf(bytes) } : { damaged: mediaType }
}

/** As `readPicture`, of bytes in memory. */
export const readPictureBytes = (bytes: Buffer) =>
  readPicture({ length: bytes.length, at: (offset, count) => bytes.subarray(offset, offset + count) })

/** Returns the EXIF block of a whole picture, as far as it is read; undefined where there is none. */
export function exifOf(bytes: Bytes, mediaType: string): Buffer | undefined {
  return forms.find((form) => form.mediaType === mediaType)?.exifOf(bytes)
}

export function extensionOf(mediaType: string): string {
  return forms.find((f) => f.mediaType === mediaType)?.extension ?? 'bin'
}

const tagAt = (bytes: Bytes, offset: number) => bytes.at(offset, 4).toString('latin1')
const u16be = (bytes: Bytes, offset: number) => bytes.at(offset, 2).readUInt16BE(0)
const u32be = (bytes: Bytes, offset: number) => bytes.at(offset, 4).readUInt32BE(0)
const u32le = (bytes: Bytes, offset: number) => bytes.at(offset, 4).readUInt32LE(0)

/** One of the named parts that a file consists of; `offset` and `length` are those of its content. */
type Piece = { readonly tag: string; readonly offset: number; readonly length: number }

/** Returns the content of the first piece with that name, as far as EXIF is read. */
function firstPiece(pieces: Iterable<Piece>, tag: string, bytes: Bytes): Buffer | undefined {
  for (const piece of pieces) if (piece.tag === tag) return copyOf(bytes, piece.offset, piece.length)
  return undefined
}

function copyOf(bytes: Bytes, offset: number, length: number): Buffer {
  return Buffer.from(bytes.at(offset, Math.min(length, mostExifBytes)))
}

/** Chunks of length, name, content and CRC; ends early where one does not fit. */
function* pngChunks(bytes: Bytes): Generator<Piece> {
  let offset = 8
  for (let n = 0; n < mostPieces && offset + 12 <= bytes.length; n++) {
    const piece = { length: u32be(bytes, offset), tag: tagAt(bytes, offset + 4), offset: offset + 8 }
    offset = piece.offset + piece.length + 4
    if (offset > bytes.length) return
    yield piece
  }
}

/** Returns whether a PNG is whole: IHDR of 13 bytes first, data, IEND at last, and each with a right CRC. */
function isWholePng(bytes: Bytes): boolean {
  if (bytes.length < 33 || u32be(bytes, 8) !== 13 || tagAt(bytes, 12) !== 'IHDR') return false
  let hasData = false
  for (const { tag, offset, length } of pngChunks(bytes)) {
    if (crcOf(bytes, offset - 4, offset + length) !== u32be(bytes, offset + length)) return false
    if (tag === 'IEND') return hasData
    if (tag === 'IDAT') hasData = true
  }
  return false
}

function crcOf(bytes: Bytes, from: number, to: number): number {
  let crc = 0
  for (let at = from; at < to; at += blockBytes) crc = crc32(bytes.at(at, Math.min(blockBytes, to - at)), crc)
  return crc
}

type Segment = { readonly marker: number; readonly offset: number; readonly length: number }

/** Segments of marker and length, the scan last; ends early where something else follows. */
function* segmentsOf(bytes: Bytes): Generator<Segment> {
  let offset = 2
  for (let n = 0; n < mostPieces && offset + 4 <= bytes.length; n++) {
    const head = bytes.at(offset, 4)
    if (head[0] !== 0xff) return
    const marker = head[1] ?? 0
    if (marker === 0xff) {
      offset += 1 // a fill byte
      continue
    }
    const length = head.readUInt16BE(2)
    yield { marker, offset, length }
    if (marker === 0xda) return
    offset += 2 + length
  }
}

const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** One of the segments up to the scan is the frame (SOF); behind the scan comes the end of the image. */
function isWholeJpeg(bytes: Bytes): boolean {
  let hasFrame = false
  for (const { marker, offset } of segmentsOf(bytes)) {
    if (marker === 0xda) return hasFrame && endsBehind(bytes, offset)
    if (isFrame(marker)) hasFrame = true
  }
  return false
}

/** Returns whether the mark of the end (EOI) comes behind an offset; searches from the end of the file. */
function endsBehind(bytes: Bytes, offset: number): boolean {
  for (let end = bytes.length; end > offset + 2; end -= blockBytes - 1) {
    const from = Math.max(offset + 1, end - blockBytes)
    if (bytes.at(from, end - from).includes(Buffer.of(0xff, 0xd9))) return true
  }
  return false
}

function sizeOfJpeg(bytes: Bytes): PictureSize | undefined {
  for (const { marker, offset, length } of segmentsOf(bytes)) {
    if (!isFrame(marker)) continue
    if (length < 8 || offset + 9 > bytes.length) return undefined
    return { height: u16be(bytes, offset + 5), width: u16be(bytes, offset + 7) }
  }
  return undefined
}

const exifMark = 'Exif\0\0'

function exifOfJpeg(bytes: Bytes): Buffer | undefined {
  for (const { marker, offset, length } of segmentsOf(bytes)) {
    if (marker !== 0xe1 || bytes.at(offset + 4, 6).toString('latin1') !== exifMark) continue
    return copyOf(bytes, offset + 10, length - 8)
  }
  return undefined
}

/** RIFF states its length; the first chunk is a bitmap or the header of the extended form. */
function isWholeWebp(bytes: Bytes): boolean {
  if (bytes.length < 20) return false
  const size = u32le(bytes, 4)
  return size >= 12 && size + 8 <= bytes.length && ['VP8 ', 'VP8L', 'VP8X'].includes(tagAt(bytes, 12))
}

function sizeOfWebp(bytes: Bytes): PictureSize | undefined {
  const head = bytes.at(0, 30)
  if (head.length < 30) return undefined
  switch (tagAt(bytes, 12)) {
    case 'VP8X':
      return { width: 1 + head.readUIntLE(24, 3), height: 1 + head.readUIntLE(27, 3) }
    case 'VP8L': {
      const packed = head.readUInt32LE(21)
      return { width: 1 + (packed & 0x3fff), height: 1 + ((packed >>> 14) & 0x3fff) }
    }
    default:
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
  }
}

/** Chunks of name, length and content, each on an even offset. */
function* webpChunks(bytes: Bytes): Generator<Piece> {
  let offset = 12
  for (let n = 0; n < mostPieces && offset + 8 <= bytes.length; n++) {
    const piece = { tag: tagAt(bytes, offset), length: u32le(bytes, offset + 4), offset: offset + 8 }
    yield piece
    offset = piece.offset + piece.length + (piece.length % 2)
  }
}

function exifOfWebp(bytes: Bytes): Buffer | undefined {
  const block = firstPiece(webpChunks(bytes), 'EXIF', bytes)
  return block?.toString('latin1', 0, 6) === exifMark ? block.subarray(6) : block
}
