/**
 * Signed notes and cosignatures, from C2SP signed-note and tlog-cosignature alone: no import from `src`. A note that breaks a
 * rule throws with a sentence about it.
 */
import { createPublicKey, verify } from 'node:crypto'
import { sha256 } from './merkle.ts'

/** 0x01: Ed25519 over the text. 0x04: Ed25519 cosignature with a time. 0x06: ML-DSA-44 cosignature with a time. */
export type SignatureType = 1 | 4 | 6

const formats = {
  1: { keyBytes: 32, signatureBytes: 64, der: '302a300506032b6570032100' },
  4: { keyBytes: 32, signatureBytes: 8 + 64, der: '302a300506032b6570032100' },
  6: { keyBytes: 1312, signatureBytes: 8 + 2420, der: '30820532300b06096086480165030403110382052100' },
} as const

export type Vkey = {
  readonly name: string
  /** 8 hex digits. */
  readonly id: string
  /** Types other than 1, 4 and 6 are read and then never match a signature. */
  readonly type: number
  readonly key: Buffer
}

export type Signature = { readonly name: string; readonly id: string; readonly bytes: Buffer }

export type Note = { readonly text: string; readonly signatures: readonly Signature[] }

/** A signature that verified, with the time it states in seconds since 1970 (types 4 and 6). */
export type Signed = { readonly vkey: Vkey; readonly atSeconds?: bigint }

/** The most signature lines that are read; at least 16 must be. */
const mostSignatures = 100

/** Returns the bytes of standard base64 with padding; throws for anything else, also for unused bits that are set. */
export function fromBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw new Error(`not standard base64: ${text.slice(0, 40)}`)
  return bytes
}

const isName = (name: string): boolean => name !== '' && !/[\p{White_Space}+]/u.test(name)

/** Returns the first four bytes of SHA-256(name ‖ 0x0A ‖ type ‖ key) as hex. */
export function keyId(name: string, type: number, key: Uint8Array): string {
  return sha256(Buffer.from(`${name}\n`), Buffer.of(type), key)
    .subarray(0, 4)
    .toString('hex')
}

export function formatVkey({ name, type, key }: Pick<Vkey, 'name' | 'type' | 'key'>): string {
  return `${name}+${keyId(name, type, key)}+${Buffer.concat([Buffer.of(type), key]).toString('base64')}`
}

/** Reads `<name>+<key id>+<base64 of type and key>`; throws unless the id is the one of this name and key. */
export function parseVkey(text: string): Vkey {
  const [, name, id, material] = text.match(/^([^+]*)\+([0-9a-f]{8})\+(.*)$/s) ?? []
  if (name === undefined || id === undefined || material === undefined || !isName(name))
    throw new Error(`not a verifier key: ${text.slice(0, 80)}`)
  const [type, ...key] = fromBase64(material)
  if (type === undefined) throw new Error(`a verifier key without a key: ${text.slice(0, 80)}`)
  const vkey = { name, id, type, key: Buffer.from(key) }
  if (isKnownType(type) && key.length !== formats[type].keyBytes)
    throw new Error(`a key of type ${type} has ${formats[type].keyBytes} bytes, not ${key.length}`)
  if (keyId(name, type, vkey.key) !== id) throw new Error(`the key id ${id} is not that of ${name} and its key`)
  return vkey
}

const isKnownType = (type: number): type is SignatureType => type === 1 || type === 4 || type === 6

/** Splits a note into text and signatures without checking them. */
export function parseNote(note: string | Uint8Array): Note {
  const whole =
    typeof note === 'string' ? note : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(note)
  if (!whole.isWellFormed()) throw new Error('a note is UTF-8')
  // biome-ignore lint/complexity/useRegexLiterals: the control characters are easier to read as escapes.
  if (new RegExp('[\\u0000-\\u0009\\u000b-\\u001f]').test(whole)) throw new Error('a control character in a note')
  const end = whole.lastIndexOf('\n\n')
  if (end < 0) throw new Error('a note without an empty line before its signatures')
  const lines = whole.slice(end + 2).split('\n')
  if (lines.pop() !== '') throw new Error('a note that does not end with a newline')
  if (lines.length === 0) throw new Error('a note without signatures')
  if (lines.length > mostSignatures) throw new Error(`a note with more than ${mostSignatures} signatures`)
  return { text: whole.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

function parseSignature(line: string): Signature {
  const [dash, name, signature, ...more] = line.split(' ')
  if (dash !== '—' || name === undefined || !isName(name) || signature === undefined || more.length > 0)
    throw new Error(`not a signature line: ${line.slice(0, 80)}`)
  const all = fromBase64(signature)
  if (all.length < 5) throw new Error(`a signature line without a signature: ${line.slice(0, 80)}`)
  return { name, id: all.subarray(0, 4).toString('hex'), bytes: all.subarray(4) }
}

/**
 * Returns the note's text and those of the known keys that signed it. Throws when the signature of a known key does not
 * verify, and when no known key signed.
 */
export function openNote(note: string | Uint8Array, keys: readonly Vkey[]): { text: string; signed: Signed[] } {
  const { text, signatures } = parseNote(note)
  const signed: Signed[] = []
  for (const { name, id, bytes } of signatures) {
    const vkey = keys.find((key) => key.name === name && key.id === id && isKnownType(key.type))
    if (!vkey || signed.some((one) => one.vkey === vkey)) continue
    const checked = checkSignature(vkey, text, bytes)
    if (!checked) throw new Error(`the signature of ${name} (key ${id}) does not verify`)
    signed.push(checked)
  }
  if (signed.length === 0) throw new Error('no signature by a known key')
  return { text, signed }
}

function checkSignature(vkey: Vkey, text: string, bytes: Buffer): Signed | undefined {
  if (!isKnownType(vkey.type)) return undefined
  const format = formats[vkey.type]
  if (bytes.length !== format.signatureBytes) return undefined
  const key = createPublicKey({
    key: Buffer.concat([Buffer.from(format.der, 'hex'), vkey.key]),
    format: 'der',
    type: 'spki',
  })
  if (vkey.type === 1) return verify(null, Buffer.from(text), key, bytes) ? { vkey } : undefined
  const atSeconds = bytes.readBigUInt64BE()
  if (atSeconds >= 2n ** 63n) return undefined
  const message = vkey.type === 4 ? timedMessage(text, atSeconds) : subtreeMessage(vkey.name, text, atSeconds)
  return verify(null, message, key, bytes.subarray(8)) ? { vkey, atSeconds } : undefined
}

/** Returns the message that an Ed25519 cosignature signs. */
export function timedMessage(text: string, atSeconds: bigint): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${atSeconds}\n${text}`)
}

/** Returns the message that an ML-DSA-44 cosignature signs: `cosigned_message` for the whole tree of a checkpoint. */
export function subtreeMessage(cosigner: string, text: string, atSeconds: bigint): Buffer {
  const [origin = '', size = '', root = ''] = text.split('\n')
  return Buffer.concat([
    Buffer.from('subtree/v1\n\0'),
    shortText(cosigner),
    uint64(atSeconds),
    shortText(origin),
    uint64(0n),
    uint64(BigInt(size)),
    fromBase64(root),
  ])
}

function shortText(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length < 1 || bytes.length > 255) throw new Error(`a name of ${bytes.length} bytes cannot be cosigned`)
  return Buffer.concat([Buffer.of(bytes.length), bytes])
}

export function uint64(n: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(n)
  return bytes
}
