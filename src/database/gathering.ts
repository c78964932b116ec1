/** After a group of so many, the next one waits for requests that are being read, for at most so many turns of the event loop. */
const gatherFrom = 4
const gatherTurns = 8

/**
 * Decides whether a commit waits one more turn for the writes of requests that the event loop is reading: a larger group costs the
 * disk and the processor less for each member. A client that is alone never waits.
 */
export class Gathering {
  readonly #limit: number
  #lastGroup = 0
  #turns = 0
  #gathered = 0

  /** @param limit most members of a group */
  constructor(limit: number) {
    this.#limit = limit
  }

  waits(waiting: number): boolean {
    const grows = waiting > this.#gathered && waiting < this.#limit
    if (this.#lastGroup < gatherFrom || !grows || this.#turns === gatherTurns) return false
    this.#gathered = waiting
    this.#turns += 1
    return true
  }

  committed(members: number): void {
    this.#lastGroup = members
    this.#turns = 0
    this.#gathered = 0
  }
}
