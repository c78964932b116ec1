import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'
import {
  cosignatureMessage,
  cosignedMessage,
  fromBase64 as decoded,
  keyIdInput,
  readCheckpointText as readHead,
  readTimedSignature,
  type SignatureType,
  readNote as splitNote,
  readSignatureLine as splitSignatureLine,
  splitVkey,
} from '../../proof/index.ts'

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

/** Bytes before the key in its DER form (SPKI). */
const spki = {
  ed25519: Buffer.from('302a300506032b6570032100', 'hex'),
  mlDsa44: Buffer.from('30820532300b06096086480165030403110382052100', 'hex'),
}

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length)

/** Returns the key with its id: the first 4 bytes of SHA-256 over name, newline, type and public key. */
export function noteKey(name: string, type: SignatureType, publicKey: Buffer): NoteKey {
  const digest = hash('sha256', keyIdInput(name, type, publicKey), 'buffer')
  return { name, id: digest.subarray(0, 4).toString('hex'), type, publicKey }
}

/** Formats a verifier key (vkey): `name+id+base64(type, public key)`. */
export function vkeyOf({ name, id, type, publicKey }: NoteKey): string {
  return `${name}+${id}+${Buffer.concat([Buffer.of(type), publicKey]).toString('base64')}`
}

/** Reads a vkey; undefined when it is not one of a type that is known here, or its id is not that of its key. */
export function readVkey(text: string): NoteKey | undefined {
  const parts = splitVkey(text)
  const key = parts && noteKey(parts.name, parts.type, bufferOf(parts.publicKey))
  return key?.id === parts?.id ? key : undefined
}

/** Returns the bytes of standard base64 in its only form; undefined for anything else. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = decoded(text)
  return bytes && bufferOf(bytes)
}

/** Formats a signature line, with its newline. */
export function signatureLine({ name, id, signature }: NoteSignature): string {
  return `\u2014 ${name} ${Buffer.concat([Buffer.from(id, 'hex'), signature]).toString('base64')}\n`
}

/** Reads a signed note; undefined when it is not one, or is longer than `maxCharacters`. */
export function readNote(note: string, maxCharacters?: number): Note | undefined {
  const read = splitNote(note, maxCharacters)
  return read && { text: read.text, signatures: read.signatures.map(inBuffer) }
}

/** Reads one signature line, without its newline; undefined when it is not one. */
export function readSignatureLine(line: string): NoteSignature | undefined {
  const read = splitSignatureLine(line)
  return read && inBuffer(read)
}

const inBuffer = ({ name, id, signature }: { name: string; id: string; signature: Uint8Array }): NoteSignature => ({
  name,
  id,
  signature: bufferOf(signature),
})

/** Formats the text of a checkpoint (c2sp.org/tlog-checkpoint). */
export function checkpointText({ origin, size, root }: CheckpointText): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`
}

/** Reads the text of a checkpoint, with or without extension lines; undefined when it is not one. */
export function readCheckpointText(text: string): (CheckpointText & { readonly isExtended: boolean }) | undefined {
  const head = readHead(text)
  return head && { ...head, root: bufferOf(head.root) }
}

/** Verified signature of a known key. `atMs` is the time that a cosignature states; undefined for type 1. */
export type KnownSignature = { readonly key: NoteKey; readonly holds: boolean; readonly atMs: number | undefined }

/**
 * Verifies the signatures of a checkpoint that these keys made; signatures of other keys are left out. It answers at once, which
 * WebCrypto cannot: a witness compares and stores in one transaction.
 */
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
  const timed = readTimedSignature(new Uint8Array(signature))
  if (!timed) return { key, holds: false, atMs: undefined }
  const message =
    key.type === 4 ? cosignatureMessage(text, timed.seconds) : cosignedMessage(key.name, timed.seconds, readHead(text))
  const holds = message !== undefined && verify(null, message, publicKeyOf(key), timed.signature)
  return { key, holds, atMs: timed.seconds * 1000 }
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
