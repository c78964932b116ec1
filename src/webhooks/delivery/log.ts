import { keysOfPage, type ReadTx, type UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import { countLimit, historyLimit, type RequestOrigin } from '../../http/index.ts'
import type { AuditTrail } from '../../journal/index.ts'
import { type Clock, isoTime } from '../../platform/index.ts'
import type { DeliveryOut, DeliveryQuery, RecoverIn } from '../schema.ts'
import { getWebhook, isHeld, outboxEnd, type Webhook } from '../store.ts'
import type { Pacing, Wait } from './pacing.ts'
import { firstSeqSince, recoverSome, requeue } from './redelivery.ts'
import { type AttemptRow, attemptsOf, type DeliveryRow, deliveriesOf, deliveryOfSeq, findDelivery } from './store.ts'

export type DeliveryLogOptions = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly makeId: () => string
  readonly audit: AuditTrail
  readonly pacing: Pick<Pacing, 'waitOf' | 'hurry' | 'catchUp'>
  /** Called after a change that makes deliveries due. */
  readonly onChange: () => void
}

/** Lists the deliveries of an endpoint and sends them again. */
export class DeliveryLog {
  readonly #needs: DeliveryLogOptions

  constructor(options: DeliveryLogOptions) {
    this.#needs = options
  }

  /**
   * The deliveries of one endpoint with their attempts, newest notification first, with `after_seq` oldest first. Ends
   * early when `signal` says that the client has gone. Throws NOT_FOUND.
   */
  async list(id: string, query: DeliveryQuery, signal?: AbortSignal) {
    const { limit = historyLimit, offset = 0, cursor, after_seq: afterSeq, ...filter } = query
    const { work } = this.#needs
    work.read((tx) => getWebhook(tx, id))
    const listing = deliveriesOf(id, filter, { beforeSeq: cursor, afterSeq })
    const isFollowed = afterSeq !== undefined
    const page = { limit, offset, before: cursor === undefined || isFollowed ? undefined : [cursor] }
    const { keys, hasMore, total } = await keysOfPage(work, listing, page, countLimit, signal)
    const data = work.read((tx) => {
      const rows = keys.flatMap(([seq = 0]) => deliveryOfSeq(tx, id, seq) ?? [])
      return this.#present(tx, getWebhook(tx, id), rows)
    })
    const last = data.at(-1)
    const nextCursor = hasMore && last && !isFollowed ? `${last.seq}` : null
    return { success: true as const, data, pagination: { limit, offset, total, hasMore, nextCursor } }
  }

  /**
   * Sends one delivery again, whatever its state: the same bytes under the same id, with a new schedule. It is sent at once
   * unless its endpoint is held or slowed down. Throws NOT_FOUND, INVALID_TRANSITION for a test.
   */
  async redeliver(id: string, deliveryId: string, by: RequestOrigin): Promise<{ success: true } & DeliveryOut> {
    const { work, audit, clock, pacing, onChange } = this.#needs
    const answer = await work.write((tx) => {
      const webhook = getWebhook(tx, id)
      const before = findDelivery(tx, id, deliveryId)
      if (!before) throw AppError.notFound('Delivery')
      refuseTest(before)
      requeue(tx, deliveryId, clock.now())
      const changes = { deliveryId, state: before.state, attempts: before.attempts }
      audit.write(tx, by, { action: 'webhook.redelivered', entity: 'webhook', entityId: id, changes })
      const [out] = this.#present(tx, webhook, [findDelivery(tx, id, deliveryId) ?? before])
      if (!out) throw AppError.notFound('Delivery')
      return { success: true as const, ...out }
    })
    pacing.hurry(id)
    onChange()
    return answer
  }

