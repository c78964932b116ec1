import { frameSize, framesPerSecond } from './frames.ts'

const windowMs = 10_000
/** Cameras send what they hold at the start, and networks what was stuck, at once; this much more than real time is a flood. */
const aheadMs = 15_000
const most = ((windowMs + aheadMs) * framesPerSecond) / 1000

/** Sees whether small pictures come faster than time passes. */
export class PictureRate {
  #seen: { readonly atMs: number; readonly pictures: number }[] = []

  /** Notes bytes of pictures that arrived at `atMs` (monotonic). True when those of the last 10 s show over 25 s. */
  isFlood(bytes: number, atMs: number): boolean {
    this.#seen = this.#seen.filter((seen) => seen.atMs > atMs - windowMs)
    const last = this.#seen.at(-1)
    const pictures = bytes / frameSize.bytes
    if (last?.atMs === atMs) this.#seen[this.#seen.length - 1] = { atMs, pictures: last.pictures + pictures }
    else this.#seen.push({ atMs, pictures })
    return this.#seen.reduce((sum, seen) => sum + seen.pictures, 0) > most
  }
}
