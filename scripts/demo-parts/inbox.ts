import { acceptSigned, type Received, type Receiver, startReceiver } from '../../test/support/receiver.ts'
import { holds, same } from './expect.ts'
import { opensslHmac } from './openssl.ts'

/** A webhook endpoint on loopback that remembers when each event first came. */
export type Inbox = {
  readonly receiver: Receiver
  /** The shared secret of this receiver. */
  readonly secret: string
  /** performance.now() of the first arrival, by the id of the envelope. */
  readonly arrivedMs: ReadonlyMap<string, number>
}

/** Starts it; `each` gets every request. Wrongly signed ones are answered with 401. */
export async function openInbox(secret: string, each: (request: Received) => void = () => {}): Promise<Inbox> {
  const arrivedMs = new Map<string, number>()
  const receiver = await startReceiver({
    secret,
    behave: (request, nth) => {
      if (!arrivedMs.has(request.event.id)) arrivedMs.set(request.event.id, performance.now())
      each(request)
      return acceptSigned(request, nth)
    },
  })
  return { receiver, secret, arrivedMs }
}

/** Checks a notification as a receiver's author would. Returns the name of the checker. */
export async function rightlySigned(came: Received, type: string, secret: string): Promise<string> {
  same('X-Service-Event', came.headers['x-service-event'], type)
  same('type', came.event.type, type)
  same('X-Service-Timestamp', came.headers['x-service-timestamp'], came.event.timestamp)
  holds(came.deliveryId !== '', 'X-Service-Delivery is missing')
  holds(came.signatureValid, `X-Service-Signature is not the HMAC of the body: ${came.headers['x-service-signature']}`)
  const hmac = await opensslHmac(secret, came.body)
  if (hmac === undefined) return 'signature right (no openssl here to ask as well)'
  same('X-Service-Signature', came.headers['x-service-signature'], `sha256=${hmac}`)
  return 'signature right, openssl says so too'
}
