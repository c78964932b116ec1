/**
 * Byte streams of H.264 (ITU-T H.264, annex B) and H.265 (the same, in ITU-T H.265): NAL units between start codes,
 * and the access units (pictures) they make up.
 */

/** Differences between the codecs when a byte stream is cut into pictures. */
export type NalSyntax = {
  /** nal_unit_type. */
  typeOf(nal: Buffer): number
  isSlice(type: number): boolean
  /** A slice that is the first of its picture. */
  isFirstSlice(nal: Buffer): boolean
  /** A type that, after a slice, can only belong to the next picture. */
  precedesSlices(type: number): boolean
  /** A slice that a decoder can start from. */
  isKeyframe(type: number): boolean
  isParameterSet(type: number): boolean
}

/** The NAL units of one picture, in order, parameter sets included. */
export type AccessUnit = { readonly keyframe: boolean; readonly nals: readonly Buffer[] }

const startCode = Buffer.from([0, 0, 1])

/** The NAL units of a byte stream without start codes and padding zeros, as views into it. */
export function nalUnits(stream: Buffer): Buffer[] {
  const units: Buffer[] = []
  let at = stream.indexOf(startCode)
  while (at >= 0) {
    const begin = at + startCode.length
    at = stream.indexOf(startCode, begin)
    const unit = withoutTrailingZeros(stream.subarray(begin, at < 0 ? stream.length : at))
    if (unit.length > 0) units.push(unit)
  }
  return units
}

/** Returns the pictures of a byte stream. NAL units before the first slice belong to the first picture. */
export function accessUnits(stream: Buffer, syntax: NalSyntax): AccessUnit[] {
  const pictures: Buffer[][] = []
  let sliced = true
  for (const nal of nalUnits(stream)) {
    if (pictures.length === 0 || (sliced && opensPicture(nal, syntax))) {
      pictures.push([])
      sliced = false
    }
    pictures.at(-1)?.push(nal)
    sliced ||= syntax.isSlice(syntax.typeOf(nal))
  }
  return pictures.map((nals) => ({ keyframe: nals.some((nal) => syntax.isKeyframe(syntax.typeOf(nal))), nals }))
}

/** Returns the first parameter sets of the stream, one of each type, which its SDP names. */
export function parameterSets(pictures: readonly AccessUnit[], syntax: NalSyntax): Buffer[] {
  const byType = new Map<number, Buffer>()
  for (const nal of pictures[0]?.nals ?? []) {
    const type = syntax.typeOf(nal)
    if (syntax.isParameterSet(type) && !byType.has(type)) byType.set(type, nal)
  }
  return [...byType.values()]
}

function opensPicture(nal: Buffer, syntax: NalSyntax): boolean {
  const type = syntax.typeOf(nal)
  return syntax.isSlice(type) ? syntax.isFirstSlice(nal) : syntax.precedesSlices(type)
}

function withoutTrailingZeros(unit: Buffer): Buffer {
  let end = unit.length
  while (end > 0 && unit[end - 1] === 0) end -= 1
  return unit.subarray(0, end)
}
