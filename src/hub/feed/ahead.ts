import { isoTime, type Logger } from '../../platform/index.ts'
import type { HubWrite } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import type { SentFeed } from './request.ts'
import type { FedLog, Head } from './store.ts'

/** How long no box may ask from behind before the alert ends. One that is behind asks at least once an hour. */
const quietMs = 2 * 60 * 60 * 1000
// Times as texts, in the order of their letters: Citus refuses a cast to timestamptz in these writes. Alerts of older versions have no `askedAt`.
const isQuiet = (since: string, sinceText: string) =>
  `(alert.opened_at < ${since} AND coalesce(alert.detail ->> 'askedAt', '') COLLATE "C" < ${sinceText})`

// One alert a log: two boxes may feed it, one of them behind. An alert that a person has closed stays closed while the box asks on.
const isAnew = `alert.closed_by = $4 OR (alert.closed_at IS NOT NULL AND ${isQuiet('$5', '$6')})`
const anew = (column: string, value: string) => `${column} = CASE WHEN ${isAnew} THEN ${value} ELSE alert.${column} END`
const raised = hubStatement(
  'raise-ahead',
  `INSERT INTO alert (log_id, alert_id, source, type, severity, opened_at, detail)
   VALUES ($1, 'log.ahead', 'hub', 'log.ahead', 'critical', $2, $3)
   ON CONFLICT (log_id, alert_id) DO UPDATE SET detail = excluded.detail, ${anew('opened_at', 'excluded.opened_at')},
     ${anew('closed_at', 'NULL')}, ${anew('closed_by', 'NULL')}`,
)
const ended = hubStatement(
  'end-ahead',
  `UPDATE alert SET closed_at = $2, closed_by = $3
   WHERE log_id = $1 AND type = 'log.ahead' AND closed_at IS NULL AND ($4::timestamptz IS NULL OR ${isQuiet('$4', '$5')})`,
)

/** Ends the alert of a log: another log continues it, or it is retired. */
export const endAhead = (tx: HubWrite, logId: string, nowMs: number): void =>
  tx.send(ended, [logId, isoTime(nowMs), closedByItself, null, null])

/** The name under which an alert is closed automatically. Accounts have an @ in their names, so none has this one. */
export const closedByItself = 'head office'

/** A feed that was on its way for long, or a confirmation by the witness meanwhile, says nothing about a restore. */
const settledMs = 60_000
/** How often a feed may look for an alert to end, which is a statement. */
const lookMs = 10 * 60_000

/**
 * Notices a gateway that has fewer leaves than the head office has seen of its log. Its box was restored from an older copy, or the
 * log went on at another box. The gateway says so too, but it may be silent, or not be believed.
 */
export class Ahead {
  readonly #log: Logger
  /** Times from which on a feed looks for an alert of a log to end. None: at once. */
  readonly #looksAt = new Map<string, number>()
  /** Size that was seen of a log when a box first asked for less. */
  readonly #firstSeen = new Map<string, { readonly atMs: number; readonly seen: number }>()
  /** Times of the last question from behind, so that the service log names each case once: the box asks again and again. */
  readonly #askedAt = new Map<string, number>()

  constructor({ log }: { readonly log: Logger }) {
    this.#log = log
  }

  /** Raises or ends the alert of a log, in the transaction of a feed that contradicts nothing. */
  note(tx: HubWrite, log: FedLog, head: Head, sent: SentFeed, nowMs: number): void {
    const seen = Math.max(head.size, head.witnessedSize)
    const { size } = sent.checkpoint
    if (size >= seen) {
      this.#end(tx, log.log_id, nowMs)
      return
    }
    // It asks where to go on, under a checkpoint over all that it has.
    const asksAll = sent.leaves.length === 0 && sent.from === size
    if (!asksAll || !this.#isSettled(log.log_id, head, { size, seen }, nowMs)) return
    const now = isoTime(nowMs)
    const detail = { siteId: log.site_id, size, seen }
    const quietSince = isoTime(nowMs - quietMs)
    tx.send(raised, [
      log.log_id,
      now,
      JSON.stringify({ ...detail, askedAt: now }),
      closedByItself,
      quietSince,
      quietSince,
    ])
    this.#looksAt.set(log.log_id, nowMs + quietMs)
    const askedAt = this.#askedAt.get(log.log_id)
    this.#askedAt.set(log.log_id, nowMs)
    if (askedAt !== undefined && nowMs - askedAt < quietMs) return
    this.#log.warn({ logId: log.log_id, ...detail }, 'a gateway has fewer leaves of its log than were seen here')
  }

  #end(tx: HubWrite, logId: string, nowMs: number): void {
    if (nowMs < (this.#looksAt.get(logId) ?? 0)) return
    const quietSince = isoTime(nowMs - quietMs)
    tx.send(ended, [logId, isoTime(nowMs), closedByItself, quietSince, quietSince])
    this.#looksAt.set(logId, nowMs + lookMs)
  }

  /** Whether more than this box has was seen a minute ago; the log may be fed by another box all the time. */
  #isSettled(
    logId: string,
    { witnessedAt }: Head,
    { size, seen }: { readonly size: number; readonly seen: number },
    nowMs: number,
  ): boolean {
    const first = this.#firstSeen.get(logId)
    if (first && size < first.seen && nowMs - first.atMs >= settledMs) return true
    if (!first || size >= first.seen) this.#firstSeen.set(logId, { atMs: nowMs, seen })
    return witnessedAt !== null && nowMs - witnessedAt.getTime() >= settledMs
  }

  /** Forgets what was noted of a log in a transaction that was undone. */
  undone(logId: string): void {
    this.#looksAt.delete(logId)
  }
}
