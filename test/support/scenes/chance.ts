/** Random numbers from a seed: the same seed gives the same scene. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995
    this.next()
    this.next()
  }

  /** Returns a number from 0 to 1, 1 excluded. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next()
  }

  /** Returns a whole number below `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count)
  }

  sign(): number {
    return this.next() < 0.5 ? -1 : 1
  }

  /** Returns true with this probability. */
  happens(probability: number): boolean {
    return this.next() < probability
  }

  /** Returns a normal deviate of mean 0 and deviation 1. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
  }
}

const deviates = (() => {
  const chance = new Chance(20_260)
  return Float32Array.from({ length: 1 << 16 }, () => chance.normal())
})()

/** Returns 65,536 normal deviates, which grain takes from random places: far cheaper than making new ones. */
export function normalDeviates(): Float32Array {
  return deviates
}
