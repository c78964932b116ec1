import { createDecipheriv, createECDH, createPublicKey, type ECDH, hkdfSync, randomBytes, verify } from 'node:crypto'
import { type Received, type Receiver, startReceiver } from './receiver.ts'

/** A browser that has subscribed: its keys, and where its messages go. */
export type Subscriber = {
  readonly toJSON: () => { endpoint: string; keys: { p256dh: string; auth: string } }
  /** Decrypts a message for this browser (RFC 8291). */
  read(body: Buffer): string
}

const vapidForm = /^vapid t=([\w-]+\.[\w-]+\.[\w-]+), *k=([\w-]+)$/

/** A push service on loopback: it checks the signature of each message (RFC 8292), and answers 201. */
export async function startPushService(): Promise<
  Receiver & { subscribe(): Subscriber; expect(publicKey: string): void; readonly problems: readonly string[] }
> {
  const problems: string[] = []
  let expected: string | undefined
  const receiver = await startReceiver({
    secret: '',
    behave: (request) => {
      const problem = problemOf(request, receiver.url, expected)
      if (problem !== undefined) problems.push(problem)
      return { status: problem === undefined ? 201 : 403 }
    },
  })
  let count = 0
  return Object.assign(receiver, {
    problems,
    expect: (publicKey: string) => {
      expected = publicKey
    },
    subscribe: () => {
      count += 1
      return newSubscriber(`${receiver.url}/${count}`)
    },
  })
}

/** Returns what RFC 8030, 8188 and 8292 demand and the request lacks. */
function problemOf({ headers, method }: Received, url: string, expected: string | undefined): string | undefined {
  if (method !== 'POST' || !/^\d+$/.test(String(headers['ttl']))) return 'no TTL'
  if (headers['content-encoding'] !== 'aes128gcm') return 'not aes128gcm'
  const [, token = '', key = ''] = vapidForm.exec(String(headers.authorization)) ?? []
  if (token === '') return `no VAPID: ${headers.authorization}`
  if (expected !== undefined && key !== expected) return 'another key than the browser subscribed with'
  const [head = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(key, 'base64url')
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  }
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  if (!isSigned) return 'wrong signature'
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  if (aud !== new URL(url).origin) return `wrong audience ${aud}`
  if (exp <= Date.now() / 1000 || exp > Date.now() / 1000 + 86_400) return `wrong expiry ${exp}`
  return /^(mailto:|https:)/.test(sub) ? undefined : `wrong subject ${sub}`
}

function newSubscriber(endpoint: string): Subscriber {
  const keys = createECDH('prime256v1')
  keys.generateKeys()
  const auth = randomBytes(16)
  return {
    toJSON: () => ({
      endpoint,
      keys: { p256dh: keys.getPublicKey().toString('base64url'), auth: auth.toString('base64url') },
    }),
    read: (body) => decrypted(body, keys, auth),
  }
}

/** Decrypts one record of `aes128gcm` (RFC 8188) with the keys of RFC 8291. */
export function decrypted(body: Buffer, keys: ECDH, auth: Buffer): string {
  const salt = body.subarray(0, 16)
  const idLength = body[20] ?? 0
  const senderKey = body.subarray(21, 21 + idLength)
  const sealed = body.subarray(21 + idLength)
  const derive = (input: Buffer, from: Buffer, info: Buffer, length: number) =>
    Buffer.from(hkdfSync('sha256', input, from, info, length))
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), senderKey])
  const secret = derive(keys.computeSecret(senderKey), auth, keyInfo, 32)
  const key = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const decipher = createDecipheriv('aes-128-gcm', key, nonce)
  decipher.setAuthTag(sealed.subarray(-16))
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
  return padded.subarray(0, padded.lastIndexOf(2)).toString('utf8')
}
