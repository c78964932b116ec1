/** Key frames that are decoded alone: without any other picture, and by a decoder that has decoded others before. */
import { nalType, parameterTypes, sequenceFacts } from './sequence-parameters.ts'

/** A key frame of H.264 with all that a decoder needs for it. */
export type KeyFrame = {
  /** Its parameter sets: pictures with equal ones have one size and are coded in one way. */
  readonly parameters: Buffer
  /** Parameter sets and picture, as a byte stream. */
  readonly bytes: Buffer
}

const startCode = Buffer.from([0, 0, 0, 1])
/** Length and type of a box. */
const boxHead = 8
/** Bytes before the boxes in the entry of a video. */
const entryBytes = boxHead + 78
const lengthBytes = 4
/** A slice of a picture before which the decoder forgets all others. */
const idrSlice = 5
/** Units beside the slices of a picture: supplements (SEI), a delimiter before it, and parameter sets. */
const besides: readonly number[] = [6, 9, ...parameterTypes.h264]

/**
 * Returns the key frame of an MP4: `entry` is its entry in `stsd`, `sample` the picture as it is in the file. Undefined for H.265,
 * fields, another depth of color, pictures that refer to others, several pictures in one, and data that cannot be read. A decoder
 * that stays may treat these in another way, or does not take them.
 */
export function keyFrame(entry: Buffer, sample: Buffer): KeyFrame | undefined {
  try {
    const sets = parameterSets(entry)
    const nals = withLengths(sample, lengthBytes)
    const sequences = sets?.filter((set) => nalType(set, 'h264') === parameterTypes.h264[0]) ?? []
    if (!sets || sequences.length !== 1 || !isUsual(sequences[0] as Buffer) || !isOnePicture(nals, sets))
      return undefined
    const parameters = asStream(sets)
    return { parameters, bytes: Buffer.concat([parameters, asStream(nals)]) }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function isUsual(sequence: Buffer): boolean {
  const { isPlain, chroma, lumaBits, chromaBits } = sequenceFacts(sequence, 'h264')
  return isPlain && chroma === 1 && lumaBits === 8 && chromaBits === 8
}

/** A slice that begins a picture has zero as its first number, which is a single bit. */
function isOnePicture(nals: readonly Buffer[], sets: readonly Buffer[]): boolean {
  const types: readonly number[] = parameterTypes.h264
  const slices = nals.filter((nal) => !besides.includes(nalType(nal, 'h264')))
  const begins = (slice: Buffer) => ((slice[1] ?? 0) & 0x80) !== 0
  return (
    slices.every((slice) => nalType(slice, 'h264') === idrSlice) &&
    slices.filter(begins).length === 1 &&
    begins(slices[0] as Buffer) &&
    nals.every((nal) => !types.includes(nalType(nal, 'h264')) || sets.some((set) => set.equals(nal)))
  )
}

/** Returns the parameter sets of an entry (ISO/IEC 14496-15, 5.3.3.1). Undefined when it says anything else. */
function parameterSets(entry: Buffer): Buffer[] | undefined {
  const [length, type] = [
    entry.readUInt32BE(entryBytes),
    entry.toString('latin1', entryBytes + 4, entryBytes + boxHead),
  ]
  if (entry.toString('latin1', 4, boxHead) !== 'avc1' || type !== 'avcC' || entryBytes + length !== entry.length)
    return undefined
  const configuration = entry.subarray(entryBytes + boxHead)
  if ((configuration.readUInt8(4) & 3) + 1 !== lengthBytes) return undefined
  const sequences = counted(configuration, 6, configuration.readUInt8(5) & 0x1f)
  const pictures = counted(configuration, sequences.end + 1, configuration.readUInt8(sequences.end))
  return [...sequences.sets, ...pictures.sets]
}

function counted(bytes: Buffer, from: number, count: number): { sets: Buffer[]; end: number } {
  const sets: Buffer[] = []
  let end = from
  for (let left = count; left > 0; left -= 1) {
    const to = end + 2 + bytes.readUInt16BE(end)
    sets.push(bytes.subarray(end + 2, to))
    end = to
  }
  if (end > bytes.length) throw new RangeError('a parameter set is cut off')
  return { sets, end }
}

function withLengths(sample: Buffer, lengthOf: number): Buffer[] {
  const nals: Buffer[] = []
  for (let at = 0; at < sample.length; ) {
    const to = at + lengthOf + sample.readUInt32BE(at)
    if (to > sample.length) throw new RangeError('a unit is cut off')
    nals.push(sample.subarray(at + lengthOf, to))
    at = to
  }
  return nals
}

function asStream(nals: readonly Buffer[]): Buffer {
  return Buffer.concat(nals.flatMap((nal) => [startCode, nal]))
}
