import { type PictureSize, pictureSize } from '../format/picture-size.ts'
import { type Codec, type Unit, UnitSplitter } from '../format/transport-stream.ts'
import { giveBack } from '../format/video-blocks.ts'
import { EarliestOffset } from '../timing/earliest-offset.ts'
import { SmallestOffset } from '../timing/smallest-offset.ts'

/** Why a stream does not continue. `restarted`: it is opened anew with other settings. */
export type StreamEnd = 'stream-ended' | 'restarted'

/** Receiver of the units after a cut. */
export type RingListener = {
  /** Its bytes are the ring's: who needs them in a later turn of the event loop keeps them (`video-blocks.ts`). */
  readonly unit: (unit: Unit) => void
  /** Called when all units of one reading were passed on. */
  readonly read?: () => void
  /** Called when the stream does not continue: another process, or a jump of its time. */
  readonly broken: (why: StreamEnd) => void
  /** Whether pictures are wanted soon after they have come, and not once a second. */
  readonly isPrompt?: boolean
}

/** A piece of the past that a decoder can play. */
export type Cut = {
  /** Program tables, which come first. */
  readonly tables: Buffer
  /** From a key frame on. Their bytes are the ring's, as those that a listener gets. */
  readonly units: readonly Unit[]
  /** Presentation times: of its first picture, and of the picture that should be shown first. */
  readonly firstPtsMs: number
  readonly startPtsMs: number
  readonly codec: Codec
}

export type Missing = { readonly fromMs: number; readonly toMs: number }

export type RingOptions = {
  /** Milliseconds of the past to keep; up to one group of pictures more is kept. */
  readonly keepMs: number
  /** Most bytes of this ring alone; without it only the memory of all cameras is a limit. */
  readonly maxBytes?: number
  /** Called when the clock of the stream has jumped, after the ring was emptied and its listeners were ended. */
  readonly onJump?: () => void
  /** Called when pictures were left out of a stream that went on: the picture before and the one after (monotonic). */
  readonly onMissing?: (span: Missing) => void
  /** Whether `replay` fills it. */
  readonly isReplay?: boolean
  /** Called when the size of the pictures has changed, after the ring was emptied and its listeners were ended. */
  readonly onSizeChange?: () => void
}

/** Memory that a camera is planned with. All cameras share the actual limit: see `VideoMemory`. */
export const ringBytes = 48 * 1024 * 1024
const slackMs = 1500
/** Reordering and early arrival stay below this; more is a jump. */
const jumpMs = 1500
/** A camera that is as late as this and catches up is no jump, however its video is read. */
const leastJumpMs = 900
/** Pictures this far apart, and four times as far as usual, are not all there. */
const missingMs = 2000
/** Tolerance for computed times, so that rounding misses no picture. */
const roundingMs = 1
/** ffmpeg has looked at a new stream for a second before it passes anything on; it has caught up after this much video. */
const learningMs = 10_000
/** A newest picture that is older than this, and two pictures, is late. */
const lateMs = 150

/**
 * Holds the newest part of a camera's compressed stream in memory, indexed by arrival (monotonic) and by presentation
 * time (from the pictures). Arrival comes in bursts, so the place of a moment is computed from the presentation time
 * and the smallest delay (`smallest-offset.ts`).
 */
export class Ring {
  readonly #maxBytes: number
  readonly #listeners = new Set<RingListener>()
  #keepMs: number
  #splitter = new UnitSplitter()
  #units: Unit[] = []
  #sizeBytes = 0
  readonly #offset = new SmallestOffset()
  readonly #earliest = new EarliestOffset()
  #newestKey: Unit | undefined
  /** The first one since the ring was emptied. */
  #firstUnit: Unit | undefined
  #groupMs: number | undefined
  #reordered = false
  #size: PictureSize | undefined
  #wasShortened = false
  readonly #onJump: () => void
  readonly #onMissing: (span: Missing) => void
  #replayOffsetMs: number | undefined
  readonly #onSizeChange: () => void

