import type { ReadTx, UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import { checkpointCovering, type Log } from '../../log/index.ts'
import type { Logger } from '../../platform/index.ts'
import { originOfLog } from '../../proof/index.ts'
import { handOversOf } from './hand-over.ts'
import { type HeldKeys, heldKeys, isHandedTo } from './held-keys.ts'
import {
  dropNextKeys,
  installKeys,
  type KeyPairs,
  LogSigner,
  newLogKeys,
  removeKeyParts,
  storeNextKeys,
} from './keys.ts'
import { type CheckpointText, checkpointText } from './note.ts'

export type KeyRingNeeds = {
  readonly work: Pick<UnitOfWork, 'read'>
  readonly log: Logger
  readonly logRoom: Log
  readonly dataDir: string
}

/**
 * The keys that sign the growing log, through a rotation and a crash in the middle of one. They are read at the first use.
 *
 * The steps of a rotation, each on disk before the next. First `log-next.key` holds the new keys. A log-key leaf names them. The
 * old and the new keys sign the first checkpoint over that leaf. The new keys replace the old ones. `log-next.key` is removed. A
 * start undoes a rotation that stopped before the leaf, and finishes any other one.
 */
export class KeyRing {
  readonly #needs: KeyRingNeeds
  #held: HeldKeys | undefined
  #signer: LogSigner | undefined

  constructor(needs: KeyRingNeeds) {
    this.#needs = needs
  }

  /** Reads the keys, and does what a crash has left of a rotation. Throws as `signer`. */
  begin(): void {
    this.#keys()
    void this.settle()
  }

  /** Signs the growing log. Throws ExitError for a key file without a key, and the error of the disk when keys cannot be made. */
  get signer(): LogSigner {
    this.#signer ??= this.signerOf(this.#needs.logRoom.identity)
    return this.#signer
  }

  /** Returns what signs a log of this box now. Throws as `signer`. */
  signerOf(log: { readonly siteId: string; readonly logId: string }): LogSigner {
    return new LogSigner(originOfLog(log), this.#keys().pairs)
  }

  /** Whether the log was handed over to keys that are not here. */
  get areForeign(): boolean {
    return this.#keys().areForeign
  }

  /** Returns whether the log has a hand-over whose checkpoint is not signed yet. */
  isHandingOver(): boolean {
    const { next } = this.#keys()
    return next !== undefined && this.#needs.work.read((tx) => this.#seqOf(tx, next)) !== undefined
  }

  /** Returns a signed note over a head: with the keys of a hand-over too, when it is the first head that covers its leaf. */
  async sign(head: Omit<CheckpointText, 'origin'>, nowMs: number): Promise<string> {
    const { next } = this.#keys()
    const seq = next && this.#needs.work.read((tx) => this.#seqOf(tx, next))
    const note = await this.signer.sign(head, nowMs)
    if (!next || seq === undefined || seq > head.size) return note
    const { origin } = this.signer
    return note + (await new LogSigner(origin, next).lines(checkpointText({ origin, ...head }), nowMs))
  }

  /** Makes the keys that follow and stores them. They sign nothing before a leaf names them. Rejects with STORAGE_FULL. */
  async beginRotation(): Promise<LogSigner> {
    const full = (cause?: unknown) =>
      new AppError('STORAGE_FULL', 'The new keys could not be stored', { cause, retryAfterSeconds: 60 })
    // The file may still hold the only copy of the keys that sign now.
    await this.#finish()
    if (this.#keys().rest !== 'nothing') throw full()
    const next = newLogKeys()
    await storeNextKeys(this.#needs.dataDir, next).catch((cause: unknown) => {
      throw full(cause)
    })
    this.#held = { ...this.#keys(), next }
    return new LogSigner(this.signer.origin, next)
  }

  /** Forgets keys that no leaf names. */
  async abandon(): Promise<void> {
    this.#held = { ...this.#keys(), next: undefined, rest: 'remove' }
    await this.#finish()
  }

  /** Ends a rotation once the checkpoint over its leaf is on disk. Never rejects: after an error of the disk it ends later. */
  async settle(): Promise<void> {
    const { next, rest } = this.#keys()
    if (next && this.#needs.work.read((tx) => this.#isSigned(tx, next))) {
      this.#held = { pairs: next, next: undefined, rest: 'install', areForeign: false }
      this.#signer = undefined
      this.#needs.log.info({ logKey: this.signer.vkeys[0] }, 'the log has a new key: send it to witnesses and auditors')
    } else if (rest === 'nothing') return
    await this.#finish()
  }

  async #finish(): Promise<void> {
    const { dataDir, log } = this.#needs
    const held = this.#keys()
    try {
      if (held.rest === 'install') await installKeys(dataDir, held.pairs)
      if (held.rest === 'remove') await dropNextKeys(dataDir)
      this.#held = { ...held, rest: 'nothing' }
    } catch (err) {
      log.error({ err }, 'the files of a rotation of keys could not be put in place; it is tried again')
    }
  }

  #isSigned(tx: ReadTx, next: KeyPairs): boolean {
    const seq = this.#seqOf(tx, next)
    return seq !== undefined && checkpointCovering(tx, this.#needs.logRoom.identity.number, seq) !== undefined
  }

  /** Returns the number of the leaf that names these keys as the next ones. */
  #seqOf(tx: ReadTx, next: KeyPairs): number | undefined {
    const newest = handOversOf(tx, this.#needs.logRoom.identity.number).at(-1)
    return newest && isHandedTo(newest, this.signer.origin, next) ? newest.leaf_seq : undefined
  }

  #keys(): HeldKeys {
    const { work, dataDir, logRoom } = this.#needs
    if (this.#held) return this.#held
    removeKeyParts(dataDir)
    this.#held = work.read((tx) => heldKeys(tx, dataDir, logRoom.identity))
    return this.#held
  }
}
