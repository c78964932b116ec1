import type { KeyObject } from 'node:crypto'
import type { Tx, UnitOfWork } from '../../database/index.ts'
import { isContinuation, sha256 } from '../../log/index.ts'
import type { Clock, Logger } from '../../platform/index.ts'
import type { TreeHead } from '../../proof/index.ts'
import { cosign, loadWitnessKey, publicBytes } from '../transparency/keys.ts'
import {
  type CheckpointText,
  type NoteKey,
  noteKey,
  readCheckpointText,
  readNote,
  readVkey,
  verifySignatures,
  vkeyOf,
} from '../transparency/note.ts'
import { type AddCheckpoint, readAddCheckpoint, sizeType } from './add-checkpoint.ts'
import { conflictingLogs, everyWitnessed, keepConflict, keepWitnessed, witnessed } from './store.ts'

/** The answer to a log that asks. */
export type WitnessAnswer = {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422
  readonly type: string
  readonly body: string
}

export type WitnessSettings = {
  readonly enabled: boolean
  readonly name: string | null
  /** Verifier keys of the logs that are known. */
  readonly logs: readonly string[]
}

export type WitnessNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  /** Reads `keys/witness.key`, or makes it. */
  readonly key: () => KeyObject
  readonly settings: () => WitnessSettings
}

const plain = 'text/plain; charset=utf-8'
const answer = (status: WitnessAnswer['status'], body = '', type = plain): WitnessAnswer => ({ status, type, body })
const conflict = (size: number) => answer(409, `${size}\n`, sizeType)

/** Returns the verifier key of a box as a witness under this name, and makes the key when there is none yet. */
export function witnessKeyOf(dataDir: string, name: string): string {
  return vkeyOf(noteKey(name, 4, publicBytes(loadWitnessKey(dataDir))))
}

/** A checkpoint whose signature holds, with its consistency proof. */
type Signed = Pick<AddCheckpoint, 'old' | 'proof' | 'note'> & { readonly text: string; readonly head: CheckpointText }

/**
 * Witnesses other logs by c2sp.org/tlog-witness: it cosigns a checkpoint that continues the last one it cosigned. The comparison
 * and the new state are one transaction, and the cosignature leaves after that is on disk.
 */
export class Witness {
  readonly #needs: WitnessNeeds
  #loaded: KeyObject | undefined

  constructor(needs: WitnessNeeds) {
    this.#needs = needs
  }

  /** Says whether this gateway is a witness now. */
  get isEnabled(): boolean {
    const { enabled, name } = this.#needs.settings()
    return enabled && name !== null
  }

  /** The verifier key of this witness. */
  get vkey(): string {
    return vkeyOf(this.#key())
  }

  /** Answers the body of POST add-checkpoint. */
  async addCheckpoint(body: string): Promise<WitnessAnswer> {
    const request = readAddCheckpoint(body)
    const note = request && readNote(request.note)
    const head = note && readCheckpointText(note.text)
    if (!request || !note || !head) return answer(400, 'this is no add-checkpoint request of c2sp.org/tlog-witness\n')
    const keys = this.#needs
      .settings()
      .logs.flatMap((vkey) => readVkey(vkey) ?? [])
      .filter(({ name }) => name === head.origin)
    if (keys.length === 0) return answer(404, 'this log is not known here\n')
    const signatures = verifySignatures(note, keys)
    if (signatures.length === 0 || !signatures.every(({ holds }) => holds)) {
      return answer(403, 'no signature by a known key of this log\n')
    }
    if (request.old > head.size) return answer(400, 'the old size is larger than the checkpoint\n')
    const signed = { ...request, text: note.text, head }
    const refusal = await this.#needs.work.write((tx) => this.#takeIn(tx, signed))
    return refusal ?? answer(200, cosign(this.#key(), this.#pair(), note.text, this.#needs.clock.now()))
  }

  /** Returns the last checkpoint of each log that was cosigned: the verifier key, then `<origin> <size> <root>` lines. */
  list(): string {
    const lines = this.#needs.work
      .read(everyWitnessed)
      .map(({ origin, size, root }) => `${origin} ${size} ${root.toString('base64')}\n`)
    return `${this.vkey}\n${lines.join('')}`
  }

  /** Returns the known logs that have shown two roots for one size. */
  conflicts(): { readonly origin: string; readonly size: number }[] {
    const { work, settings } = this.#needs
    if (!this.isEnabled) return []
    const origins = new Set(settings().logs.map((vkey) => readVkey(vkey)?.name))
    return work.read(conflictingLogs).filter(({ origin }) => origins.has(origin))
  }

  /** Compares with the last cosigned checkpoint and replaces it; returns why not. */
  #takeIn(tx: Tx, { old, proof, note, head }: Signed): WitnessAnswer | undefined {
    const { origin, size, root } = head
    const last = witnessed(tx, origin)
    const nowMs = this.#needs.clock.now()
    if (last && last.size === size && !last.root.equals(root)) {
      keepConflict(tx, { origin, size, note, cosigned_note: last.note, received_at_ms: nowMs })
      this.#needs.log.error({ origin, size }, 'a log has signed two roots for one size; both checkpoints are kept')
      return conflict(size)
    }
    if (old !== (last?.size ?? 0)) return conflict(last?.size ?? 0)
    const before: TreeHead = last ?? { size: 0, root: sha256('') }
    if (!isContinuation(before, head, proof)) return answer(422, 'the consistency proof does not hold\n')
    keepWitnessed(tx, { origin, size, root, note, cosigned_at_ms: nowMs })
    return undefined
  }

  #key(): NoteKey {
    return noteKey(this.#needs.settings().name ?? '', 4, publicBytes(this.#pair()))
  }

  #pair(): KeyObject {
    this.#loaded ??= this.#needs.key()
    return this.#loaded
  }
}
