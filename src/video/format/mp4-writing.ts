/** The header of an MP4 with one video (ISO/IEC 14496-12 and -15), as ffmpeg writes it for a clip. */
import { contentOf, type NalCodec, nalType, parameterTypes, type SequenceFacts } from './sequence-parameters.ts'

/** One picture of a track. */
export type Sample = {
  readonly sizeBytes: number
  /** When it is decoded and shown, in ticks. */
  readonly dts: number
  readonly pts: number
  readonly isKey: boolean
}

export type Track = {
  /** Entry of the box `stsd`: codec, size and parameter sets. */
  readonly entry: Buffer
  readonly width: number
  readonly height: number
  /** In the order of the file. */
  readonly samples: readonly Sample[]
  /** Pictures before this time (ticks) are there for the decoder only. */
  readonly shownFrom: number
  readonly ticksPerSecond: number
}

/** A player reads so much at once. */
const chunkBytes = 1024 * 1024
/** A number in a table has four bytes; a time has two of them, for each picture in the worst case. */
const mostBytesPerSample = 4 * (1 + 2 + 2 + 1)
/** Part of the header that does not grow with the number of pictures: 600 bytes, and parameter sets of any likely size. */
const fixedBytes = 4 * 1024
/** Length and type of a box. */
const boxHead = 8

/** Returns how long a header can be at most: of so many pictures, in a file of so many bytes. */
export function mostHeaderBytes(samples: number, fileBytes: number): number {
  return fixedBytes + mostBytesPerSample * samples + 16 * Math.ceil(fileBytes / chunkBytes)
}

/**
 * Returns all that comes before the pictures, which begin at `mediaAt` and follow each other. A box `free` fills the rest of the
 * room. Throws RangeError when the header does not fit, or is too large for an MP4 of 32 bits.
 */
export function mp4Header(track: Track, mediaAt: number): Buffer {
  const mediaBytes = track.samples.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (mediaAt + mediaBytes > 0xffffffff) throw new RangeError('the file is too large')
  const begin = Buffer.concat([fileType(), movie(track, mediaAt)])
  const freeBytes = mediaAt - 2 * boxHead - begin.length
  if (freeBytes < 0) throw new RangeError('the header does not fit')
  return Buffer.concat([begin, box('free', Buffer.alloc(freeBytes)), u32(boxHead + mediaBytes), Buffer.from('mdat')])
}

/** Returns the header that ends where its pictures begin. */
export function closeMp4Header(track: Track): Buffer {
  const begin = fileType().length + movie(track, 0).length
  return mp4Header(track, begin + 2 * boxHead)
}

function fileType(): Buffer {
  return box('ftyp', Buffer.from('isom'), u32(0x200), Buffer.from('isomiso2avc1mp41'))
}

function movie(track: Track, mediaAt: number): Buffer {
  const { samples, width, height, ticksPerSecond } = track
  const first = samples[0]?.dts ?? 0
  const steps = samples.map(({ dts }, i) => (samples[i + 1]?.dts ?? dts + lastStep(track)) - dts)
  const duration = steps.reduce((sum, step) => sum + step, 0)
  const lastShown = samples.reduce((latest, { pts }) => Math.max(latest, pts), 0)
  const shown = lastShown + lastStep(track) - track.shownFrom
  const edit = box('elst', u32(0), u32(1), u32(shown), u32(track.shownFrom - first), u32(0x10000))
  const head = box(
    'tkhd',
    u32(3),
    none(8),
    u32(1),
    none(4),
    u32(shown),
    none(16),
    matrix,
    u32(width << 16, height << 16),
  )
  const header = box('mdhd', none(12), u32(ticksPerSecond), u32(duration), u16(0x55c4, 0))
  const handler = box('hdlr', none(8), Buffer.from('vide'), none(12), Buffer.from('VideoHandler\0'))
  const here = box('dinf', box('dref', u32(0, 1), box('url ', u32(1))))
  const information = box('minf', box('vmhd', u32(1), none(8)), here, box('stbl', ...tables(track, steps, mediaAt)))
  const whole = box('trak', head, box('edts', edit), box('mdia', header, handler, information))
  return box('moov', movieHeader(shown, ticksPerSecond), whole)
}

function movieHeader(duration: number, ticksPerSecond: number): Buffer {
  const rateAndVolume = [u32(0x10000), u16(0x100), none(10)]
  return box('mvhd', none(12), u32(ticksPerSecond, duration), ...rateAndVolume, matrix, none(24), u32(2))
}

/** The duration of the last picture is unknown. */
function lastStep({ samples, ticksPerSecond }: Track): number {
  const [before, last] = samples.slice(-2)
  return before && last ? last.dts - before.dts : Math.round(ticksPerSecond / 25)
}

