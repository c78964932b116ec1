/** Window of the smallest offset: long enough to contain a quiet moment, short enough to follow drifting clocks. */
const windowMs = 30_000

/**
 * Estimates the offset from a stream's time to the gateway's monotonic clock. Packets come late, in bursts, but never
 * early, so the smallest recent difference is the best estimate.
 */
export class SmallestOffset {
  #offsets: { readonly atMs: number; readonly offsetMs: number }[] = []

  /** Returns the milliseconds from the stream's time to monotonic time; undefined before the first packet. */
  get ms(): number | undefined {
    return this.#offsets[0]?.offsetMs
  }

  /** Notes that a packet of the time `streamMs` has arrived. */
  note(streamMs: number, arrivedMs: number): void {
    const offsetMs = arrivedMs - streamMs
    // A larger older offset can never be the smallest again. The kept ones rise, so the first is the smallest.
    const kept = this.#offsets.filter((o) => o.offsetMs < offsetMs && o.atMs > arrivedMs - windowMs)
    this.#offsets = [...kept, { atMs: arrivedMs, offsetMs }]
  }

  reset(): void {
    this.#offsets = []
  }
}