  /**
   * Sends the deliveries of a span again, in bounded writes; after a crash between two of them the request can be repeated.
   * Returns how many. Throws NOT_FOUND.
   */
  async recover(id: string, request: RecoverIn, by: RequestOrigin) {
    const { work, audit, clock, makeId, pacing, onChange } = this.#needs
    const nowMs = clock.now()
    const span = { sinceMs: request.since, untilMs: request.until ?? nowMs, include: request.include ?? 'all' }
    const shown = { since: isoTime(span.sinceMs), until: isoTime(span.untilMs), include: span.include }
    const asked = await work.write((tx) => {
      getWebhook(tx, id)
      audit.write(tx, by, { action: 'webhook.recovery_asked', entity: 'webhook', entityId: id, changes: shown })
      return { afterSeq: firstSeqSince(tx, span.sinceMs) - 1, endSeq: outboxEnd(tx) }
    })
    let resent = 0
    for (let afterSeq: number | undefined = asked.afterSeq; afterSeq !== undefined; ) {
      const from: number = afterSeq
      const some = await work.write((tx) => recoverSome(tx, id, span, { afterSeq: from, makeId, nowMs }))
      resent += some.resent
      afterSeq = some.lastSeq
    }
    if (resent > 0) pacing.catchUp(id, asked.endSeq)
    onChange()
    return { success: true as const, ...shown, resent }
  }

  #present(tx: ReadTx, webhook: Webhook, rows: readonly DeliveryRow[]): DeliveryOut[] {
    const ids = rows.map((row) => row.id)
    const attempts = attemptsOf(tx, ids)
    const hold = holdOf(webhook, this.#needs.pacing.waitOf(webhook.id), this.#needs.clock.now())
    return rows.map((row) => deliveryOut(row, attempts.get(row.id) ?? [], hold))
  }
}

/** Throws INVALID_TRANSITION for a test: sent again, it would count like any delivery. */
function refuseTest({ id, type }: DeliveryRow): void {
  if (type !== 'webhook.test') return
  throw new AppError('INVALID_TRANSITION', 'A test is not sent again', {
    details: `delivery ${id} was a test; POST /api/webhooks/:id/test sends another`,
  })
}

/** Why the deliveries of an endpoint are not sent now, if there is a reason. */
type Hold = {
  readonly why: 'held_offline' | 'held_disabled' | null
  /** No attempt before then; undefined: none is planned. */
  readonly untilMs: number | undefined
}

function holdOf(webhook: Webhook, wait: Wait | undefined, nowMs: number): Hold {
  if (isHeld(webhook)) return { why: 'held_disabled', untilMs: undefined }
  return { why: wait?.offline ? 'held_offline' : null, untilMs: wait ? nowMs + wait.forMs : 0 }
}

function deliveryOut(row: DeliveryRow, attempts: readonly AttemptRow[], hold: Hold): DeliveryOut {
  const waits = row.state === 'pending'
  // A first attempt is due at 0, "at once": since the delivery is there.
  const dueMs = Math.max(row.nextAttemptAtMs, row.createdAtMs)
  const nextMs = waits && hold.untilMs !== undefined ? Math.max(dueMs, hold.untilMs) : undefined
  return {
    id: row.id,
    seq: row.outboxSeq,
    test: row.type === 'webhook.test',
    eventId: row.eventId,
    type: row.type,
    timestamp: isoTime(row.timestampMs),
    state: row.state,
    held: waits ? hold.why : null,
    attemptCount: row.attempts,
    nextAttemptAt: nextMs === undefined ? null : isoTime(nextMs),
    createdAt: isoTime(row.createdAtMs),
    deliveredAt: row.deliveredAtMs === null ? null : isoTime(row.deliveredAtMs),
    lastStatusCode: row.lastStatus,
    lastError: row.lastError,
    attempts: attempts.map(attemptOut),
  }
}

function attemptOut(row: AttemptRow) {
  const { attempt, durationMs, status: statusCode, error, answer } = row
  return { attempt, startedAt: isoTime(row.startedAtMs), durationMs, statusCode, error, answer }
}
