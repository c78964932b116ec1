type ClipRoomNeeds = {
  /** Free bytes of the disk. Throws when it does not answer. */
  readonly freeBytes: () => number
  /** Bytes that clips leave for the ledger. */
  readonly reserveBytes: () => number
}

/**
 * Shares the disk between all open clips. A spool reserves its bytes twice, because the finished clip needs as much again before
 * the spool goes. So a clip that the disk cuts short can still be finished, and the reserve stays untouched.
 */
export class ClipRoom {
  readonly #needs: ClipRoomNeeds
  #promisedBytes = 0

  constructor(needs: ClipRoomNeeds) {
    this.#needs = needs
  }

  /** Says whether so many bytes may be written, and promises as many for the finished clip. */
  take(bytes: number): boolean {
    const { freeBytes, reserveBytes } = this.#needs
    if (freeBytes() - this.#promisedBytes - 2 * bytes < reserveBytes()) return false
    this.#promisedBytes += bytes
    return true
  }

  /** The same for a finished clip whose spool is on the disk already. */
  takeAgain(bytes: number): boolean {
    const { freeBytes, reserveBytes } = this.#needs
    if (freeBytes() - this.#promisedBytes - bytes < reserveBytes()) return false
    this.#promisedBytes += bytes
    return true
  }

  /** Ends promises: the clip is finished, or there will be none for now. */
  giveBack(bytes: number): void {
    this.#promisedBytes -= bytes
  }
}
