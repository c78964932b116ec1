import { type Bytes, fromBase64, hexOf, isUnicode, joined, utf8 } from './bytes.ts'

/**
 * Signature types of signed notes.
 * - 1: Ed25519 over the text (c2sp.org/signed-note).
 * - 4 and 6: cosignatures with a time, by Ed25519 and by ML-DSA-44 (c2sp.org/tlog-cosignature).
 */
export type SignatureType = 1 | 4 | 6

/** Parts of a verifier key. `id` is 8 hex digits. */
export type KeyParts = {
  readonly name: string
  readonly id: string
  readonly type: SignatureType
  readonly publicKey: Bytes
}

/** One signature line: `id` is the key's, `signature` the bytes behind it. */
export type SignatureLine = { readonly name: string; readonly id: string; readonly signature: Bytes }

/** A signed note. `text` ends with a newline. */
export type SignedNote = { readonly text: string; readonly signatures: readonly SignatureLine[] }

/** A tree head. `isExtended`: the text has more lines, which not every kind of signature covers. */
export type TreeHeadText = {
  readonly origin: string
  readonly size: number
  readonly root: Bytes
  readonly isExtended: boolean
}

/** Length of the public key of each type, in bytes. */
const keyBytes: Record<SignatureType, number> = { 1: 32, 4: 32, 6: 1312 }
/** Notes with more signatures, or larger ones, are refused unread. */
const maxSignatures = 64
export const largestNoteBytes = 256 * 1024

/** Every log of gatehouse begins its name with this. */
export const originPrefix = 'gatehouse/'

/** Returns the name of a log in its checkpoints. */
export function originOfLog({ siteId, logId }: { readonly siteId: string; readonly logId: string }): string {
  return `${originPrefix}${siteId}/${logId}`
}

/** Returns the bytes whose SHA-256 begins with the id of a key. */
export function keyIdInput(name: string, type: SignatureType, publicKey: Uint8Array): Bytes {
  return joined(utf8(`${name}\n`), Uint8Array.of(type), publicKey)
}

/** Reads a verifier key (vkey); undefined when it is not one of a known type. The caller compares its id with `keyIdInput`. */
export function splitVkey(text: string): KeyParts | undefined {
  const [, name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? []
  if (!name || !id || !encoded || !isKeyName(name)) return undefined
  const bytes = fromBase64(encoded)
  const type = bytes?.[0]
  if (!bytes || (type !== 1 && type !== 4 && type !== 6) || bytes.length !== keyBytes[type] + 1) return undefined
  return { name, id, type, publicKey: bytes.subarray(1) }
}

/** Returns whether a name may be in a signature line: not empty, no space of any alphabet, no plus sign. */
export function isKeyName(name: string): boolean {
  return /^[^\s+\p{C}]+$/u.test(name)
}

/** Reads a signed note; undefined when it is not one, or is longer than `maxCharacters`. */
export function readNote(note: string, maxCharacters = largestNoteBytes): SignedNote | undefined {
  if (note.length > maxCharacters || !isUnicode(note) || /[\0-\x09\x0b-\x1f]/.test(note)) return undefined
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) return undefined
  const lines = note
    .slice(end + 2)
    .split('\n')
    .slice(0, -1)
  if (lines.length === 0 || lines.length > maxSignatures) return undefined
  const signatures = lines.map(readSignatureLine)
  if (!signatures.every((one) => one !== undefined)) return undefined
  return { text: note.slice(0, end + 1), signatures }
}

/** Reads one signature line, without its newline; undefined when it is not one. */
export function readSignatureLine(line: string): SignatureLine | undefined {
  const [dash, name, encoded, ...more] = line.split(' ')
  const bytes = encoded === undefined ? undefined : fromBase64(encoded)
  if (dash !== '\u2014' || !name || !isKeyName(name) || more.length > 0 || !bytes || bytes.length < 5) return undefined
  return { name, id: hexOf(bytes.subarray(0, 4)), signature: bytes.subarray(4) }
}

/** Reads the text of a checkpoint (c2sp.org/tlog-checkpoint), with or without extension lines; undefined when it is not one. */
export function readCheckpointText(text: string): TreeHeadText | undefined {
  const [origin, size, root, ...more] = text.split('\n')
  if (!origin || !size || !/^(0|[1-9]\d{0,15})$/.test(size) || root === undefined || more.at(-1) !== '')
    return undefined
  if (more.slice(0, -1).some((line) => line === '')) return undefined
  const hash = fromBase64(root)
  if (hash?.length !== 32 || !Number.isSafeInteger(Number(size))) return undefined
  return { origin, size: Number(size), root: hash, isExtended: more.length > 1 }
}

/** The latest second that a cosignature may state: a Date holds no later one. */
const latestSecond = 8_640_000_000_000n

/** A cosignature apart: the time that it states, in seconds since 1970, and the signature over text and time. */
export type TimedSignature = { readonly seconds: number; readonly signature: Bytes }

/** Reads the bytes of a cosignature; undefined when they are too few or state an impossible time. */
export function readTimedSignature(bytes: Bytes): TimedSignature | undefined {
  if (bytes.length <= 8) return undefined
  const seconds = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
  return seconds > latestSecond ? undefined : { seconds: Number(seconds), signature: bytes.subarray(8) }
}

/** Returns the message that an Ed25519 cosignature signs. `seconds` since 1970. */
export function cosignatureMessage(text: string, seconds: number): Bytes {
  return utf8(`cosignature/v1\ntime ${seconds}\n${text}`)
}

/** Returns the message that an ML-DSA-44 cosignature of a whole checkpoint signs; undefined when a name is too long. */
export function cosignedMessage(
  cosigner: string,
  seconds: number,
  checkpoint: { readonly origin: string; readonly size: number; readonly root: Uint8Array } | undefined,
): Bytes | undefined {
  if (!checkpoint) return undefined
  const name = utf8(cosigner)
  const origin = utf8(checkpoint.origin)
  if ([name, origin].some(({ length }) => length < 1 || length > 255)) return undefined
  const signer = [Uint8Array.of(name.length), name, bigEndian(seconds)]
  const tree = [Uint8Array.of(origin.length), origin, bigEndian(0), bigEndian(checkpoint.size), checkpoint.root]
  return joined(utf8('subtree/v1\n\0'), ...signer, ...tree)
}

/** Returns a uint64 in big-endian order. */
export function bigEndian(value: number): Bytes {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value))
  return bytes
}
