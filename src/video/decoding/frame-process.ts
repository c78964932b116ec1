import { type ChildProcess, spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import type { Owner } from '../../platform/index.ts'
import { type IvfCodec, ivfHeader, ivfPictureAt } from '../format/ivf.ts'
import { frameSize, takeFrame } from './frames.ts'

/**
 * The loop filter is skipped only in pictures that no other one is made from. Without it elsewhere, each picture differs more from the
 * camera's until the next key frame: a still wall moves, and jumps with the key frame.
 */
export const decoding = ['-threads', '1', '-skip_loop_filter', 'noref']

export type FrameProcessNeeds = {
  readonly ffmpeg: { readonly path: string; readonly as?: Owner | undefined }
  readonly codec: IvfCodec
  /** Takes a small picture, and the time that it was given with. Its bytes are the receiver's. */
  readonly onPicture: (ticks: number, pixels: Uint8Array) => void
  /** Takes messages of the decoder. */
  readonly onMessage: (text: string) => void
  /** Called once, when the process has ended. */
  readonly onEnded: (why: string) => void
}

const line = /^0,\s*-?\d+,\s*(-?\d+),/
const storedChars = 2000
const decoders: Readonly<Record<IvfCodec, string>> = { h264: 'h264', hevc: 'hevc', mjpeg: 'mjpeg' }

/**
 * Returns the arguments of a decoder of the ring's pictures. Each comes in IVF with a time: ffmpeg knows where it ends, and passes it
 * on at once. Pictures with an even time are scaled and written; another output has their times, so that one that cannot be decoded
 * moves no other.
 */
export function frameArgs(codec: IvfCodec): string[] {
  const size = `${frameSize.width}:${frameSize.height}`
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-nofind_stream_info', '-probesize', '32', ...decoding],
    ...['-copyts', '-c:v', decoders[codec], '-f', 'ivf', '-i', 'pipe:0', '-map', '0:v:0', '-an'],
    ...['-vsync', 'passthrough', '-enc_time_base', '1:90000'],
    ...['-vf', `select='not(mod(pts,2))',scale=${size}:flags=area`, '-c:v', 'rawvideo', '-pix_fmt', 'rgba'],
    ...['-threads', '1', '-flush_packets', '1', '-f', 'tee'],
    '[f=rawvideo:flush_packets=1]pipe:1|[f=framecrc:flush_packets=1]pipe:3',
  ]
}

/** An ffmpeg that decodes the pictures that it is given, and returns some of them in the small size. */
export class FrameProcess {
  readonly #needs: FrameProcessNeeds
  readonly #child: ChildProcess
  readonly #whole: Uint8Array[] = []
  readonly #times: number[] = []
  #pixels = takeFrame()
  #filled = 0
  #lines = ''
  #messages = ''
  #hasEnded = false

  /** Throws where Node throws at once, as it does without memory. */
  constructor(needs: FrameProcessNeeds) {
    this.#needs = needs
    const { path, as } = needs.ffmpeg
    const child = spawn(path, frameArgs(needs.codec), { ...as, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
    this.#child = child
    child.on('error', (error) => this.#end(error.message))
    child.on('close', (code, signal) => this.#end(`it ended with ${signal ?? code}`))
    // Where the process may open no more files, Node makes no pipes at all, and says why later.
    if (!child.stdio) return
    child.stdin?.on('error', () => {})
    child.stdout?.on('data', (bytes: Buffer) => this.#readPixels(bytes))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#messages = (this.#messages + text).slice(-storedChars)
      needs.onMessage(text)
    })
    const times = child.stdio[3]
    if (times instanceof Readable) times.setEncoding('utf8').on('data', (text: string) => this.#readTimes(text))
    child.stdin?.write(ivfHeader(needs.codec))
  }

  get pid(): number | undefined {
    return this.#hasEnded ? undefined : this.#child.pid
  }

  /** Bytes that ffmpeg has not taken yet. */
  get waitingBytes(): number {
    return this.#child.stdin?.writableLength ?? 0
  }

  /** Gives it a picture. Those with even ticks come back; ticks must grow. */
  give(ticks: number, picture: Buffer): void {
    if (!this.#hasEnded) this.#child.stdin?.write(ivfPictureAt(ticks, picture))
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #readPixels(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + frameSize.bytes - this.#filled)
      this.#pixels.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled < frameSize.bytes) continue
      this.#whole.push(this.#pixels)
      this.#pixels = takeFrame()
      this.#filled = 0
    }
    this.#pair()
  }

  #readTimes(text: string): void {
    const lines = (this.#lines + text).split('\n')
    this.#lines = lines.pop() ?? ''
    for (const one of lines) {
      const [, ticks] = line.exec(one) ?? []
      if (ticks !== undefined) this.#times.push(Number(ticks))
    }
    this.#pair()
  }

  /** Both outputs have the same pictures in the same order. */
  #pair(): void {
    while (!this.#hasEnded) {
      const [pixels, ticks] = [this.#whole[0], this.#times[0]]
      if (pixels === undefined || ticks === undefined) return
      this.#whole.shift()
      this.#times.shift()
      this.#needs.onPicture(ticks, pixels)
    }
  }

  #end(why: string): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#needs.onEnded(`${why}: ${this.#messages.trim()}`)
  }
}
