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
  /** Program tables, then units from a key frame on. */
  readonly bytes: readonly Buffer[]
  readonly sizeBytes: number
  /** Presentation time of its first picture, and that of the wanted moment or of the first picture if that is later. */
  readonly firstPtsMs: number
  readonly startPtsMs: number
  readonly codec: Codec
}

export type RingOptions = {
  /** How much of the past must be there, in milliseconds; one group of pictures and a little more are kept. */
  readonly keepMs: number
  readonly maxBytes?: number
}

const defaultMaxBytes = 48 * 1024 * 1024
const slackMs = 1500
/** More than this between the times of two pictures that arrive one after the other is a jump, not a gap. */
const jumpMs = 10_000

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

  constructor(options: RingOptions) {
    this.#keepMs = options.keepMs
    this.#maxBytes = options.maxBytes ?? defaultMaxBytes
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
    this.#forget()
  }

  /** The presentation time that was the newest at a monotonic time; undefined before the first picture. */
  ptsAt(monotonicMs: number): number | undefined {
    const offsetMs = this.#offset.ms
    return offsetMs === undefined ? undefined : monotonicMs - offsetMs
  }

  /**
   * All from the key frame at or before `fromMs` (monotonic) to the newest picture; from the oldest key frame when the
   * ring does not reach back so far. Undefined before the first key frame.
   */
  since(fromMs: number): Cut | undefined {
    const wanted = this.ptsAt(fromMs)
    if (wanted === undefined) return undefined
    const before = this.#units.findLastIndex((unit) => unit.key && unit.ptsMs <= wanted)
    return this.#cut(before >= 0 ? before : this.#units.findIndex((unit) => unit.key), wanted)
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

  #cut(index: number, wantedPtsMs: number): Cut | undefined {
    const first = this.#units[index]
    if (!first) return undefined
    const bytes = [this.#splitter.tables, ...this.#units.slice(index).map((unit) => unit.bytes)]
    return {
      bytes,
      sizeBytes: bytes.reduce((sum, part) => sum + part.length, 0),
      firstPtsMs: first.ptsMs,
      startPtsMs: Math.max(first.ptsMs, wantedPtsMs),
      codec: this.#splitter.codec,
    }
  }

  #append(unit: Unit): void {
    const before = this.#units.at(-1)
    if (before && Math.abs(unit.ptsMs - before.ptsMs - (unit.arrivedMs - before.arrivedMs)) > jumpMs) this.#forget()
    this.#units.push(unit)
    this.#sizeBytes += unit.bytes.length
    this.#offset.note(unit.ptsMs, unit.arrivedMs)
    if (unit.key) this.#noteKey(unit)
    for (const listener of [...this.#listeners]) listener.unit(unit)
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
