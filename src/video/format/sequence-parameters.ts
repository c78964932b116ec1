/** Reads facts about the pictures from parameter sets of H.264 and H.265. */
import type { Codec } from './transport-stream.ts'

export type SequenceFacts = {
  readonly width: number
  readonly height: number
  /** 4:2:0 is 1. */
  readonly chroma: number
  readonly lumaBits: number
  readonly chromaBits: number
  /** No picture is a field, and no pixel is stretched, as far as the set can be read. */
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

/** Profiles whose parameter sets have more about color (H.264, 7.3.2.1.1). */
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

/** H.264, E.1.1: the beginning of vui_parameters. */
function isStretched(bits: Bits): boolean {
  return bits.take(1) === 1 && isShapeStretched(bits)
}

/** The same in both codecs. 1 is a square pixel, 0 says nothing. */
function isShapeStretched(bits: Bits): boolean {
  return bits.take(1) === 1 && bits.take(8) > 1
}

/** H.265, 7.3.2.2.1: seq_parameter_set_rbsp. */
function hevcFacts(bits: Bits): SequenceFacts {
  bits.skip(4)
  const subLayers = bits.take(3)
  bits.skip(1)
  const isInterlaced = hevcProfile(bits, subLayers)
  bits.number()
  const chroma = bits.number()
  if (chroma === 3) bits.skip(1)
  const size = { width: bits.number(), height: bits.number() }
  const whole = cropped(size, bits, chroma === 1 || chroma === 2 ? 2 : 1, chroma === 1 ? 2 : 1)
  const facts = { ...whole, chroma, lumaBits: bits.number() + 8, chromaBits: bits.number() + 8 }
  return { ...facts, isPlain: !isInterlaced && isHevcPlain(bits, subLayers) }
}

/** H.265, 7.3.3: profile_tier_level. Returns whether its source is flagged as interlaced. */
function hevcProfile(bits: Bits, subLayers: number): boolean {
  bits.skip(40)
  const [isProgressive, isInterlaced] = [bits.take(1), bits.take(1)]
  bits.skip(54)
  const present = Array.from({ length: subLayers }, () => ({ profile: bits.take(1), level: bits.take(1) }))
  if (subLayers > 0) bits.skip(2 * (8 - subLayers))
  for (const { profile, level } of present) bits.skip(88 * profile + 8 * level)
  return isInterlaced === 1 && isProgressive === 0
}

/**
 * Reads the fields after the depths of the pixels, up to the first part of vui_parameters. A set that cannot be read is not plain.
 */
function isHevcPlain(bits: Bits, subLayers: number): boolean {
  try {
    const orderBits = bits.number() + 4
    const orderings = bits.take(1) === 1 ? subLayers + 1 : 1
    for (let left = 3 * orderings; left > 0; left -= 1) bits.number()
    // Sizes of blocks, and depths of transforms.
    for (let left = 6; left > 0; left -= 1) bits.number()
    if (bits.take(1) === 1 && bits.take(1) === 1) skipHevcScalingLists(bits)
    bits.skip(2)
    if (bits.take(1) === 1) skipHevcPcm(bits)
    skipReferenceSets(bits)
    if (bits.take(1) === 1) for (let left = bits.number(); left > 0; left -= 1) bits.take(orderBits + 1)
    bits.skip(2)
    return bits.take(1) === 0 || isHevcVuiPlain(bits)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** H.265, 7.3.4: scaling_list_data. */
function skipHevcScalingLists(bits: Bits): void {
  for (let size = 0; size < 4; size += 1)
    for (let matrix = 0; matrix < 6; matrix += size === 3 ? 3 : 1) {
      if (bits.take(1) === 0) bits.number()
      else {
        if (size > 1) bits.signed()
        for (let left = Math.min(64, 1 << (4 + (size << 1))); left > 0; left -= 1) bits.signed()
      }
    }
}

function skipHevcPcm(bits: Bits): void {
  bits.skip(8)
  bits.number()
  bits.number()
  bits.skip(1)
}

/**
 * H.265, 7.3.7 and 7.4.8: st_ref_pic_set. A set may be predicted from the one before; then the distances of that one are needed.
 */
function skipReferenceSets(bits: Bits): void {
  let before: number[] = []
  for (let [i, count] = [0, bits.number()]; i < count; i += 1)
    before = i > 0 && bits.take(1) === 1 ? predictedSet(bits, before) : statedSet(bits)
}

function statedSet(bits: Bits): number[] {
  const [earlier, later] = [bits.number(), bits.number()]
  const distances: number[] = []
  for (const [count, sign] of [
    [earlier, -1],
    [later, 1],
  ] as const)
    for (let left = count, at = 0; left > 0; left -= 1) {
      at += sign * (bits.number() + 1)
      distances.push(at)
      bits.take(1)
    }
  return distances
}

function predictedSet(bits: Bits, before: readonly number[]): number[] {
  const isEarlier = bits.take(1) === 1
  const step = (bits.number() + 1) * (isEarlier ? -1 : 1)
  const distances = [...before.map((distance) => distance + step), step].filter((distance) => {
    const isKept = bits.take(1) === 1 || bits.take(1) === 1
    return isKept && distance !== 0
  })
  // Those before come first, each by its distance.
  return distances.sort((a, b) => Number(a > 0) - Number(b > 0) || Math.abs(a) - Math.abs(b))
}

/** H.265, E.2.1: vui_parameters up to field_seq_flag. */
function isHevcVuiPlain(bits: Bits): boolean {
  if (isShapeStretched(bits)) return false
  if (bits.take(1) === 1) bits.skip(1)
  if (bits.take(1) === 1) {
    bits.skip(4)
    if (bits.take(1) === 1) bits.skip(24)
  }
  if (bits.take(1) === 1) {
    bits.number()
    bits.number()
  }
  bits.skip(1)
  return bits.take(1) === 0
}

type Size = Pick<SequenceFacts, 'width' | 'height'>

/** Takes off the margins that follow as left, right, top and bottom, in units of `x` and `y` pixels. */
function cropped({ width, height }: Size, bits: Bits, x: number, y: number): Size {
  if (bits.take(1) === 0) return { width, height }
  const [left, right, top, bottom] = [bits.number(), bits.number(), bits.number(), bits.number()]
  return { width: width - (left + right) * x, height: height - (top + bottom) * y }
}
