import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { IdempotencyClaim, Reply, RequestOrigin } from '../http/index.ts'
import type { AuditTrail, Idempotency } from '../journal/index.ts'
import { type Clock, isoTime, type RandomBytes, type SecretBox } from '../platform/index.ts'
import { removeCheckpointsOf } from './delivery/carried.ts'
import { healthy } from './delivery/endpoint-health.ts'
import { fanOutAll } from './delivery/fan-out.ts'
import type { Pacing } from './delivery/pacing.ts'
import { addTest, earliestDueMs, removeDeliveriesOf } from './delivery/store.ts'
import type {
  RotatedSecret,
  RotateIn,
  TestResult,
  Warning,
  WebhookChanged,
  WebhookCreated,
  WebhookIn,
  WebhookItem,
  WebhookPatch,
} from './schema.ts'
import { contextOf, dropRetired, newSecret, openSecrets, retireSecret, sealedSecretsOf } from './secrets.ts'
import { parseNetworks } from './sending/address-guard.ts'
import { checkEndpointUrl } from './sending/endpoint-url.ts'
import type { Resolve } from './sending/guarded-agent.ts'
import type { Outcome, Sender } from './sending/sender.ts'
import { type TestMaker, type TestMessage, testMessage } from './sending/test-message.ts'
import type { WebhookSettings } from './settings.ts'
import {
  allWebhooks,
  deleteWebhook,
  findWebhook,
  getWebhook,
  insertWebhook,
  isHeld,
  updateWebhook,
  type Webhook,
  type WebhookChanges,
} from './store.ts'

const shortSecret = 16

/** Deliveries, or checkpoints, removed by one write when their webhook is deleted; a month of them would block other writes. */
const removedAtOnce = 500

export type WebhookServiceOptions = TestMaker & {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly random: RandomBytes
  readonly box: SecretBox
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  readonly settings: () => WebhookSettings
  readonly resolve: Resolve
  readonly sender: Sender
  readonly pacing: Pick<Pacing, 'hurry' | 'waitOf'>
  /** Called after a change that may make deliveries due. */
  readonly onChange: () => void
}

/** Registers, changes, tests and deletes endpoints. */
export class WebhookService {
  readonly #needs: WebhookServiceOptions

  constructor(options: WebhookServiceOptions) {
    this.#needs = options
  }

  /**
   * Registers an endpoint. It gets what is published from this commit on. The answer has the secret if the gateway made it;
   * the stored reply for a repeated request does not.
   * Throws WEBHOOK_URL_NOT_HTTPS, WEBHOOK_URL_FORBIDDEN, IDEMPOTENCY_MISMATCH.
   */
  async register(
    request: WebhookIn,
    by: RequestOrigin,
    claim: IdempotencyClaim | undefined,
  ): Promise<Reply<WebhookCreated>> {
    await this.#checkUrl(request.url)
    const { work, idempotency } = this.#needs
    return work.write((tx) =>
      idempotency.once(tx, claim, () => this.#insert(tx, request, by), { toStore: withoutSecret }),
    )
  }

  #insert(tx: Tx, request: WebhookIn, by: RequestOrigin) {
    const { makeId, box, random, audit, clock } = this.#needs
    const id = makeId()
    const { url, events, active = true, hold = false, checkpoint = false } = request
    if (active && hold) throw holdWhileOn()
    const secret = request.secret ?? newSecret(random)
    const chosen = { events, active, hold, checkpoint }
    insertWebhook(tx, { id, url, ...chosen, sealedSecret: box.seal(secret, contextOf(id)), nowMs: clock.now() })
    const changes = {
      origin: new URL(url).origin,
      ...chosen,
      secret: request.secret === undefined ? 'generated' : 'given',
    }
    audit.write(tx, by, { action: 'webhook.registered', entity: 'webhook', entityId: id, changes })
    const body: WebhookCreated = {
      success: true,
      ...this.#out(tx, getWebhook(tx, id)),
      ...(request.secret === undefined && { secret }),
      warnings: warningsFor(request.secret),
    }
    return { status: 201 as const, body, location: `/api/webhooks/${id}` }
  }

