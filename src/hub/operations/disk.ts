import type { Clock } from '../../platform/index.ts'

/** A gateway whose feed had no room tries again after a minute, and at most every few minutes. */
const rememberedMs = 5 * 60_000

type OfficeDiskNeeds = { readonly clock: Pick<Clock, 'monotonic'> }

/** Remembers that the disk of the database had no room for a feed. A smaller one that is stored meanwhile says nothing about it. */
export class OfficeDisk {
  readonly #needs: OfficeDiskNeeds
  #refusedMs: number | undefined

  constructor(needs: OfficeDiskNeeds) {
    this.#needs = needs
  }

  /** Notes that a feed was refused because the disk is full. */
  refused(): void {
    this.#refusedMs = this.#needs.clock.monotonic()
  }

  /** Whether a feed was refused for it in the last 5 minutes. */
  get isFull(): boolean {
    return this.#refusedMs !== undefined && this.#needs.clock.monotonic() - this.#refusedMs < rememberedMs
  }
}
