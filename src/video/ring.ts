import { SmallestOffset } from './smallest-offset.ts'
import { type Codec, type Unit, UnitSplitter } from './transport-stream.ts'

/** What follows the units of a cut. */
export type RingListener = {
  readonly unit: (unit: Unit) => void
  /** The stream does not go on: another process, or a jump of its time. */
  readonly broken: () => void
}

/** A piece of the past that a decoder can play. */
export type Cut = {
  /** Program tables, which come first. */
  readonly tables: Buffer
  /** From a key frame on. */
  readonly units: readonly Unit[]
  /** Presentation time of its first picture, and of the picture that is to be shown first. */
  readonly firstPtsMs: number
  readonly startPtsMs: number
  readonly codec: Codec
}

export type RingOptions = {
  /** How much of the past must be there, in milliseconds; one group of pictures and a little more are kept. */
  readonly keepMs: number
  readonly maxBytes?: number
  /** The clock of the stream has jumped. What was held is forgotten, and listeners have been told that it is broken. */
  readonly onJump?: () => void
}

const defaultMaxBytes = 48 * 1024 * 1024
const slackMs = 1500
/** Pictures are reordered by less than this, and network and decoder are never so much too early. */
const jumpMs = 1500
/** Times are computed from others; a picture that is due at a moment is not missed for that. */
const roundingMs = 1

/**
 * The newest part of a camera's compressed stream, in memory. Indexed by arrival (monotonic, as everything else in the
 * gateway) and by presentation time (what the pictures themselves say): arrival comes in bursts, so the place of a
 * moment is computed from the presentation time and the smallest delay seen lately.
 */
export class Ring {
  readonly #maxBytes: number
  readonly #listeners = new Set<RingListener>()
  #keepMs: number
  #splitter = new UnitSplitter()
  #units: Unit[] = []
  #sizeBytes = 0
  readonly #offset = new SmallestOffset()
  #newestKey: Unit | undefined
  #groupMs: number | undefined
  #reordered = false
  readonly #onJump: () => void

  constructor(options: RingOptions) {
    this.#keepMs = options.keepMs
    this.#maxBytes = options.maxBytes ?? defaultMaxBytes
    this.#onJump = options.onJump ?? (() => {})
  }

