import { nalUnits } from './nal-units.ts'
import { type NalCodec, nalType, parameterTypes, sequenceFacts } from './sequence-parameters.ts'
import { type Codec, payloadOf, type Unit } from './transport-stream.ts'

export type PictureSize = { readonly width: number; readonly height: number }

/** Parameter sets and JPEG headers come first in a key frame; this much of it is read. */
const headBytes = 64 * 188

/** Returns the size that a key frame states; undefined when it states none that can be read. */
export function pictureSize(unit: Unit, codec: Codec): PictureSize | undefined {
  const head = payloadOf({ ...unit, bytes: unit.bytes.subarray(0, headBytes) })
  try {
    switch (codec) {
      case 'h264':
      case 'hevc':
        return sizeIn(head, codec)
      case 'mjpeg':
        return jpegSize(head)
      case 'other':
        return undefined
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function sizeIn(bytes: Buffer, codec: NalCodec): PictureSize | undefined {
  for (const nal of nalUnits(bytes)) {
    if (nalType(nal, codec) !== parameterTypes[codec][0]) continue
    const { width, height } = sequenceFacts(nal, codec)
    return { width, height }
  }
  return undefined
}

/** Looks for a start of frame (ITU T.81, B.2.2): SOF0 to SOF2. */
function jpegSize(bytes: Buffer): PictureSize | undefined {
  for (let at = 2; at + 9 <= bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt16BE(at)
    if (marker >= 0xffc0 && marker <= 0xffc2) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    }
    if (marker < 0xff01) return undefined
  }
  return undefined
}
