/** What the bytes of a photo themselves say they are; a header is not believed. */
export type PictureType = { readonly mediaType: string; readonly extension: string }

type Form = PictureType & {
  readonly begins: (bytes: Buffer) => boolean
  /** Whether the file is whole, as far as its own structure tells. Nothing is decoded. */
  readonly isWhole: (bytes: Buffer) => boolean
}

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')

const forms: readonly Form[] = [
  {
    mediaType: 'image/jpeg',
    extension: 'jpg',
    begins: (b) => b.length > 3 && b.readUIntBE(0, 3) === 0xffd8ff,
    isWhole: isWholeJpeg,
  },
  {
    mediaType: 'image/png',
    extension: 'png',
    begins: (b) => b.subarray(0, 8).equals(pngSignature),
    isWhole: isWholePng,
  },
  {
    mediaType: 'image/webp',
    extension: 'webp',
    begins: (b) => tagAt(b, 0) === 'RIFF' && tagAt(b, 8) === 'WEBP',
    isWhole: isWholeWebp,
  },
]

/** The type of a whole picture; `damaged` names the type of one that only begins like one. */
export function readPicture(bytes: Buffer): PictureType | { damaged: string } | undefined {
  const form = forms.find((f) => f.begins(bytes))
  if (!form) return undefined
  const { mediaType, extension } = form
  return form.isWhole(bytes) ? { mediaType, extension } : { damaged: mediaType }
}

export function extensionOf(mediaType: string): string {
  return forms.find((f) => f.mediaType === mediaType)?.extension ?? 'bin'
}

function tagAt(bytes: Buffer, offset: number): string {
  return bytes.toString('latin1', offset, offset + 4)
}

/** Chunks of length, type, data and CRC: IHDR of 13 bytes first, IEND at last. */
function isWholePng(bytes: Buffer): boolean {
  if (bytes.length < 33 || bytes.readUInt32BE(8) !== 13 || tagAt(bytes, 12) !== 'IHDR') return false
  let offset = 8
  while (offset + 12 <= bytes.length) {
    if (tagAt(bytes, offset + 4) === 'IEND') return true
    offset += 12 + bytes.readUInt32BE(offset)
  }
  return false
}

/** Segments of marker and length up to the scan, one of them the frame (SOF); behind the scan the end of the image. */
function isWholeJpeg(bytes: Buffer): boolean {
  let hasFrame = false
  let offset = 2
  while (offset + 4 <= bytes.length && bytes[offset] === 0xff) {
    const marker = bytes[offset + 1] ?? 0
    if (marker === 0xff) {
      offset += 1 // a fill byte
      continue
    }
    if (marker === 0xda) return hasFrame && bytes.lastIndexOf(Buffer.of(0xff, 0xd9)) > offset
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) hasFrame = true
    offset += 2 + bytes.readUInt16BE(offset + 2)
  }
  return false
}

/** RIFF says how long it is; the first chunk is a bitmap or the header of the extended form. */
function isWholeWebp(bytes: Buffer): boolean {
  if (bytes.length < 20) return false
  const size = bytes.readUInt32LE(4)
  return size >= 12 && size + 8 <= bytes.length && ['VP8 ', 'VP8L', 'VP8X'].includes(tagAt(bytes, 12))
}
