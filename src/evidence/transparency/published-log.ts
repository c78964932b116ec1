import type { ReadTx, UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller } from '../../http/index.ts'
import {
  type Checkpoint,
  checkpointsBefore,
  consistencyPath,
  cosignaturesOf,
  entryBundle,
  type Log,
  newestCheckpoint,
  nodesOf,
  tileHashes,
  widthOfTile,
} from '../../log/index.ts'
import type { ProofBundle } from '../bundle/bundle.ts'
import { handOverProofs } from '../bundle/hand-over-proofs.ts'
import type { KeyRing } from './key-ring.ts'
import type { TilePlace } from './tile-path.ts'

export type PublishedLogNeeds = {
  readonly work: UnitOfWork
  readonly logRoom: Log
  readonly keys: Pick<KeyRing, 'signer'>
  /** The warehouses that the caller may not see. */
  readonly hiddenFrom: (caller: Caller) => readonly number[]
}

/**
 * The growing log as others read it: up to its newest checkpoint and never beyond. Every method throws NOT_READY before the
 * first checkpoint.
 */
export class PublishedLog {
  readonly #needs: PublishedLogNeeds

  constructor(needs: PublishedLogNeeds) {
    this.#needs = needs
  }

  /** Returns the newest checkpoint as a signed note, with the cosignatures that it has. */
  checkpoint(): string {
    return this.#needs.work.read((tx) => signedNote(tx, this.#newest(tx)))
  }

  /** Returns the verifier keys that sign now, and the proofs of the hand-overs that led to them, oldest first. */
  keys(): { readonly keys: readonly [string, string]; readonly handOvers: readonly ProofBundle[] } {
    const { work, logRoom, keys } = this.#needs
    const handOvers = work.read((tx) => handOverProofs(tx, logRoom.identity.number))
    return { keys: keys.signer.vkeys, handOvers }
  }

  /** Returns checkpoints with fewer than `before` leaves, the largest first; from the newest on by default. */
  checkpoints(query: { readonly limit: number; readonly before: number | undefined }): readonly {
    readonly checkpoint: Checkpoint
    readonly note: string
  }[] {
    return this.#needs.work.read((tx) => {
      const { log_id, size } = this.#newest(tx)
      return checkpointsBefore(tx, log_id, query.before ?? size + 1, query.limit).map((checkpoint) => ({
        checkpoint,
        note: signedNote(tx, checkpoint),
      }))
    })
  }

  /** Returns a hash tile. Throws NOT_FOUND beyond the newest checkpoint. */
  tile(level: number, { n, width }: TilePlace): Buffer {
    return this.#needs.work.read((tx) => {
      const { log_id, size } = this.#newest(tx)
      if (width > widthOfTile(level, n, size)) throw AppError.notFound('Tile')
      return tileHashes(tx, log_id, level, n, width)
    })
  }

  /**
   * Returns an entry bundle: leaves of every warehouse. Throws NOT_FOUND beyond the newest checkpoint, and
   * PERMISSION_DENIED for a caller who may not see every warehouse.
   */
  entries({ n, width }: TilePlace, caller: Caller): Buffer {
    if (this.#needs.hiddenFrom(caller).length > 0) {
      throw new AppError('PERMISSION_DENIED', 'Log entries are for callers who may see every warehouse')
    }
    return this.#needs.work.read((tx) => {
      const { log_id, size } = this.#newest(tx)
      if (width > widthOfTile(0, n, size)) throw AppError.notFound('Entry bundle')
      return entryBundle(tx, log_id, n, width)
    })
  }

  /** Returns the consistency proof between two sizes up to the newest checkpoint. Throws VALIDATION_ERROR for others. */
  consistency(from: number, to: number): Buffer[] {
    return this.#needs.work.read((tx) => {
      const { log_id, size } = this.#newest(tx)
      if (to > size) throw AppError.field('to', `the newest checkpoint covers ${size} leaves`)
      if (from > to) throw AppError.field('from', 'expected a size that is not larger than to')
      return consistencyPath(from, to, nodesOf(tx, log_id, size))
    })
  }

  #newest(tx: ReadTx): Checkpoint {
    const newest = newestCheckpoint(tx, this.#needs.logRoom.identity.number)
    if (newest) return newest
    throw new AppError('NOT_READY', 'The log has no signed checkpoint yet', { retryAfterSeconds: 5 })
  }
}

/** Returns the note of a checkpoint with the cosignatures that it has. */
export function signedNote(tx: ReadTx, { log_id, size, note }: Checkpoint): string {
  return (
    note +
    cosignaturesOf(tx, log_id, size)
      .map(({ line }) => line)
      .join('')
  )
}
