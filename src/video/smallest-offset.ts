/** The offset is the smallest of this time: long enough to meet a quiet moment, short enough to follow drifting clocks. */
const windowMs = 30_000

/**
 * How far a stream's own time lies behind the gateway's monotonic clock. What a stream sends comes late, in bursts, but
 * never early, so the smallest difference seen lately is the nearest to the truth.
 */
export class SmallestOffset {
  #offsets: { readonly atMs: number; readonly offsetMs: number }[] = []

  /** Milliseconds from a stream's time to monotonic time; undefined before anything came. */
  get ms(): number | undefined {
    return this.#offsets[0]?.offsetMs
  }

  /** Something of the time `streamMs` has arrived. */
  note(streamMs: number, arrivedMs: number): void {
    const offsetMs = arrivedMs - streamMs
    // An older one that is larger can never be the smallest again: what is kept rises, and the first is the smallest.
    const kept = this.#offsets.filter((o) => o.offsetMs < offsetMs && o.atMs > arrivedMs - windowMs)
    this.#offsets = [...kept, { atMs: arrivedMs, offsetMs }]
  }

  reset(): void {
    this.#offsets = []
  }
}
