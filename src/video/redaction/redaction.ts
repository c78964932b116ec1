import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { TaskLimit } from '../../flow/index.ts'
import type { ClipTools } from '../clips/clip-loss.ts'
import { probe, shows, stored, takePicture } from '../clips/cutting.ts'
import { makeDurable } from '../clips/durable.ts'
import { chosenMs } from '../decoding/clip-picture.ts'
import { CuttingError, endAfter } from '../ffmpeg/ffmpeg-run.ts'
import { lowerPriority } from '../ffmpeg/low-priority.ts'
import type { Probed } from '../format/mp4-shown.ts'
import type { FromCameras, RedactionJob } from '../messages.ts'
import { type Mask, maskOf } from './redaction-mask.ts'

type RedactorNeeds = {
  readonly tools: Pick<ClipTools, 'ffmpeg' | 'folder' | 'log' | 'room'>
  readonly post: (message: FromCameras) => void
}

/** Longer than five minutes of 4K take on one slow core. */
const timeoutMs = 30 * 60_000
const keptChars = 4000

const words = {
  'no-encoder':
    'This ffmpeg has no H.264 encoder (libx264). Install the ffmpeg of the system or set ffmpeg.path, restart, and ask again.',
  changed: 'The clip on the disk has other bytes than the ledger names. Run gatehouse ledger verify.',
  'disk-full': 'The disk is full, or all that is left is reserved for events. Free space and ask again.',
  'too-slow': 'Covering the clip took longer than 30 minutes. The box is too slow for this clip.',
  failed: 'The clip could not be encoded again. The log has the reason.',
} as const

class RedactionError extends Error {
  readonly reason: keyof typeof words

  constructor(reason: keyof typeof words, cause?: unknown) {
    super(reason, { cause })
    this.reason = reason
  }
}

/** Makes redacted copies of clips, one at a time and beside everything else that runs. */
export class Redactor {
  readonly #needs: RedactorNeeds
  readonly #turns = new TaskLimit(1)
  readonly #known = new Set<number>()
  #child: ChildProcess | undefined
  #isStopping = false

  constructor(needs: RedactorNeeds) {
    this.#needs = needs
  }

  /** Queues a job; a repeat of one that waits or runs changes nothing. The result is posted. */
  take(job: RedactionJob): void {
    if (this.#known.has(job.redactionId)) return
    this.#known.add(job.redactionId)
    void this.#turns.run(() => this.#run(job)).finally(() => this.#known.delete(job.redactionId))
  }

  /** Ends the job in progress. Nothing is posted of unfinished jobs: they are sent again to the next thread. */
  stop(): void {
    this.#isStopping = true
    this.#child?.kill('SIGKILL')
  }

  async #run(job: RedactionJob): Promise<void> {
    if (this.#isStopping) return
    const { redactionId } = job
    try {
      const result = await this.#redact(job)
      if (!this.#isStopping) this.#needs.post({ type: 'redacted', redactionId, ...result })
    } catch (err) {
      if (this.#isStopping) return
      this.#needs.tools.log.error({ err, redactionId, detectionId: job.detectionId }, 'a clip could not be redacted')
      this.#needs.post({ type: 'redactionFailed', redactionId, words: words[reasonOf(err)] })
    }
  }

  async #redact(job: RedactionJob) {
    const { tools } = this.#needs
    const original = join(tools.folder, `${job.detectionId}.mp4`)
    if (!tools.room.take(0)) throw new RedactionError('disk-full')
    const before = await stored(original, `${job.detectionId}.mp4`)
    if (before.sha256 !== job.originalSha256) throw new RedactionError('changed')
    const shown = await probe(tools.ffmpeg, original)
    const name = redactedFile(job, 'clip')
    const picture = redactedFile(job, 'snapshot')
    const [clip, png] = [join(tools.folder, name), join(tools.folder, picture)]
    try {
      await this.#encode(original, shown, job, clip)
      const made = await probe(tools.ffmpeg, clip)
      if (!isSameInTime(shown, made)) throw new CuttingError(`its pictures differ: ${JSON.stringify({ shown, made })}`)
      const atMs = Math.min(await this.#snapshotMs(original, job), made.lastMs - 1)
      await takePicture(tools.ffmpeg, clip, { atMs, isExact: true }, png)
      return { clip: await stored(clip, name), snapshot: await stored(png, picture) }
    } catch (error) {
      for (const path of [clip, png]) await rm(path, { force: true })
      throw error
    }
  }

  /**
   * Returns the time of the picture in the clip's snapshot. The key frames of the copy are others. The duration of the motion is
   * not stored. Where it decides between two pictures, the snapshot is compared with the later one.
   */
  async #snapshotMs(original: string, { detectionId, snapshotMs: atMs }: RedactionJob): Promise<number> {
    const { ffmpeg, folder, log } = this.#needs.tools
    const usualMs = (await chosenMs(original, { atMs })) ?? atMs
    const laterMs = (await chosenMs(original, { atMs, movesUntilMs: Infinity })) ?? atMs
    if (laterMs === usualMs) return usualMs
    const isLater = shows(ffmpeg, join(folder, `${detectionId}.png`), original, { atMs: laterMs, isExact: true })
    const found = await isLater.catch((err: unknown) => {
      log.info({ err, detectionId }, 'the picture of a clip could not be compared for its redacted copy')
      return false
    })
    return found ? laterMs : usualMs
  }

  async #encode(original: string, shown: Probed, { regions }: RedactionJob, clip: string): Promise<void> {
    const masks = regions.flatMap(({ polygon, from, to }) => {
      const mask = maskOf(polygon, shown)
      return mask ? [{ ...mask, when: spanOf(shown, from, to) }] : []
    })
    const part = `${clip}.part`
    try {
      // ffmpeg would follow a link.
      await rm(part, { force: true })
      await this.#ffmpeg(encodeArguments(original, shown, masks, part, ['-fps_mode', 'passthrough']), masks).catch(
        (error: unknown) => {
          if (!(error instanceof CuttingError) || !/'fps_mode'/.test(error.message)) throw error
          // Before 5.1 it has this name.
          return this.#ffmpeg(encodeArguments(original, shown, masks, part, ['-vsync', 'passthrough']), masks)
        },
      )
      await makeDurable(part, clip)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  /** Runs ffmpeg with the masks on its pipes from 3 on, at a low priority: cameras go first. */
  #ffmpeg(args: readonly string[], masks: readonly Mask[]): Promise<void> {
    return new Promise((resolve, reject) => {
      let said = ''
      const pipes = masks.map(() => 'pipe' as const)
      const child = spawn(this.#needs.tools.ffmpeg, args, { stdio: ['ignore', 'ignore', 'pipe', ...pipes] })
      // First of all: without free files the process has no pipes either.
      child.on('error', (error) => reject(new CuttingError(error.message)))
      endAfter(child, timeoutMs)
      this.#child = child
      lowerPriority(child.pid)
      masks.forEach(({ rgba }, i) => {
        // A broken pipe is ignored: ffmpeg says on stderr why it stopped reading.
        const pipe = child.stdio[3 + i] as Writable
        pipe.on('error', () => {})
        pipe.end(rgba)
      })
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said = `${said}${text}`.slice(-keptChars)
      })
      child.on('close', (code, signal) => {
        if (code === 0) resolve()
        else if (signal === 'SIGKILL') reject(new RedactionError('too-slow'))
        else reject(new CuttingError(`ffmpeg ended with ${signal ?? code}: ${said.trim()}`))
      })
    })
  }
}

