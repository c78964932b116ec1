/** Frames that are remembered: three minutes. A replay begins earlier (`cell-replay.ts`), so it remembers the same. */
const remembered = 900
/**
 * Fleeting changes are usual in a camera when more than one in so many frames has them. At first, more than a few frames must have
 * them.
 */
const usualOneOf = 45
const atLeast = 6
/** In addition, lasting changes must be in so many times fewer frames. Somebody who runs by causes nearly as many of both. */
const timesMore = 10

const unchanged = 0
const fleeting = 1
const lasting = 2

/**
 * Knows whether a camera often sees changes that do not last, such as insects in its infrared light, and seldom any that do. In
 * such a camera, motion takes more frames. In any other, somebody who runs by is found in a few frames.
 */
export class FleetingChanges {
  /** One for each frame; the oldest is written over. */
  readonly #kept = new Uint8Array(remembered)
  #next = 0
  #frames = 0
  #fleeting = 0
  #lasting = 0

  get areUsual(): boolean {
    const often = Math.max(this.#frames / usualOneOf, atLeast, timesMore * this.#lasting)
    return this.#fleeting > often
  }

  /** Adds a frame: whether much of it has changed at some place, and whether that lasts. */
  add(hasChanged: boolean, lasts: boolean): void {
    const before = this.#kept[this.#next]
    if (before === fleeting) this.#fleeting -= 1
    if (before === lasting) this.#lasting -= 1
    if (lasts) this.#lasting += 1
    else if (hasChanged) this.#fleeting += 1
    this.#kept[this.#next] = lasts ? lasting : hasChanged ? fleeting : unchanged
    this.#next = (this.#next + 1) % remembered
    this.#frames = Math.min(this.#frames + 1, remembered)
  }

  forget(): void {
    this.#kept.fill(unchanged)
    this.#frames = 0
    this.#fleeting = 0
    this.#lasting = 0
  }
}
