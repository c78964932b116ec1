/** H.264 and H.265 as a byte stream (Annex B of both): NAL units after start codes of three bytes, or four. */

const startCode = Buffer.from([0, 0, 1])

/** Yields the NAL units of a picture. Bytes before the first start code belong to none. */
export function* nalUnits(bytes: Buffer): Generator<Buffer> {
  for (let at = bytes.indexOf(startCode); at >= 0; ) {
    const from = at + startCode.length
    at = bytes.indexOf(startCode, from)
    let to = at < 0 ? bytes.length : at
    // No unit ends with zero: those are of the stream, as is the first of four bytes of a start code.
    while (to > from && bytes[to - 1] === 0) to -= 1
    yield bytes.subarray(from, to)
  }
}

/** Says whether the bytes begin with a start code. */
export function beginsNalUnit(bytes: Buffer): boolean {
  const at = bytes.subarray(0, startCode.length + 1).indexOf(startCode)
  return at === 0 || (at === 1 && bytes[0] === 0)
}

/** Bytes of a length before a NAL unit in an MP4. */
const lengthBytes = 4

/**
 * Writes the NAL units of a picture into `to` as an MP4 has them, each after its length; returns the place behind the last one.
 * A picture of `n` bytes takes at most `mostBytes(n)`.
 */
export function writeWithLengths(nals: readonly Buffer[], to: Buffer, at: number): number {
  let end = at
  for (const nal of nals) {
    to.writeUInt32BE(nal.length, end)
    nal.copy(to, end + lengthBytes)
    end += lengthBytes + nal.length
  }
  return end
}

/** An empty unit takes three bytes of a picture, and four of an MP4. */
export function mostBytes(pictureBytes: number): number {
  return Math.ceil((pictureBytes * lengthBytes) / startCode.length)
}
