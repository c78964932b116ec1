import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../platform/index.ts'
import { decoding } from '../decoding/frame-process.ts'
import { frameSize, framesPerSecond } from '../decoding/frames.ts'
import type { FfmpegDialect } from '../ffmpeg/ffmpeg-dialect.ts'
import { cleanText } from '../onvif/devices.ts'
import { type Problem, problemOf } from '../problems.ts'
import { Relay } from './relay.ts'
import { concatList, redactor, resolveHost, type StreamSource, usualSilenceMs } from './source.ts'
import { VideoPipe } from './video-pipe.ts'

/** Outputs of a stream: the compressed video, small raw pictures, or both. */
export type Outputs = {
  readonly video: boolean
  readonly frames: boolean
  /** Pictures arrive in another order than they are shown: decoding times are set, so that ffmpeg can write them. */
  readonly reordered?: boolean
  /** Passes on video before the first key frame. */
  readonly fromAnywhere?: boolean
}

export type Ended = {
  readonly problem: Problem
  /** The end of ffmpeg's stderr, without credentials; for the log. */
  readonly said: string
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export type IngestOptions = {
  readonly ffmpeg: { readonly path: string; readonly dialect: FfmpegDialect }
  readonly source: StreamSource
  readonly outputs: Outputs
  /** How long nothing may come until ffmpeg gives up, in milliseconds; absent: the usual time. */
  readonly mostSilentMs?: number | undefined
  readonly clock: Clock
  /** Says how long video may wait to be read, in milliseconds; without it, it never does. */
  readonly mostWaitMs?: () => number
  /** For a probe: ffmpeg prints its findings. */
  readonly talkative?: boolean
  /** Bytes of an MPEG transport stream, which came after `sinceMs` (monotonic). They are written over when this returns. */
  readonly onVideo: (bytes: Buffer, sinceMs: number) => void
  /** Bytes of raw RGBA pictures, in pieces of any size, and how many pictures end in them. */
  readonly onFrames: (bytes: Buffer, ended: number) => void
  /** Takes the messages of ffmpeg while it runs. */
  readonly onSaid?: (text: string) => void
  /** Called once, when the process has ended and all its output was passed on. */
  readonly onEnded: (ended: Ended) => void
}

/** Characters of stderr that are kept, from its end. */
const keptChars = 4000
const talkativeChars = 20_000
/** A message about a source of which nothing could be read. */
const neverOpened = /Impossible to open/

/**
 * Runs one ffmpeg with one connection to the camera. It starts with the object and never restarts: `connection.ts` decides the next
 * step. Pipes are emptied as they fill.
 */
export class Ingest {
  readonly #needs: IngestOptions
  readonly #redact: (text: string) => string
  #child: ChildProcess | undefined
  #relay: Relay | undefined
  #video: VideoPipe | undefined
  #said = ''
  #hadVideo = false
  /** Bytes of the raw picture that has not ended. */
  #ofFrame = 0
  /** Start of the process. */
  #sinceMs = 0
  #asked: NodeJS.Signals | undefined
  #ended = false

  constructor(options: IngestOptions) {
    this.#needs = options
    this.#redact = redactor(options.source)
    void this.#start()
  }

  /** Returns the process id, while the process runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Passes on the video that waits to be read. */
  readVideo(): void {
    this.#video?.read()
  }

  /**
   * Sends SIGTERM: ffmpeg closes the RTSP session, which frees its place at the camera. A frozen one does not react.
   */
  terminate(): void {
    this.#signal('SIGTERM')
  }

  kill(): void {
    this.#signal('SIGKILL')
  }

  #signal(signal: NodeJS.Signals): void {
    this.#asked = signal
    this.#child?.kill(signal)
  }

  async #start(): Promise<void> {
    const { ffmpeg, source, outputs, clock, mostSilentMs, mostWaitMs = () => 0, talkative = false } = this.#needs
    let problem: Problem = 'name-unknown'
    let list: string
    try {
      const address = await resolveHost(source)
      problem = 'program-failed'
      this.#relay = await Relay.open({ source, address, clock, mostWaitMs })
      list = concatList(source, this.#relay.port, ffmpeg.dialect, mostSilentMs)
      if (outputs.video) this.#video = await this.#videoPipe()
    } catch (error) {
      this.#end({ problem, said: String(error), code: null, signal: null })
      return
    }
    if (this.#asked) this.#end({ problem: 'closed', said: '', code: null, signal: null })
    else this.#run(ingestArgs(outputs, talkative), list)
  }

  /** Without memory, among others, Node throws at once, and says the rest later. */
  #spawn(args: readonly string[], end: Socket | undefined): ChildProcess | undefined {
    try {
      return spawn(this.#needs.ffmpeg.path, args, { stdio: ['pipe', end ?? 'ignore', 'pipe', 'pipe'] })
    } catch (error) {
      this.#end({ problem: 'no-program', said: String(error), code: null, signal: null })
      return undefined
    }
  }

  #videoPipe(): Promise<VideoPipe> {
    const { clock, mostWaitMs = () => 0, onVideo } = this.#needs
    const onBytes = (bytes: Buffer, sinceMs: number) => {
      this.#hadVideo = true
      onVideo(bytes, sinceMs)
    }
    return VideoPipe.open({ clock, mostWaitMs, onBytes })
  }

  #run(args: readonly string[], list: string): void {
    const video = this.#video
    this.#sinceMs = this.#needs.clock.monotonic()
    const child = this.#spawn(args, video?.end)
    if (!child) return
    this.#child = child
    video?.end.destroy()
    child.on('error', (error) => {
      if (child.pid === undefined) this.#end({ problem: 'no-program', said: error.message, code: null, signal: null })
    })
    // Where the process may open no more files, Node makes no pipes at all, and says why later.
    if (!child.stdio) return
    // Node types only three pipes; `spawn` was asked for four.
    const [stdin, , stderr, frames] = child.stdio as unknown as [Writable, null, Readable, Readable]
    stdin.on('error', () => {})
    stdin.end(list)
    frames.on('data', (bytes: Buffer) => this.#needs.onFrames(bytes, this.#endedIn(bytes)))
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#needs.onSaid?.(text)
      this.#said = (this.#said + text).slice(this.#needs.talkative ? -talkativeChars : -keptChars)
    })
    child.on('close', (code, signal) => {
      if (video) video.drain(() => void this.#closed(code, signal))
      else void this.#closed(code, signal)
    })
  }

  /** ffmpeg writes a picture in two parts, and nothing can be done with the first. */
  #endedIn({ length }: Buffer): number {
    const filled = this.#ofFrame + length
    this.#ofFrame = filled % frameSize.bytes
    return Math.floor(filled / frameSize.bytes)
  }

  async #closed(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    const foreign = this.#asked ? null : signal
    await this.#relay?.finish()
    const refusal = this.#relay?.refusal
    const problem = problemOf({ said: this.#said, hadVideo: this.#hadVideo, code, signal: foreign })
    const said = refusal ? `${this.#said}\n${refusal.problem}: ${cleanText(refusal.detail)}` : this.#said
    const isSilent = problem === 'not-a-stream' && this.#isSilent()
    this.#end({ problem: refusal?.problem ?? (isSilent ? 'unreachable' : problem), said, code, signal })
  }

  /**
   * ffmpeg has the same words for a camera that never answered and for a server that does not speak RTSP. The relay tells them apart,
   * after an attempt that took as long as a camera may be silent.
   */
  #isSilent(): boolean {
    const { clock, mostSilentMs = usualSilenceMs } = this.#needs
    return !this.#asked && neverOpened.test(this.#said) && clock.monotonic() - this.#sinceMs >= mostSilentMs
  }

  #end(ended: Ended): void {
    if (this.#ended) return
    this.#ended = true
    this.#child = undefined
    this.#video?.close()
    this.#relay?.close()
    this.#needs.onEnded({ ...ended, said: this.#redact(ended.said).trim() })
  }
}

