import { change, integer, type ReadTx, statement, type Tx, type UnitOfWork } from '../../database/index.ts'
import { published } from '../../journal/index.ts'
import type { Clock, Logger } from '../../platform/index.ts'
import { removeRetired } from '../secrets.ts'
import type { WebhookSettings } from '../settings.ts'
import { removeUncarried } from './carried.ts'
import { longestDelayMs } from './retry-schedule.ts'
import { pullForward } from './store.ts'

const oldest = statement({
  columns: { seq: integer, atMs: integer, waits: integer },
  sql: `SELECT seq, timestamp_ms AS atMs, EXISTS (SELECT 1 FROM delivery WHERE outbox_seq = o.seq AND state = 'pending') AS waits
    FROM ${published} o WHERE seq > +? AND seq <= coalesce((SELECT min(fanned_out_seq) FROM webhook), seq) ORDER BY seq LIMIT ?`,
})
const withoutSettled = change(
  `DELETE FROM delivery WHERE state <> 'pending' AND outbox_seq IN (SELECT value FROM json_each(?))`,
)
const withoutPublished = change(`DELETE FROM ${published} WHERE seq IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM delivery WHERE outbox_seq = seq)`)

/** Notifications and their settled deliveries are kept this long. */
const keptMs = 30 * 24 * 60 * 60 * 1000

/** Notifications that one write removes; each may have a delivery, with attempts, for every endpoint. */
const batchRows = 50

/** Checkpoints that one write removes, some 4 KiB each. */
const checkpointRows = 500

/**
 * Returns the next notifications after `afterSeq` that may be removed: older than 30 days, fanned out for every endpoint, and
 * without a pending delivery. Continue after `lastSeq`; it is undefined when nothing older is left. Rows are in the order of time,
 * so reading stops at the first younger row. A search by time would read the whole month on every run.
 */
export function expired(tx: ReadTx, afterSeq: number, nowMs: number): { seqs: number[]; lastSeq: number | undefined } {
  const rows = tx.all(oldest, [afterSeq, batchRows])
  const younger = rows.findIndex((row) => row.atMs >= nowMs - keptMs)
  const old = younger === -1 ? rows : rows.slice(0, younger)
  return {
    seqs: old.filter((row) => !row.waits).map((row) => row.seq),
    lastSeq: younger === -1 ? old.at(-1)?.seq : undefined,
  }
}

/** Removes notifications with their settled deliveries; one with a delivery that is pending again is kept. */
export function removeExpired(tx: Tx, seqs: readonly number[]): void {
  const list = JSON.stringify(seqs)
  tx.run(withoutSettled, [list])
  tx.run(withoutPublished, [list])
}

const everyMs = 60 * 60_000

export type HousekeeperOptions = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly settings: () => WebhookSettings
  readonly log: Logger
  /** Called after each run: it may have made deliveries due. */
  readonly onDone: () => void
}

/** Removes old notifications and brings back deliveries that a wrong clock has delayed, hourly and at the start. */
export class Housekeeper {
  readonly #needs: HousekeeperOptions
  #running = false
  #cancel = () => {}
  #underWay: Promise<void> | undefined

  constructor(options: HousekeeperOptions) {
    this.#needs = options
  }

  /** The run under way, if there is one. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay
  }

  start(): void {
    this.#running = true
    this.#run()
  }

  /** A run under way ends after its next write. */
  stop(): void {
    this.#running = false
    this.#cancel()
  }

  #run(): void {
    this.#underWay = this.#cleanUp()
      .catch((error: unknown) => this.#needs.log.error({ err: error }, 'old notifications could not be removed'))
      .finally(() => {
        this.#underWay = undefined
        if (this.#running) this.#cancel = this.#needs.clock.after(everyMs, () => this.#run())
      })
  }

  async #cleanUp(): Promise<void> {
    const { work, clock, settings, onDone } = this.#needs
    const nowMs = clock.now()
    await work.write((tx) => pullForward(tx, nowMs + longestDelayMs(settings().retryScheduleMs)))
    await work.write((tx) => removeRetired(tx, nowMs))
    for (let afterSeq: number | undefined = 0; afterSeq !== undefined && this.#running; ) {
      const from: number = afterSeq
      const { seqs, lastSeq } = work.read((tx) => expired(tx, from, nowMs))
      if (seqs.length > 0) await work.write((tx) => removeExpired(tx, seqs))
      afterSeq = lastSeq
    }
    while (this.#running && (await work.write((tx) => removeUncarried(tx, checkpointRows))) === checkpointRows);
    onDone()
  }
}
