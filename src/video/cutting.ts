import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { ownFile } from '../platform/index.ts'
import { makeDurable } from './durable.ts'
import { asIvf } from './ivf.ts'
import { lowerPriority } from './low-priority.ts'
import type { StoredFile } from './messages.ts'
import { probeMp4 } from './mp4-file.ts'
import type { Probed } from './mp4-shown.ts'
import { shownBy } from './shown.ts'
import type { Codec } from './transport-stream.ts'

/** ffmpeg failed; the message is its last output. */
export class CuttingError extends Error {
  override readonly name = 'CuttingError'
  /** Whether ffmpeg looked at the video and refused it. False: it was not found, was ended, or had no room on the disk. */
  readonly isVerdict: boolean

  constructor(message: string, { isVerdict = true } = {}) {
    super(message)
    this.isVerdict = isVerdict
  }
}

/** How a spool becomes a clip. */
export type Part = {
  /** Milliseconds of the beginning that are hidden. */
  readonly hiddenMs: number
  readonly codec: Codec
}

/** ffmpeg is killed when it takes longer than `shortestLimitMs` and this for each byte of its input: 0.25 MB/s. */
const limitMsPerByte = 0.004
const shortestLimitMs = 120_000
const keptChars = 8000
/** Wide enough to see who is there; the clip has every detail. */
const snapshotWidth = 640
const smaller = `scale=min(${snapshotWidth}\\,iw):-1:flags=area`
/** ffmpeg ends with this after a signal. */
const signalledCode = 255
/** What ffmpeg says when something else than the video is in the way. */
const diskTrouble =
  /No space left on device|Disk quota exceeded|Input\/output error|Read-only file system|Permission denied|Cannot allocate memory/

/** Returns how long cutting so many bytes may take: a card that other writers keep busy is slow, and so is encoding. */
export function cutLimitMs(sizeBytes: number): number {
  return shortestLimitMs + Math.round(sizeBytes * limitMsPerByte)
}

/**
 * Makes an MP4 of a spooled transport stream without touching the video, so that signatures inside the stream survive.
 * The lead exists because a decoder begins at a key frame: it gets times before zero, which an edit list hides. Never
 * `-ss` before `-i`: ffmpeg would seek, and throw away all that it had read to look at the stream, which are 5 MB.
 * Resolves when the file and its name are on disk. Rejects with CuttingError or the disk's error, after removing the
 * `.part`.
 */
export async function remux(ffmpeg: string, spool: string, clip: string, { hiddenMs, codec }: Part): Promise<void> {
  const input = ['-itsoffset', seconds(-hiddenMs), '-f', 'mpegts', '-i', 'pipe:0']
  // Apple's players need hvc1 for HEVC.
  const copy = ['-c', 'copy', '-copypriorss', '1', ...(codec === 'hevc' ? ['-tag:v', 'hvc1'] : [])]
  await make(clip, (part) => runOn(ffmpeg, [...input, ...mp4(copy, part)], spool, (file) => file.fd))
}

/**
 * Makes an MP4 of a spool with Motion JPEG, which browsers do not play: encoded again as H.264, or copied by an ffmpeg
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
 * Reads from a clip what it shows: from its header, or by ffmpeg when that has anything unusual. Rejects with CuttingError when
 * there is no picture in it.
 */
export async function probe(ffmpeg: string, clip: string): Promise<Probed> {
  return (await probeMp4(clip)) ?? probeByFfmpeg(ffmpeg, clip)
}

/** Has ffmpeg list the pictures of a clip, without decoding them. Rejects like `probe`. */
export async function probeByFfmpeg(ffmpeg: string, clip: string): Promise<Probed> {
  const { said, wrote } = await run(
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
 * Writes one picture of a clip as PNG, at most `snapshotWidth` wide: in full size it was the larger part of what a short clip
 * writes. Rejects with CuttingError when there is none at this moment.
 */
export async function takePicture(ffmpeg: string, clip: string, atMs: number, file: string): Promise<void> {
  const where = ['-ss', seconds(Math.max(atMs, 0)), '-i', clip]
  // The cheapest level: the noise of a camera hardly compresses, and the clip waits for its picture.
  const what = [
    '-map',
    '0:v:0',
    '-frames:v',
    '1',
    '-vf',
    smaller,
    '-c:v',
    'png',
    '-compression_level',
    '1',
    '-f',
    'image2pipe',
  ]
  await make(file, async (part) => {
    await run(ffmpeg, ['-y', '-loglevel', 'error', '-threads', '1', ...where, ...what, part])
    if ((await stat(part)).size === 0) throw new CuttingError('no picture at this moment')
  })
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

/** Output of ffmpeg: stderr and stdout. */
type Output = { readonly said: string; readonly wrote: string }

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
    await run(ffmpeg, ['-loglevel', 'error', ...args], { input: input(file), limitMs })
  } finally {
    await file.close()
  }
}

type RunOptions = { readonly input?: number | AsyncIterable<Buffer>; readonly limitMs?: number }

/** Runs ffmpeg at a low priority. Rejects with CuttingError when it fails. */
function run(ffmpeg: string, args: readonly string[], { input, limitMs = shortestLimitMs }: RunOptions = {}) {
  return new Promise<Output>((resolve, reject) => {
    let said = ''
    const wrote: string[] = []
    const child = spawn(ffmpeg, ['-nostdin', '-hide_banner', ...args], {
      stdio: [typeof input === 'object' ? 'pipe' : (input ?? 'ignore'), 'pipe', 'pipe'],
      // In a separate group: a signal to the gateway's group, such as Ctrl-C, must not end a cut.
      detached: true,
    })
    // Node's own `timeout` goes on when the program cannot be started, and keeps the thread alive.
    const limit = setTimeout(() => child.kill('SIGKILL'), limitMs)
    lowerPriority(child.pid)
    // A broken pipe is ignored: ffmpeg says on stderr why it stopped reading.
    if (child.stdin && typeof input === 'object') pipeline(input, child.stdin).catch(() => {})
    child.stdout?.setEncoding('utf8').on('data', (text: string) => wrote.push(text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said.slice(0, keptChars)}${text}`.slice(0, 2 * keptChars)
    })
    child.on('error', (error) => reject(new CuttingError(error.message, { isVerdict: false })))
    child.on('close', (code, signal) => {
      clearTimeout(limit)
      if (code === 0) return resolve({ said, wrote: wrote.join('') })
      const isVerdict = code !== null && code !== signalledCode && !diskTrouble.test(said)
      return reject(new CuttingError(`ffmpeg ended with ${signal ?? code}: ${said.trim().slice(-1000)}`, { isVerdict }))
    })
  })
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
