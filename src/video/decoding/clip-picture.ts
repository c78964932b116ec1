import { open } from 'node:fs/promises'
import { ownFile } from '../../platform/index.ts'
import { type KeyFrame, keyFrame } from '../format/key-frame.ts'
import { picturesIn } from '../format/mp4-file.ts'
import type { StoredPicture, StoredPictures } from '../format/mp4-shown.ts'
import { closeMp4Header } from '../format/mp4-writing.ts'

/** Input of a decoder for one picture of a clip. */
export type PictureSource = {
  /** An MP4 that ends with the picture, or with those that it needs. */
  readonly file: AsyncIterable<Buffer>
  readonly sizeBytes: number
  /** When the picture is shown in it. */
  readonly atSeconds: number
  /** Reads the picture, when it is a key frame that is decoded alone; else resolves with undefined. */
  readonly keyFrame: () => Promise<KeyFrame | undefined>
}

/** Wide enough to see who is there; the clip has every detail. */
const snapshotWidth = 640
export const snapshotScale = `scale=min(${snapshotWidth}\\,iw):-1:flags=area`
/** The cheapest level: the noise of a camera hardly compresses, and the clip waits for its picture. */
export const asPng = ['-c:v', 'png', '-compression_level', '1']

/** The wanted moment of a clip, from the first picture that it shows. */
export type Moment = {
  readonly atMs: number
  /** Until then something moves without a pause, as far as that is known. */
  readonly movesUntilMs?: number
  /** No key frame near it is as good. */
  readonly isExact?: boolean
}

/** A key frame this much before or after the wanted moment is as good: nothing else has to be decoded for it. */
const earlierMs = 200
const laterMs = 1100
/** While it still moves. Most cameras send a key frame every two seconds, or more often, so nearly all clips have one. */
const laterInMotionMs = 1900
/** Times may be rounded. */
const roundingMs = 1
/** A group of pictures of a minute at 4 Mb/s. ffmpeg reads more than that from the clip itself. */
const mostBytes = 32 * 1024 * 1024
const readBytes = 256 * 1024

/**
 * Returns the part of a clip that shows the picture of a moment, or a key frame near it. Only the pictures from the key frame on go
 * to ffmpeg. Given the whole clip, it decodes several more before it seeks the moment. Undefined when the clip is not one of ours,
 * or shows nothing.
 */
export async function pictureSource(clip: string, moment: Moment): Promise<PictureSource | undefined> {
  const stored = await picturesIn(clip)
  const wanted = stored && choose(stored.pictures, moment)
  if (!stored || !wanted) return undefined
  const { group, picture } = wanted
  const [first, last] = [group[0] as StoredPicture, group.at(-1) as StoredPicture]
  const mediaBytes = last.from + last.sizeBytes - first.from
  // In between lies something else, or more than is read here.
  if (mediaBytes !== group.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) || mediaBytes > mostBytes)
    return undefined
  const header = headerOf(stored, group)
  const ticks = picture.pts - Math.min(...group.map(({ pts }) => pts))
  const atSeconds = Math.max((ticks * 1000) / stored.ticksPerSecond - roundingMs, 0) / 1000
  return {
    ...{ file: read(clip, header, first.from, mediaBytes), sizeBytes: header.length + mediaBytes, atSeconds },
    keyFrame: async () =>
      isInOrder(stored) && group.length === 1 ? readKeyFrame(clip, stored.entry, first) : undefined,
  }
}

/** Returns when the picture of a moment is shown, as `pictureSource` chooses it; undefined as there. */
export async function chosenMs(clip: string, moment: Moment): Promise<number | undefined> {
  const stored = await picturesIn(clip)
  return stored && choose(stored.pictures, moment)?.picture.atMs
}

/** Chooses a picture, and returns it with all that are decoded before it, from a key frame on. */
function choose(pictures: readonly StoredPicture[], { atMs, movesUntilMs = 0, isExact = false }: Moment) {
  const shown = pictures.filter((picture) => picture.atMs >= 0)
  const distance = (picture: StoredPicture) => Math.abs(picture.atMs - atMs)
  const near = (best: StoredPicture | undefined, one: StoredPicture) =>
    !best || distance(one) < distance(best) ? one : best
  const latestMs = Math.max(atMs + laterMs, Math.min(atMs + laterInMotionMs, movesUntilMs))
  const keys = shown.filter((one) => one.isKey && one.atMs >= atMs - earlierMs && one.atMs <= latestMs)
  const picture = (keys.length > 0 && !isExact ? keys : shown).reduce(near, undefined)
  if (!picture) return undefined
  const upTo = pictures.slice(0, pictures.indexOf(picture) + 1)
  const group = upTo.slice(upTo.findLastIndex(({ isKey }) => isKey))
  return { picture, group }
}

function headerOf({ entry, width, height, ticksPerSecond }: StoredPictures, group: readonly StoredPicture[]): Buffer {
  const shownFrom = Math.min(...group.map(({ pts }) => pts))
  return closeMp4Header({ entry, width, height, samples: group, shownFrom, ticksPerSecond })
}

/** A decoder holds back pictures whose decoding order differs from the order in which they are shown. */
function isInOrder({ pictures }: StoredPictures): boolean {
  return pictures.every(({ dts, pts }) => dts === pts)
}

async function readKeyFrame(
  clip: string,
  entry: Buffer,
  { from, sizeBytes }: StoredPicture,
): Promise<KeyFrame | undefined> {
  const file = await open(clip, ownFile.read)
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(sizeBytes), 0, sizeBytes, from)
    return bytesRead === sizeBytes ? keyFrame(entry, buffer) : undefined
  } finally {
    await file.close()
  }
}

async function* read(clip: string, header: Buffer, from: number, length: number): AsyncGenerator<Buffer> {
  yield header
  const file = await open(clip, ownFile.read)
  const stream = file.createReadStream({ start: from, end: from + length - 1, highWaterMark: readBytes })
  for await (const bytes of stream as AsyncIterable<Buffer>) yield bytes
}
