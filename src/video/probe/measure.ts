import { type PictureSize, pictureSize } from '../format/picture-size.ts'
import { type Codec, type Unit, UnitSplitter } from '../format/transport-stream.ts'
import type { Problem } from '../problems.ts'

/** Measured facts of a stream. Null: not known. */
export type StreamFacts = {
  readonly codec: Codec
  readonly size: PictureSize | null
  /** How often the size changed. */
  readonly sizeChanges: number
  readonly picturesPerSecond: number | null
  /** The longest time between two key frames; null before there were two. */
  readonly keyFrameSeconds: number | null
  /** Bits a second on average, and in the busiest second. */
  readonly averageBitrate: number | null
  readonly peakBitrate: number | null
  /** Whether pictures come in another order than they are shown. */
  readonly bFrames: boolean
  /** Codec of the sound, which is not recorded. */
  readonly audio: string | null
  /** How often the clock inside the stream jumped. */
  readonly jumps: number
  readonly pictures: number
  readonly keyFrames: number
  readonly measuredSeconds: number
}

const jumpMs = 5000
/** Share of a transport packet that holds the stream. */
const payloadShare = 184 / 188

/** Measures the pictures of a transport stream as they arrive. */
export class StreamMeasure {
  readonly #splitter = new UnitSplitter()
  /** Pictures of the last second, and the most bytes that a second had. */
  #recent: Unit[] = []
  #recentBytes = 0
  #mostBytes = 0
  readonly #keys: number[] = []
  #first: Unit | undefined
  #last: Unit | undefined
  #latestPtsMs = -Infinity
  #pictures = 0
  #bytes = 0
  #reordered = false
  #jumps = 0
  #size: PictureSize | undefined
  #sizeChanges = 0

  get keyFrames(): number {
    return this.#keys.length
  }

  get pictures(): number {
    return this.#pictures
  }

  push(bytes: Buffer, arrivedMs: number): void {
    for (const unit of this.#splitter.push(bytes, arrivedMs)) this.#take(unit)
  }

  /** Returns the facts measured up to now. `problem`: why the stream ended, if it did. */
  facts(problem: Problem | null, audio: string | null): StreamFacts {
    const spanMs = this.#first ? this.#latestPtsMs - this.#first.ptsMs : 0
    const gaps = this.#keys.slice(1).map((ms, i) => ms - (this.#keys[i] ?? ms))
    const enough = spanMs >= 1000
    return {
      codec: this.#splitter.codec,
      size: this.#size ?? null,
      sizeChanges: this.#sizeChanges,
      picturesPerSecond: enough ? ((this.#pictures - 1) * 1000) / spanMs : null,
      keyFrameSeconds: gaps.length > 0 ? Math.max(...gaps) / 1000 : null,
      averageBitrate: enough ? (this.#bytes * payloadShare * 8000) / spanMs : null,
      peakBitrate: enough ? this.#mostBytes * payloadShare * 8 : null,
      bFrames: this.#reordered || problem === 'reordered',
      audio,
      jumps: this.#jumps,
      pictures: this.#pictures,
      keyFrames: this.#keys.length,
      measuredSeconds: spanMs / 1000,
    }
  }

  #take(unit: Unit): void {
    const before = this.#last
    const stepMs = before ? unit.ptsMs - before.ptsMs : 0
    if (Math.abs(stepMs) > jumpMs && before && Math.abs(stepMs - (unit.arrivedMs - before.arrivedMs)) > jumpMs) {
      this.#jumps += 1
      this.#startOver()
    } else if (stepMs < 0) this.#reordered = true
    this.#first ??= unit
    this.#last = unit
    this.#latestPtsMs = Math.max(this.#latestPtsMs, unit.ptsMs)
    this.#pictures += 1
    this.#bytes += unit.bytes.length
    this.#noteBusiest(unit)
    if (unit.key) this.#key(unit)
  }

  #noteBusiest(unit: Unit): void {
    this.#recent.push(unit)
    this.#recentBytes += unit.bytes.length
    while ((this.#recent[0]?.ptsMs ?? unit.ptsMs) <= unit.ptsMs - 1000) {
      this.#recentBytes -= this.#recent.shift()?.bytes.length ?? 0
    }
    this.#mostBytes = Math.max(this.#mostBytes, this.#recentBytes)
  }

  #key(unit: Unit): void {
    this.#keys.push(unit.ptsMs)
    const size = pictureSize(unit, this.#splitter.codec)
    if (!size) return
    if (this.#size && (size.width !== this.#size.width || size.height !== this.#size.height)) this.#sizeChanges += 1
    this.#size = size
  }

  /** Forgets rates: they would span the jump. */
  #startOver(): void {
    this.#first = undefined
    this.#latestPtsMs = -Infinity
    this.#pictures = 0
    this.#bytes = 0
    this.#recent = []
    this.#recentBytes = 0
    this.#mostBytes = 0
    this.#keys.length = 0
  }
}
