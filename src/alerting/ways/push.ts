import type { Agent } from 'node:https'
import webPush from 'web-push'
import { errorMessage } from '../../platform/faults.ts'
import type { Clock } from '../../platform/index.ts'
import { type Message, shortened } from '../message.ts'
import { failed, type Outcome } from './outcome.ts'
import { sendRequest } from './request.ts'
import type { VapidKeys } from './vapid-keys.ts'

/** As a browser makes it (Push API). */
export type Subscription = {
  readonly endpoint: string
  readonly keys: { readonly p256dh: string; readonly auth: string }
}

type PushNeeds = {
  readonly clock: Pick<Clock, 'after'>
  readonly signal: AbortSignal
  /** Connects to allowed addresses only, because a client named the address. */
  readonly agent: Agent
  readonly vapid: VapidKeys
  /** Contact for the push service: `https:` or `mailto:`. */
  readonly contact: string
}

/** A service may keep the message for so long while the device is off. */
const ttlSeconds = 4 * 60 * 60
/** The encrypted message has 4096 bytes at most, and a letter up to four. */
const bodyLength = 600

/** Encrypts a message for one browser (RFC 8291), signs it by VAPID (RFC 8292) and sends it. Never rejects. */
export async function sendPush(subscription: Subscription, message: Message, needs: PushNeeds): Promise<Outcome> {
  const { vapid, contact, agent } = needs
  let details: ReturnType<typeof webPush.generateRequestDetails>
  try {
    details = webPush.generateRequestDetails(subscription, payloadOf(message), {
      TTL: ttlSeconds,
      urgency: message.isUrgent ? 'high' : 'normal',
      contentEncoding: 'aes128gcm',
      vapidDetails: { subject: contact, ...vapid },
    })
  } catch (error) {
    return failed(errorMessage(error), true)
  }
  const headers = Object.fromEntries(Object.entries(details.headers).map(([name, value]) => [name, String(value)]))
  const request = { url: details.endpoint, method: 'POST' as const, headers, body: details.body ?? '' }
  const outcome = await sendRequest({ ...request, agent: { https: agent } }, needs)
  // RFC 8030, 7.3: the service has forgotten the subscription.
  if (outcome.kind !== 'failed' || !/^HTTP (404|410)$/.test(outcome.error)) return outcome
  return { kind: 'failed', error: `${outcome.error}: the subscription has ended`, isFinal: true, isGone: true }
}

/** Is read by the service worker of the console. */
function payloadOf({ id, title, text, link, acknowledge }: Message): string {
  return JSON.stringify({
    ...{ id, title: shortened(title, 120), body: shortened(text, bodyLength), link },
    ...(acknowledge !== undefined && { acknowledge }),
  })
}