/**
 * RTP has the time at which a picture is shown; a transport stream also has that of its decoding. For the first picture of a stream
 * with B-frames ffmpeg does not know it, and writes none at all. So the decoding time is set to a second before the picture is
 * shown, and never before the previous one. The first gets any time: the ring begins after it.
 */
const shown = 'if(eq(PTS,NOPTS),0,PTS)'
const reorderedFilter = `setts=pts='${shown}':dts='max(PREV_OUTDTS+1,${shown}-1/TB)'`
/** Times of first pictures may have to be set back; they stay over zero with this. */
const beginsAtSeconds = 10

/**
 * Returns ffmpeg's arguments. They name nothing of the camera: address, timeout and transport are in the list on stdin.
 */
export function ingestArgs(outputs: Outputs, talkative = false): string[] {
  return [
    ...['-nostdin', '-hide_banner', ...(talkative ? ['-nostats', '-loglevel', 'info'] : ['-loglevel', 'error'])],
    ...['-f', 'concat', '-safe', '0', '-protocol_whitelist', 'pipe,rtsp,rtp,udp,tcp'],
    ...['-analyzeduration', '1000000', '-fpsprobesize', '0', ...decoding],
    ...['-fflags', '+genpts+discardcorrupt', '-i', 'pipe:0', ...outputArgs(outputs)],
  ]
}

/** Returns ffmpeg's arguments for a file that is read again and again, at the speed of a camera. */
export function fileArgs(file: string, outputs: Outputs): string[] {
  const input = ['-re', '-stream_loop', '-1', ...decoding, '-fflags', '+genpts', '-i', file]
  return ['-nostdin', '-hide_banner', '-loglevel', 'error', ...input, ...outputArgs(outputs)]
}

function outputArgs({ video, frames, reordered = false, fromAnywhere = false }: Outputs): string[] {
  const size = `${frameSize.width}:${frameSize.height}`
  const filter = `fps=${framesPerSecond},scale=${size}:flags=area`
  return [
    ...(video ? ['-map', '0:v:0', '-c', 'copy', ...(reordered ? ['-bsf:v', reorderedFilter] : [])] : []),
    ...(video && fromAnywhere ? ['-copyinkf'] : []),
    ...(video ? ['-output_ts_offset', `${beginsAtSeconds}`, '-f', 'mpegts', '-muxdelay', '0', '-muxpreload', '0'] : []),
    ...(video ? ['-flush_packets', '1', 'pipe:1'] : []),
    // fps comes before scale: five pictures a second are scaled then, not all of them.
    ...(frames ? ['-map', '0:v:0', '-an', '-vf', filter, '-pix_fmt', 'rgba', '-f', 'rawvideo', 'pipe:3'] : []),
  ]
}