  /** Returns all endpoints, oldest first. */
  list(): WebhookItem[] {
    return this.#needs.work.read((tx) => allWebhooks(tx).map((webhook) => this.#out(tx, webhook)))
  }

  /** Throws NOT_FOUND. */
  find(id: string): { success: true } & WebhookItem {
    return { success: true, ...this.#needs.work.read((tx) => this.#out(tx, getWebhook(tx, id))) }
  }

  /**
   * Changes the given fields. `active: true` also ends a failing or disabled state, and a wait for the next attempt; held
   * deliveries are sent.
   * Throws NOT_FOUND, VALIDATION_ERROR, WEBHOOK_URL_NOT_HTTPS, WEBHOOK_URL_FORBIDDEN.
   */
  async change(id: string, request: Partial<WebhookPatch>, by: RequestOrigin): Promise<WebhookChanged> {
    const present = this.find(id)
    if (request.url !== undefined && request.url !== present.url) await this.#checkUrl(request.url)
    const changed = await this.#needs.work.write((tx) => {
      this.#update(tx, getWebhook(tx, id), request, by)
      return this.#out(tx, getWebhook(tx, id))
    })
    if (request.active && request.status !== present.status) this.#needs.pacing.hurry(id)
    this.#needs.onChange()
    return { success: true, ...changed, warnings: warningsFor(request.secret) }
  }

  #update(tx: Tx, webhook: Webhook, request: Partial<WebhookPatch>, by: RequestOrigin): void {
    const { box, audit, clock, makeId, settings, newestCheckpoint } = this.#needs
    const changes = changesOf(webhook, request, (secret) => box.seal(secret, contextOf(webhook.id)))
    if (Object.keys(changes).length === 0) return
    const nowMs = clock.now()
    const firstDelayMs = settings().retryScheduleMs[0] ?? 0
    fanOutAll(tx, webhook.id, { makeId, nowMs, firstDelayMs, newestCheckpoint })
    // A secret set by hand replaces all that were valid: the old one may be known to others.
    if (changes.sealedSecret) dropRetired(tx, webhook.id)
    updateWebhook(tx, webhook.id, changes, nowMs)
    audit.write(tx, by, {
      action: 'webhook.updated',
      entity: 'webhook',
      entityId: webhook.id,
      changes: auditOf(webhook, changes),
    })
  }

  /**
   * Replaces the secret by the caller's, or by one that the gateway makes. Only the first answer has the made one; the stored reply
   * for a repeated request does not. For 24 h the old secret also signs in `webhook-signature`; X-Service-Signature has room for
   * one and switches at once. Throws NOT_FOUND, IDEMPOTENCY_MISMATCH.
   */
  rotateSecret(
    id: string,
    request: RotateIn,
    by: RequestOrigin,
    claim: IdempotencyClaim | undefined,
  ): Promise<Reply<RotatedSecret>> {
    const { work, idempotency } = this.#needs
    return work.write((tx) =>
      idempotency.once(tx, claim, () => this.#rotate(tx, id, request, by), { toStore: withoutSecret }),
    )
  }

  #rotate(tx: Tx, id: string, request: RotateIn, by: RequestOrigin) {
    const { box, random, audit, clock } = this.#needs
    getWebhook(tx, id)
    const nowMs = clock.now()
    const untilMs = retireSecret(tx, id, nowMs)
    const secret = request.secret ?? newSecret(random)
    updateWebhook(tx, id, { sealedSecret: box.seal(secret, contextOf(id)) }, nowMs)
    const previousSecretValidUntil = isoTime(untilMs)
    const changes = {
      secret: request.secret === undefined ? 'rotated' : 'rotated to a given one',
      previousSecretValidUntil,
    }
    audit.write(tx, by, { action: 'webhook.secret_rotated', entity: 'webhook', entityId: id, changes })
    const body: RotatedSecret = {
      success: true,
      ...this.#out(tx, getWebhook(tx, id)),
      ...(request.secret === undefined && { secret }),
      previousSecretValidUntil,
      warnings: warningsFor(request.secret),
    }
    return { status: 200 as const, body }
  }

  /**
   * Removes an endpoint and its deliveries, also pending ones. One with a long history is removed in several commits; the first
   * switches it off. A crash in between leaves it off, and the request can be repeated. Throws NOT_FOUND.
   */
  async remove(id: string, by: RequestOrigin): Promise<void> {
    while (!(await this.#needs.work.write((tx) => this.#removeSome(tx, id, by))));
  }

  #removeSome(tx: Tx, id: string, by: RequestOrigin): boolean {
    const webhook = getWebhook(tx, id)
    if ([removeDeliveriesOf, removeCheckpointsOf].some((remove) => remove(tx, id, removedAtOnce) === removedAtOnce)) {
      this.#update(tx, webhook, { active: false }, by)
      return false
    }
    deleteWebhook(tx, id)
    const changes = { origin: new URL(webhook.url).origin, events: webhook.events }
    this.#needs.audit.write(tx, by, { action: 'webhook.deleted', entity: 'webhook', entityId: id, changes })
    return true
  }

  /**
   * Sends `webhook.test` once, also to a disabled endpoint. The test is stored among the deliveries and does not change the
   * state of the endpoint. Throws NOT_FOUND; NOT_READY when the gateway stops meanwhile.
   */
  async test(id: string): Promise<TestResult> {
    const { work, box, clock, sender } = this.#needs
    const nowMs = clock.now()
    const { webhook, sealed } = work.read((tx) => ({
      webhook: getWebhook(tx, id),
      sealed: sealedSecretsOf(tx, id, nowMs),
    }))
    const message = testMessage(this.#needs, webhook, nowMs)
    const outcome = await sender.send(webhook.url, message, openSecrets(box, id, sealed))
    if (outcome.kind === 'abandoned') {
      throw new AppError('NOT_READY', 'The gateway is stopping', { retryAfterSeconds: 5 })
    }
    await work.write((tx) => this.#keepTest(tx, id, message, outcome, nowMs)).catch(ignoreFullDisk)
    return {
      success: true,
      delivered: outcome.kind === 'delivered',
      statusCode: outcome.status,
      durationMs: outcome.durationMs,
      deliveryId: message.deliveryId,
      error: errorOf(outcome),
      answer: outcome.kind === 'offline' ? null : (outcome.answer ?? null),
    }
  }

  /** Stores the test among the deliveries of its webhook, unless the webhook was deleted meanwhile. */
  #keepTest(tx: Tx, id: string, message: TestMessage, outcome: Outcome, startedAtMs: number): void {
    if (!findWebhook(tx, id)) return
    const { outbox, clock } = this.#needs
    const { status, durationMs } = outcome
    addTest(tx, {
      id: message.deliveryId,
      webhookId: id,
      outboxSeq: outbox.keep(tx, message),
      state: outcome.kind === 'delivered' ? 'delivered' : 'exhausted',
      startedAtMs,
      endedAtMs: clock.now(),
      durationMs,
      status,
      error: errorOf(outcome),
      answer: outcome.kind === 'offline' ? null : (outcome.answer ?? null),
    })
  }

  #out(tx: ReadTx, webhook: Webhook): WebhookItem {
    return { ...asOut(webhook), pacing: this.#pacingOf(tx, webhook) }
  }

  #pacingOf(tx: ReadTx, webhook: Webhook): WebhookItem['pacing'] {
    const { id, slowedSinceMs } = webhook
    if (slowedSinceMs === null || isHeld(webhook)) return null
    const { pacing, clock } = this.#needs
    const dueMs = earliestDueMs(tx, id)
    const probeMs = clock.now() + (pacing.waitOf(id)?.forMs ?? 0)
    return {
      slowedSince: isoTime(slowedSinceMs),
      nextAttemptAt: dueMs === undefined ? null : isoTime(Math.max(dueMs, probeMs)),
    }
  }

  async #checkUrl(url: string): Promise<void> {
    const { settings, resolve, clock } = this.#needs
    await checkEndpointUrl(url, { named: parseNetworks(settings().allowNetworks), resolve, clock })
  }
}