  constructor(options: RingOptions) {
    this.#keepMs = options.keepMs
    this.#maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY
    this.#onJump = options.onJump ?? (() => {})
    this.#onMissing = options.onMissing ?? (() => {})
    if (options.isReplay) this.#splitter = new UnitSplitter({ timesAreKnown: true })
    this.#onSizeChange = options.onSizeChange ?? (() => {})
  }

  set keepMs(ms: number) {
    this.#keepMs = ms
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Says whether a listener wants pictures soon after they have come. */
  get isPrompt(): boolean {
    for (const { isPrompt } of this.#listeners) if (isPrompt) return true
    return false
  }

  get codec(): Codec {
    return this.#splitter.codec
  }

  /** Whether pictures come in another order than they are shown. */
  get isReordered(): boolean {
    return this.#reordered
  }

  /** Returns the program tables, which a cut that begins with a key frame needs in front of it. */
  get tables(): Buffer {
    return this.#splitter.tables
  }

  get newest(): Unit | undefined {
    return this.#units.at(-1)
  }

  /** Returns the estimated monotonic time of the oldest picture that a cut can begin with. */
  get oldestMs(): number | undefined {
    const oldest = this.#units.find((unit) => unit.key)
    return oldest && this.arrivalOf(oldest.ptsMs)
  }

  /** Returns the estimated monotonic time at which a picture of this presentation time came from the camera. */
  arrivalOf(ptsMs: number): number {
    return ptsMs + (this.#offset.ms ?? 0)
  }

  /** Returns the estimated monotonic time at which the newest picture came from the camera. */
  get newestMs(): number | undefined {
    const newest = this.newest
    const offsetMs = this.#offset.ms
    return newest === undefined || offsetMs === undefined ? undefined : newest.ptsMs + offsetMs
  }

  /**
   * Says whether pictures come as soon as they are taken, as far as that is known. While ffmpeg is behind it must not wait
   * for anybody: only its most punctual picture shows when all of them were taken.
   */
  isPunctual(nowMs: number): boolean {
    const [first, { newest, newestMs = -Infinity }] = [this.#firstUnit, this]
    if (!first || !newest || newest.ptsMs - first.ptsMs < learningMs) return false
    return nowMs - newestMs <= lateMs + 2000 / (this.picturesPerSecond ?? Infinity)
  }

  /** Returns the milliseconds from the oldest key frame to the newest picture. */
  get playableMs(): number {
    const [oldest, newest] = [this.#units.find((unit) => unit.key), this.newest]
    return oldest && newest ? newest.ptsMs - oldest.ptsMs : 0
  }

  /** Says whether the ring gave up video for want of memory, and has not reached its length since. */
  get wasShortened(): boolean {
    return this.#wasShortened
  }

  /** Returns the milliseconds between the newest two key frames; undefined before there were two. */
  get groupMs(): number | undefined {
    return this.#groupMs
  }

  /** Returns the milliseconds of video since the newest key frame, including video that the ring has given up. */
  get keylessMs(): number {
    const { newest } = this
    const from = this.#newestKey ?? this.#firstUnit
    return newest && from ? newest.ptsMs - from.ptsMs : 0
  }

  /** Returns the milliseconds of video that are held. */
  get heldMs(): number {
    const [first, last] = [this.#units[0], this.#units.at(-1)]
    return first && last ? last.ptsMs - first.ptsMs : 0
  }

  /** Returns pictures a second over the video that is held; undefined before there are two. */
  get picturesPerSecond(): number | undefined {
    const [first, last] = [this.#units[0], this.#units.at(-1)]
    if (!first || !last || last.ptsMs <= first.ptsMs) return undefined
    return ((this.#units.length - 1) * 1000) / (last.ptsMs - first.ptsMs)
  }

  /** Takes bytes of the transport stream, which came after `sinceMs`; returns how many pictures they completed. */
  push(bytes: Buffer, arrivedMs: number, sinceMs?: number): number {
    const units = this.#splitter.push(bytes, arrivedMs, sinceMs)
    for (const unit of units) this.#append(unit)
    if (units.length > 0) for (const listener of [...this.#listeners]) listener.read?.()
    this.#evict()
    return units.length
  }

  /**
   * Takes bytes of a recorded stream, as if each picture arrived when it is shown; the first of all at `startMs`. Their
   * times are right from the first picture on: they were corrected before they were recorded.
   */
  replay(bytes: Buffer, startMs: number): void {
    this.#reordered = true
    for (const unit of this.#splitter.push(bytes, 0)) {
      this.#replayOffsetMs ??= startMs - unit.ptsMs
      this.#append({ ...unit, arrivedMs: unit.ptsMs + this.#replayOffsetMs })
    }
    this.#evict()
  }

  /**
   * Gives up the oldest group of pictures, because memory is short; the newest one only when nothing else is left. Returns
   * false when the ring is empty.
   */
  shed(): boolean {
    if (this.#units.length === 0) return false
    const next = this.#units.findIndex((unit, i) => i > 0 && unit.key)
    this.#wasShortened = true
    this.#drop(next > 0 ? next : this.#units.length)
    return true
  }

  /** Notes when (monotonic) the connection began whose video comes next. */
  begin(nowMs: number): void {
    this.#earliest.begin(nowMs)
  }

  /** Empties the ring: another process begins, whose video does not continue this one. */
  restart(why: StreamEnd = 'stream-ended'): void {
    this.#splitter = new UnitSplitter()
    this.#reordered = false
    this.#size = undefined
    this.#wasShortened = false
    this.#forget(why)
  }

  /** Returns the presentation time that was newest at a monotonic time; undefined before the first picture. */
  ptsAt(monotonicMs: number): number | undefined {
    const offsetMs = this.#offset.ms
    return offsetMs === undefined ? undefined : monotonicMs - offsetMs
  }

  /**
   * Returns everything from the key frame at or before `fromMs` (monotonic) to the newest picture. Without such a key frame, begins
   * with the oldest one. It starts with the picture that was visible at `fromMs`, or with the next one when that was taken before
   * `notBeforeMs`. Undefined before the first key frame.
   */
  since(fromMs: number, notBeforeMs = -Infinity): Cut | undefined {
    const wanted = this.ptsAt(fromMs)
    if (wanted === undefined) return undefined
    const before = this.#units.findLastIndex((unit) => unit.key && unit.ptsMs <= wanted + roundingMs)
    const first = before >= 0 ? before : this.#units.findIndex((unit) => unit.key)
    const earliest = wanted + notBeforeMs - fromMs
    return this.#cut(first, this.#pictureAt(first, wanted, earliest))
  }

  /** Returns everything from the newest key frame on. */
  newestGroup(): Cut | undefined {
    return this.#cut(
      this.#units.findLastIndex((unit) => unit.key),
      -Infinity,
    )
  }

  /**
   * Passes on every unit after those of a cut made in the same turn of the event loop. Returns a function that
   * unsubscribes.
   */
  subscribe(listener: RingListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Returns the time of the picture shown at `wantedPtsMs`, among those from `first` on; never one before
   * `earliestPtsMs`, which it returns while no picture is that new.
   */
  #pictureAt(first: number, wantedPtsMs: number, earliestPtsMs: number): number {
    const times = this.#units.slice(Math.max(first, 0)).map((unit) => unit.ptsMs)
    const shown = times.reduce((found, ms) => (ms <= wantedPtsMs + roundingMs ? Math.max(found, ms) : found), -Infinity)
    if (shown >= earliestPtsMs) return shown
    const later = times.filter((ms) => ms >= earliestPtsMs)
    return later.length > 0 ? Math.min(...later) : earliestPtsMs
  }

  #cut(index: number, wantedPtsMs: number): Cut | undefined {
    const first = this.#units[index]
    if (!first) return undefined
    return {
      tables: this.#splitter.tables,
      units: this.#units.slice(index),
      firstPtsMs: first.ptsMs,
      startPtsMs: Math.max(first.ptsMs, wantedPtsMs),
      codec: this.#splitter.codec,
    }
  }

  #append(unit: Unit): void {
    const jumped = this.#isJump(unit)
    const resized = this.#isResized(unit)
    if (jumped || resized || this.#beginsReordering(unit)) this.#forget()
    const before = this.#isAfterMissing(unit) ? this.newest : undefined
    this.#firstUnit ??= unit
    this.#units.push(unit)
    this.#sizeBytes += unit.bytes.length
    this.#offset.note(unit.ptsMs, unit.arrivedMs)
    this.#earliest.note(unit.ptsMs, unit.arrivedMs)
    if (before) this.#onMissing({ fromMs: this.arrivalOf(before.ptsMs), toMs: this.arrivalOf(unit.ptsMs) })
    if (unit.key) this.#noteKey(unit)
    for (const listener of [...this.#listeners]) listener.unit(unit)
    if (jumped) this.#onJump()
    if (resized) this.#onSizeChange()
  }

  /** Says whether a key frame has another size than the one before. A clip has one size. */
  #isResized(unit: Unit): boolean {
    if (!unit.key) return false
    const [before, size] = [this.#size, pictureSize(unit, this.codec)]
    this.#size = size ?? before
    return before !== undefined && size !== undefined && (size.width !== before.width || size.height !== before.height)
  }

  /**
   * Says whether the stream's time ran back, or a picture came before it can have been taken. A picture that waited to be read
   * seems to have come later, and so less early, by as long as it may have waited.
   */
  #isJump({ ptsMs, arrivedMs, sinceMs = arrivedMs }: Unit): boolean {
    const before = this.newest
    if (!before) return false
    if (ptsMs - before.ptsMs < -jumpMs) return true
    return this.#earliest.earlyMs(ptsMs, arrivedMs) > Math.max(jumpMs - (arrivedMs - sinceMs), leastJumpMs)
  }

  /** Says whether pictures before this one never came: they are not late, and the clock of the stream is right. */
  #isAfterMissing({ ptsMs }: Unit): boolean {
    const [before, perSecond] = [this.newest, this.picturesPerSecond]
    if (!before || !perSecond) return false
    return ptsMs - before.ptsMs >= Math.max(missingMs, (4 * 1000) / perSecond)
  }

  /**
   * Says whether this is the first picture that comes after one shown later. Then the stream has B-frames, and ffmpeg
   * gave the pictures before it wrong times.
   */
  #beginsReordering(unit: Unit): boolean {
    const before = this.#units.at(-1)
    if (this.#reordered || !before || unit.ptsMs >= before.ptsMs) return false
    this.#reordered = true
    return true
  }

  #noteKey(unit: Unit): void {
    if (this.#newestKey) this.#groupMs = unit.ptsMs - this.#newestKey.ptsMs
    this.#newestKey = unit
  }

  #forget(why: StreamEnd = 'stream-ended'): void {
    this.#newestKey = undefined
    this.#firstUnit = undefined
    this.#drop(this.#units.length)
    this.#offset.reset()
    this.#earliest.reset()
    for (const listener of [...this.#listeners]) listener.broken(why)
  }

  /** Drops whole groups, oldest first, while the next key frame is old enough or memory is short. */
  #evict(): void {
    for (;;) {
      const next = this.#units.findIndex((unit, i) => i > 0 && unit.key)
      const newest = this.#units.at(-1)
      const nextKey = this.#units[next]
      const isOld = newest && nextKey && newest.ptsMs - nextKey.ptsMs > this.#keepMs + slackMs
      if (isOld) {
        this.#wasShortened = false
        this.#drop(next)
      } else if (this.#sizeBytes > this.#maxBytes) this.shed()
      else return
    }
  }

  #drop(count: number): void {
    for (const { bytes } of this.#units.splice(0, count)) {
      this.#sizeBytes -= bytes.length
      giveBack(bytes)
    }
  }
}
