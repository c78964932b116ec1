/** What parameter sets of H.264 and H.265 say of the pictures. */
import type { Codec } from './transport-stream.ts'

export type SequenceFacts = {
  readonly width: number
  readonly height: number
  /** 4:2:0 is 1. */
  readonly chroma: number
  readonly lumaBits: number
  readonly chromaBits: number
  /** H.264: no picture is a field, and no pixel is stretched. Of H.265 this is not read. */
  readonly isPlain: boolean
}

/** Types of the NAL units that say how to decode: the sequence first. */
export const parameterTypes = { h264: [7, 8], hevc: [33, 34, 32] } as const
export type NalCodec = keyof typeof parameterTypes

export function isNalCodec(codec: Codec): codec is NalCodec {
  return codec in parameterTypes
}

/** Returns the type of a NAL unit. */
export function nalType(nal: Buffer, codec: NalCodec): number {
  const first = nal[0] ?? 0
  return codec === 'h264' ? first & 0x1f : (first >> 1) & 0x3f
}

/** Reads a sequence parameter set. Throws RangeError when it is cut off. */
export function sequenceFacts(nal: Buffer, codec: NalCodec): SequenceFacts {
  return codec === 'h264' ? h264Facts(bitsOf(nal, 1)) : hevcFacts(bitsOf(nal, 2))
}

/** Returns the content of a NAL unit behind its header: without the bytes that were put in to avoid start codes. */
export function contentOf(nal: Buffer, headerBytes: number): number[] {
  const bytes: number[] = []
  for (let i = headerBytes; i < nal.length; i += 1) {
    const inserted = nal[i] === 3 && nal[i - 1] === 0 && nal[i - 2] === 0
    if (!inserted) bytes.push(nal[i] ?? 0)
  }
  return bytes
}

/** Reads bits and Exp-Golomb numbers (H.264, 9.1). Throws RangeError behind the end. */
type Bits = { skip(count: number): void; take(count: number): number; number(): number; signed(): void }

function bitsOf(nal: Buffer, headerBytes: number): Bits {
  const bytes = contentOf(nal, headerBytes)
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
const usualColor = { chroma: 1, separate: false, lumaBits: 8, chromaBits: 8 }

/** H.264, 7.3.2.1.1: seq_parameter_set_data. */
function h264Facts(bits: Bits): SequenceFacts {
  const profile = bits.take(8)
  bits.skip(16)
  bits.number()
  const { separate, ...color } = highProfiles.has(profile) ? h264Color(bits) : usualColor
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
  const unit = separate ? 0 : color.chroma
  const [x, y] = [unit === 1 || unit === 2 ? 2 : 1, (unit === 1 ? 2 : 1) * (2 - framesOnly)]
  const size = cropped({ width, height }, bits, x, y)
  return { ...size, ...color, isPlain: framesOnly === 1 && !isStretched(bits) }
}

function h264Color(bits: Bits): typeof usualColor {
  const chroma = bits.number()
  const separate = chroma === 3 && bits.take(1) === 1
  const [lumaBits, chromaBits] = [bits.number() + 8, bits.number() + 8]
  bits.skip(1)
  if (bits.take(1) === 1) for (let i = 0; i < (chroma === 3 ? 12 : 8); i += 1) skipScalingList(bits, i < 6 ? 16 : 64)
  return { chroma, separate, lumaBits, chromaBits }
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

/** H.264, E.1.1: the beginning of vui_parameters. 1 is a square pixel, 0 says nothing. */
function isStretched(bits: Bits): boolean {
  const saysShape = bits.take(1) === 1 && bits.take(1) === 1
  return saysShape && bits.take(8) > 1
}

/** H.265, 7.3.2.2.1: seq_parameter_set_rbsp. */
function hevcFacts(bits: Bits): SequenceFacts {
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
  const whole = cropped(size, bits, chroma === 1 || chroma === 2 ? 2 : 1, chroma === 1 ? 2 : 1)
  return { ...whole, chroma, lumaBits: bits.number() + 8, chromaBits: bits.number() + 8, isPlain: true }
}

type Size = Pick<SequenceFacts, 'width' | 'height'>

/** Takes off the margins that follow as left, right, top and bottom, in units of `x` and `y` pixels. */
function cropped({ width, height }: Size, bits: Bits, x: number, y: number): Size {
  if (bits.take(1) === 0) return { width, height }
  const [left, right, top, bottom] = [bits.number(), bits.number(), bits.number(), bits.number()]
  return { width: width - (left + right) * x, height: height - (top + bottom) * y }
}
