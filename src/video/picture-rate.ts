import { frameSize, framesPerSecond } from './frames.ts'

const windowMs = 10_000
/** More than real time by this much is a flood. Cameras and networks may send what they held back at once. */
const aheadMs = 15_000
const most = ((windowMs + aheadMs) * framesPerSecond) / 1000

/** Detects that small pictures come faster than time passes. */
export class PictureRate {
  #seen: { readonly atMs: number; readonly pictures: number }[] = []

  /** Notes bytes that arrived at `atMs` (monotonic). Returns true when those of the last 10 s show over 25 s. */
  isFlood(bytes: number, atMs: number): boolean {
    this.#seen = this.#seen.filter((seen) => seen.atMs > atMs - windowMs)
    const last = this.#seen.at(-1)
    const pictures = bytes / frameSize.bytes
    if (last?.atMs === atMs) this.#seen[this.#seen.length - 1] = { atMs, pictures: last.pictures + pictures }
    else this.#seen.push({ atMs, pictures })
    return this.#seen.reduce((sum, seen) => sum + seen.pictures, 0) > most
  }
}
