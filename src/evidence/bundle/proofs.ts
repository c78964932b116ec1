import type { ReadTx, UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller } from '../../http/index.ts'
import {
  type Checkpoint,
  countersignedCovering,
  inclusionPath,
  leafOfLog,
  nodesOf,
  type Provable,
  type ProvableFile,
  timestampsOf,
} from '../../log/index.ts'
import { receivedCheckpoints } from '../../webhooks/index.ts'
import type { Checkpoints } from '../transparency/checkpoints.ts'
import { signedHandOver } from '../transparency/hand-over.ts'
import { type NoteKey, readNote, vkeyOf } from '../transparency/note.ts'
import { signedNote } from '../transparency/published-log.ts'
import { type Anchor, makeBundle, type ProofBundle, tlogProof } from './bundle.ts'
import { handOverProofs } from './hand-over-proofs.ts'

/** Rows that can be proved by their id: those of the ledger and of the cameras. */
export type ProvableKind = 'event' | 'detection'

export type ProofsNeeds = {
  readonly work: UnitOfWork
  readonly checkpoints: Pick<Checkpoints, 'covering'>
  /** Verifier keys that may have signed a checkpoint: the log's, now and before, and those of the witnesses. */
  readonly keysOf: (tx: ReadTx, log: number) => readonly NoteKey[]
  /** Finds a row. Throws NOT_FOUND when it is not there or the caller may not see it; `undefined`: a person at the box. */
  readonly find: Readonly<Record<ProvableKind, (id: number | undefined, caller: Caller | undefined) => Provable>>
}

/** A bundle with the files that it names, as far as they are on this box. */
export type Proof = { readonly bundle: ProofBundle; readonly files: readonly ProvableFile[] }

/** Makes proof bundles of single rows. */
export class Proofs {
  readonly #needs: ProofsNeeds

  constructor(needs: ProofsNeeds) {
    this.#needs = needs
  }

  /**
   * Proves a row to a caller who may see it. Makes a checkpoint when none covers the row yet. Rejects with NOT_FOUND, and with
   * NOT_READY (Retry-After) while no checkpoint can be made.
   */
  async of(kind: ProvableKind, id: number | undefined, caller: Caller | undefined): Promise<Proof> {
    return this.prove(this.#needs.find[kind](id, caller))
  }

  /** Proves any row that a leaf states; the caller must be allowed to see it. Rejects as `of` does. */
  async prove(row: Provable): Promise<Proof> {
    const { checkpoints, work } = this.#needs
    const seq = Math.max(row.seq, work.read((tx) => signedHandOver(tx, row.log)) ?? 0)
    const covering = await checkpoints.covering(row.log, seq)
    return work.read((tx) => {
      // A checkpoint that others have countersigned proves more than the first one that covers the row.
      const checkpoint = countersignedCovering(tx, row.log, seq) ?? covering
      return { bundle: this.#bundle(tx, row, checkpoint), files: row.files }
    })
  }

  #bundle(tx: ReadTx, row: Provable, checkpoint: Checkpoint): ProofBundle {
    const { log, seq } = row
    const leaf = leafOfLog(tx, log, seq)
    if (!leaf) throw new AppError('INTERNAL_ERROR', 'The leaf of the row is missing', { details: `leaf ${seq}` })
    const path = inclusionPath(seq - 1, checkpoint.size, nodesOf(tx, log, checkpoint.size))
    const note = signedNote(tx, checkpoint)
    const signers = new Set(readNote(note)?.signatures.map(({ name, id }) => `${name}+${id}`))
    const keys = this.#needs.keysOf(tx, log).filter(({ name, id }) => signers.has(`${name}+${id}`))
    return makeBundle({
      leaf: leaf.bytes,
      tlogProof: tlogProof(seq - 1, path, note),
      keys: keys.map(vkeyOf),
      openings: row.openings,
      files: row.files,
      anchors: [
        ...timestampsOf(tx, log, checkpoint.size).map(({ token }) => stampAnchor(checkpoint, token)),
        ...receivedCheckpoints(tx, log, seq).map((one) => ({ kind: 'webhook' as const, ...one })),
      ],
      handOvers: handOverProofs(tx, log),
    })
  }
}

function stampAnchor({ size, root }: Checkpoint, token: Buffer): Anchor {
  return { kind: 'rfc3161', size, rootHash: root.toString('base64'), token: token.toString('base64') }
}
