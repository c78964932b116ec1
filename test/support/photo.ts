/** A JPEG that is whole by its structure, with the EXIF of a camera. */
export function jpeg(says: { taken?: string; offset?: string; width?: number; height?: number } = {}): Buffer {
  const { taken, offset, width = 4, height = 3 } = says
  const frame = Buffer.from('ffc0001108000000000301220002110103110100'.slice(0, 38), 'hex')
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  const exif = taken === undefined ? [] : [segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff(taken, offset)]))]
  const scan = Buffer.from('ffda000801010000003f0012ffd9', 'hex')
  return Buffer.concat([Buffer.from('ffd8', 'hex'), ...exif, frame, scan])
}

/** A WebP of the extended form, with the EXIF of a camera. */
export function webp(taken: string, offset?: string): Buffer {
  const chunk = (tag: string, data: Buffer) => {
    const head = Buffer.alloc(8)
    head.write(tag)
    head.writeUInt32LE(data.length, 4)
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
  }
  const header = Buffer.from('08000000030000020000', 'hex') // EXIF, 4 x 3
  const body = Buffer.concat([Buffer.from('WEBP'), chunk('VP8X', header), chunk('EXIF', tiff(taken, offset))])
  const head = Buffer.from('RIFF\0\0\0\0', 'latin1')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.of(0xff, marker, 0, 0)
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}

/** Little-endian TIFF: IFD0 with a pointer to the EXIF IFD, in it DateTimeOriginal and OffsetTimeOriginal. */
function tiff(taken: string, offset: string | undefined): Buffer {
  const texts = [
    { tag: 0x9003, text: `${taken}\0` },
    ...(offset === undefined ? [] : [{ tag: 0x9011, text: `${offset}\0` }]),
  ]
  const entry = (tag: number, type: number, count: number, value: number) => {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt16LE(tag, 0)
    bytes.writeUInt16LE(type, 2)
    bytes.writeUInt32LE(count, 4)
    bytes.writeUInt32LE(value, 8)
    return bytes
  }
  const count = (n: number) => Buffer.of(n, 0)
  const end = Buffer.alloc(4)
  const exifAt = 8 + 2 + 12 + 4
  let textAt = exifAt + 2 + 12 * texts.length + 4
  const entries = texts.map(({ tag, text }) => {
    const made = entry(tag, 2, text.length, textAt)
    textAt += text.length
    return made
  })
  return Buffer.concat([
    Buffer.from('49492a0008000000', 'hex'),
    count(1),
    entry(0x8769, 4, 1, exifAt),
    end,
    count(texts.length),
    ...entries,
    end,
    ...texts.map(({ text }) => Buffer.from(text, 'latin1')),
  ])
}
