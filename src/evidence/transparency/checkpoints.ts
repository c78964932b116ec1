import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReadTx, UnitOfWork } from '../../database/index.ts'
import { AppError, ExitError } from '../../errors/index.ts'
import {
  addCheckpoint,
  type Checkpoint,
  checkpointCovering,
  type Log,
  lacksTiles,
  newestCheckpoint,
  nodesOf,
  rootOf,
  storeTiles,
} from '../../log/index.ts'
import type { Clock, Logger } from '../../platform/index.ts'
import { writeHeadFile } from './head-file.ts'
import type { KeyRing } from './key-ring.ts'

/** Tiles stored in one turn; each takes about 0.3 ms of the main thread. */
const tilesInOneTurn = 16
/** After a checkpoint could not be made, such as on a full disk. */
const retryMs = 60_000
const proofIntervalMs = 1000

export type CheckpointSettings = {
  /** Time after which a log that grew gets its next checkpoint, in milliseconds. */
  readonly everyMs: number
  /** Number of new leaves after which it gets one at once. */
  readonly leaves: number
}

export type CheckpointsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly log: Logger
  readonly logRoom: Log
  readonly dataDir: string
  readonly keys: KeyRing
  readonly settings: () => CheckpointSettings
  /** Recomputes the whole ledger in the jobs thread, before a ledger that was never signed is signed. */
  readonly verify: () => Promise<{ readonly ok: boolean }>
}

/**
 * Reason why nothing is signed. Either the ledger did not verify, or it does not continue the signed head, or it was handed over to
 * other keys.
 */
export type SigningStop = 'not-verified' | 'not-a-continuation' | 'other-keys'

/**
 * Signs the head of the growing log on a timer, after a number of leaves, for a requested proof, and at a clean stop. Before it
 * signs, the full tiles are stored and the head is in `keys/log.head`. So the next start notices a database that was put back by
 * hand.
 */
export class Checkpoints {
  readonly #needs: CheckpointsNeeds
  #newest: Checkpoint | undefined
  #making: Promise<Checkpoint> | undefined
  #next: Promise<Checkpoint> | undefined
  #cancel: (() => void) | undefined
  #isStarted = false
  #isVerified = false
  #madeAtMs = Number.NEGATIVE_INFINITY
  /** Attempts in a row that failed. */
  #failures = 0
  #stopped: SigningStop | undefined
  readonly #listeners: ((checkpoint: Checkpoint) => void)[] = []

