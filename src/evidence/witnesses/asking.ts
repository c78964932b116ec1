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
import type { Checkpoints } from '../transparency/checkpoints.ts'
import { type NoteKey, readVkey } from '../transparency/note.ts'
import { formatAddCheckpoint } from './add-checkpoint.ts'
import type { Address, EvidenceClient } from './client.ts'
import { type Finding, judgeReply, type Verdict } from './verdict.ts'
import { retryDelayMs } from './waiting.ts'

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
  readonly onAsked: (outcome: 'cosigned' | Finding) => void
}

/** How a witness is doing. */
export type WitnessSeen = {
  readonly name: string
  /** What is wrong; undefined while it is well. */
  readonly trouble: { readonly finding: Finding; readonly words: string } | undefined
  /** How long it has not been well, in milliseconds; 0 while it is. */
  readonly forMs: number
}

/** Of one witness. What it has cosigned is in the database; this is lost at a stop. */
type Round = {
  /** Monotonic, of the first failure in a row. */
  failingSinceMs: number | undefined
  failures: number
  trouble: { readonly finding: Finding; readonly words: string } | undefined
  isAsking: boolean
  cancel: (() => void) | undefined
}

/** Questions in one round: the first, one from the size that the witness names, and one for a witness that moved meanwhile. */
const questionsInARound = 3

/**
 * Asks each configured witness to cosign the newest checkpoint. Only the newest counts: a witness that was away for days gets one
 * question, with a proof from the size that it has. Nothing waits for a witness.
 */
export class Witnesses {
  readonly #needs: WitnessesNeeds
  readonly #rounds = new Map<string, Round>()
  readonly #asking = new Set<Promise<void>>()
  #isStarted = false

  constructor(needs: WitnessesNeeds) {
    this.#needs = needs
    needs.checkpoints.onCheckpoint(() => this.#wake())
  }

  start(): void {
    this.#isStarted = true
    this.#wake()
  }

  /** Ends questions under way; a cosignature that has arrived is stored. */
  async stop(): Promise<void> {
    this.#isStarted = false
    for (const round of this.#rounds.values()) round.cancel?.()
    this.#needs.client.stop()
    await Promise.all(this.#asking)
  }

  /** Asks at once, whatever waits: a corrected address or key is tried now. */
  onReload(): void {
    const names = this.#needs.witnesses().map(({ name }) => name)
    for (const [name, round] of this.#rounds) {
      round.cancel?.()
      round.cancel = undefined
      if (!names.includes(name)) this.#rounds.delete(name)
    }
    this.#wake()
  }

  /** Resolves when no question is under way. */
  async settled(): Promise<void> {
    while (this.#asking.size > 0) await Promise.all(this.#asking)
  }

  /** Returns how the configured witnesses are doing. */
  seen(): WitnessSeen[] {
    const nowMs = this.#needs.clock.monotonic()
    return this.#needs.witnesses().map(({ name }) => {
      const round = this.#rounds.get(name)
      const forMs = round?.failingSinceMs === undefined ? 0 : nowMs - round.failingSinceMs
      return { name, trouble: round?.trouble, forMs }
    })
  }

  #wake(): void {
    if (!this.#isStarted) return
    for (const witness of this.#needs.witnesses()) {
      const round = this.#roundOf(witness.name)
      if (!round.isAsking && !round.cancel) this.#askAside(witness, round)
    }
  }

  #askAside(witness: WitnessAsked, round: Round): void {
    const asking = this.#ask(witness, round).finally(() => this.#asking.delete(asking))
    this.#asking.add(asking)
  }

  #roundOf(name: string): Round {
    const known = this.#rounds.get(name)
    if (known) return known
    const made = { failingSinceMs: undefined, failures: 0, trouble: undefined, isAsking: false, cancel: undefined }
    this.#rounds.set(name, made)
    return made
  }

  /** Asks until the witness has the newest checkpoint, or has to be asked later. Never rejects. */
  async #ask(witness: WitnessAsked, round: Round): Promise<void> {
    round.isAsking = true
    try {
      for (let due = this.#due(witness); due && this.#isStarted; due = this.#due(witness)) {
        const verdict = await this.#cosign(witness, due)
        if (verdict.kind !== 'trouble') this.#well(witness, round)
        else if (this.#isStarted) return this.#unwell(witness, round, verdict)
      }
    } catch (err) {
      // The disk takes no writes: the witness keeps what it has cosigned and answers the same question again.
      this.#needs.log.error({ err, witness: witness.name }, 'a cosignature could not be stored; it is asked for again')
      this.#later(witness, round)
    } finally {
      round.isAsking = false
    }
  }

  /** The newest checkpoint, when this witness has not cosigned it. */
  #due({ name }: WitnessAsked): Checkpoint | undefined {
    const newest = this.#needs.checkpoints.newest()
    if (!newest || newest.size === 0) return undefined
    const last = this.#needs.work.read((tx) => lastCosignature(tx, newest.log_id, name))
    return last && last.size >= newest.size ? undefined : newest
  }

  async #cosign(witness: WitnessAsked, checkpoint: Checkpoint): Promise<Exclude<Verdict, { kind: 'ask-from' }>> {
    const key = readVkey(witness.vkey)
    if (!key) throw new Error(`the vkey of ${witness.name} can not be read`)
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
    { lines, atMs }: Extract<Verdict, { kind: 'cosigned' }>,
  ): Promise<void> {
    const received_at_ms = this.#needs.clock.now()
    await this.#needs.work.write((tx) => {
      const known = new Set(cosignaturesOf(tx, log_id, size).map(({ line }) => line))
      for (const line of lines) {
        if (!known.has(line)) addCosignature(tx, { log_id, size, name, line, cosigned_at_ms: atMs, received_at_ms })
      }
    })
  }

  #well({ name }: WitnessAsked, round: Round): void {
    if (round.trouble) this.#needs.log.info({ witness: name }, 'a witness cosigns again')
    Object.assign(round, { failures: 0, failingSinceMs: undefined, trouble: undefined })
  }

  #unwell(witness: WitnessAsked, round: Round, { finding, words }: Extract<Verdict, { kind: 'trouble' }>): void {
    const { log, clock } = this.#needs
    if (round.trouble?.finding !== finding) log.warn({ witness: witness.name, finding }, `the witness: ${words}`)
    round.failingSinceMs ??= clock.monotonic()
    round.trouble = { finding, words }
    this.#later(witness, round)
  }

  #later(witness: WitnessAsked, round: Round): void {
    const { clock, random } = this.#needs
    round.failures += 1
    if (!this.#isStarted) return
    round.cancel = clock.after(retryDelayMs(round.failures, random), () => {
      round.cancel = undefined
      const now = this.#needs.witnesses().find(({ name }) => name === witness.name)
      if (now && this.#isStarted && !round.isAsking) this.#askAside(now, round)
    })
  }
}