  set keepMs(ms: number) {
    this.#keepMs = ms
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  get codec(): Codec {
    return this.#splitter.codec
  }

  get newest(): Unit | undefined {
    return this.#units.at(-1)
  }

  /** Monotonic time at which the newest picture came from the camera, as near as can be told. */
  get newestMs(): number | undefined {
    const newest = this.newest
    const offsetMs = this.#offset.ms
    return newest === undefined || offsetMs === undefined ? undefined : newest.ptsMs + offsetMs
  }

  /** Time between the newest two key frames, in milliseconds; undefined before there were two. */
  get groupMs(): number | undefined {
    return this.#groupMs
  }

  /** Pictures a second over what is held; undefined before there are two. */
  get picturesPerSecond(): number | undefined {
    const [first, last] = [this.#units[0], this.#units.at(-1)]
    if (!first || !last || last.ptsMs <= first.ptsMs) return undefined
    return ((this.#units.length - 1) * 1000) / (last.ptsMs - first.ptsMs)
  }

  /** Takes bytes of the transport stream; returns how many pictures they completed. */
  push(bytes: Buffer, arrivedMs: number): number {
    const units = this.#splitter.push(bytes, arrivedMs)
    for (const unit of units) this.#append(unit)
    this.#evict()
    return units.length
  }

  /** Another process begins: what is held can't be joined to what comes. */
  restart(): void {
    this.#splitter = new UnitSplitter()
    this.#reordered = false
    this.#forget()
  }

  /** The presentation time that was the newest at a monotonic time; undefined before the first picture. */
  ptsAt(monotonicMs: number): number | undefined {
    const offsetMs = this.#offset.ms
    return offsetMs === undefined ? undefined : monotonicMs - offsetMs
  }

  /**
   * All from the key frame at or before `fromMs` (monotonic) to the newest picture; from the oldest key frame when the
   * ring does not reach back so far. It starts with the picture that was to be seen at `fromMs`, or with the next one when
   * that was taken before `notBeforeMs`. Undefined before the first key frame.
   */
  since(fromMs: number, notBeforeMs = -Infinity): Cut | undefined {
    const wanted = this.ptsAt(fromMs)
    if (wanted === undefined) return undefined
    const before = this.#units.findLastIndex((unit) => unit.key && unit.ptsMs <= wanted + roundingMs)
    const first = before >= 0 ? before : this.#units.findIndex((unit) => unit.key)
    const earliest = wanted + notBeforeMs - fromMs
    return this.#cut(first, this.#pictureAt(first, wanted, earliest))
  }

  /** From the newest key frame on: what a new viewer, or a still picture, begins with. */
  newestGroup(): Cut | undefined {
    return this.#cut(
      this.#units.findLastIndex((unit) => unit.key),
      -Infinity,
    )
  }

  /**
   * Hands over every unit that comes after those of a cut made in the same turn of the event loop. Returns what ends it.
   */
  subscribe(listener: RingListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Time of the picture that is shown at `wantedPtsMs`, among those from `first` on; never one before `earliestPtsMs`. */
  #pictureAt(first: number, wantedPtsMs: number, earliestPtsMs: number): number {
    const times = this.#units.slice(Math.max(first, 0)).map((unit) => unit.ptsMs)
    const shown = times.reduce((found, ms) => (ms <= wantedPtsMs + roundingMs ? Math.max(found, ms) : found), -Infinity)
    if (shown >= earliestPtsMs) return shown
    return times.reduce((found, ms) => (ms >= earliestPtsMs ? Math.min(found, ms) : found), Infinity)
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
    if (jumped || this.#beginsReordering(unit)) this.#forget()
    this.#units.push(unit)
    this.#sizeBytes += unit.bytes.length
    this.#offset.note(unit.ptsMs, unit.arrivedMs)
    if (unit.key) this.#noteKey(unit)
    for (const listener of [...this.#listeners]) listener.unit(unit)
    if (jumped) this.#onJump()
  }

  /** Time never runs back in a stream, and no picture comes before it was taken. A gap is no jump: time passed in it. */
  #isJump(unit: Unit): boolean {
    const before = this.#units.at(-1)
    if (!before) return false
    const stepMs = unit.ptsMs - before.ptsMs
    const earlyMs = (this.#offset.ms ?? 0) - (unit.arrivedMs - unit.ptsMs)
    return stepMs < -jumpMs || (earlyMs > jumpMs && stepMs - (unit.arrivedMs - before.arrivedMs) > jumpMs)
  }

  /**
   * The first time that a picture comes after one that is shown later: there are B-frames. ffmpeg did not know that, and
   * the times of the pictures before are wrong.
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

  #forget(): void {
    this.#newestKey = undefined
    this.#units = []
    this.#sizeBytes = 0
    this.#offset.reset()
    for (const listener of [...this.#listeners]) listener.broken()
  }

  /** Whole groups go, oldest first, as long as the next key frame is old enough or memory is short. */
  #evict(): void {
    for (;;) {
      const next = this.#units.findIndex((unit, i) => i > 0 && unit.key)
      const newest = this.#units.at(-1)
      const nextKey = this.#units[next]
      const isOld = newest && nextKey && newest.ptsMs - nextKey.ptsMs > this.#keepMs + slackMs
      if (!isOld && this.#sizeBytes <= this.#maxBytes) return
      this.#drop(nextKey ? next : this.#units.length)
    }
  }

  #drop(count: number): void {
    for (const unit of this.#units.splice(0, count)) this.#sizeBytes -= unit.bytes.length
  }
}
