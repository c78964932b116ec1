import { isoTime, type Logger } from '../../platform/index.ts'
import type { HubWrite } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import type { SentFeed } from './request.ts'
import type { FedLog, Head } from './store.ts'

// Of one size there is one alert. It opens anew when the head office had closed it by itself, and not when a person has.
const raised = hubStatement(
  'raise-ahead',
  `INSERT INTO alert (log_id, alert_id, source, type, severity, opened_at, detail) VALUES ($1, $2, 'hub', 'log.ahead', 'critical', $3, $4)
   ON CONFLICT (log_id, alert_id) DO UPDATE SET opened_at = excluded.opened_at, closed_at = NULL, closed_by = NULL
   WHERE alert.closed_by = $5`,
)
const ended = hubStatement(
  'end-ahead',
  `UPDATE alert SET closed_at = $2, closed_by = $3 WHERE log_id = $1 AND type = 'log.ahead' AND closed_at IS NULL`,
)

/** Ends the alert of a log: its gateway has all again, another log continues it, or it is retired. */
export const endAhead = (tx: HubWrite, logId: string, nowMs: number): void =>
  tx.send(ended, [logId, isoTime(nowMs), closedByItself])

/** Who closes an alert by itself. No account is called so: theirs have an @ in them. */
export const closedByItself = 'head office'

/** A feed that was on its way for long, or a confirmation by the witness meanwhile, says nothing about a restore. */
const settledMs = 60_000

/**
 * Notices a gateway that has fewer leaves than the head office has seen of its log: its box was restored from an older copy, or the log went on
 * at another box. The gateway says so too, but it may be silent, or not be believed.
 */
export class Ahead {
  readonly #log: Logger
  /** Logs that are known to have no such alert open, so that a feed writes nothing. */
  readonly #isWell = new Set<string>()
  /** What was seen of a log when the service log last said that its gateway is behind: it asks again and again. */
  readonly #said = new Map<string, number>()

  constructor({ log }: { readonly log: Logger }) {
    this.#log = log
  }

  /** Raises or ends the alert of a log, in the transaction of a feed that contradicts nothing. */
  note(tx: HubWrite, log: FedLog, head: Head, sent: SentFeed, nowMs: number): void {
    const seen = Math.max(head.size, head.witnessedSize)
    const { size } = sent.checkpoint
    if (size >= seen) {
      if (!this.#isWell.has(log.log_id)) endAhead(tx, log.log_id, nowMs)
      this.#isWell.add(log.log_id)
      this.#said.delete(log.log_id)
      return
    }
    // It asks where to go on, under a checkpoint over all that it has.
    const asksAll = sent.leaves.length === 0 && sent.from === size
    const isSettled = head.witnessedAt !== null && nowMs - head.witnessedAt.getTime() >= settledMs
    if (!asksAll || !isSettled) return
    this.#isWell.delete(log.log_id)
    const detail = { siteId: log.site_id, size, seen }
    tx.send(raised, [log.log_id, `log.ahead.${seen}`, isoTime(nowMs), JSON.stringify(detail), closedByItself])
    if (this.#said.get(log.log_id) === seen) return
    this.#said.set(log.log_id, seen)
    this.#log.warn({ logId: log.log_id, ...detail }, 'a gateway has fewer leaves of its log than were seen here')
  }

  /** Forgets what was noted of a log in a transaction that was undone. */
  undone(logId: string): void {
    this.#isWell.delete(logId)
  }
}
