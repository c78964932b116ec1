import type { Clock, Logger } from '../../platform/index.ts'
import type { IvfCodec } from '../format/ivf.ts'
import { payloadOf, type Unit } from '../format/transport-stream.ts'
import { neverBad, type Trouble } from '../motion/impairment.ts'
import type { Picture } from '../motion/picture-judge.ts'
import { times } from '../stream/connection.ts'
import type { Ring } from '../stream/ring.ts'
import { FrameProcess, type FrameProcessNeeds } from './frame-process.ts'
import { copyFrame, framesPerSecond } from './frames.ts'
import { type AwakeReason, longestGroupMs, type WakeCommand } from './wakefulness.ts'

export type RingDecoderNeeds = {
  readonly ring: Ring
  readonly ffmpeg: FrameProcessNeeds['ffmpeg']
  readonly clock: Clock
  readonly log: Logger
  /** Says whether the small pictures are to come from the ring. */
  readonly mayBegin: () => boolean
  /** A decoder begins: its pictures do not continue those before. It is awake. */
  readonly onBegin: () => void
  readonly onPicture: (picture: Picture) => void
  /** A picture was left out, because the decoder is behind; its time. */
  readonly onLeftOut: (takenMs: number) => void
  /** The decoder sleeps, and the picture of the next key frame has not come in time. */
  readonly onOverdue: (why: AwakeReason) => void
  readonly onMessage: (text: string) => void
}

const frameMs = 1000 / framesPerSecond
/** Key frames that the sentinel sees are at least this far apart. */
const leastApartMs = 900
/** Half a tick of 90 kHz is not used: even ticks come back, and odd ones do not. */
const ticksPerMs = 90
/** Between the ticks of two runs of pictures, so that none of the second are before those of the first. */
const betweenRuns = 2 * 1000 * ticksPerMs
/** ffmpeg may be behind by this much; then pictures are left out, up to a key frame at which it is behind by less. */
const mostBehindMs = 2000
const mostWaitingBytes = 16 * 1024 * 1024
/** Without later pictures, a decoder may hold back so many: a second of them. */
const mostHeldBack = framesPerSecond
/** A decoder that returns nothing for so long is ended. */
const stuckMs = 30_000
/** A stream of fewer than five pictures a second is filled up with copies, for at most this many frames. */
const mostCopies = 25

type Asked = {
  readonly unitPtsMs: number
  readonly slot: number
  readonly isFrame: boolean
  readonly isKey: boolean
  /** When it was given (monotonic). */
  givenMs: number
}

/**
 * Decodes small pictures from a ring, with a separate ffmpeg. Asleep, it decodes key frames alone. Recording knows nothing of it:
 * when it fails, or is behind, the ring goes on.
 */
export class RingDecoder {
  readonly #needs: RingDecoderNeeds
  #process: FrameProcess | undefined
  #leaveRing: (() => void) | undefined
  #isAsleep = false
  /** Times of the present run of pictures, in the ring and in the process; undefined while a key frame is awaited. */
  #run: { readonly ptsMs: number; readonly ticks: number } | undefined
  #lastTicks = 0
  /** Pictures that were given and are to come back, by their ticks. */
  readonly #asked = new Map<number, Asked>()
  #lastSlot = -Infinity
  #lastKeyPtsMs = -Infinity
  /** The newest frame that came back, and its slot. */
  #newest: { readonly pixels: Uint8Array; readonly slot: number } | undefined
  #takenMs = -Infinity
  /** When it last gave or returned a picture (monotonic). */
  #movedMs = 0
  #failures = 0
  #firstFailureMs = 0
  #trouble = neverBad
  #retryMs = -Infinity
  #isOverdue = false

