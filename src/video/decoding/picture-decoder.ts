import { TaskLimit } from '../../flow/index.ts'
import type { Clock, Logger } from '../../platform/index.ts'
import { type FfmpegDialect, staysWell } from '../ffmpeg/ffmpeg-dialect.ts'
import type { KeyFrame } from '../format/key-frame.ts'
import { DecoderProcess } from './decoder-process.ts'

/** Decodes a key frame into a PNG; undefined: an ffmpeg for this picture alone is to do it. */
export type KeyFrameDecoder = { decode(frame: KeyFrame): Promise<Buffer | undefined> }

export type PictureDecoderNeeds = {
  readonly ffmpeg: { readonly path: string; readonly dialect: FfmpegDialect }
  readonly clock: Clock
  readonly log: Logger
}

/** As many as clips are made at once. Each takes 63 MiB, most of it shared with the ffmpegs of the cameras. */
const mostProcesses = 2
/** A process is ended when it had nothing to do for so long. */
const idleMs = 60_000
/** A process that takes longer is ended: it keeps its pictures back, or the box is far behind. */
const limitMs = 5000
/**
 * Pause after a failure before pictures with these parameters are tried again. It is longer when the process never gave one: it
 * may be unfit for them.
 */
const restMs = 600_000
const longRestMs = 3_600_000
const mostResting = 100

type Standing = {
  readonly process: DecoderProcess
  readonly turns: TaskLimit
  hasGiven: boolean
  cancelIdle: () => void
}

/**
 * Decodes key frames by ffmpegs that stay: to start one takes twice as long as the picture. There is one for each set of parameters.
 * After anything unexpected it is gone, and the caller takes the picture in the usual way, as with an ffmpeg that does not stay well.
 */
export class PictureDecoder implements KeyFrameDecoder {
  readonly #needs: PictureDecoderNeeds
  /** By parameters, in the order of their last use. */
  readonly #standing = new Map<string, Standing>()
  /** Parameters that failed, and until when they are not tried (monotonic). */
  readonly #resting = new Map<string, number>()
  #hasStopped = false

  constructor(needs: PictureDecoderNeeds) {
    this.#needs = needs
  }

  async decode({ parameters, bytes }: KeyFrame): Promise<Buffer | undefined> {
    const kind = parameters.toString('base64')
    const mayStay = staysWell(this.#needs.ffmpeg.dialect) && !this.#hasStopped && !this.#rests(kind)
    const standing = mayStay ? this.#take(kind) : undefined
    return standing?.turns.run(() => this.#ask(kind, standing, bytes))
  }

  stop(): void {
    this.#hasStopped = true
    for (const [kind, standing] of this.#standing) this.#end(kind, standing, 'the gateway stops')
  }

  async #ask(kind: string, standing: Standing, bytes: Buffer): Promise<Buffer | undefined> {
    const { clock } = this.#needs
    const { process } = standing
    // It may have failed at a picture before.
    if (process.hasEnded) return undefined
    standing.cancelIdle()
    const cancelLimit = clock.after(limitMs, () => process.end(`it took longer than ${limitMs} ms`))
    const png = await process.decode(bytes)
    cancelLimit()
    standing.hasGiven ||= png !== undefined
    if (png) standing.cancelIdle = clock.after(idleMs, () => this.#end(kind, standing, 'nothing to do'))
    else if (!this.#hasStopped) this.#failed(kind, standing)
    return png
  }

  /** Returns the process of a kind, a new one if need be; undefined when it has failed, or while too many others are busy. */
  #take(kind: string): Standing | undefined {
    const known = this.#standing.get(kind)
    if (known?.process.hasEnded) {
      this.#failed(kind, known)
      return undefined
    }
    this.#standing.delete(kind)
    const standing = known ?? this.#start()
    if (standing) this.#standing.set(kind, standing)
    return standing
  }

  #start(): Standing | undefined {
    if (this.#standing.size >= mostProcesses) {
      const [idle] = [...this.#standing].filter(([, { process }]) => !process.isBusy)
      if (!idle) return undefined
      this.#end(...idle, 'another kind of picture')
    }
    const process = this.#process()
    return process && { process, turns: new TaskLimit(1), hasGiven: false, cancelIdle: () => {} }
  }

  /** Undefined where it cannot be started: then an ffmpeg that is started for each picture says why. */
  #process(): DecoderProcess | undefined {
    try {
      return new DecoderProcess(this.#needs.ffmpeg.path)
    } catch (err) {
      this.#needs.log.info({ err }, 'no ffmpeg could be started that stays for pictures of clips')
      return undefined
    }
  }

  #failed(kind: string, standing: Standing): void {
    const { trouble } = standing.process
    const forMs = standing.hasGiven ? restMs : longRestMs
    this.#needs.log.info(
      { trouble, forMs },
      'an ffmpeg that takes pictures of clips was ended; for some time each has its own',
    )
    this.#end(kind, standing, trouble)
    if (this.#resting.size >= mostResting) this.#resting.clear()
    this.#resting.set(kind, this.#needs.clock.monotonic() + forMs)
  }

  #end(kind: string, standing: Standing, why: string): void {
    standing.cancelIdle()
    standing.process.end(why)
    if (this.#standing.get(kind) === standing) this.#standing.delete(kind)
  }

  #rests(kind: string): boolean {
    const untilMs = this.#resting.get(kind)
    if (untilMs === undefined || untilMs > this.#needs.clock.monotonic()) return untilMs !== undefined
    this.#resting.delete(kind)
    return false
  }
}
