import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import type { Codec, StoredFile } from '../cameras/index.ts'
import { makeDurable } from './durable.ts'

/** ffmpeg could not do what it was asked to; the message is its last words. */
export class CuttingError extends Error {
  override readonly name = 'CuttingError'
}

/** What is found in a finished clip. */
export type Probed = { readonly durationSeconds: number; readonly width: number; readonly height: number }

/** Longer than any clip takes; ffmpeg is killed then. */
const timeoutMs = 120_000
const keptChars = 8000

/**
 * Makes an MP4 of a spooled transport stream without touching the video, so that signatures inside the stream survive.
 * `leadMs` at the beginning are hidden by an edit list: they are there because a decoder begins at a key frame. The
 * spool must come through a pipe or be one: in a file that can be sought, ffmpeg would jump to the next key frame.
 * On disk, and its name too, when this resolves. Rejects with CuttingError or the disk's error; the `.part` is gone then.
 */
export async function remux(
  ffmpeg: string,
  spool: string,
  clip: string,
  { leadMs, durationMs, codec }: { leadMs: number; durationMs: number | null; codec: Codec },
): Promise<void> {
  const part = `${clip}.part`
  const length = durationMs === null ? [] : ['-t', seconds(durationMs)]
  const args = [
    ...['-y', '-loglevel', 'error', '-ss', seconds(leadMs), '-f', 'mpegts', '-i', 'pipe:0', ...length],
    // Without hvc1 nothing of Apple plays HEVC.
    ...['-map', '0:v:0', '-c', 'copy', ...(codec === 'hevc' ? ['-tag:v', 'hvc1'] : [])],
    ...['-movflags', '+faststart', '-f', 'mp4', part],
  ]
  try {
    await run(ffmpeg, args, spool)
    await makeDurable(part, clip)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** Reads the whole clip, without decoding it. Rejects with CuttingError when there is no picture in it. */
export async function probe(ffmpeg: string, clip: string): Promise<Probed> {
  const said = await run(ffmpeg, ['-i', clip, '-map', '0:v:0', '-c', 'copy', '-f', 'null', '-'])
  const size = /Video: .*?\b(\d{2,5})x(\d{2,5})\b/.exec(said)
  const last = [...said.matchAll(/frame=\s*(\d+).*?time=(\d+):(\d+):(\d+\.\d+)/g)].at(-1)
  if (!size || !last || Number(last[1]) === 0) throw new CuttingError(`no picture in ${clip}: ${said.slice(-500)}`)
  // The time of the last picture; it is shown for one more, whose length the rate tells.
  const rate = Number(/([\d.]+) fps/.exec(said)?.[1] ?? 0)
  const shown = Number(last[2]) * 3600 + Number(last[3]) * 60 + Number(last[4]) + (rate > 0 ? 1 / rate : 0)
  return { durationSeconds: Math.round(shown * 1000) / 1000, width: Number(size[1]), height: Number(size[2]) }
}

/** Writes one picture of a clip as PNG in its own size. Rejects with CuttingError when there is none at this moment. */
export async function takePicture(ffmpeg: string, clip: string, atMs: number, file: string): Promise<void> {
  const part = `${file}.part`
  const where = ['-ss', seconds(Math.max(atMs, 0)), '-i', clip]
  const what = ['-map', '0:v:0', '-frames:v', '1', '-c:v', 'png', '-f', 'image2pipe', part]
  try {
    await run(ffmpeg, ['-y', '-loglevel', 'error', '-threads', '1', ...where, ...what])
    if ((await stat(part)).size === 0) throw new CuttingError('no picture at this moment')
    await makeDurable(part, file)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** SHA-256 and size of a file, as they are read back from the disk's cache. */
export async function stored(path: string, file: string): Promise<StoredFile> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(bytes)
    sizeBytes += bytes.length
  }
  return { file, sha256: hash.digest('hex'), sizeBytes }
}

/** Resolves with what ffmpeg said on stderr. `input` becomes its stdin. */
async function run(ffmpeg: string, args: readonly string[], input?: string): Promise<string> {
  const file = input === undefined ? undefined : await open(input, 'r')
  try {
    return await finished(ffmpeg, args, file?.fd)
  } finally {
    await file?.close()
  }
}

function finished(ffmpeg: string, args: readonly string[], stdin: number | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const child = spawn(ffmpeg, ['-nostdin', '-hide_banner', ...args], {
      stdio: [stdin ?? 'ignore', 'ignore', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said.slice(0, keptChars)}${text}`.slice(0, 2 * keptChars)
    })
    child.on('error', (error) => reject(new CuttingError(error.message)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve(said)
      else reject(new CuttingError(`ffmpeg ended with ${signal ?? code}: ${said.trim().slice(-1000)}`))
    })
  })
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
