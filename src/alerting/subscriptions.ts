import { createECDH, hash } from 'node:crypto'
import type { Config } from '../config/index.ts'
import type { UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Caller, identityOf, type RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { type Clock, isoTime, type SecretBox } from '../platform/index.ts'
import type { PushState, SubscriptionIn } from './schema.ts'
import * as store from './store.ts'
import type { Subscription } from './ways/push.ts'
import type { VapidKeys } from './ways/vapid-keys.ts'

const sealedFor = 'push subscription'
/** Browsers of one person. */
const mostOfOne = 20
const mostOfAll = 1000

type SubscriptionsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly audit: AuditTrail
  readonly box: SecretBox
  readonly vapid: () => VapidKeys
  readonly settings: () => Config['alerts']
}

/** Subscriptions of browsers to messages about alerts. Each belongs to the caller who made it. */
export class Subscriptions {
  readonly #needs: SubscriptionsNeeds

  constructor(needs: SubscriptionsNeeds) {
    this.#needs = needs
  }

  /** Returns the key for subscribing, and the caller's subscriptions. Without a channel for them there is no key. */
  of({ username, instance }: Caller): PushState {
    const { work, settings, vapid } = this.#needs
    const isUsed = settings().channels.some(({ webPush }) => webPush !== null)
    const rows = work.read((tx) => store.subscriptionsOf(tx, username, instance))
    const subscriptions = rows.map((row) => ({ id: row.id, createdAt: isoTime(row.created_at_ms) }))
    return { success: true, publicKey: isUsed ? vapid().publicKey : null, subscriptions }
  }

  /**
   * Stores a subscription; a repeat replaces it. Throws PERMISSION_DENIED on a shift, because the handheld stays when the person goes;
   * VALIDATION_ERROR; INVALID_TRANSITION without a channel.
   */
  async add(subscription: SubscriptionIn, by: RequestOrigin & { readonly caller: Caller }): Promise<PushState> {
    const { work, clock, audit, box, settings } = this.#needs
    if (!settings().channels.some(({ webPush }) => webPush !== null))
      throw new AppError('INVALID_TRANSITION', 'No channel of alerts.channels has webPush')
    if (by.caller.signIn?.kind === 'shift')
      throw new AppError('PERMISSION_DENIED', 'Messages on a handheld belong to the device', {
        details: 'Press Get messages here at /scan, or sign in with an account in a browser of your own.',
      })
    if (!isPublicKey(subscription.keys.p256dh)) throw AppError.field('keys.p256dh', 'expected a point of P-256')
    const { username, instance, isDevice = false } = by.caller
    const endpoint_sha256 = hash('sha256', subscription.endpoint, 'buffer')
    await work.write((tx) => {
      const all = store.allSubscriptions(tx).filter((row) => !row.endpoint_sha256.equals(endpoint_sha256))
      const own = all.filter((row) => identityOf(row) === identityOf(by.caller))
      if (own.length >= mostOfOne || all.length >= mostOfAll)
        throw AppError.field(
          'endpoint',
          `expected at most ${mostOfOne} subscriptions of a person and ${mostOfAll} in all`,
        )
      const id = store.putSubscription(tx, {
        ...{ username, instance, is_device: isDevice ? 1 : 0, endpoint_sha256, created_at_ms: clock.now() },
        sealed: box.seal(JSON.stringify(subscription), sealedFor),
      })
      audit.write(tx, by, { action: 'push.subscribed', entity: 'caller', changes: { subscription: id } })
    })
    return this.of(by.caller)
  }

  /** Removes a subscription of the caller. Throws NOT_FOUND. */
  async remove(id: number | undefined, by: RequestOrigin & { readonly caller: Caller }): Promise<PushState> {
    const { work, audit } = this.#needs
    await work.write((tx) => {
      const own = store.subscriptionsOf(tx, by.caller.username, by.caller.instance).find((row) => row.id === id)
      if (!own) throw AppError.notFound('Subscription')
      store.removeSubscription(tx, own.id)
      audit.write(tx, by, { action: 'push.unsubscribed', entity: 'caller', changes: { subscription: own.id } })
    })
    return this.of(by.caller)
  }

  /** Removes the subscriptions of an erased person. */
  async forget(username: string, instance: string): Promise<void> {
    await this.#needs.work.write((tx) => void store.removeSubscriptionsOf(tx, username, instance))
  }
}

/** Returns a stored subscription; undefined when another box key sealed it. */
export function openSubscription(box: SecretBox, { sealed }: store.SubscriptionRow): Subscription | undefined {
  try {
    return JSON.parse(box.open(sealed, sealedFor))
  } catch {
    return undefined
  }
}

function isPublicKey(p256dh: string): boolean {
  const key = Buffer.from(p256dh, 'base64url')
  if (key.length !== 65 || key[0] !== 4) return false
  const own = createECDH('prime256v1')
  own.generateKeys()
  try {
    // Refuses what is no point of the curve.
    own.computeSecret(key)
    return true
  } catch {
    return false
  }
}