  constructor(needs: RingDecoderNeeds) {
    this.#needs = needs
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  get isAsleep(): boolean {
    return this.#isAsleep
  }

  /** Whether it decodes, or waits for a key frame to do so. */
  get isDecoding(): boolean {
    return this.#leaveRing !== undefined && this.#needs.mayBegin()
  }

  /** Whether it fails again and again, and since when. */
  get trouble(): Trouble {
    return this.#trouble
  }

  start(): void {
    this.#leaveRing ??= this.#needs.ring.subscribe({
      unit: (unit) => this.#take(unit),
      broken: () => this.#end(),
    })
  }

  stop(): void {
    this.#leaveRing?.()
    this.#leaveRing = undefined
    this.#end()
  }

  obey(command: WakeCommand): void {
    if (command.kind === 'sleep') this.#isAsleep = true
    else this.#wake(command.afterPtsMs)
  }

  /** Decodes what the ring has from a key frame on. Pictures up to that one were judged before. */
  #wake(afterPtsMs: number): void {
    const { ring } = this.#needs
    const cut = ring.since(ring.arrivalOf(afterPtsMs))
    this.#isAsleep = false
    this.#run = undefined
    this.#lastSlot = slotOf(afterPtsMs)
    this.#newest = undefined
    for (const unit of cut?.units ?? []) this.#give(unit)
  }

  #take(unit: Unit): void {
    const nowMs = this.#needs.clock.monotonic()
    if (!this.#process && !this.#begin(unit, nowMs)) return
    if (this.#asked.size > 0 && nowMs - this.#movedMs > stuckMs) this.#process?.kill()
    else if (!this.#isAsleep) this.#give(unit)
    else if (unit.key && unit.ptsMs - this.#lastKeyPtsMs >= leastApartMs) this.#giveAlone(unit)
    else this.#noteOverdue()
  }

  /** Starts a process, if this picture is a key frame that it can decode. */
  #begin(unit: Unit, nowMs: number): boolean {
    const { ring, ffmpeg, onBegin, onMessage } = this.#needs
    const { codec } = ring
    if (!unit.key || codec === 'other' || nowMs < this.#retryMs || !this.#needs.mayBegin()) return false
    try {
      this.#process = this.#start(codec, { ffmpeg, onMessage })
    } catch (error) {
      this.#failed(String(error))
      return false
    }
    this.#movedMs = nowMs
    onBegin()
    return true
  }

  #start(codec: IvfCodec, some: Pick<FrameProcessNeeds, 'ffmpeg' | 'onMessage'>): FrameProcess {
    const process: FrameProcess = new FrameProcess({
      ...some,
      codec,
      onPicture: (ticks, pixels) => {
        if (process === this.#process) this.#returned(ticks, pixels)
      },
      onEnded: (why) => {
        if (process === this.#process) this.#failed(why)
      },
    })
    return process
  }

  /** Gives a picture of a run of all of them. */
  #give(unit: Unit): void {
    const process = this.#process
    if (!process) return
    if ((!this.#run && !unit.key) || this.#isBehind(process, unit)) {
      this.#leaveOut(unit)
      return
    }
    const slot = slotOf(unit.ptsMs)
    this.#run ??= { ptsMs: unit.ptsMs, ticks: this.#lastTicks + betweenRuns }
    const isKey = unit.key && unit.ptsMs - this.#lastKeyPtsMs >= leastApartMs
    const isFrame = slot > this.#lastSlot
    const ticks = this.#run.ticks + 2 * Math.round(((unit.ptsMs - this.#run.ptsMs) * ticksPerMs) / 2)
    this.#ask(process, unit, ticks, { isFrame, isKey })
    if (isFrame) this.#lastSlot = slot
    if (isKey) this.#lastKeyPtsMs = unit.ptsMs
  }

  #isBehind({ waitingBytes }: FrameProcess, unit: Unit): boolean {
    if (waitingBytes > mostWaitingBytes) return true
    const [oldest] = this.#asked.values()
    const nowMs = this.#needs.clock.monotonic()
    if (!oldest || nowMs - oldest.givenMs <= mostBehindMs) return false
    if (this.#run || !unit.key || this.#asked.size > mostHeldBack) return true
    for (const asked of this.#asked.values()) asked.givenMs = nowMs
    return false
  }

  #leaveOut({ ptsMs }: Unit): void {
    this.#run = undefined
    const slot = slotOf(ptsMs)
    if (slot > this.#lastSlot) this.#needs.onLeftOut(wholeMs(this.#needs.ring.arrivalOf(ptsMs)))
    this.#lastSlot = Math.max(this.#lastSlot, slot)
  }

  /** Gives a key frame by itself. */
  #giveAlone(unit: Unit): void {
    this.#lastKeyPtsMs = unit.ptsMs
    this.#lastSlot = slotOf(unit.ptsMs)
    this.#isOverdue = false
    if (!this.#process) return
    // It returns a key frame only after the pictures behind it.
    if (this.#asked.size > 1 && this.#process.waitingBytes === 0) this.#needs.onOverdue('reordered')
    this.#ask(this.#process, unit, this.#lastTicks + betweenRuns, { isFrame: false, isKey: true })
  }

  #ask(process: FrameProcess, unit: Unit, ticks: number, what: { isFrame: boolean; isKey: boolean }): void {
    const comesBack = what.isFrame || what.isKey
    if (comesBack) {
      const givenMs = this.#needs.clock.monotonic()
      if (this.#asked.size === 0) this.#movedMs = givenMs
      this.#asked.set(ticks, { unitPtsMs: unit.ptsMs, slot: slotOf(unit.ptsMs), ...what, givenMs })
    }
    this.#lastTicks = Math.max(this.#lastTicks, ticks)
    process.give(comesBack ? ticks : ticks + 1, payloadOf(unit))
  }

  #returned(ticks: number, pixels: Uint8Array): void {
    const asked = this.#asked.get(ticks)
    if (!asked) return
    // Those before it could not be decoded.
    for (const earlier of this.#asked.keys()) {
      if (earlier > ticks) break
      this.#asked.delete(earlier)
    }
    this.#movedMs = this.#needs.clock.monotonic()
    this.#failures = 0
    if (this.#trouble.isBad) this.#trouble = { isBad: false, sinceMs: this.#movedMs }
    const { unitPtsMs, slot, isFrame, isKey } = asked
    if (isFrame) this.#fill(slot)
    this.#pass(pixels, unitPtsMs, isFrame, isKey)
    this.#newest = isFrame ? { pixels, slot } : undefined
  }

  /** Passes on copies of the newest frame, up to the one before a slot: detection counts five frames a second. */
  #fill(slot: number): void {
    const newest = this.#newest
    if (!newest || slot - newest.slot > mostCopies) return
    for (let missing = newest.slot + 1; missing < slot; missing += 1)
      this.#pass(copyFrame(newest.pixels), missing * frameMs, true, false)
  }

  #pass(pixels: Uint8Array, ptsMs: number, isFrame: boolean, isKey: boolean): void {
    const { ring, clock, onPicture } = this.#needs
    const takenMs = Math.max(wholeMs(ring.arrivalOf(ptsMs)), this.#takenMs)
    this.#takenMs = takenMs
    onPicture({ pixels, takenMs, arrivedMs: clock.monotonic(), isFrame, keyPtsMs: isKey ? ptsMs : undefined })
  }

  /** The ring knows when the last key frame came. Not all are given: some are close together, and some are left out. */
  #noteOverdue(): void {
    if (this.#isOverdue || this.#needs.ring.keylessMs <= longestGroupMs) return
    this.#isOverdue = true
    this.#needs.onOverdue('key_frames_rare')
  }

  #failed(why: string): void {
    const { clock, log } = this.#needs
    const delayMs = times.backoffMs[Math.min(this.#failures, times.backoffMs.length - 1)] ?? 0
    const nowMs = clock.monotonic()
    if (this.#failures === 0) this.#firstFailureMs = nowMs
    this.#failures += 1
    // One alone is over within two seconds.
    if (this.#failures > 1) this.#trouble = { isBad: true, sinceMs: this.#firstFailureMs }
    this.#retryMs = nowMs + delayMs
    log.warn({ why, delayMs }, 'the decoder of a camera has ended; recording goes on')
    this.#end()
  }

  /** Ends the process. The next one begins with a key frame. */
  #end(): void {
    const process = this.#process
    this.#process = undefined
    process?.kill()
    this.#asked.clear()
    this.#isAsleep = false
    this.#isOverdue = false
    this.#run = undefined
    this.#newest = undefined
    this.#lastSlot = -Infinity
    this.#lastKeyPtsMs = -Infinity
  }
}

const slotOf = (ptsMs: number): number => Math.floor(ptsMs / frameMs)
/** Not before the picture: a clip begins a whole pre-roll before this time. */
const wholeMs = (ms: number): number => Math.ceil(ms)

/** Returns why the key frames of a ring cannot stand for its pictures; null: they can. */
export function unfitBecause(ring: Pick<Ring, 'codec' | 'isReordered' | 'groupMs' | 'keylessMs'>): AwakeReason | null {
  if (ring.codec === 'mjpeg') return 'codec'
  if (ring.isReordered) return 'reordered'
  if (ring.groupMs === undefined) return 'learning'
  return Math.max(ring.groupMs, ring.keylessMs) > longestGroupMs ? 'key_frames_rare' : null
}
