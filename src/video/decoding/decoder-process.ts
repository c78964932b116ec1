import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lowerPriority } from '../ffmpeg/low-priority.ts'
import { ivfHeader, ivfPictureAt } from '../format/ivf.ts'
import { asPng, snapshotScale } from './clip-picture.ts'

/**
 * Two outputs of the same picture: the PNG itself, and a line that says its time, size and hash. The line goes to ffmpeg's error
 * output, so it keeps its order among the errors. With `-xerror` it ends at a picture that is not whole, which it would patch from
 * its memory. Not every version notices such a picture (`ffmpeg-dialect.ts`). One thread for the PNG: several would keep each
 * picture back until the next one.
 */
const args = [
  ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-xerror', '-nofind_stream_info', '-threads', '1'],
  ...['-copyts', '-f', 'ivf', '-i', 'pipe:0', '-map', '0:v:0', '-vsync', 'passthrough', '-enc_time_base', '1:90000'],
  ...['-vf', snapshotScale, ...asPng, '-threads', '1', '-flush_packets', '1', '-f', 'tee'],
  '[f=image2pipe:flush_packets=1]pipe:1|[f=framehash:hash=sha256:flush_packets=1]pipe:2',
]
/** Time between two pictures. One that was not asked for would come a 25th of a second after another one, or with it. */
const stepTicks = 90_000
const answerLine = /^0,\s*(\d+),\s*(\d+),\s*\d+,\s*(\d+),\s*([0-9a-f]{64})$/
/** Before the first line. */
const headLine = /^#/
/** A PNG of 640 pixels in width has 0.4 MB; one of a narrow, high picture has more. */
const mostBytes = 16 * 1024 * 1024
const mostChars = 4000

type Asked = {
  readonly ticks: number
  readonly resolve: (png: Buffer | undefined) => void
  /** Size and hash from the line, once it has come. */
  answer?: { readonly sizeBytes: number; readonly sha256: string }
}

/**
 * An ffmpeg that decodes one key frame after the other, all with the same parameter sets. Each has a separate time, which its
 * answer must name. At anything else that it says or writes, early, late or too much, it is killed.
 */
export class DecoderProcess {
  readonly #child: ChildProcess
  #asked: Asked | undefined
  #ticks = 0
  #said = ''
  #wrote: Buffer[] = []
  #wroteBytes = 0
  #hasAnswered = false
  #hasEnded = false
  /** Why it was killed, for the log. */
  trouble = ''

  constructor(ffmpeg: string) {
    // In a separate group: a signal to the gateway's group, such as Ctrl-C, must not end it.
    this.#child = spawn(ffmpeg, args, { stdio: 'pipe', detached: true })
    lowerPriority(this.#child.pid)
    this.#child.on('error', (error) => this.#fail(error.message))
    this.#child.on('close', (code, signal) => this.#fail(`it ended with ${signal ?? code}`))
    this.#child.stdin?.on('error', (error) => this.#fail(error.message))
    this.#child.stdout?.on('data', (bytes: Buffer) => this.#heardPng(bytes))
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#heard(text))
    this.#child.stdin?.write(ivfHeader('h264'))
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  get isBusy(): boolean {
    return this.#asked !== undefined
  }

  /** Resolves with the picture as PNG; with undefined when it was ended before. Not to be called while it is busy. */
  decode(frame: Buffer): Promise<Buffer | undefined> {
    if (this.#hasEnded || this.#asked) return Promise.resolve(undefined)
    this.#ticks += stepTicks
    return new Promise((resolve) => {
      this.#asked = { ticks: this.#ticks, resolve }
      this.#child.stdin?.write(ivfPictureAt(this.#ticks, frame))
    })
  }

  /** Kills it. */
  end(why: string): void {
    this.#fail(why)
  }

  #fail(why: string): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.trouble = why
    this.#child.kill('SIGKILL')
    this.#wrote = []
    this.#asked?.resolve(undefined)
    this.#asked = undefined
  }

  #heard(text: string): void {
    this.#said += text
    const lines = this.#said.split('\n')
    this.#said = lines.pop() ?? ''
    for (const line of lines) this.#heardLine(line)
    if (this.#said.length > mostChars) this.#fail('it says too much')
  }

  #heardLine(line: string): void {
    if (!this.#hasAnswered && headLine.test(line)) return
    const [, dts, pts, sizeBytes, sha256 = ''] = answerLine.exec(line) ?? []
    const asked = this.#asked
    if (asked && !asked.answer && Number(pts) === asked.ticks && pts === dts) {
      this.#hasAnswered = true
      asked.answer = { sizeBytes: Number(sizeBytes), sha256 }
      this.#finish()
    } else this.#fail(line)
  }

  #heardPng(bytes: Buffer): void {
    this.#wrote.push(bytes)
    this.#wroteBytes += bytes.length
    if (!this.#asked) this.#fail('it wrote what was not asked for')
    else if (this.#wroteBytes > mostBytes) this.#fail('its picture is too large')
    else this.#finish()
  }

  #finish(): void {
    const { answer, resolve } = this.#asked ?? {}
    if (!answer || !resolve || this.#wroteBytes < answer.sizeBytes) return
    const png = Buffer.concat(this.#wrote)
    this.#wrote = []
    this.#wroteBytes = 0
    if (createHash('sha256').update(png).digest('hex') === answer.sha256) {
      this.#asked = undefined
      resolve(png)
    } else this.#fail('its picture is not the one that it named')
  }
}