/** Ignores STORAGE_FULL: the result of the test is answered even when it cannot be stored. */
function ignoreFullDisk(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'STORAGE_FULL') throw error
}

function errorOf(outcome: Outcome): string | null {
  if (outcome.kind === 'offline') return `the gateway is offline (${outcome.error})`
  return outcome.kind === 'failed' ? outcome.error : null
}

/**
 * Returns the fields that really change. With `active: true` a failing or disabled state ends. It does not when the present
 * `status` is beside it, because then a client sends back the answer of a GET.
 */
function changesOf(webhook: Webhook, request: Partial<WebhookPatch>, seal: (secret: string) => Buffer): WebhookChanges {
  const { url, events, active, checkpoint, secret, status } = request
  const hold = holdAfter(webhook, request)
  const asks = active === true && status !== asOut(webhook).status
  const resets = asks && (webhook.health.status !== 'active' || webhook.health.consecutiveFailures > 0)
  return {
    ...(url !== undefined && url !== webhook.url && { url }),
    ...(events && events.join() !== webhook.events.join() && { events }),
    ...(active !== undefined && active !== webhook.active && { active }),
    ...(hold !== webhook.hold && { hold }),
    ...(checkpoint !== undefined && checkpoint !== webhook.checkpoint && { checkpoint }),
    ...(resets && { health: healthy }),
    ...(secret !== undefined && { sealedSecret: seal(secret) }),
  }
}

