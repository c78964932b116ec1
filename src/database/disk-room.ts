import { AppError } from '../errors/index.ts'
import { type FreeSpace, freeSpace } from '../platform/index.ts'
import { keepStartRoom } from './start-room.ts'

type DiskRoomNeeds = {
  readonly folder: string
  /** Bytes reserved for the ledger: `retention.ledgerReserveBytes`. */
  readonly reserveBytes: () => number
  readonly freeSpace?: (folder: string) => FreeSpace
}

/**
 * Guards the disk that the ledger shares with photos, lists and reports. These are refused while there is still room,
 * so that events can still be recorded.
 */
export class DiskRoom {
  readonly #needs: DiskRoomNeeds
  readonly #freeSpace: (folder: string) => FreeSpace

  constructor(needs: DiskRoomNeeds) {
    this.#needs = needs
    this.#freeSpace = needs.freeSpace ?? freeSpace
  }

  /** Sets the start reserve aside again. Call it when there is room again. */
  keepStartRoom(): void {
    keepStartRoom(this.#needs.folder)
  }

  free(): FreeSpace {
    return this.#freeSpace(this.#needs.folder)
  }

  /** Throws STORAGE_FULL when a file of this size would use what is reserved for the ledger. */
  demand(bytes: number, what: string): void {
    if (this.free().bytes - bytes >= this.#needs.reserveBytes()) return
    throw new AppError('STORAGE_FULL', `The disk has no room for ${what}; it was not stored`, {
      details: 'the rest of the disk is reserved for events, which are still recorded; ask the admin to free space',
      retryAfterSeconds: 60,
    })
  }
}
