import type { Shape } from '../data/api.ts'
import { alertWorker, workerAddress } from '../kit/own-worker.ts'
import { pushTexts as words } from './push-texts.ts'

export type PushState = Shape<'PushState'>
/** Address and keys of a browser's subscription, in base64url. */
type PushSubscriptionIn = {
  readonly endpoint: string
  readonly keys: { readonly p256dh: string; readonly auth: string }
}

/** Says whether this browser can show messages: over HTTPS, or on the box itself. */
export const canGetMessages = (): boolean => 'serviceWorker' in navigator && 'PushManager' in window

const scope = '/alerts'

/** Returns whether this browser has a subscription. */
export async function isSubscribed(): Promise<boolean> {
  if (!canGetMessages()) return false
  const registration = await navigator.serviceWorker.getRegistration(scope)
  return ((await registration?.pushManager.getSubscription()) ?? null) !== null
}

/** Asks the person and subscribes this browser. Returns what the gateway stores. Rejects with words for the person. */
export async function subscribe(publicKey: string): Promise<PushSubscriptionIn> {
  if ((await Notification.requestPermission()) !== 'granted') throw new Error(words.denied)
  const registration = await navigator.serviceWorker.register(workerAddress(alertWorker), { scope })
  await active(registration)
  const options = { userVisibleOnly: true, applicationServerKey: publicKey }
  // A subscription under an earlier key of the gateway gets no message any more.
  const subscription = await registration.pushManager.subscribe(options).catch(async () => {
    await (await registration.pushManager.getSubscription())?.unsubscribe()
    return registration.pushManager.subscribe(options)
  })
  const { endpoint = '', keys = {} } = subscription.toJSON()
  return { endpoint, keys: { p256dh: keys['p256dh'] ?? '', auth: keys['auth'] ?? '' } }
}

/** Ends the subscription of this browser. The gateway removes its part when the push service reports the end. */
export async function unsubscribe(): Promise<void> {
  if (!canGetMessages()) return
  const registration = await navigator.serviceWorker.getRegistration(scope)
  await (await registration?.pushManager.getSubscription())?.unsubscribe()
}

/** Resolves when the worker runs: a subscription needs it. */
function active(registration: ServiceWorkerRegistration): Promise<void> {
  const starting = registration.installing ?? registration.waiting
  if (registration.active || !starting) return Promise.resolve()
  return new Promise((resolve) => {
    starting.addEventListener('statechange', () => {
      if (starting.state === 'activated') resolve()
    })
  })
}
