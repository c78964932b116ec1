import { createHash } from 'node:crypto'
import { type FileHandle, open, rm, stat, writeFile } from 'node:fs/promises'
import { ownFile } from '../../platform/index.ts'
import { asPng, type Moment, pictureSource, snapshotScale } from '../decoding/clip-picture.ts'
import type { KeyFrameDecoder } from '../decoding/picture-decoder.ts'
import { CuttingError, cutLimitMs, runFfmpeg } from '../ffmpeg/ffmpeg-run.ts'
import { asIvf } from '../format/ivf.ts'
import { probeMp4 } from '../format/mp4-file.ts'
import type { Probed } from '../format/mp4-shown.ts'
import { shownBy } from '../format/shown.ts'
import type { StoredFile } from '../messages.ts'
import { makeDurable } from './durable.ts'
import { type Part, remuxHere } from './remuxing.ts'

/**
 * Makes an MP4 of a spooled transport stream without touching the video, so that signatures inside the stream survive. A stream
 * with anything unusual goes to ffmpeg. The lead exists because a decoder begins at a key frame: an edit list hides it. Resolves
 * when the file and its name are on disk. Rejects with CuttingError or the disk's error, after removing the `.part`.
 */
export async function remux(ffmpeg: string, spool: string, clip: string, how: Part): Promise<void> {
  await make(clip, async (part) => {
    if (!(await remuxHere(spool, part, how))) await copyByFfmpeg(ffmpeg, spool, part, how)
  })
}

/** Does the same by ffmpeg. */
export async function remuxByFfmpeg(ffmpeg: string, spool: string, clip: string, how: Part): Promise<void> {
  await make(clip, (part) => copyByFfmpeg(ffmpeg, spool, part, how))
}

/**
 * Gives the lead times before zero. Never `-ss` before `-i`: ffmpeg would seek, and throw away all that it had read to look at the
 * stream, which are 5 MB.
 */
function copyByFfmpeg(ffmpeg: string, spool: string, part: string, { hiddenMs, codec }: Part): Promise<void> {
  const input = ['-itsoffset', seconds(-hiddenMs), '-f', 'mpegts', '-i', 'pipe:0']
  // Apple's players need hvc1 for HEVC.
  const copy = ['-c', 'copy', '-copypriorss', '1', ...(codec === 'hevc' ? ['-tag:v', 'hvc1'] : [])]
  return runOn(ffmpeg, [...input, ...mp4(copy, part)], spool, (file) => file.fd)
}

/**
 * Makes an MP4 of a spool with Motion JPEG, which browsers do not play. The video is encoded again as H.264, or copied by an ffmpeg
 * without that encoder. Rejects like `remux`.
 */
export async function remuxJpeg(ffmpeg: string, spool: string, clip: string): Promise<void> {
  const encode = [
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-crf',
    '20',
    '-bf',
    '0',
    '-pix_fmt',
    'yuv420p',
    '-threads',
    '1',
  ]
  const using = (codec: string[]) =>
    make(clip, (part) => runOn(ffmpeg, ['-f', 'ivf', '-i', 'pipe:0', ...mp4(codec, part)], spool, asIvf))
  try {
    await using(encode)
  } catch (error) {
    if (!(error instanceof CuttingError) || !/Unknown encoder/.test(error.message)) throw error
    await using(['-c', 'copy'])
  }
}

function mp4(codec: readonly string[], part: string): string[] {
  return ['-map', '0:v:0', ...codec, '-movflags', '+faststart', '-y', '-f', 'mp4', part]
}