  constructor(needs: CheckpointsNeeds) {
    this.#needs = needs
    needs.work.onCommit(() => {
      // After a failure only the timer tries again: at each commit it would fill the journal.
      if (!this.#isStarted || this.#making || this.#failures > 0) return
      if (this.#unsigned() >= needs.settings().leaves) this.#makeAside()
    })
  }

  /**
   * Signs the present head and continues by the timer. Does not wait for the first checkpoint. Throws ExitError for a key file that
   * holds no key; a full disk, on which keys cannot be made, is tried again later.
   */
  start(): void {
    try {
      this.#needs.keys.begin()
    } catch (error) {
      if (error instanceof ExitError) throw error
    }
    this.#isStarted = true
    this.#makeAside()
  }

  /** Signs what was not signed yet. */
  async stop(): Promise<void> {
    this.#cancel?.()
    this.#isStarted = false
    if (this.#unsigned() > 0 && this.#isVerified && !this.#stopped) await this.make().catch(() => undefined)
    else await this.#making?.catch(() => undefined)
  }

  /** Returns the newest checkpoint of the growing log; undefined before the first. */
  newest(): Checkpoint | undefined {
    const { work, logRoom } = this.#needs
    this.#newest ??= work.read((tx) => newestCheckpoint(tx, logRoom.identity.number))
    return this.#newest
  }

  /** Returns the reason why checkpoints have stopped until the ledger is examined; undefined while all is well. */
  get stopped(): SigningStop | undefined {
    return this.#stopped
  }

  /** Says whether the last two attempts failed; the next one may succeed. */
  get isFailing(): boolean {
    return this.#failures > 1
  }

  /** Calls the listener after each new checkpoint. */
  onCheckpoint(listener: (checkpoint: Checkpoint) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Returns a checkpoint over all leaves that are on disk now; the newest one when it covers them. Calls at the same time share
   * one. Rejects with NOT_READY while the ledger is verified for the first time, or when it may not be signed. Rejects with
   * STORAGE_FULL when the disk takes no writes.
   */
  make(): Promise<Checkpoint> {
    const newest = this.newest()
    if (newest && this.#unsigned() === 0 && !this.#making) return Promise.resolve(newest)
    if (!this.#making) return this.#begin()
    // The one under way may have begun before the leaf that this caller wants to be covered.
    this.#next ??= this.#making
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return this.make()
      })
    return this.#next
  }

  /**
   * Returns the smallest checkpoint of a log that covers a leaf, and makes one when there is none. The leaf's number `seq` counts
   * from 1. Rejects as `make` does.
   */
  async covering(log: number, seq: number): Promise<Checkpoint> {
    const { work, logRoom } = this.#needs
    const find = (tx: ReadTx) => checkpointCovering(tx, log, seq)
    const found = work.read(find)
    if (found) return found
    this.#demandPause()
    if (log !== logRoom.identity.number) throw notReady('No checkpoint of this earlier log covers the row')
    const made = await this.make()
    return work.read(find) ?? made
  }

  /** Proofs may request one checkpoint a second, so that no one fills the disk with them. */
  #demandPause(): void {
    const { clock } = this.#needs
    const waitMs = this.#madeAtMs + proofIntervalMs - clock.monotonic()
    if (waitMs <= 0) return
    if (this.#isStarted) this.#schedule(Math.min(waitMs, this.#needs.settings().everyMs))
    throw notReady('The next checkpoint is signed within a second', 1)
  }

  #unsigned(): number {
    return this.#needs.logRoom.size - (this.newest()?.size ?? 0)
  }

  #begin(): Promise<Checkpoint> {
    const making = this.#sign()
      .then(
        (made) => {
          this.#failures = 0
          return made
        },
        (error: unknown) => {
          this.#failures += 1
          this.#schedule(retryMs)
          throw error
        },
      )
      .finally(() => {
        if (this.#making === making) this.#making = undefined
      })
    this.#making = making
    return making
  }

  /** Makes a checkpoint without a caller; a failure is logged and tried again. */
  #makeAside(): void {
    const { log, settings } = this.#needs
    this.#cancel?.()
    void this.make().then(
      () => this.#schedule(settings().everyMs),
      (err: unknown) => {
        const isExpected = err instanceof AppError && err.code === 'NOT_READY'
        if (!isExpected) log.error({ err }, 'a checkpoint of the log could not be made; it is tried again')
      },
    )
  }

  #schedule(delayMs: number): void {
    this.#cancel?.()
    if (this.#isStarted) this.#cancel = this.#needs.clock.after(delayMs, () => this.#makeAside())
  }

  async #sign(): Promise<Checkpoint> {
    const { work, logRoom, dataDir } = this.#needs
    await this.#verifyOnce()
    this.#refuseOtherKeys()
    if (this.#stopped === 'other-keys')
      throw notReady('The log is not signed: it was handed over to keys that are not in keys/')
    if (this.#stopped) throw notReady('The log is not signed: the ledger does not match what was signed before')
    const log = logRoom.identity.number
    const size = logRoom.size
    while (work.read((tx) => lacksTiles(tx, log, size))) {
      await work.write((tx) => storeTiles(tx, log, size, tilesInOneTurn))
      await nextTurn()
    }
    const known = this.newest()
    const { root, before, newest } = work.read((tx) => {
      // One reader for both: each complete subtree of the smaller tree is one of the larger, too.
      const nodes = nodesOf(tx, log, size)
      return {
        root: rootOf(size, nodes),
        before: known && rootOf(known.size, nodes),
        newest: newestCheckpoint(tx, log),
      }
    })
    if (known && known.size === size && known.root.equals(root)) return known
    this.#refuseAnotherHistory(known, before)
    await writeHeadFile(dataDir, { logId: logRoom.identity.logId, size, root }).catch((cause: unknown) => {
      throw new AppError('STORAGE_FULL', 'The head of the log could not be stored', { cause, retryAfterSeconds: 60 })
    })
    const stored = demandNoneBeyond(newest, size, root)
    const signed_at_ms = this.#needs.clock.now()
    const note = stored?.note ?? (await this.#needs.keys.sign({ size, root }, signed_at_ms))
    const made = await work.write((tx) => {
      const before = demandNoneBeyond(newestCheckpoint(tx, log), size, root)
      if (before) return before
      const checkpoint = { log_id: log, size, root, note, signed_at_ms }
      addCheckpoint(tx, checkpoint)
      return checkpoint
    })
    this.#newest = made
    this.#madeAtMs = this.#needs.clock.monotonic()
    await this.#needs.keys.settle()
    for (const listener of this.#listeners) listener(made)
    return made
  }

  /** A ledger that is older than its first checkpoint is verified once, so that no earlier change is signed. */
  async #verifyOnce(): Promise<void> {
    const { logRoom, log, verify } = this.#needs
    if (this.#isVerified) return
    if (!this.newest() && logRoom.size > 0 && !(await verify()).ok) {
      this.#stopped = 'not-verified'
      log.error('the ledger does not verify, so its log is not signed; run gatehouse ledger verify')
    }
    this.#isVerified = true
  }

  /** Followers of the log accept nothing more from keys that have handed it over. */
  #refuseOtherKeys(): void {
    const { keys, log } = this.#needs
    if (this.#stopped || !keys.areForeign) return
    this.#stopped = 'other-keys'
    log.error('the log was handed over to keys that are not in keys/, so it is not signed; put the right keys back')
  }

  /** The tree must still give the root that was signed last: a tile that was changed since is noticed here. */
  #refuseAnotherHistory(known: Checkpoint | undefined, root: Buffer | undefined): void {
    if (!known || root?.equals(known.root)) return
    this.#stopped = 'not-a-continuation'
    this.#needs.log.error(
      { size: known.size },
      'the log does not give the root that was signed; nothing more is signed',
    )
    throw notReady('The log is not signed: the ledger does not match what was signed before')
  }
}

/** Returns the newest stored head when it is this one; undefined when it is smaller. Throws when it is another one or larger. */
function demandNoneBeyond(before: Checkpoint | undefined, size: number, root: Buffer): Checkpoint | undefined {
  if (before && (before.size > size || (before.size === size && !before.root.equals(root)))) {
    throw new Error(`a checkpoint over ${before.size} leaves comes before one over ${size}`)
  }
  return before?.size === size ? before : undefined
}

function notReady(message: string, retryAfterSeconds = 5): AppError {
  return new AppError('NOT_READY', message, { retryAfterSeconds })
}
