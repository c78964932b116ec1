import type { UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { AuditOrigin, AuditTrail } from '../../journal/index.ts'
import type { Log } from '../../log/index.ts'
import type { Clock } from '../../platform/index.ts'
import type { Checkpoints } from './checkpoints.ts'
import { appendHandOver, endOfHandOvers, handOverFacts, handOversOf, type UnsealedHandOver } from './hand-over.ts'
import type { KeyRing } from './key-ring.ts'

export type KeyRotationNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly logRoom: Log
  readonly audit: AuditTrail
  readonly makeId: () => string
  readonly keys: KeyRing
  readonly checkpoints: Pick<Checkpoints, 'make'>
}

/** A log that was handed over. `keys` and `previousKeys` are vkeys: Ed25519, then ML-DSA-44. */
export type RotatedKeys = {
  readonly keys: readonly [string, string]
  readonly previousKeys: readonly [string, string]
  /** The number of the leaf that names both. */
  readonly leaf: number
  /** Leaves of the checkpoint that all four keys have signed. */
  readonly checkpointSize: number
}

/** Gives the growing log new keys. */
export class KeyRotation {
  readonly #needs: KeyRotationNeeds
  #isBusy = false

  constructor(needs: KeyRotationNeeds) {
    this.#needs = needs
  }

  /**
   * Makes new keys, states them in the log, and has the checkpoint over that leaf signed by the old and the new ones. One that a
   * crash has interrupted is finished instead. Rejects with NOT_READY while the log may not be signed or another rotation is
   * under way; then nothing has changed. When the disk fills up behind the leaf, the next checkpoint finishes it.
   */
  async rotate(origin: AuditOrigin): Promise<RotatedKeys> {
    if (this.#isBusy) throw new AppError('NOT_READY', 'The keys are being rotated already', { retryAfterSeconds: 5 })
    this.#isBusy = true
    try {
      const { keys, checkpoints } = this.#needs
      const isInterrupted = keys.isHandingOver()
      // A ledger that does not verify is not signed, and gets no new keys.
      const before = await checkpoints.make()
      if (isInterrupted) return this.#newest(before.size)
      await this.#handOver(origin)
      return this.#newest((await checkpoints.make()).size)
    } finally {
      this.#isBusy = false
    }
  }

  async #handOver(origin: AuditOrigin): Promise<void> {
    const { work, clock, logRoom, audit, makeId, keys } = this.#needs
    const previous = keys.signer.vkeys
    const next = (await keys.beginRotation()).vkeys
    try {
      await work.write((tx) => {
        const newest = endOfHandOvers(tx)
        const unsealed: UnsealedHandOver = {
          id: newest.id + 1,
          event_id: makeId(),
          previous_ed25519: previous[0],
          previous_ml_dsa_44: previous[1],
          ed25519: next[0],
          ml_dsa_44: next[1],
          handed_over_at_ms: Math.max(clock.now(), newest.handed_over_at_ms),
        }
        const leaf = logRoom.append(tx, 'log-key', String(unsealed.id), handOverFacts(unsealed))
        appendHandOver(tx, { ...unsealed, ...leaf })
        const changes = { from: idOf(previous[0]), to: idOf(next[0]), leaf: leaf.leaf_seq }
        audit.write(tx, origin, { action: 'log.key_rotated', entity: 'config', changes })
      })
    } catch (error) {
      await keys.abandon()
      throw error
    }
  }

  #newest(checkpointSize: number): RotatedKeys {
    const { work, logRoom } = this.#needs
    const row = work.read((tx) => handOversOf(tx, logRoom.identity.number).at(-1))
    if (!row) throw new Error('the hand-over of the keys is missing')
    return {
      keys: [row.ed25519, row.ml_dsa_44],
      previousKeys: [row.previous_ed25519, row.previous_ml_dsa_44],
      leaf: row.leaf_seq,
      checkpointSize,
    }
  }
}

/** Returns the 8 hex digits by which a verifier key is known. */
const idOf = (vkey: string) => vkey.split('+')[1] ?? vkey
