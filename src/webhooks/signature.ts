import { createHmac } from 'node:crypto'
import { isoTime } from '../world/index.ts'

/** `sha256=` and the lower-case hex of HMAC-SHA256 over the body's bytes, keyed with the secret in UTF-8. */
export function signatureOf(body: Uint8Array, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

export type SignedMessage = {
  readonly type: string
  /** X-Service-Delivery: the same over all attempts of one delivery. */
  readonly deliveryId: string
  /** Timestamp of the envelope, not of the attempt. */
  readonly timestampMs: number
  /** The envelope as stored; these bytes are signed and sent. */
  readonly body: Uint8Array
}

/** The headers of one attempt. Only the signature can differ between attempts, when the secret was replaced. */
export function headersOf(message: SignedMessage, secret: string, version: string): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': `gatehouse/${version}`,
    'X-Service-Event': message.type,
    'X-Service-Delivery': message.deliveryId,
    'X-Service-Timestamp': isoTime(message.timestampMs),
    'X-Service-Signature': signatureOf(message.body, secret),
  }
}
