import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hash,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'
import type { RandomBytes } from '../../platform/index.ts'
import { demandSameMark, SealedFileFault } from './pieces.ts'

/**
 * Header of an age file (c2sp.org/age). Two stanzas follow its first line. `X25519` wraps the key of the file for the recovery key:
 * `age -d` needs nothing else. `gatehouse` proves that a holder of the recovery key sealed the file under its name. The public half
 * of that key is enough to write the first stanza, but not the second. age skips a stanza that it does not know.
 */
const firstLine = 'age-encryption.org/v1'
const fileKeyBytes = 16
/** More than a header with these two stanzas has. */
export const largestHeaderBytes = 4096

/** Bytes before an X25519 key in its DER form. */
const der = {
  private: Buffer.from('302e020100300506032b656e04220420', 'hex'),
  public: Buffer.from('302a300506032b656e032100', 'hex'),
}

const privateKey = (bytes: Uint8Array) =>
  createPrivateKey({ key: Buffer.concat([der.private, bytes]), format: 'der', type: 'pkcs8' })
const publicKey = (bytes: Uint8Array) =>
  createPublicKey({ key: Buffer.concat([der.public, bytes]), format: 'der', type: 'spki' })
const publicBytes = (key: KeyObject) => createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)

const derived = (key: Uint8Array, salt: Uint8Array | '', info: string) =>
  Buffer.from(hkdfSync('sha256', key, salt, info, 32))
const unpadded = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replace(/=+$/, '')

/** Identifies a recovery key without revealing it: 16 hex digits. */
export const markOf = (recoveryKey: Uint8Array): string =>
  hash('sha256', derived(recoveryKey, '', 'gatehouse-age/1 mark')).slice(0, 16)

/** Proof of the sealer over the key of a file and its name. */
const proofOf = (recoveryKey: Uint8Array, fileKey: Uint8Array, name: string) =>
  createHmac('sha256', derived(recoveryKey, '', 'gatehouse-age/1 sealer'))
    .update(fileKey)
    .update(name)
    .digest()

const macOf = (fileKey: Uint8Array, head: string) =>
  createHmac('sha256', derived(fileKey, '', 'header'))
    .update(head)
    .digest()

/** Key that wraps the key of a file. `share` is the public half of a key that is made for this file alone. */
function wrapKey(shared: Buffer, share: Uint8Array, recipient: Uint8Array): Buffer {
  return derived(shared, Buffer.concat([share, recipient]), 'age-encryption.org/v1/X25519')
}

const noNonce = Buffer.alloc(12)
const cipherName = 'chacha20-poly1305'
const tag = { authTagLength: 16 } as const

export type Header = { readonly bytes: Buffer; readonly fileKey: Buffer }

/** Makes the header of a new file. */
export function newHeader(recoveryKey: Uint8Array, name: string, random: RandomBytes): Header {
  const fileKey = random(fileKeyBytes)
  const recipient = publicBytes(privateKey(recoveryKey))
  const ephemeral = privateKey(random(32))
  const share = publicBytes(ephemeral)
  const shared = diffieHellman({ privateKey: ephemeral, publicKey: publicKey(recipient) })
  const cipher = createCipheriv(cipherName, wrapKey(shared, share, recipient), noNonce, tag)
  const wrapped = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()])
  const forAge = `-> X25519 ${unpadded(share)}\n${unpadded(wrapped)}\n`
  const proof = `-> gatehouse ${markOf(recoveryKey)}\n${unpadded(proofOf(recoveryKey, fileKey, name))}\n`
  const head = `${firstLine}\n${forAge}${proof}---`
  return { bytes: Buffer.from(`${head} ${unpadded(macOf(fileKey, head))}\n`), fileKey }
}

const form =
  /^age-encryption\.org\/v1\n-> X25519 (?<share>[\w+/]{43})\n(?<wrapped>[\w+/]{43})\n-> gatehouse (?<mark>[0-9a-f]{16})\n(?<proof>[\w+/]{43})\n--- (?<mac>[\w+/]{43})\n/

/** Reads the header at the begin of a file, and checks who sealed it. Throws SealedFileFault. */
export function readHeader(begin: Buffer, recoveryKey: Uint8Array | undefined, name: string): Header {
  const text = begin.toString('latin1')
  const found = form.exec(text)
  const [whole] = found ?? []
  const mark = found?.groups?.['mark']
  if (whole === undefined || mark === undefined) throw new SealedFileFault(strangeHeader(text))
  demandSameMark(mark, recoveryKey, markOf)
  const part = (group: string) => Buffer.from(found?.groups?.[group] ?? '', 'base64')
  const fileKey = unwrapped(recoveryKey, part('share'), part('wrapped'))
  const isWhole = timingSafeEqual(macOf(fileKey, whole.slice(0, whole.lastIndexOf('---') + 3)), part('mac'))
  if (!isWhole || !timingSafeEqual(proofOf(recoveryKey, fileKey, name), part('proof'))) throw changed()
  return { bytes: Buffer.from(whole, 'latin1'), fileKey }
}

const changed = () => new SealedFileFault('does not open: its header was cut, changed or renamed')

function unwrapped(recoveryKey: Uint8Array, share: Buffer, wrapped: Buffer): Buffer {
  const own = privateKey(recoveryKey)
  try {
    const shared = diffieHellman({ privateKey: own, publicKey: publicKey(share) })
    const decipher = createDecipheriv(cipherName, wrapKey(shared, share, publicBytes(own)), noNonce, tag)
    decipher.setAuthTag(wrapped.subarray(fileKeyBytes))
    return Buffer.concat([decipher.update(wrapped.subarray(0, fileKeyBytes)), decipher.final()])
  } catch {
    throw changed()
  }
}

function strangeHeader(text: string): string {
  const [, version] = /^age-encryption\.org\/v(\d+)\n/.exec(text) ?? []
  if (version === undefined) return 'is no sealed file of gatehouse, or it is cut'
  if (version !== '1') return `has format ${version} of age, which a newer gatehouse wrote; restore it with that one`
  if (!/\n--- .+\n/.test(text) && text.length < largestHeaderBytes) return 'is cut'
  return 'was not sealed by a gatehouse, so anybody may have made it; open it with age -d, and restore the plain file if you trust it'
}