/** Writes a file under a temporary name and renames it when its content is on disk. */
async function make(path: string, write: (part: string) => Promise<unknown>): Promise<void> {
  const part = `${path}.part`
  try {
    // ffmpeg would follow a link.
    await rm(part, { force: true })
    await write(part)
    await makeDurable(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/**
 * Reads the times, size and codec of a clip's pictures from its header, or by ffmpeg when the header has anything unusual. Rejects
 * with CuttingError when there is no picture in it.
 */
export async function probe(ffmpeg: string, clip: string): Promise<Probed> {
  return (await probeMp4(clip)) ?? probeByFfmpeg(ffmpeg, clip)
}

/** Has ffmpeg list the pictures of a clip, without decoding them. Rejects like `probe`. */
export async function probeByFfmpeg(ffmpeg: string, clip: string): Promise<Probed> {
  const { said, wrote } = await runFfmpeg(
    ffmpeg,
    [...['-copyts', '-i', clip, '-map', '0:v:0', '-c', 'copy', '-f', 'framecrc', 'pipe:1']],
    { limitMs: cutLimitMs((await stat(clip)).size) },
  )
  const video = /Video: (\w+).*?\b(\d{2,5})x(\d{2,5})\b/.exec(said)
  const shown = shownBy(wrote)
  if (!video || !shown) throw new CuttingError(`no picture in ${clip}: ${said.slice(-500)}`)
  return { ...shown, codec: video[1] ?? '', width: Number(video[2]), height: Number(video[3]) }
}

/**
 * Writes one picture of a clip as PNG: that of a moment, or a key frame near it. It is at most `snapshotWidth` wide, because in
 * full size it was the larger part of the bytes of a short clip. Rejects with CuttingError when there is none. Without `pictures`
 * an ffmpeg is started for it.
 */
export async function takePicture(
  ffmpeg: string,
  clip: string,
  moment: Moment,
  file: string,
  pictures?: KeyFrameDecoder,
): Promise<void> {
  const source = await pictureSource(clip, moment)
  await make(file, async (part) => {
    const frame = pictures && (await source?.keyFrame())
    const decoded = frame && (await pictures.decode(frame))
    if (decoded) return writeFile(part, decoded, { flag: ownFile.write, mode: 0o640 })
    try {
      if (source) return await decode(ffmpeg, source.atSeconds, 'pipe:0', part, { input: source.file })
    } catch (error) {
      if (!(error instanceof CuttingError && error.isVerdict)) throw error
    }
    // A decoder may need more than the key frame says.
    await decode(ffmpeg, 0, clip, part, { seekSeconds: Math.max(moment.atMs, 0) / 1000 })
  })
}

/** Says whether a stored picture shows a moment of a clip, pixel by pixel. */
export async function shows(ffmpeg: string, file: string, clip: string, moment: Moment): Promise<boolean> {
  const source = await pictureSource(clip, moment)
  if (!source) return false
  const [one, other] = [
    await pixelsOf(ffmpeg, 'pipe:0', `select=gte(t\\,${source.atSeconds.toFixed(3)})`, source.file),
    await pixelsOf(ffmpeg, file, 'null'),
  ]
  return one === other
}

/** Returns a checksum of the first picture that a filter lets through, in the size of a snapshot. */
async function pixelsOf(ffmpeg: string, from: string, filter: string, input?: AsyncIterable<Buffer>): Promise<string> {
  const filters = `${filter},${snapshotScale},format=rgb24`
  const args = ['-loglevel', 'error', '-i', from, '-map', '0:v:0', '-frames:v', '1', '-vf', filters, '-f', 'framemd5']
  const { wrote } = await runFfmpeg(ffmpeg, [...args, 'pipe:1'], input ? { input } : {})
  const checksum = /^0,.*\b([0-9a-f]{32})$/m.exec(wrote)?.[1]
  if (!checksum) throw new CuttingError(`no picture in ${from}`)
  return checksum
}

type Decoding = { readonly input?: AsyncIterable<Buffer>; readonly seekSeconds?: number }

/** Writes the first picture of a file from `fromSeconds` on. A pipe cannot be sought, so it is filtered by time. */
async function decode(ffmpeg: string, fromSeconds: number, from: string, part: string, more: Decoding): Promise<void> {
  const seek = more.seekSeconds === undefined ? [] : ['-ss', more.seekSeconds.toFixed(3)]
  const filters = [...(fromSeconds > 0 ? [`select=gte(t\\,${fromSeconds.toFixed(3)})`] : []), snapshotScale].join(',')
  const output = ['-map', '0:v:0', '-frames:v', '1', '-vf', filters, ...asPng, '-f', 'image2pipe', part]
  const input = more.input ? { input: more.input } : {}
  // ffmpeg would decode some of these pictures twice, to look at the stream. Their header says all of it.
  const known = more.input ? ['-nofind_stream_info'] : []
  const args = ['-y', '-loglevel', 'error', ...known, '-threads', '1', ...seek, '-i', from, ...output]
  await runFfmpeg(ffmpeg, args, input)
  if ((await stat(part)).size === 0) throw new CuttingError('no picture at this moment')
}

/** Returns SHA-256 and size of a file by reading it. */
export async function stored(path: string, file: string): Promise<StoredFile> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  const opened = await open(path, ownFile.read)
  for await (const bytes of opened.createReadStream() as AsyncIterable<Buffer>) {
    hash.update(bytes)
    sizeBytes += bytes.length
  }
  return { file, sha256: hash.digest('hex'), sizeBytes }
}

/** Runs ffmpeg on a file that is passed through stdin, as it is or converted. */
async function runOn(
  ffmpeg: string,
  args: readonly string[],
  path: string,
  input: (file: FileHandle) => number | AsyncIterable<Buffer>,
): Promise<void> {
  const file = await open(path, ownFile.read)
  try {
    const limitMs = cutLimitMs((await file.stat()).size)
    await runFfmpeg(ffmpeg, ['-loglevel', 'error', ...args], { input: input(file), limitMs })
  } finally {
    await file.close()
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