/** Name of a redacted file in the folder of the clips. */
export function redactedFile(
  { detectionId, redactionId }: { detectionId: number; redactionId: number },
  kind: 'clip' | 'snapshot',
): string {
  return `${detectionId}.redacted-${redactionId}.${kind === 'clip' ? 'mp4' : 'png'}`
}

type Placed = Mask & { readonly when: string }

/**
 * Draws the masks over the video and encodes it in its size and with its times. Only these pictures of the original are used: no
 * sound, no captions inside the video, no metadata.
 */
function encodeArguments(
  original: string,
  { width, height }: Probed,
  masks: readonly Placed[],
  part: string,
  times: readonly string[],
): string[] {
  const inputs = masks.flatMap((mask, i) => [
    ...['-f', 'rawvideo', '-pix_fmt', 'rgba', '-s', `${mask.width}x${mask.height}`, '-i', `pipe:${3 + i}`],
  ])
  const drawn = masks.map(
    ({ left, top, when }, i) =>
      `[${i === 0 ? '0:v:0' : `v${i}`}][${i + 1}:v]overlay=x=${left}:y=${top}${when}[v${i + 1}]`,
  )
  const isEven = width % 2 === 0 && height % 2 === 0
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-y', '-threads', '1', '-copyts', '-i', original, ...inputs],
    ...(masks.length === 0 ? [] : ['-filter_complex', drawn.join(';')]),
    ...['-map', masks.length === 0 ? '0:v:0' : `[v${masks.length}]`, '-an', '-sn', '-dn'],
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-fflags', '+bitexact', '-flags:v', '+bitexact'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-bf', '0', '-g', '60', '-a53cc', '0', '-threads', '1'],
    ...['-pix_fmt', isEven ? 'yuv420p' : 'yuv444p', ...times, '-enc_time_base', '1:90000'],
    ...['-video_track_timescale', '90000', '-movflags', '+faststart', '-f', 'mp4', part],
  ]
}

/** The picture that is visible at `from` may have begun as long ago as the longest gap; it is covered too. */
function spanOf({ firstMs, longestGapMs }: Probed, from: number | null, to: number | null): string {
  if (from === null && to === null) return ''
  const begin = (firstMs + (from ?? 0) * 1000 - longestGapMs) / 1000
  const end = to === null ? 1e9 : firstMs / 1000 + to
  return `:enable='between(t,${begin.toFixed(3)},${end.toFixed(3)})'`
}

/** Whether two files show as many pictures, at the same times to the millisecond, in the same size. */
function isSameInTime(one: Probed, other: Probed): boolean {
  return (
    one.pictures === other.pictures &&
    one.width === other.width &&
    one.height === other.height &&
    Math.abs(one.firstMs - other.firstMs) <= 1 &&
    Math.abs(one.lastMs - other.lastMs) <= 1
  )
}

function reasonOf(error: unknown): keyof typeof words {
  if (error instanceof RedactionError) return error.reason
  const { code, message = '' } = error as { code?: string; message?: string }
  if (/Unknown encoder|Unrecognized option 'a53cc'|Encoder not found/.test(message)) return 'no-encoder'
  if (code === 'ENOSPC' || code === 'EDQUOT' || message.includes('No space left on device')) return 'disk-full'
  return 'failed'
}
