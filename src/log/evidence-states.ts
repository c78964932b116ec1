import { z } from '@hono/zod-openapi'
import type { ReadTx } from '../database/index.ts'
import { timeOut } from '../http/index.ts'
import { isoTime } from '../platform/index.ts'
import { checkpointCovering, newestCheckpoint } from './checkpoints.ts'
import { cosignatureCovering, lastCosignature, lastTimestamp, timestampCovering } from './countersigned.ts'

const State = z.enum(['recorded', 'signed', 'witnessed', 'timestamped']).openapi({
  description:
    'recorded: on the disk of this gateway · signed: a signed checkpoint of the log covers it · witnessed: as many of the configured witnesses as evidence.quorum demands have cosigned a checkpoint that covers it · timestamped: a time stamp authority has stamped one that covers it, and it is witnessed where witnesses are configured',
})

/** The state of a fact in a list. */
export const EvidenceState = z.object({ state: State }).openapi('EvidenceState')
export type EvidenceState = z.infer<typeof EvidenceState>

/** The state of one fact, with times and names. */
export const Evidence = z
  .object({
    state: State,
    checkpointSize: z.int().nullable().openapi({ description: 'Leaves of the first checkpoint that covers it' }),
    signedAt: timeOut().nullable().openapi({ description: 'When that checkpoint was signed' }),
    witnesses: z
      .array(
        z.object({ name: z.string(), at: timeOut().openapi({ description: 'The time that the cosignature states' }) }),
      )
      .openapi({ description: 'The configured witnesses that cosigned a checkpoint that covers it' }),
    timestampedAt: timeOut().nullable().openapi({ description: 'The time that the first time stamp states' }),
  })
  .openapi('Evidence')
export type Evidence = z.infer<typeof Evidence>

/** The place of a row in the logs of the box. */
type Place = { readonly log_id: number; readonly leaf_seq: number }

/** The largest sizes of one log that were signed, cosigned by a quorum, and time-stamped; 0 for none. */
export type SecuredSizes = { readonly signed: number; readonly witnessed: number; readonly timestamped: number }

const none: SecuredSizes = { signed: 0, witnessed: 0, timestamped: 0 }

export type WitnessPolicy = {
  /** Names of the configured witnesses. */
  readonly names: readonly string[]
  /** How many of them make a fact witnessed. */
  readonly quorum: number
}

/** State of a fact that was recorded a moment ago: no checkpoint can cover it yet. */
export const recordedOnly: Evidence = {
  state: 'recorded',
  checkpointSize: null,
  signedAt: null,
  witnesses: [],
  timestampedAt: null,
}

type EvidenceStatesNeeds = { readonly policy: () => WitnessPolicy }

/** Says how far a fact is secured. A step is reached only when its proof is on this disk. */
export class EvidenceStates {
  readonly #needs: EvidenceStatesNeeds

  constructor(needs: EvidenceStatesNeeds) {
    this.#needs = needs
  }

  /** Returns a function that gives the state of each of these rows. The sizes of each log are read once for a page. */
  ofPage(tx: ReadTx, page: readonly Place[]): (place: Place) => EvidenceState {
    const logs = [...new Set(page.map(({ log_id }) => log_id))]
    const sizes = new Map(logs.map((log) => [log, this.sizes(tx, log)]))
    return ({ log_id, leaf_seq }) => ({ state: this.#stateAt(sizes.get(log_id) ?? none, leaf_seq) })
  }

  /** Returns the state of one row, with times and names. */
  of(tx: ReadTx, { log_id, leaf_seq }: Place): Evidence {
    const checkpoint = checkpointCovering(tx, log_id, leaf_seq)
    const stamp = timestampCovering(tx, log_id, leaf_seq)
    const witnesses = this.#needs.policy().names.flatMap((name) => {
      const first = cosignatureCovering(tx, log_id, name, leaf_seq)
      return first ? [{ name, at: isoTime(first.cosigned_at_ms) }] : []
    })
    return {
      state: this.#stateAt(this.sizes(tx, log_id), leaf_seq),
      checkpointSize: checkpoint?.size ?? null,
      signedAt: checkpoint ? isoTime(checkpoint.signed_at_ms) : null,
      witnesses,
      timestampedAt: stamp ? isoTime(stamp.stamped_at_ms) : null,
    }
  }

  /** Returns how far a log is secured. */
  sizes(tx: ReadTx, log: number): SecuredSizes {
    const { names, quorum } = this.#needs.policy()
    const cosigned = names.map((name) => lastCosignature(tx, log, name)?.size ?? 0).toSorted((a, b) => b - a)
    return {
      signed: newestCheckpoint(tx, log)?.size ?? 0,
      // The quorum-th largest: so many witnesses have cosigned at least this size.
      witnessed: cosigned[quorum - 1] ?? 0,
      timestamped: lastTimestamp(tx, log)?.size ?? 0,
    }
  }

  /** Whether witnesses are configured, so that a time stamp alone does not make the highest state. */
  get hasWitnesses(): boolean {
    return this.#needs.policy().names.length > 0
  }

  #stateAt(sizes: SecuredSizes, seq: number): EvidenceState['state'] {
    return stateAt(sizes, this.hasWitnesses, seq)
  }
}

/** Returns the state of a leaf (its number from 1 on) in a log with these secured sizes. */
export function stateAt(
  { signed, witnessed, timestamped }: SecuredSizes,
  hasWitnesses: boolean,
  seq: number,
): EvidenceState['state'] {
  if (seq > signed) return 'recorded'
  if (hasWitnesses && seq > witnessed) return 'signed'
  if (seq <= timestamped) return 'timestamped'
  return hasWitnesses ? 'witnessed' : 'signed'
}