function tables({ entry, samples }: Track, steps: readonly number[], mediaAt: number): Buffer[] {
  const keys = samples.flatMap(({ isKey }, i) => (isKey ? [i + 1] : []))
  const offsets = samples.map(({ pts, dts }) => pts - dts)
  const chunks = chunksOf(samples, mediaAt)
  // Runs of chunks that have equally many pictures.
  const counts = chunks.flatMap(({ samples }, i) => (chunks[i - 1]?.samples === samples ? [] : [i + 1, samples, 1]))
  return [
    box('stsd', u32(0, 1), entry),
    box('stts', u32(0), runs(steps)),
    box('stss', u32(0, keys.length, ...keys)),
    ...(offsets.some((offset) => offset !== 0) ? [box('ctts', u32(0), runs(offsets))] : []),
    box('stsc', u32(0, counts.length / 3, ...counts)),
    box('stsz', u32(0, 0, samples.length, ...samples.map(({ sizeBytes }) => sizeBytes))),
    box('stco', u32(0, chunks.length, ...chunks.map(({ at }) => at))),
  ]
}

function chunksOf(samples: readonly Sample[], mediaAt: number): { at: number; samples: number }[] {
  const chunks: { at: number; samples: number }[] = []
  let at = mediaAt
  for (const { sizeBytes } of samples) {
    const open = chunks.at(-1)
    if (open && at + sizeBytes - open.at <= chunkBytes) open.samples += 1
    else chunks.push({ at, samples: 1 })
    at += sizeBytes
  }
  return chunks
}

/** Returns a table of runs: how many, which value. */
function runs(values: readonly number[]): Buffer {
  const table: number[] = []
  for (const [i, value] of values.entries()) {
    if (i > 0 && values[i - 1] === value) table[table.length - 2] = (table.at(-2) ?? 0) + 1
    else table.push(1, value)
  }
  return u32(table.length / 2, ...table)
}

/** Parameters that a decoder needs before the first picture of a track. */
type Parameters = { readonly codec: NalCodec; readonly sets: readonly Buffer[]; readonly facts: SequenceFacts }

/** Returns the entry of `stsd` for a video: `sets` are its parameter sets. */
export function sampleEntry({ codec, sets, facts }: Parameters): Buffer {
  const picture = [none(6), u16(1), none(16), u16(facts.width, facts.height), u32(0x480000, 0x480000, 0), u16(1)]
  const rest = [none(32), u16(24, 0xffff)]
  // Apple's players need hvc1 for H.265.
  return codec === 'h264'
    ? box('avc1', ...picture, ...rest, box('avcC', avcConfiguration(sets, facts)))
    : box('hvc1', ...picture, ...rest, box('hvcC', hevcConfiguration(sets, facts)))
}

/** ISO/IEC 14496-15, 5.3.3.1. */
function avcConfiguration(sets: readonly Buffer[], { chroma, lumaBits, chromaBits }: SequenceFacts): Buffer {
  const [sequences, pictures] = parameterTypes.h264.map((type) => sets.filter((set) => nalType(set, 'h264') === type))
  const [, profile = 0, compatibility = 0, level = 0] = sequences?.[0] ?? []
  const head = Buffer.from([1, profile, compatibility, level, 0xff, 0xe0 | (sequences?.length ?? 0)])
  const count = Buffer.from([pictures?.length ?? 0])
  const isHigh = profile !== 66 && profile !== 77 && profile !== 88
  const color = isHigh ? [0xfc | chroma, 0xf8 | (lumaBits - 8), 0xf8 | (chromaBits - 8), 0] : []
  return Buffer.concat([head, ...withLengths(sequences), count, ...withLengths(pictures), Buffer.from(color)])
}

/** ISO/IEC 14496-15, 8.3.3.1. */
function hevcConfiguration(sets: readonly Buffer[], { chroma, lumaBits, chromaBits }: SequenceFacts): Buffer {
  const [sequenceType, pictureType, videoType] = parameterTypes.hevc
  const ofType = (type: number) => sets.filter((set) => nalType(set, 'hevc') === type)
  // Its first byte: how many layers of time, less one, and whether they are nested. Profile and level follow.
  const [layers = 0, ...profile] = contentOf(ofType(sequenceType)[0] ?? none(0), 2).slice(0, 13)
  const color = [0xfc | chroma, 0xf8 | (lumaBits - 8), 0xf8 | (chromaBits - 8)]
  const times = ((((layers >> 1) & 7) + 1) << 3) | ((layers & 1) << 2) | 3
  const arrays = [videoType, sequenceType, pictureType].map((type) =>
    Buffer.concat([Buffer.from([0x80 | type]), u16(ofType(type).length), ...withLengths(ofType(type))]),
  )
  return Buffer.concat([Buffer.from([1, ...profile, 0xf0, 0, 0xfc, ...color, 0, 0, times, arrays.length]), ...arrays])
}

function withLengths(sets: readonly Buffer[] = []): Buffer[] {
  return sets.flatMap((set) => [u16(set.length), set])
}

/** Nothing is turned or stretched. */
const matrix = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, boxHead)
  return Buffer.concat([u32(length), Buffer.from(type, 'latin1'), ...content], length)
}

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * i)
  return bytes
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value, 2 * i)
  return bytes
}

function none(bytes: number): Buffer {
  return Buffer.alloc(bytes)
}