/**
 * Returns whether a webhook holds what is published from now on: it begins when it is switched off, and ends when it is switched
 * on. Throws VALIDATION_ERROR for a hold of one that stays on.
 */
function holdAfter(webhook: Webhook, { active, hold }: Partial<WebhookPatch>): boolean {
  if (active ?? webhook.active) {
    if (hold && active === undefined) throw holdWhileOn()
    return false
  }
  return hold ?? (webhook.active ? false : webhook.hold)
}

function holdWhileOn(): AppError {
  const message = 'hold applies while active is false. Send active: false with it.'
  return new AppError('VALIDATION_ERROR', message, { fields: [{ path: 'hold', message: 'needs active: false' }] })
}

/** Returns the changes for the audit trail, with only the origin of an address: paths and queries may hold tokens. */
function auditOf(webhook: Webhook, changes: WebhookChanges): Record<string, unknown> {
  const { url, events, active, hold, checkpoint, health, sealedSecret } = changes
  return {
    ...(url !== undefined && { origin: { from: new URL(webhook.url).origin, to: new URL(url).origin } }),
    ...(events && { events: { from: webhook.events, to: events } }),
    ...(active !== undefined && { active: { from: webhook.active, to: active } }),
    ...(hold !== undefined && { hold: { from: webhook.hold, to: hold } }),
    ...(checkpoint !== undefined && { checkpoint: { from: webhook.checkpoint, to: checkpoint } }),
    ...(health && { status: { from: webhook.health.status, to: health.status } }),
    ...(sealedSecret && { secret: 'replaced' }),
  }
}

function warningsFor(secret: string | undefined): Warning[] {
  if (secret === undefined || secret.length >= shortSecret) return []
  return [{ code: 'SECRET_SHORT', message: `A secret of less than ${shortSecret} characters can be guessed` }]
}

/** Returns an answer without its secret, for the stored reply. */
function withoutSecret({ secret, warnings, ...rest }: Pick<WebhookCreated, 'secret' | 'warnings'>): object {
  if (secret === undefined) return { ...rest, warnings }
  const message = 'The secret was in the first answer only; if that was lost, set a new one with PATCH'
  return { ...rest, warnings: [...warnings, { code: 'SECRET_SHOWN_ONCE', message }] }
}

function asOut(webhook: Webhook): Omit<WebhookItem, 'pacing'> {
  return {
    id: webhook.id,
    url: webhook.url,
    events: [...webhook.events],
    active: webhook.active,
    hold: webhook.hold,
    checkpoint: webhook.checkpoint,
    status: isHeld(webhook) ? 'disabled' : webhook.health.status,
    consecutiveFailures: webhook.health.consecutiveFailures,
    version: webhook.version,
    createdAt: isoTime(webhook.createdAtMs),
    updatedAt: isoTime(webhook.updatedAtMs),
  }
}
