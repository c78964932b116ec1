/** JPEG pictures in RTP (RFC 2435): baseline, 4:2:0 or 4:2:2, standard Huffman tables, quantization tables in the packets. */

/** RFC 3551: JPEG has its own number. */
export const jpegPayloadType = 26

const payloadLimit = 1400
const startOfImage = Buffer.from([0xff, 0xd8, 0xff])
const tableBytes = 64
const tablesInPacket = 255

/** Content of the markers of a JPEG picture. */
type Markers = {
  readonly width: number
  readonly height: number
  /** 0: 4:2:2, 1: 4:2:0. */
  readonly type: number
  readonly tables: Buffer
  readonly scan: Buffer
}

/** The pictures of a file in which JPEGs stand one after the other, each as its RTP payloads. */
export function jpegPayloads(stream: Buffer): Buffer[][] {
  const starts: number[] = []
  for (let at = stream.indexOf(startOfImage); at >= 0; at = stream.indexOf(startOfImage, at + 1)) starts.push(at)
  return starts.map((start, i) => payloadsOfJpeg(stream.subarray(start, starts[i + 1] ?? stream.length)))
}

function payloadsOfJpeg(jpeg: Buffer): Buffer[] {
  const { width, height, type, tables, scan } = readMarkers(jpeg)
  const payloads: Buffer[] = []
  for (let at = 0; at < scan.length; ) {
    const header = Buffer.from([
      0,
      at >> 16,
      (at >> 8) & 0xff,
      at & 0xff,
      type,
      tablesInPacket,
      width >> 3,
      height >> 3,
    ])
    const first = at === 0 ? Buffer.concat([Buffer.from([0, 0, 0, tables.length]), tables]) : Buffer.alloc(0)
    const part = scan.subarray(at, at + payloadLimit - header.length - first.length)
    payloads.push(Buffer.concat([header, first, part]))
    at += part.length
  }
  return payloads
}

function readMarkers(jpeg: Buffer): Markers {
  let size = { width: 0, height: 0, type: 0 }
  const tables: Buffer[] = []
  for (let at = 2; ; ) {
    const [marker, length] = [jpeg.readUInt8(at + 1), jpeg.readUInt16BE(at + 2)]
    const body = jpeg.subarray(at + 4, at + 2 + length)
    at += 2 + length
    if (marker === 0xdb) {
      for (let t = 0; t < body.length; t += 1 + tableBytes) tables.push(body.subarray(t + 1, t + 1 + tableBytes))
    } else if (marker === 0xc0) {
      const type = body.readUInt8(7) === 0x22 ? 1 : 0
      size = { width: body.readUInt16BE(3), height: body.readUInt16BE(1), type }
    } else if (marker === 0xda) {
      const two = [tables[0], tables[1] ?? tables[0]].filter((table) => table !== undefined)
      return { ...size, tables: Buffer.concat(two), scan: jpeg.subarray(at, jpeg.lastIndexOf(0xd9) - 1) }
    }
  }
}
