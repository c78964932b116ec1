import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { type Log, MerkleFrontier } from '../log/index.ts'
import type { Clock, Logger } from '../platform/index.ts'
import { endOfTrail } from './audit.ts'
import { digestFacts, type UnsealedDigest } from './digest-leaf.ts'
import { appendDigest, endOfDigests, hashesOfSpan, timeBehind } from './digest-store.ts'

/** Entries of one digest, at most. */
const entriesAtOnce = 100
/** Longest wait of an entry for its digest. */
const longestWaitMs = 3_600_000
/** Digests of one write: some 4 ms of entries from before the first digest. */
const digestsAtOnce = 2
/** Delay of a check of the trail after a commit, so that a busy second needs one check. */
const soonMs = 1000
const retryMs = 60_000

type AuditDigestsNeeds = {
  readonly work: UnitOfWork
  readonly log: Log
  readonly makeId: () => string
  readonly clock: Clock
  readonly logger: Logger
}

/** Entries behind the newest digest. */
type Rest = { readonly after: number; readonly count: number; readonly oldestMs: number }

/**
 * States the audit trail in the log: one leaf for each hundred entries, and one an hour for fewer. The open work is read from the
 * tables each time, so a restart loses nothing.
 */
export class AuditDigests {
  readonly #needs: AuditDigestsNeeds
  #running = false
  #isStopping = false
  #cancelSoon: (() => void) | undefined
  #cancelLater = () => {}
  #underWay: Promise<void> | undefined
  /** Behind which entry the trail was seen to wait, and since when (monotonic): a wall clock that is set back delays nothing. */
  #waiting = { after: -1, sinceMs: 0 }

  constructor(needs: AuditDigestsNeeds) {
    this.#needs = needs
  }

  /** Digests what is due, and then whenever it is, until `stop`. May be called once. */
  start(): void {
    this.#running = true
    this.#isStopping = false
    this.#needs.work.onCommit(() => this.#lookSoon())
    this.#round()
  }

  /** A look under way ends after its next write. */
  async stop(): Promise<void> {
    this.#running = false
    this.#isStopping = true
    this.#cancelSoon?.()
    this.#cancelLater()
    await this.#underWay?.catch(() => {})
  }

  /** Digests what is due, in short writes with turns for others in between. Rejects when the database fails. */
  look(): Promise<void> {
    this.#underWay ??= this.#look().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  #lookSoon(): void {
    if (!this.#running || this.#cancelSoon) return
    this.#cancelSoon = this.#needs.clock.after(soonMs, () => this.#round())
  }

  #round(): void {
    this.#cancelSoon?.()
    this.#cancelSoon = undefined
    this.#cancelLater()
    const { clock, logger } = this.#needs
    const again = (ms: number) => {
      if (this.#running) this.#cancelLater = clock.after(ms, () => this.#round())
    }
    this.look().then(
      () => {
        const waitMs = this.#waitMs()
        if (waitMs !== undefined) again(waitMs)
      },
      (err: unknown) => {
        logger.error({ err }, 'the audit trail could not be digested; it is tried again in a minute')
        again(retryMs)
      },
    )
  }

  async #look(): Promise<void> {
    const { work } = this.#needs
    while (this.#isDue(work.read(restOf))) {
      await work.write((tx) => {
        for (let n = 0; n < digestsAtOnce; n += 1) {
          const rest = restOf(tx)
          if (!this.#isDue(rest)) return
          this.#append(tx, rest)
        }
      })
      if (this.#isStopping) return
      await nextTurn()
    }
  }

  #isDue(rest: Rest): boolean {
    return rest.count >= entriesAtOnce || (rest.count > 0 && this.#waitedMs(rest) >= longestWaitMs)
  }

  #waitedMs({ after, oldestMs }: Rest): number {
    const { clock } = this.#needs
    const nowMs = clock.monotonic()
    if (this.#waiting.after !== after) this.#waiting = { after, sinceMs: nowMs }
    return Math.max(clock.now() - oldestMs, nowMs - this.#waiting.sinceMs)
  }

  /** Returns after how long the next digest is due by time; undefined while no entry waits. */
  #waitMs(): number | undefined {
    if (!this.#running) return undefined
    const rest = this.#needs.work.read(restOf)
    return rest.count === 0 ? undefined : Math.max(longestWaitMs - this.#waitedMs(rest), 0)
  }

  #append(tx: Tx, { after, count }: Rest): void {
    const { log, makeId, clock } = this.#needs
    const newest = endOfDigests(tx)
    const from = after + 1
    const to = after + Math.min(count, entriesAtOnce)
    const tree = new MerkleFrontier()
    for (const hash of hashesOfSpan(tx, from, to)) tree.append(hash)
    const unsealed: UnsealedDigest = {
      id: newest.id + 1,
      event_id: makeId(),
      from_entry: from,
      to_entry: to,
      entries: tree.size,
      root: tree.root().toString('hex'),
      made_at_ms: Math.max(clock.now(), newest.made_at_ms),
    }
    appendDigest(tx, { ...unsealed, ...log.append(tx, 'audit-digest', String(unsealed.id), digestFacts(unsealed)) })
  }
}

function restOf(tx: ReadTx): Rest {
  const after = endOfDigests(tx).to_entry
  const count = endOfTrail(tx) - after
  return { after, count, oldestMs: (count > 0 && timeBehind(tx, after)) || 0 }
}
