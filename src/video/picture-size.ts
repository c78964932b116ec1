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
        return sizeIn(head, (nal) => (((nal[0] ?? 0) & 0x1f) === 7 ? h264Size(bitsOf(nal, 1)) : undefined))
      case 'hevc':
        return sizeIn(head, (nal) => (((nal[0] ?? 0) >> 1) % 64 === 33 ? hevcSize(bitsOf(nal, 2)) : undefined))
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

function sizeIn(bytes: Buffer, sizeOf: (nal: Buffer) => PictureSize | undefined): PictureSize | undefined {
  for (let at = nextStart(bytes, 0); at < bytes.length; ) {
    const end = nextStart(bytes, at)
    const size = sizeOf(bytes.subarray(at, end))
    if (size) return size
    at = end
  }
  return undefined
}

/** Returns the place behind the next start code; the length when there is none. */
function nextStart(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(startCode, from)
  return found < 0 ? bytes.length : found + startCode.length
}

const startCode = Buffer.from([0, 0, 1])

/** Reads bits and Exp-Golomb numbers (H.264, 9.1). Throws RangeError behind the end. */
type Bits = { skip(count: number): void; take(count: number): number; number(): number; signed(): void }

/** `headerBytes` of the NAL unit are passed over; emulation prevention bytes are removed. */
function bitsOf(nal: Buffer, headerBytes: number): Bits {
  const bytes: number[] = []
  for (let i = headerBytes; i < nal.length; i += 1) {
    const inserted = nal[i] === 3 && nal[i - 1] === 0 && nal[i - 2] === 0
    if (!inserted) bytes.push(nal[i] ?? 0)
  }
  let at = 0
  const bit = () => {
    const byte = bytes[at >> 3]
    if (byte === undefined) throw new RangeError('the parameter set is cut off')
    at += 1
    return (byte >> (7 - ((at - 1) & 7))) & 1
  }
  const take = (count: number) => {
    let value = 0
    for (let i = 0; i < count; i += 1) value = value * 2 + bit()
    return value
  }
  const number = () => {
    let zeros = 0
    while (bit() === 0) {
      zeros += 1
      if (zeros > 32) throw new RangeError('no number')
    }
    return 2 ** zeros - 1 + take(zeros)
  }
  const skip = (count: number) => {
    at += count
  }
  return { skip, take, number, signed: () => void number() }
}

/** Profiles whose parameter sets say more about color (H.264, 7.3.2.1.1). */
const highProfiles = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135])

/** H.264, 7.3.2.1.1: seq_parameter_set_data. */
function h264Size(bits: Bits): PictureSize {
  const profile = bits.take(8)
  bits.skip(16)
  bits.number()
  const { chroma, separate } = highProfiles.has(profile) ? h264Color(bits) : { chroma: 1, separate: false }
  bits.number()
  h264Order(bits)
  bits.number()
  bits.skip(1)
  const width = (bits.number() + 1) * 16
  const mapUnits = bits.number() + 1
  const framesOnly = bits.take(1)
  if (framesOnly === 0) bits.skip(1)
  bits.skip(1)
  const height = mapUnits * 16 * (2 - framesOnly)
  const unit = separate ? 0 : chroma
  const [x, y] = [unit === 1 || unit === 2 ? 2 : 1, (unit === 1 ? 2 : 1) * (2 - framesOnly)]
  return cropped({ width, height }, bits, x, y)
}

function h264Color(bits: Bits): { chroma: number; separate: boolean } {
  const chroma = bits.number()
  const separate = chroma === 3 && bits.take(1) === 1
  bits.number()
  bits.number()
  bits.skip(1)
  if (bits.take(1) === 1) for (let i = 0; i < (chroma === 3 ? 12 : 8); i += 1) skipScalingList(bits, i < 6 ? 16 : 64)
  return { chroma, separate }
}

function skipScalingList(bits: Bits, size: number): void {
  if (bits.take(1) === 0) return
  let [last, next] = [8, 8]
  for (let i = 0; i < size; i += 1) {
    if (next !== 0) {
      const code = bits.number()
      const delta = code % 2 === 1 ? (code + 1) / 2 : -code / 2
      next = (last + delta + 256) % 256
    }
    last = next === 0 ? last : next
  }
}

function h264Order(bits: Bits): void {
  const type = bits.number()
  if (type === 0) bits.number()
  if (type !== 1) return
  bits.skip(1)
  bits.signed()
  bits.signed()
  for (let left = Math.min(bits.number(), 255); left > 0; left -= 1) bits.signed()
}

/** H.265, 7.3.2.2.1: seq_parameter_set_rbsp. */
function hevcSize(bits: Bits): PictureSize {
  bits.skip(4)
  const subLayers = bits.take(3)
  bits.skip(1)
  bits.skip(96)
  const present = Array.from({ length: subLayers }, () => ({ profile: bits.take(1), level: bits.take(1) }))
  if (subLayers > 0) bits.skip(2 * (8 - subLayers))
  for (const { profile, level } of present) bits.skip(88 * profile + 8 * level)
  bits.number()
  const chroma = bits.number()
  if (chroma === 3) bits.skip(1)
  const size = { width: bits.number(), height: bits.number() }
  return cropped(size, bits, chroma === 1 || chroma === 2 ? 2 : 1, chroma === 1 ? 2 : 1)
}

/** Takes off the margins that follow as left, right, top and bottom, in units of `x` and `y` pixels. */
function cropped({ width, height }: PictureSize, bits: Bits, x: number, y: number): PictureSize {
  if (bits.take(1) === 0) return { width, height }
  const [left, right, top, bottom] = [bits.number(), bits.number(), bits.number(), bits.number()]
  return { width: width - (left + right) * x, height: height - (top + bottom) * y }
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
