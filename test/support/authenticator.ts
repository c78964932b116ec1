import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'

const userPresent = 0x01
const userVerified = 0x04
const hasCredential = 0x40

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest()
const url64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

/** Writes the head of a CBOR item (RFC 8949): its major type and a number below 65,536. */
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  if (value < 256) return Buffer.from([(major << 5) | 24, value])
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255])
}
const cborBytes = (bytes: Uint8Array) => Buffer.concat([head(2, bytes.length), bytes])
const cborText = (text: string) => Buffer.concat([head(3, text.length), Buffer.from(text)])
const cborInt = (value: number) => (value < 0 ? head(1, -1 - value) : head(0, value))

/** An authenticator of WebAuthn level 2 in software, with one passkey (ES256). */
export class Authenticator {
  readonly #key: KeyObject
  readonly #cose: Buffer
  readonly #id: Buffer
  readonly #origin: string
  #signatures = 0

  /** @param origin the address that the browser shows; an attacker's page has another one. */
  constructor(origin: string, name = 'phone') {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    this.#key = privateKey
    this.#id = sha256(name)
    this.#origin = origin
    const point = (text: string) => cborBytes(Buffer.from(text, 'base64url'))
    // RFC 9053: key type EC2, ES256, curve P-256, x and y.
    const pairs = [cborInt(1), cborInt(2), cborInt(3), cborInt(-7), cborInt(-1), cborInt(1)]
    this.#cose = Buffer.concat([head(5, 5), ...pairs, cborInt(-2), point(x), cborInt(-3), point(y)])
  }

  /** Answers `navigator.credentials.create`. */
  create({ challenge, rp }: { challenge: string; rp: { id: string } }) {
    const length = Buffer.from([0, this.#id.length])
    const credential = Buffer.concat([Buffer.alloc(16), length, this.#id, this.#cose])
    const data = Buffer.concat([this.#data(rp.id, hasCredential), credential])
    const parts = [cborText('fmt'), cborText('none'), cborText('attStmt'), head(5, 0), cborText('authData')]
    const attestationObject = Buffer.concat([head(5, 3), ...parts, cborBytes(data)])
    const clientDataJSON = this.#client('webauthn.create', challenge)
    return {
      id: url64(this.#id),
      response: { clientDataJSON: url64(clientDataJSON), attestationObject: url64(attestationObject) },
    }
  }

  /** Answers `navigator.credentials.get`. */
  get({ challenge, rpId }: { challenge: string; rpId: string }) {
    this.#signatures += 1
    const data = this.#data(rpId)
    const client = this.#client('webauthn.get', challenge)
    const signature = createSign('sha256')
      .update(Buffer.concat([data, sha256(client)]))
      .sign(this.#key)
    return {
      id: url64(this.#id),
      response: { clientDataJSON: url64(client), authenticatorData: url64(data), signature: url64(signature) },
    }
  }

  /** Forgets its last signatures, as a copy of it would. */
  rewind(): void {
    this.#signatures -= 2
  }

  #data(rpId: string, flags = 0): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(this.#signatures)
    return Buffer.concat([sha256(rpId), Buffer.from([userPresent | userVerified | flags]), count])
  }

  #client(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false }))
  }
}
