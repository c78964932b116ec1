import type { Tx } from '../database/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { raiseAlert } from './alerts.ts'
import { addAttempt, type Claimed, settleDelivery, type UnderWay, underWay } from './delivery-store.ts'
import { afterAttempt, disabledAfter, type EndpointHealth } from './endpoint-health.ts'
import { nextAttempt } from './retry-schedule.ts'
import type { Outcome } from './sender.ts'
import { setHealth } from './store.ts'

export type FinishedAttempt = {
  readonly claimed: Claimed
  readonly startedAtMs: number
  readonly outcome: Outcome
  readonly nowMs: number
  /** From 0 up to 1, for the jitter. */
  readonly chance: number
  readonly scheduleMs: readonly number[]
}

/** Writes down one attempt and all that follows from it: the delivery's state, the endpoint's, an alert. */
export function recordAttempt(tx: Tx, audit: AuditTrail, finished: FinishedAttempt): void {
  const { claimed, outcome } = finished
  const before = underWay(tx, claimed.id)
  if (!before) return
  const { durationMs, status } = outcome
  const error = outcome.kind === 'failed' ? outcome.error : null
  const { attempt } = claimed
  addAttempt(tx, claimed.id, { attempt, startedAtMs: finished.startedAtMs, durationMs, status, error })
  settleDelivery(tx, claimed.id, { attempt, status, error, ...whatNow(finished) })
  // What happened at an address that has been replaced since says nothing about the new one.
  if (before.url === claimed.url) judgeEndpoint(tx, audit, before, finished)
}

function whatNow({ claimed, outcome, nowMs, chance, scheduleMs }: FinishedAttempt) {
  if (outcome.kind === 'delivered') return { state: 'delivered', deliveredAtMs: nowMs } as const
  const next = nextAttempt({ scheduleMs, attempt: claimed.attempt, nowMs, chance, retryAfter: outcome.retryAfter })
  return next.kind === 'retry'
    ? ({ state: 'pending', nextAttemptAtMs: next.atMs } as const)
    : ({ state: 'exhausted' } as const)
}

function judgeEndpoint(
  tx: Tx,
  audit: AuditTrail,
  { webhookId, url, health }: UnderWay,
  finished: FinishedAttempt,
): void {
  const { claimed, outcome, nowMs } = finished
  const after = afterAttempt(health, outcome.kind === 'delivered', claimed.attempt)
  if (after.status === health.status && after.consecutiveFailures === health.consecutiveFailures) return
  setHealth(tx, webhookId, after)
  if (after.status === health.status) return
  const reason = outcome.kind === 'failed' ? outcome.error : `HTTP ${outcome.status}`
  const changes = { status: { from: health.status, to: after.status }, reason }
  audit.write(tx, undefined, { action: `webhook.${actionOf(after)}`, entity: 'webhook', entityId: webhookId, changes })
  if (after.status !== 'active') {
    raiseAlert(tx, {
      kind: `webhook.${after.status}`,
      subject: webhookId,
      message: messageOf(after, url, reason),
      nowMs,
    })
  }
}

function actionOf(health: EndpointHealth): string {
  return health.status === 'active' ? 'recovered' : health.status
}

function messageOf(health: EndpointHealth, url: string, reason: string): string {
  const { host } = new URL(url)
  return health.status === 'disabled'
    ? `The webhook to ${host} is switched off after ${disabledAfter} failed attempts in a row; its deliveries are held. Last: ${reason}`
    : `The webhook to ${host} is failing, ${health.consecutiveFailures} failed attempts in a row. Last: ${reason}`
}
