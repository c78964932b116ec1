import type { UnitOfWork } from '../../database/index.ts'
import {
  addCosignature,
  type Checkpoint,
  consistencyPath,
  cosignaturesOf,
  type Log,
  lastCosignature,
  nodesOf,
} from '../../log/index.ts'
import type { Clock, Logger, RandomBytes } from '../../platform/index.ts'
import { Rounds } from '../rounds.ts'
import type { Checkpoints } from '../transparency/checkpoints.ts'
import { type NoteKey, readVkey } from '../transparency/note.ts'
import { formatAddCheckpoint } from './add-checkpoint.ts'
import type { Address, EvidenceClient } from './client.ts'
import { judgeReply, type WitnessTrouble, type WitnessVerdict } from './verdict.ts'

/** A witness of the config. */
export type WitnessAsked = Address & { readonly name: string; readonly vkey: string }

export type WitnessesNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  readonly logRoom: Log
  readonly checkpoints: Pick<Checkpoints, 'newest' | 'onCheckpoint'>
  readonly client: Pick<EvidenceClient, 'postText' | 'stop'>
  readonly witnesses: () => readonly WitnessAsked[]
  readonly onAsked: (outcome: 'cosigned' | WitnessTrouble) => void
}

/** State of one witness. */
export type WitnessSeen = {
  readonly name: string
  /** The problem; undefined while it is well. */
  readonly trouble: { readonly finding: WitnessTrouble; readonly words: string } | undefined
  /** Milliseconds for which it has not been well; 0 while it is. */
  readonly forMs: number
}

type Trouble = WitnessSeen['trouble'] & {}

/** Questions in one round: the first, one from the size that the witness names, and one for a witness that moved meanwhile. */
const questionsInARound = 3

/**
 * Asks each configured witness to cosign the newest checkpoint. Only the newest counts: a witness that was away for days gets one
 * question, with a proof from the size that it has. Nothing waits for a witness.
 */
export class Witnesses {
  readonly #needs: WitnessesNeeds
  readonly #rounds: Rounds<WitnessAsked, Trouble>

  constructor(needs: WitnessesNeeds) {
    this.#needs = needs
    const { clock, random, witnesses, checkpoints } = needs
    const nameOf = ({ name }: WitnessAsked) => name
    this.#rounds = new Rounds({ clock, random, nameOf, outsiders: witnesses, ask: (one) => this.#ask(one) })
    checkpoints.onCheckpoint(() => this.#rounds.wake())
  }

  start(): void {
    this.#rounds.start()
  }

  /** Ends questions under way; a cosignature that has arrived is stored. */
  async stop(): Promise<void> {
    this.#rounds.halt()
    this.#needs.client.stop()
    await this.settled()
  }

  /** Asks at once, whatever waits: a corrected address or key is tried now. */
  onReload(): void {
    this.#rounds.onReload()
  }

  /** Resolves when no question is under way. */
  settled(): Promise<void> {
    return this.#rounds.settled()
  }

  /** Returns how the configured witnesses are doing. */
  seen(): WitnessSeen[] {
    return this.#needs.witnesses().map((one) => ({ name: one.name, ...this.#rounds.seen(one) }))
  }

  /** Asks until the witness has the newest checkpoint, or has to be asked later. Never rejects. */
  async #ask(witness: WitnessAsked): Promise<void> {
    const rounds = this.#rounds
    try {
      for (let due = this.#due(witness); due && rounds.isStarted; due = this.#due(witness)) {
        const verdict = await this.#cosign(witness, due)
        if (verdict.kind !== 'trouble') this.#well(witness)
        else if (rounds.isStarted) return this.#unwell(witness, verdict)
      }
    } catch (err) {
      // The disk takes no writes: the witness keeps what it has cosigned and answers the same question again.
      this.#needs.log.error({ err, witness: witness.name }, 'a cosignature could not be stored; it is asked for again')
      rounds.again(witness)
    }
  }

  /** Returns the newest checkpoint, when this witness has not cosigned it. */
  #due({ name }: WitnessAsked): Checkpoint | undefined {
    const newest = this.#needs.checkpoints.newest()
    if (!newest || newest.size === 0) return undefined
    const last = this.#needs.work.read((tx) => lastCosignature(tx, newest.log_id, name))
    return last && last.size >= newest.size ? undefined : newest
  }

  async #cosign(witness: WitnessAsked, checkpoint: Checkpoint): Promise<Exclude<WitnessVerdict, { kind: 'ask-from' }>> {
    const key = readVkey(witness.vkey)
    if (!key) throw new Error(`the vkey of ${witness.name} cannot be read`)
    const { work, client, onAsked } = this.#needs
    let old = work.read((tx) => lastCosignature(tx, checkpoint.log_id, witness.name))?.size ?? 0
    for (let question = 1; question <= questionsInARound; question += 1) {
      const body = formatAddCheckpoint({ old, proof: this.#proof(old, checkpoint), note: checkpoint.note })
      const posting = { path: '/add-checkpoint', contentType: 'text/plain; charset=utf-8', body }
      const reply = await client.postText(witness, posting)
      const verdict = judgeReply(reply, { note: checkpoint.note, size: checkpoint.size, old, key })
      if (verdict.kind === 'cosigned') await this.#store(key, checkpoint, verdict)
      if (verdict.kind !== 'ask-from') {
        onAsked(verdict.kind === 'cosigned' ? 'cosigned' : verdict.finding)
        return verdict
      }
      old = verdict.size
    }
    onAsked('confused')
    return { kind: 'trouble', finding: 'confused', words: `it names another size each time, the last time ${old}` }
  }

  #proof(from: number, { log_id, size }: Checkpoint): Buffer[] {
    return this.#needs.work.read((tx) => consistencyPath(from, size, nodesOf(tx, log_id, size)))
  }

  async #store(
    { name }: NoteKey,
    { log_id, size }: Checkpoint,
    { lines, atMs }: Extract<WitnessVerdict, { kind: 'cosigned' }>,
  ): Promise<void> {
    const received_at_ms = this.#needs.clock.now()
    await this.#needs.work.write((tx) => {
      const known = new Set(cosignaturesOf(tx, log_id, size).map(({ line }) => line))
      for (const line of lines) {
        if (!known.has(line)) addCosignature(tx, { log_id, size, name, line, cosigned_at_ms: atMs, received_at_ms })
      }
    })
  }

  #well(witness: WitnessAsked): void {
    if (this.#rounds.well(witness)) this.#needs.log.info({ witness: witness.name }, 'a witness cosigns again')
  }

  #unwell(witness: WitnessAsked, { finding, words }: Trouble): void {
    const before = this.#rounds.unwell(witness, { finding, words })
    if (before?.finding !== finding) {
      this.#needs.log.warn({ witness: witness.name, finding }, `the witness: ${words}`)
    }
  }
}
