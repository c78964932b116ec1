import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Clock } from '../../platform/index.ts'
import { frameSize, framesPerSecond } from '../decoding/frames.ts'
import { neverBad } from '../motion/impairment.ts'
import { fileArgs } from '../stream/ingest.ts'
import { Ring, ringBytes } from '../stream/ring.ts'
import { MotionWatch } from './motion-watch.ts'

/** Test video, as a usual camera sends it. */
export const testVideo = { width: 1280, height: 720, picturesPerSecond: 15, seconds: 8, megabitsPerSecond: 2 } as const

const makeWithinMs = 60_000
const keepMs = 7000
const settings = { sensitivity: 0.3, cooldownMs: 5000, preRecordMs: 5000, postRecordMs: 10_000 }
const frameBytes = frameSize.width * frameSize.height * 4

/** Makes a video with motion in every picture. Rejects when this ffmpeg cannot encode H.264. */
export function makeTestVideo(ffmpegPath: string, file: string): Promise<void> {
  const { width, height, picturesPerSecond, seconds, megabitsPerSecond } = testVideo
  const source = `testsrc2=size=${width}x${height}:rate=${picturesPerSecond}:duration=${seconds},noise=alls=6:allf=t`
  const coding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '0', '-g', String(2 * picturesPerSecond)]
  const rate = ['-b:v', `${megabitsPerSecond}M`, '-pix_fmt', 'yuv420p', '-f', 'mpegts', '-y', file]
  const args = ['-nostdin', '-loglevel', 'error', '-f', 'lavfi', '-i', source, ...coding, ...rate]
  return new Promise((resolve, reject) => {
    execFile(ffmpegPath, args, { timeout: makeWithinMs, killSignal: 'SIGKILL' }, (error, _, stderr) =>
      error ? reject(new Error(stderr.trim() || error.message)) : resolve(),
    )
  })
}

/** A camera that is not there: a file goes the way of a stream, through ffmpeg, the ring, and motion detection. */
export class LoadStream {
  readonly #child: ChildProcess
  readonly #watch: MotionWatch
  #bytes = 0

  constructor({ ffmpegPath, file, clock }: { ffmpegPath: string; file: string; clock: Clock }) {
    const nothing = () => {}
    this.#watch = new MotionWatch({
      ...{ clock, area: { masks: [], zones: [] }, settings: () => settings, onOutcome: nothing },
      fewPictures: () => neverBad,
      eventsTrouble: () => neverBad,
      decoderTrouble: () => neverBad,
      unfit: () => null,
      onCommand: nothing,
      cells: { frame: nothing, reconnected: nothing, interrupted: nothing },
    })
    const ring = new Ring({ keepMs, maxBytes: ringBytes })
    const args = fileArgs(file, { video: true, frames: true })
    this.#child = spawn(ffmpegPath, args, { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] })
    // A program that cannot be started gives no frames, and that is measured.
    this.#child.on('error', nothing)
    // Node types only three pipes; `spawn` was asked for four.
    const [, video, , frames] = this.#child.stdio as unknown as [null, Readable, null, Readable]
    frames.on('data', (bytes: Buffer) => {
      this.#bytes += bytes.length
      this.#watch.push(bytes)
    })
    video.on('data', (bytes: Buffer) => void ring.push(bytes, clock.monotonic()))
  }

  /** Frames that came since its start, and those of them that were dropped because scoring was late. */
  counts(): { readonly frames: number; readonly dropped: number } {
    const { dropped } = this.#watch.counts()
    return { frames: Math.floor(this.#bytes / frameBytes), dropped }
  }

  /** Resolves when its ffmpeg has ended. */
  async stop(): Promise<void> {
    this.#watch.stop()
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  /** Frames that a camera gives in a second. */
  static readonly framesPerSecond = framesPerSecond
}
