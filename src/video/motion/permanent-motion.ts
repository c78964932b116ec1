/** Frames that are remembered: three minutes. A replay begins earlier (`cell-replay.ts`), so it remembers the same. */
const remembered = 900
/** After a longer rest than this, 15 s, a window begins anew: somebody worked there, and the next person is not hidden. */
const longestPause = 75
/** Shares are kept in steps of half a percent. */
const steps = 200
/** Steadiness of a window that half of the frames fill equally: the square of the mean, divided by the mean of the squares. */
const steady = 0.5
/** So many standard deviations over the mean are usual. */
const straying = 1.75

/**
 * Knows the windows that have moved for three minutes without a pause, such as a conveyor with crowds of boxes and gaps. The last
 * frames are stored in whole numbers: the usual change depends on them alone, not on when the watch began.
 */
export class PermanentMotion {
  readonly #count: number
  /** A row of all windows for each frame; the oldest is written over. */
  readonly #kept: Uint8Array
  readonly #sums: Uint32Array
  readonly #squares: Uint32Array
  /** The frame in which each window last moved, and that in which it began to, without a long pause since. */
  readonly #last: Float64Array
  readonly #since: Float64Array
  #frame = 0
  /** Start of this frame's row. The flag says whether the row that it overwrites is empty, as in a hall at rest. */
  #row = 0
  #isRowEmpty = true
  #isFrameEmpty = true
  readonly #emptyRows = new Uint8Array(remembered).fill(1)

  constructor(count: number) {
    this.#count = count
    this.#kept = new Uint8Array(count * remembered)
    this.#sums = new Uint32Array(count)
    this.#squares = new Uint32Array(count)
    this.#last = new Float64Array(count).fill(-Infinity)
    this.#since = new Float64Array(count)
  }

  forget(): void {
    for (const numbers of [this.#kept, this.#sums, this.#squares]) numbers.fill(0)
    this.#last.fill(-Infinity)
    this.#emptyRows.fill(1)
    this.#isRowEmpty = true
    this.#isFrameEmpty = true
    this.#frame = 0
    this.#row = 0
  }

  /** Returns the share of a window that is usual because it moves permanently; 0 for all others. */
  usual(window: number): number {
    if (!this.#isGoingOn(window) || this.#frame - (this.#since[window] ?? 0) < remembered) return 0
    const mean = (this.#sums[window] ?? 0) / remembered
    const square = (this.#squares[window] ?? 0) / remembered
    const meanSquare = mean * mean
    return meanSquare < steady * square ? 0 : (mean + straying * Math.sqrt(square - meanSquare)) / steps
  }

  /** Learns the share of a window in this frame, and whether it counts as moving. */
  learn(window: number, share: number, moves: boolean): void {
    if (share === 0 && this.#isRowEmpty) return
    if (moves) {
      if (!this.#isGoingOn(window)) this.#since[window] = this.#frame
      this.#last[window] = this.#frame
    }
    const at = this.#row + window
    const before = this.#kept[at] ?? 0
    if (before === 0 && share === 0) return
    if (share > 0) this.#isFrameEmpty = false
    const now = Math.floor(steps * share + 0.5)
    this.#kept[at] = now
    this.#sums[window] = (this.#sums[window] ?? 0) + now - before
    this.#squares[window] = (this.#squares[window] ?? 0) + now * now - before * before
  }

  /** Begins the next frame. */
  next(): void {
    this.#emptyRows[this.#row / this.#count] = Number(this.#isFrameEmpty)
    this.#frame += 1
    this.#row = (this.#frame % remembered) * this.#count
    this.#isRowEmpty = this.#emptyRows[this.#row / this.#count] === 1
    this.#isFrameEmpty = true
  }

  #isGoingOn(window: number): boolean {
    return this.#frame - (this.#last[window] ?? 0) <= longestPause
  }
}
