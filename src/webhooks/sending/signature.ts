import { isoTime, KeyedHash } from '../../platform/index.ts'

/** The current secret of a webhook, then those that a rotation has retired and that are still valid, newest first. */
export type Secrets = readonly [current: string, ...retired: string[]]

/**
 * `sha256=` and the lower-case hex of HMAC-SHA256 over the body's bytes, keyed with the secret in UTF-8; the key may be made
 * already.
 */
export function signatureOf(body: Uint8Array, secret: string | KeyedHash): string {
  const key = typeof secret === 'string' ? new KeyedHash(Buffer.from(secret, 'utf8')) : secret
  return `sha256=${key.of('hex', body)}`
}

const standardPrefix = 'whsec_'

/**
 * Returns the key that a secret means in Standard Webhooks. A secret of `whsec_` and base64 means the bytes, as the libraries read
 * it. Any other secret means its UTF-8 bytes, and a library is given their base64.
 */
export function standardKeyOf(secret: string): Buffer {
  if (secret.startsWith(standardPrefix)) {
    const base64 = secret.slice(standardPrefix.length)
    const bytes = Buffer.from(base64, 'base64')
    // Only what all libraries read alike: padded, no other alphabet, nothing left over.
    if (bytes.length > 0 && bytes.toString('base64') === base64) return bytes
  }
  return Buffer.from(secret, 'utf8')
}

type Keys = { readonly document: KeyedHash; readonly standard: readonly KeyedHash[] }

/** By the secrets as they were opened: those of an endpoint stay the same object until one of them changes. */
const made = new WeakMap<Secrets, Keys>()

function keysOf(secrets: Secrets): Keys {
  const known = made.get(secrets)
  if (known) return known
  const keys = {
    document: new KeyedHash(Buffer.from(secrets[0], 'utf8')),
    standard: secrets.map((secret) => new KeyedHash(standardKeyOf(secret))),
  }
  made.set(secrets, keys)
  return keys
}

/** `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`, by each key, with a space between. */
function standardSignatureOf(id: string, seconds: number, body: Uint8Array, keys: readonly KeyedHash[]): string {
  return keys.map((key) => `v1,${key.of('base64', `${id}.${seconds}.`, body)}`).join(' ')
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

/**
 * The headers of one attempt: the document's, signed with the current secret, and those of Standard Webhooks, signed
 * with every secret that is valid. Between attempts only what depends on secrets and on the time of the attempt differs.
 * @param nowMs of the attempt
 */
export function headersOf(
  message: SignedMessage,
  secrets: Secrets,
  version: string,
  nowMs: number,
): Record<string, string> {
  const seconds = Math.floor(nowMs / 1000)
  const keys = keysOf(secrets)
  return {
    'Content-Type': 'application/json',
    'User-Agent': `gatehouse/${version}`,
    'X-Service-Event': message.type,
    'X-Service-Delivery': message.deliveryId,
    'X-Service-Timestamp': isoTime(message.timestampMs),
    'X-Service-Signature': signatureOf(message.body, keys.document),
    'webhook-id': message.deliveryId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standardSignatureOf(message.deliveryId, seconds, message.body, keys.standard),
  }
}
