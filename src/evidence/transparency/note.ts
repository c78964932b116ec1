import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'

/**
 * Signature types of signed notes.
 * - 1: Ed25519 over the text (c2sp.org/signed-note).
 * - 4 and 6: cosignatures with a time, by Ed25519 and by ML-DSA-44 (c2sp.org/tlog-cosignature).
 */
export type SignatureType = 1 | 4 | 6

/** A verifier key: the facts about a signer that a reader needs. `id` is 8 hex digits. */
export type NoteKey = {
  readonly name: string
  readonly id: string
  readonly type: SignatureType
  readonly publicKey: Buffer
}

/** One signature line: `id` is the key's, `signature` what follows it. */
export type NoteSignature = { readonly name: string; readonly id: string; readonly signature: Buffer }

/** A signed note. `text` ends with a newline. */
export type Note = { readonly text: string; readonly signatures: readonly NoteSignature[] }

/** The three lines of a checkpoint. */
export type CheckpointText = { readonly origin: string; readonly size: number; readonly root: Buffer }

/** Length of the public key of each type, in bytes. */
const keyBytes: Record<SignatureType, number> = { 1: 32, 4: 32, 6: 1312 }
/** Bytes before the key in its DER form (SPKI). */
const spki = {
  ed25519: Buffer.from('302a300506032b6570032100', 'hex'),
  mlDsa44: Buffer.from('30820532300b06096086480165030403110382052100', 'hex'),
}
/** Notes with more signatures, or larger ones, are refused unread. */
const mostSignatures = 64
export const largestNoteBytes = 256 * 1024

/** Returns the key with its id: the first 4 bytes of SHA-256 over name, newline, type and public key. */
export function noteKey(name: string, type: SignatureType, publicKey: Buffer): NoteKey {
  const digest = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(type), publicKey]), 'buffer')
  return { name, id: digest.subarray(0, 4).toString('hex'), type, publicKey }
}

/** Formats a verifier key (vkey): `name+id+base64(type, public key)`. */
export function vkeyOf({ name, id, type, publicKey }: NoteKey): string {
  return `${name}+${id}+${Buffer.concat([Buffer.of(type), publicKey]).toString('base64')}`
}

/** Reads a vkey; undefined when it is not one of a type that is known here, or its id is not that of its key. */
export function readVkey(text: string): NoteKey | undefined {
  const [, name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? []
  if (!name || !id || !encoded || !isKeyName(name)) return undefined
  const bytes = fromBase64(encoded)
  const type = bytes?.[0]
  if (!bytes || (type !== 1 && type !== 4 && type !== 6) || bytes.length !== keyBytes[type] + 1) return undefined
  const key = noteKey(name, type, bytes.subarray(1))
  return key.id === id ? key : undefined
}

/** Returns whether a name may be in a signature line: not empty, no space of any alphabet, no plus sign. */
export function isKeyName(name: string): boolean {
  return /^[^\s+\p{C}]+$/u.test(name)
}

/** Returns the bytes of standard base64 with padding; undefined for anything else, so that one value has one form. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** Formats a signature line, with its newline. */
export function signatureLine({ name, id, signature }: NoteSignature): string {
  return `\u2014 ${name} ${Buffer.concat([Buffer.from(id, 'hex'), signature]).toString('base64')}\n`
}

/** Reads a signed note; undefined when it is not one, or is longer than `mostBytes` characters. */
export function readNote(note: string, mostBytes = largestNoteBytes): Note | undefined {
  if (note.length > mostBytes || !note.isWellFormed() || /[\0-\x09\x0b-\x1f]/.test(note)) return undefined
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) return undefined
  const lines = note
    .slice(end + 2)
    .split('\n')
    .slice(0, -1)
  if (lines.length === 0 || lines.length > mostSignatures) return undefined
  const signatures = lines.map(readSignatureLine)
  if (!signatures.every((one) => one !== undefined)) return undefined
  return { text: note.slice(0, end + 1), signatures }
}

