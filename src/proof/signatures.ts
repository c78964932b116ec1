import { type Bytes, hexOf, utf8 } from './bytes.ts'
import {
  cosignatureMessage,
  cosignedMessage,
  type KeyParts,
  keyIdInput,
  readCheckpointText,
  readTimedSignature,
  type SignedNote,
  splitVkey,
} from './note.ts'
import { sha256 } from './tree.ts'
import type { Crypto } from './web-crypto.ts'

/** A verifier key whose id is right. */
export type VerifierKey = KeyParts & { readonly vkey: string }

/** A signature of a known key. `not checked`: this WebCrypto lacks the algorithm. `atMs`: the time that a cosignature states. */
export type CheckedSignature = {
  readonly key: VerifierKey
  readonly state: 'holds' | 'fails' | 'not checked'
  readonly atMs: number | undefined
}

/** Names of the signature types for people. */
export const algorithmNames = { 1: 'Ed25519', 4: 'Ed25519 with a time', 6: 'ML-DSA-44' } as const

/** Reads a verifier key; undefined when it is not one, or its id is another key's. */
export async function readVerifierKey(crypto: Crypto, vkey: string): Promise<VerifierKey | undefined> {
  const parts = splitVkey(vkey)
  if (!parts) return undefined
  const hash = await sha256(crypto, keyIdInput(parts.name, parts.type, parts.publicKey))
  return hexOf(hash.subarray(0, 4)) === parts.id ? { ...parts, vkey } : undefined
}

/** Reads verifier keys and leaves out what is none. */
export async function readVerifierKeys(crypto: Crypto, vkeys: readonly string[]): Promise<readonly VerifierKey[]> {
  const read = await Promise.all(vkeys.map((vkey) => readVerifierKey(crypto, vkey)))
  return read.flatMap((key) => key ?? [])
}

/** Verifies the signatures of a note that these keys made; signatures of other keys are left out. */
export async function checkSignatures(
  crypto: Crypto,
  note: SignedNote,
  keys: readonly VerifierKey[],
): Promise<readonly CheckedSignature[]> {
  const checked: CheckedSignature[] = []
  for (const { name, id, signature } of note.signatures) {
    const key = keys.find((one) => one.name === name && one.id === id)
    if (key) checked.push(await checkSignature(crypto, note.text, signature, key))
  }
  return checked
}

async function checkSignature(crypto: Crypto, text: string, bytes: Bytes, key: VerifierKey): Promise<CheckedSignature> {
  if (key.type === 1) return { key, state: await verify(crypto, key, bytes, utf8(text)), atMs: undefined }
  const timed = readTimedSignature(bytes)
  if (!timed) return { key, state: 'fails', atMs: undefined }
  const message =
    key.type === 4
      ? cosignatureMessage(text, timed.seconds)
      : cosignedMessage(key.name, timed.seconds, readCheckpointText(text))
  const state = message ? await verify(crypto, key, timed.signature, message) : 'fails'
  return { key, state, atMs: timed.seconds * 1000 }
}

async function verify(
  crypto: Crypto,
  { type, publicKey }: VerifierKey,
  signature: Bytes,
  message: Bytes,
): Promise<CheckedSignature['state']> {
  const [format, algorithm] = type === 6 ? ['raw-public', 'ML-DSA-44'] : ['raw', 'Ed25519']
  let imported: object
  try {
    imported = await crypto.importKey(format, publicKey.slice(), algorithm, false, ['verify'])
  } catch (error) {
    // Browsers before 2025 lack Ed25519. Those without ML-DSA do not know the format either. Every other error is the key's.
    const isLacking = error instanceof Error && error.name === 'NotSupportedError'
    return isLacking || (type === 6 && error instanceof TypeError) ? 'not checked' : 'fails'
  }
  return (await crypto.verify(algorithm, imported, signature.slice(), message)) ? 'holds' : 'fails'
}
