import { setPriority } from 'node:os'

/** Longest wait after one step. */
const longestRestMs = 500

/**
 * Halves the speed of long work beside a gateway that serves. It rests after each step for as long as the step took. So the disk
 * and the other thread are free half of the time.
 */
export class Pace {
  readonly #isOn: boolean
  #begunMs = performance.now()

  /** @param isOn off while no gateway runs: no one waits then */
  constructor(isOn: boolean) {
    this.#isOn = isOn
  }

  /** Rests after a step. Blocks the thread. */
  rest(): void {
    if (!this.#isOn) return
    const tookMs = performance.now() - this.#begunMs
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.min(tookMs, longestRestMs))
    this.#begunMs = performance.now()
  }
}

/** Lets every other thread go first: on Linux, priority 0 of `setPriority` is the calling thread. For the rest of its life. */
export function stepBack(): void {
  try {
    setPriority(0, 19)
  } catch {
    // A system that does not allow it runs the work at its usual priority.
  }
}
