import { type Shown, shownAt } from './shown.ts'

/** A span of a file, in bytes. */
export type Extent = { readonly from: number; readonly to: number }

/** Times, size and codec of the pictures that a finished file shows. */
export type Probed = Shown & {
  readonly width: number
  readonly height: number
  /** Codec, by ffmpeg's name. */
  readonly codec: string
}

/** One picture in a finished file. */
export type StoredPicture = {
  /** When it is shown, from the first that is; negative: never. */
  readonly atMs: number
  /** When it is decoded and shown, in ticks of the file. */
  readonly dts: number
  readonly pts: number
  readonly isKey: boolean
  /** Where it is in the file. */
  readonly from: number
  readonly sizeBytes: number
}

/** The pictures of a finished file, in the order in which they are decoded. */
export type StoredPictures = Pick<Probed, 'width' | 'height' | 'codec'> & {
  readonly pictures: readonly StoredPicture[]
  readonly ticksPerSecond: number
  /** Entry of the box `stsd`: codec, size and parameter sets. */
  readonly entry: Buffer
}

type Box = { readonly type: string; readonly body: Buffer }

const codecs: Readonly<Record<string, string>> = { avc1: 'h264', hvc1: 'hevc', hev1: 'hevc' }
/** Boxes of a table of pictures. Any other box may change their meaning. */
const tableBoxes = new Set(['stsd', 'stts', 'ctts', 'stss', 'stsz', 'stsc', 'stco', 'co64', 'sdtp', 'sgpd', 'sbgp'])

/**
 * Reads the pictures that an MP4 with one video shows from its `moov` box (ISO/IEC 14496-12, the content without its header).
 * Pictures before the start of the edit list are hidden, as in a player. Only the spans `media` of the file may hold pictures.
 * Undefined when it has anything that a clip of ours has not, when nothing is shown, or when a picture is not in the file.
 */
export function shownByMp4(moov: Buffer, media: readonly Extent[]): Probed | undefined {
  const { pictures, width, height, codec } = picturesOfMp4(moov, media) ?? {}
  const shown = shownAt(pictures?.map(({ atMs }) => atMs) ?? [])
  return shown && width && height && codec ? { ...shown, width, height, codec } : undefined
}

/** Returns the pictures of an MP4 by its `moov` box. Undefined as for `shownByMp4`. */
export function picturesOfMp4(moov: Buffer, media: readonly Extent[]): StoredPictures | undefined {
  try {
    return read(boxesIn(moov), media)
  } catch (error) {
    // A box that ends too early.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function read(moov: readonly Box[], media: readonly Extent[]): StoredPictures | undefined {
  const [track, ...others] = moov.filter(({ type }) => type === 'trak')
  if (!track || others.length > 0 || moov.some(({ type }) => type === 'mvex')) return undefined
  const inTrack = boxesIn(track.body)
  const inMedia = boxesIn(only(inTrack, 'mdia'))
  const table = boxesIn(only(boxesIn(only(inMedia, 'minf')), 'stbl'))
  if (only(inMedia, 'hdlr').toString('latin1', 8, 12) !== 'vide') return undefined
  if (table.some(({ type }) => !tableBoxes.has(type))) return undefined
  const stsd = only(table, 'stsd')
  const picture = pictureOf(stsd)
  const sizes = sizesOf(only(table, 'stsz'))
  const times = timesOf(table, sizes.length)
  const ticksPerSecond = timescaleOf(only(inMedia, 'mdhd'))
  const edit = editOf(inTrack, timescaleOf(only(moov, 'mvhd')), ticksPerSecond)
  const places = placesOf(media, table, sizes)
  // A file without ticks a second has no times.
  if (!picture || !times || !edit || !places || ticksPerSecond === 0) return undefined
  const ticksOf = shownTicks(times, edit)
  const keys = keysOf(table)
  const pictures = times.map((time, i) => ({
    ...time,
    ...{ atMs: ticksOf(time) * (1000 / ticksPerSecond), isKey: keys?.has(i + 1) ?? true },
    ...{ from: places[i] ?? 0, sizeBytes: sizes[i] ?? 0 },
  }))
  return { ...picture, pictures, ticksPerSecond, entry: stsd.subarray(8) }
}

/** Returns the boxes one after the other in `bytes`. Throws RangeError when the last one ends behind them. */
function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.readUInt32BE(at)
    if (size < 8 || at + size > bytes.length) throw new RangeError('a box is longer than what holds it')
    boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), body: bytes.subarray(at + 8, at + size) })
    at += size
  }
  return boxes
}

/** Returns the content of the only box of a type. Throws RangeError when there is none, or another one. */
function only(boxes: readonly Box[], type: string): Buffer {
  const [found, ...others] = boxes.filter((box) => box.type === type)
  if (!found || others.length > 0) throw new RangeError(`not one box ${type}`)
  return found.body
}

/** Returns the ticks a second of `mvhd` or `mdhd`. */
function timescaleOf(header: Buffer): number {
  return header.readUInt32BE(header.readUInt8(0) === 1 ? 20 : 12)
}

function pictureOf(stsd: Buffer): Pick<Probed, 'width' | 'height' | 'codec'> | undefined {
  const codec = codecs[stsd.toString('latin1', 12, 16)]
  if (stsd.readUInt32BE(4) !== 1 || codec === undefined) return undefined
  return { width: stsd.readUInt16BE(40), height: stsd.readUInt16BE(42), codec }
}

