import { crc32 } from 'node:zlib'

/** What the bytes of a photo themselves say they are; a header is not believed. */
export type PictureType = { readonly mediaType: string; readonly extension: string }

type Form = PictureType & {
  readonly begins: (bytes: Buffer) => boolean
  /** Whether the file is whole, as far as its own structure tells. Nothing is decoded. */
  readonly isWhole: (bytes: Buffer) => boolean
  /** Of a whole file; undefined where it does not say. */
  readonly sizeOf: (bytes: Buffer) => PictureSize | undefined
}

/** Pixels as the header tells them, before any turning. */
export type PictureSize = { readonly width: number; readonly height: number }

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')

const forms: readonly Form[] = [
  {
    mediaType: 'image/jpeg',
    extension: 'jpg',
    begins: (b) => b.length > 3 && b.readUIntBE(0, 3) === 0xffd8ff,
    isWhole: isWholeJpeg,
    sizeOf: sizeOfJpeg,
  },
  {
    mediaType: 'image/png',
    extension: 'png',
    begins: (b) => b.subarray(0, 8).equals(pngSignature),
    isWhole: isWholePng,
    sizeOf: (b) => ({ width: b.readUInt32BE(16), height: b.readUInt32BE(20) }),
  },
  {
    mediaType: 'image/webp',
    extension: 'webp',
    begins: (b) => tagAt(b, 0) === 'RIFF' && tagAt(b, 8) === 'WEBP',
    isWhole: isWholeWebp,
    sizeOf: sizeOfWebp,
  },
]

/** The type of a whole picture; `damaged` names the type of one that only begins like one. */
export function readPicture(
  bytes: Buffer,
): (PictureType & { size: PictureSize | undefined }) | { damaged: string } | undefined {
  const form = forms.find((f) => f.begins(bytes))
  if (!form) return undefined
  const { mediaType, extension } = form
  return form.isWhole(bytes) ? { mediaType, extension, size: form.sizeOf(bytes) } : { damaged: mediaType }
}

export function extensionOf(mediaType: string): string {
  return forms.find((f) => f.mediaType === mediaType)?.extension ?? 'bin'
}

function tagAt(bytes: Buffer, offset: number): string {
  return bytes.toString('latin1', offset, offset + 4)
}

/** Chunks of length, type, data and CRC: IHDR of 13 bytes first, data, IEND at last, and each as its CRC says. */
function isWholePng(bytes: Buffer): boolean {
  if (bytes.length < 33 || bytes.readUInt32BE(8) !== 13 || tagAt(bytes, 12) !== 'IHDR') return false
  let hasData = false
  let offset = 8
  while (offset + 12 <= bytes.length) {
    const end = offset + 8 + bytes.readUInt32BE(offset)
    if (end + 4 > bytes.length || crc32(bytes.subarray(offset + 4, end)) !== bytes.readUInt32BE(end)) return false
    const tag = tagAt(bytes, offset + 4)
    if (tag === 'IEND') return hasData
    if (tag === 'IDAT') hasData = true
    offset = end + 4
  }
  return false
}

type Segment = { readonly marker: number; readonly offset: number; readonly length: number }

/** Segments of marker and length, the scan last; ends early where something else stands. */
function* segmentsOf(bytes: Buffer): Generator<Segment> {
  let offset = 2
  while (offset + 4 <= bytes.length && bytes[offset] === 0xff) {
    const marker = bytes[offset + 1] ?? 0
    if (marker === 0xff) {
      offset += 1 // a fill byte
      continue
    }
    const length = bytes.readUInt16BE(offset + 2)
    yield { marker, offset, length }
    if (marker === 0xda) return
    offset += 2 + length
  }
}

const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** One of the segments up to the scan is the frame (SOF); behind the scan stands the end of the image. */
function isWholeJpeg(bytes: Buffer): boolean {
  let hasFrame = false
  for (const { marker, offset } of segmentsOf(bytes)) {
    if (marker === 0xda) return hasFrame && bytes.lastIndexOf(Buffer.of(0xff, 0xd9)) > offset
    if (isFrame(marker)) hasFrame = true
  }
  return false
}

function sizeOfJpeg(bytes: Buffer): PictureSize | undefined {
  for (const { marker, offset, length } of segmentsOf(bytes)) {
    if (!isFrame(marker)) continue
    if (length < 8 || offset + 9 > bytes.length) return undefined
    return { height: bytes.readUInt16BE(offset + 5), width: bytes.readUInt16BE(offset + 7) }
  }
  return undefined
}

/** RIFF says how long it is; the first chunk is a bitmap or the header of the extended form. */
function isWholeWebp(bytes: Buffer): boolean {
  if (bytes.length < 20) return false
  const size = bytes.readUInt32LE(4)
  return size >= 12 && size + 8 <= bytes.length && ['VP8 ', 'VP8L', 'VP8X'].includes(tagAt(bytes, 12))
}

function sizeOfWebp(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 30) return undefined
  switch (tagAt(bytes, 12)) {
    case 'VP8X':
      return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) }
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21)
      return { width: 1 + (packed & 0x3fff), height: 1 + ((packed >>> 14) & 0x3fff) }
    }
    default:
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  }
}

/** The EXIF block of a WebP file: a TIFF of its own. */
export function exifOfWebp(bytes: Buffer): Buffer | undefined {
  for (let offset = 12; offset + 8 <= bytes.length; ) {
    const length = bytes.readUInt32LE(offset + 4)
    if (tagAt(bytes, offset) === 'EXIF') {
      const block = bytes.subarray(offset + 8, offset + 8 + length)
      return block.toString('latin1', 0, 6) === 'Exif\0\0' ? block.subarray(6) : block
    }
    offset += 8 + length + (length % 2)
  }
  return undefined
}