/** Reads one signature line, without its newline; undefined when it is not one. */
export function readSignatureLine(line: string): NoteSignature | undefined {
  const [dash, name, encoded, ...more] = line.split(' ')
  const bytes = encoded === undefined ? undefined : fromBase64(encoded)
  if (dash !== '\u2014' || !name || !isKeyName(name) || more.length > 0 || !bytes || bytes.length < 5) return undefined
  return { name, id: bytes.subarray(0, 4).toString('hex'), signature: bytes.subarray(4) }
}

/** Formats the text of a checkpoint (c2sp.org/tlog-checkpoint). */
export function checkpointText({ origin, size, root }: CheckpointText): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`
}

/**
 * Reads the text of a checkpoint, with or without extension lines; undefined when it is not one. Not every kind of signature covers
 * extension lines, so `isExtended` reports them.
 */
export function readCheckpointText(text: string): (CheckpointText & { readonly isExtended: boolean }) | undefined {
  const [origin, size, root, ...more] = text.split('\n')
  if (!origin || !size || !/^(0|[1-9]\d{0,15})$/.test(size) || root === undefined || more.at(-1) !== '')
    return undefined
  if (more.slice(0, -1).some((line) => line === '')) return undefined
  const hash = fromBase64(root)
  if (hash?.length !== 32 || !Number.isSafeInteger(Number(size))) return undefined
  return { origin, size: Number(size), root: hash, isExtended: more.length > 1 }
}

/** Verified signature of a known key. `atMs` is the time that a cosignature states; undefined for type 1. */
export type KnownSignature = { readonly key: NoteKey; readonly holds: boolean; readonly atMs: number | undefined }

/** Verifies the signatures of a checkpoint that these keys made; signatures of other keys are left out. */
export function verifySignatures(note: Note, keys: readonly NoteKey[]): KnownSignature[] {
  return note.signatures.flatMap((signature) => {
    const key = keys.find(({ name, id }) => name === signature.name && id === signature.id)
    return key ? [verifySignature(note.text, signature.signature, key)] : []
  })
}

function verifySignature(text: string, signature: Buffer, key: NoteKey): KnownSignature {
  if (key.type === 1) {
    return { key, holds: verify(null, Buffer.from(text), publicKeyOf(key), signature), atMs: undefined }
  }
  const time = signature.length > 8 ? signature.readBigUInt64BE() : 0n
  if (signature.length <= 8 || time > BigInt(Number.MAX_SAFE_INTEGER) / 1000n)
    return { key, holds: false, atMs: undefined }
  const seconds = Number(time)
  const message =
    key.type === 4 ? cosignatureMessage(text, seconds) : cosignedMessage(key.name, seconds, readCheckpointText(text))
  const holds = message !== undefined && verify(null, message, publicKeyOf(key), signature.subarray(8))
  return { key, holds, atMs: seconds * 1000 }
}

/** Returns the message that an Ed25519 cosignature signs. `seconds` since 1970. */
export function cosignatureMessage(text: string, seconds: number): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`)
}

/** Returns the message that an ML-DSA-44 cosignature of a whole checkpoint signs; undefined when a name is too long. */
export function cosignedMessage(
  cosigner: string,
  seconds: number,
  checkpoint: CheckpointText | undefined,
): Buffer | undefined {
  if (!checkpoint) return undefined
  const names = [cosigner, checkpoint.origin].map((name) => Buffer.from(name))
  const [name, origin] = names as [Buffer, Buffer]
  if (names.some(({ length }) => length < 1 || length > 255)) return undefined
  return Buffer.concat([
    Buffer.from('subtree/v1\n\0'),
    ...[Buffer.of(name.length), name, bigEndian(seconds)],
    ...[Buffer.of(origin.length), origin, bigEndian(0), bigEndian(checkpoint.size), checkpoint.root],
  ])
}

/** Returns a uint64 in big-endian order. */
export function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

/** A key verifies many notes, and reading it takes as long as a signature. */
const readKeys = new WeakMap<NoteKey, KeyObject>()

function publicKeyOf(noteKey: NoteKey): KeyObject {
  const known = readKeys.get(noteKey)
  if (known) return known
  const prefix = noteKey.type === 6 ? spki.mlDsa44 : spki.ed25519
  const read = createPublicKey({ key: Buffer.concat([prefix, noteKey.publicKey]), format: 'der', type: 'spki' })
  readKeys.set(noteKey, read)
  return read
}
