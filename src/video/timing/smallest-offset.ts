import { mostDrift } from './earliest-offset.ts'

/** A gateway is behind for less than this: what waits is bounded, and the camera gives up before. */
const windowMs = 600_000
/** For so long an offset counts as it was. After that the drift of the camera's clock may have made it larger. */
const exactMs = 30_000
/** Offsets that rise are kept this far apart. */
const apartMs = 10_000

/**
 * Estimates the offset from a stream's time to the gateway's monotonic clock. Packets come late, in bursts, but never
 * early, so the smallest difference is the best estimate: also when nothing has been punctual for minutes. It is not sought
 * further back, because a camera whose clock is slower than it may be looks as if everything came later and later.
 */
export class SmallestOffset {
  #offsets: { readonly atMs: number; readonly offsetMs: number }[] = []
  #ms: number | undefined

  /** Returns the milliseconds from the stream's time to monotonic time; undefined before the first packet. */
  get ms(): number | undefined {
    return this.#ms
  }

  /** Notes that a packet of the time `streamMs` has arrived. */
  note(streamMs: number, arrivedMs: number): void {
    const offsetMs = arrivedMs - streamMs
    // A larger older offset can never be the smallest again.
    const kept = this.#offsets.filter((o) => o.offsetMs < offsetMs && o.atMs > arrivedMs - windowMs)
    const newest = kept.at(-1)
    this.#ms = Math.min(offsetMs, ...kept.map((o) => o.offsetMs + drifted(arrivedMs - o.atMs)))
    if (!newest || arrivedMs - newest.atMs >= apartMs) kept.push({ atMs: arrivedMs, offsetMs })
    this.#offsets = kept
  }

  reset(): void {
    this.#offsets = []
    this.#ms = undefined
  }
}

const drifted = (ageMs: number): number => Math.max(ageMs - exactMs, 0) * mostDrift
