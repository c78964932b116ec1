import type { Tx } from '../../database/index.ts'
import type { AuditTrail, Outbox } from '../../journal/index.ts'
import { raiseAlert, raiseAlertOnce, resolveAlert } from '../alerts.ts'
import type { Outcome } from '../sending/sender.ts'
import { findWebhook, setHealth, slowDown } from '../store.ts'
import { afterAttempt, disabledAfter, type EndpointHealth, healthy, slowedAfter } from './endpoint-health.ts'
import { nextAttempt } from './retry-schedule.ts'
import { addAttempt, type Claimed, holdDelivery, settleDelivery, type UnderWay, underWay } from './store.ts'

/** Where consequences of an attempt are written. */
type Published = { readonly audit: AuditTrail; readonly outbox: Pick<Outbox, 'created'> }

/** The outcome of an attempt that counts. */
type Counted = Exclude<Outcome, { kind: 'offline' }>

export type FinishedAttempt<Ended extends Outcome = Outcome> = {
  readonly claimed: Claimed
  readonly startedAtMs: number
  readonly outcome: Ended
  readonly nowMs: number
  /** From 0 up to 1, for the jitter. */
  readonly chance: number
  readonly scheduleMs: readonly number[]
}

/**
 * Records one attempt and its consequences: the state of the delivery and of the endpoint, and an alert. Returns whether the
 * attempt says something about the endpoint: it does not when its address was replaced or the endpoint is deleted.
 */
export function recordAttempt(tx: Tx, published: Published, finished: FinishedAttempt): boolean {
  const { claimed, outcome } = finished
  const before = underWay(tx, claimed.id)
  if (!before) return false
  if (outcome.kind === 'offline') hold(tx, published, before, { ...finished, outcome })
  else count(tx, published, before, { ...finished, outcome })
  return before.url === claimed.url
}

/** The gateway was offline: no attempt, no failure, the delivery is due as before. One alert until it is acknowledged. */
function hold(
  tx: Tx,
  { outbox }: Published,
  { webhookId, url }: UnderWay,
  { claimed, outcome: { error }, nowMs }: FinishedAttempt<Exclude<Outcome, Counted>>,
): void {
  holdDelivery(tx, claimed.id, `held: the gateway is offline (${error})`)
  const message = `The gateway is offline towards ${new URL(url).host}; its deliveries wait, and none counts as failed. Last: ${error}`
  raiseAlertOnce(tx, outbox, { kind: 'webhook.offline', subject: webhookId, message, nowMs })
}

function count(tx: Tx, published: Published, before: UnderWay, finished: FinishedAttempt<Counted>): void {
  const { claimed, outcome } = finished
  const { durationMs, status } = outcome
  const error = outcome.kind === 'failed' ? outcome.error : null
  const { attempt } = claimed
  addAttempt(tx, claimed.id, {
    attempt,
    startedAtMs: finished.startedAtMs,
    durationMs,
    status,
    error,
    answer: outcome.answer ?? null,
  })
  // Read now and not at the claim: a redelivery in between starts a new schedule.
  const ofSchedule = attempt - before.attemptsBefore
  settleDelivery(tx, claimed.id, { attempt, status, error, ...whatNow(finished, ofSchedule) })
  if (before.url === claimed.url) judgeEndpoint(tx, published, before, finished, ofSchedule)
}

function whatNow({ outcome, nowMs, chance, scheduleMs }: FinishedAttempt<Counted>, attempt: number) {
  if (outcome.kind === 'delivered') return { state: 'delivered', deliveredAtMs: nowMs } as const
  const next = nextAttempt({ scheduleMs, attempt, nowMs, chance, retryAfter: outcome.retryAfter })
  return next.kind === 'retry'
    ? ({ state: 'pending', nextAttemptAtMs: next.atMs } as const)
    : ({ state: 'exhausted' } as const)
}

function judgeEndpoint(
  tx: Tx,
  { audit, outbox }: Published,
  { webhookId, url, health }: UnderWay,
  { outcome, nowMs, scheduleMs }: FinishedAttempt<Counted>,
  attempt: number,
): void {
  const after = afterAttempt(health, outcome.kind === 'delivered', { attempt, attempts: scheduleMs.length })
  if (after.status === health.status && after.consecutiveFailures === health.consecutiveFailures) return
  setHealth(tx, webhookId, after)
  if (after.consecutiveFailures >= slowedAfter) slowDown(tx, webhookId, nowMs)
  if (after.status === health.status) return
  const reason = outcome.kind === 'failed' ? outcome.error : `HTTP ${outcome.status}`
  const changes = { status: { from: health.status, to: after.status }, reason }
  audit.write(tx, undefined, { action: `webhook.${actionOf(after)}`, entity: 'webhook', entityId: webhookId, changes })
  if (after.status === 'active') endAlerts(tx, outbox, webhookId, nowMs)
  else {
    raiseAlert(tx, outbox, {
      kind: `webhook.${after.status}`,
      subject: webhookId,
      message: messageOf(after, { url, reason, attempt }),
      nowMs,
    })
  }
}

function endAlerts(tx: Tx, outbox: Published['outbox'], subject: string, nowMs: number): void {
  for (const kind of ['webhook.failing', 'webhook.disabled']) resolveAlert(tx, outbox, { kind, subject, nowMs })
}

/** Ends the disabling after a test that was answered with 2xx, unless a person has changed the webhook meanwhile. */
export function resume(
  tx: Tx,
  { audit, outbox, nowMs }: Published & { readonly nowMs: number },
  { webhookId, url: testedUrl, status }: { readonly webhookId: string; readonly url: string; readonly status: number },
): boolean {
  const webhook = findWebhook(tx, webhookId)
  if (!webhook?.active || webhook.health.status !== 'disabled' || webhook.url !== testedUrl) return false
  setHealth(tx, webhookId, healthy)
  endAlerts(tx, outbox, webhookId, nowMs)
  const changes = { status: { from: 'disabled', to: 'active' }, reason: `HTTP ${status} to a test` }
  audit.write(tx, undefined, { action: 'webhook.recovered', entity: 'webhook', entityId: webhookId, changes })
  return true
}

function actionOf(health: EndpointHealth): string {
  return health.status === 'active' ? 'recovered' : health.status
}

type Failed = { readonly url: string; readonly reason: string; readonly attempt: number }

function messageOf(health: EndpointHealth, { url, reason, attempt }: Failed): string {
  const { host } = new URL(url)
  return health.status === 'disabled'
    ? `The webhook to ${host} is disabled after ${disabledAfter} failed attempts in a row; its deliveries are held. Last: ${reason}`
    : `The webhook to ${host} is failing: attempt ${attempt} of one delivery failed. Last: ${reason}`
}