function sizesOf(stsz: Buffer): number[] {
  const [same, count] = [stsz.readUInt32BE(4), stsz.readUInt32BE(8)]
  if (same === 0) return numbersIn(stsz, 12, count)
  // So many pictures of one size are no clip.
  if (count > 10_000_000) throw new RangeError('too many pictures')
  return Array.from({ length: count }, () => same)
}

/** Returns the numbers of the key frames, from 1 on; undefined when every picture is one. */
function keysOf(table: readonly Box[]): Set<number> | undefined {
  if (!table.some(({ type }) => type === 'stss')) return undefined
  const stss = only(table, 'stss')
  return new Set(numbersIn(stss, 8, stss.readUInt32BE(4)))
}

/** Returns when each picture is decoded and shown, in ticks, in the order of the file. */
function timesOf(table: readonly Box[], count: number): Time[] | undefined {
  const steps = runsIn(only(table, 'stts'), count, (bytes, at) => bytes.readUInt32BE(at))
  const offsets = table.some(({ type }) => type === 'ctts')
    ? runsIn(only(table, 'ctts'), count, (bytes, at) => bytes.readInt32BE(at))
    : steps?.map(() => 0)
  if (!steps || !offsets) return undefined
  let decodedAt = 0
  return steps.map((step, i) => {
    const dts = decodedAt
    decodedAt += step
    return { dts, pts: dts + (offsets[i] ?? 0) }
  })
}

/** Returns the values of a table of runs (how many, which value). Undefined unless there are `count` of them. */
function runsIn(table: Buffer, count: number, value: (bytes: Buffer, at: number) => number): number[] | undefined {
  const values: number[] = []
  const runs = table.readUInt32BE(4)
  for (let run = 0, at = 8; run < runs; run += 1, at += 8) {
    const length = table.readUInt32BE(at)
    if (values.length + length > count) return undefined
    const one = value(table, at + 4)
    for (let i = 0; i < length; i += 1) values.push(one)
  }
  return values.length === count ? values : undefined
}

/** A pause before the first picture, and the time of the first picture that is shown; in ticks. */
type Edit = { readonly pause: number; readonly from: number }

type Time = { readonly dts: number; readonly pts: number }

/** Returns when an edit list has pictures shown, in ticks: below zero are those before its start, which are hidden. */
function shownTicks(times: readonly Time[], edit: Edit | 'none'): (time: Time) => number {
  if (edit === 'none') return ({ pts }) => pts
  // As ffmpeg does, and browsers with its demuxer: the first picture that is shown is at zero, also when the list begins a little earlier.
  const first = times.reduce((least, { pts }) => (pts >= edit.from ? Math.min(least, pts) : least), Infinity)
  return ({ pts }) => (pts < first ? pts - first : pts - first + edit.pause)
}

/** Returns the edit list: one span that is played at its usual speed, perhaps after a pause. Undefined for any other list. */
function editOf(track: readonly Box[], movieTicks: number, ticks: number): Edit | 'none' | undefined {
  if (!track.some(({ type }) => type === 'edts')) return 'none'
  const list = only(boxesIn(only(track, 'edts')), 'elst')
  const isLong = list.readUInt8(0) === 1
  const entries = Array.from({ length: Math.min(list.readUInt32BE(4), 3) }, (_, i) => {
    const at = 8 + i * (isLong ? 20 : 12)
    const [duration, from] = isLong
      ? [Number(list.readBigUInt64BE(at)), Number(list.readBigInt64BE(at + 8))]
      : [list.readUInt32BE(at), list.readInt32BE(at + 4)]
    return { duration, from, speed: list.readUInt32BE(at + (isLong ? 16 : 8)) }
  })
  const pause = entries[0]?.from === -1 ? entries.shift() : undefined
  const [span, ...others] = entries
  if (!span || others.length > 0 || span.from < 0 || span.speed !== 0x10000) return undefined
  return { pause: Math.round(((pause?.duration ?? 0) * ticks) / movieTicks), from: span.from }
}

/** Returns where each picture begins; undefined unless every one lies in one of the spans. */
function placesOf(media: readonly Extent[], table: readonly Box[], sizes: readonly number[]): number[] | undefined {
  const runs = only(table, 'stsc')
  const perChunk = Array.from({ length: runs.readUInt32BE(4) }, (_, i) => ({
    first: runs.readUInt32BE(8 + i * 12),
    pictures: runs.readUInt32BE(12 + i * 12),
  }))
  const places: number[] = []
  for (const [i, from] of chunksOf(table).entries()) {
    const { pictures = 0 } = perChunk.findLast(({ first }) => first <= i + 1) ?? {}
    let to = from
    for (const size of sizes.slice(places.length, places.length + pictures)) {
      places.push(to)
      to += size
    }
    if (!media.some((extent) => extent.from <= from && to <= extent.to)) return undefined
  }
  return places.length === sizes.length ? places : undefined
}

function chunksOf(table: readonly Box[]): number[] {
  if (!table.some(({ type }) => type === 'co64')) {
    const stco = only(table, 'stco')
    return numbersIn(stco, 8, stco.readUInt32BE(4))
  }
  const co64 = only(table, 'co64')
  return Array.from({ length: Math.min(co64.readUInt32BE(4), co64.length) }, (_, i) =>
    Number(co64.readBigUInt64BE(8 + i * 8)),
  )
}

function numbersIn(bytes: Buffer, from: number, count: number): number[] {
  if (from + count * 4 > bytes.length) throw new RangeError('a table ends too early')
  return Array.from({ length: count }, (_, i) => bytes.readUInt32BE(from + i * 4))
}
