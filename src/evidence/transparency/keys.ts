import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { join } from 'node:path'
import { ExitError } from '../../errors/index.ts'
import { readFileIfThere, writeFileDurably } from '../../platform/index.ts'
import {
  bigEndian,
  type CheckpointText,
  checkpointText,
  cosignatureMessage,
  cosignedMessage,
  type NoteKey,
  noteKey,
  signatureLine,
  vkeyOf,
} from './note.ts'

/** The two key pairs that sign the checkpoints of this box, whatever its log is called. */
export type KeyPairs = { readonly ed25519: KeyObject; readonly mlDsa44: KeyObject }

/** Length of a public key at the end of its DER form, in bytes. */
const keyBytes = { ed25519: 32, 'ml-dsa-44': 1312 } as const

/** File names below the folder of keys. */
export const keyFiles = {
  ed25519: 'log.key',
  mlDsa44: 'log-mldsa.key',
  head: 'log.head',
  witness: 'witness.key',
} as const

/** Returns the folder of the box's keys. */
export function keyFolder(dataDir: string): string {
  return join(dataDir, 'keys')
}

/**
 * Reads the keys that sign checkpoints, or makes them at the first start (PKCS #8 in PEM, mode 0600). Throws ExitError when
 * a file does not hold a key of its kind.
 */
export function loadLogKeys(dataDir: string): KeyPairs {
  return {
    ed25519: loadOrMakeKey(join(keyFolder(dataDir), keyFiles.ed25519), 'ed25519'),
    mlDsa44: loadOrMakeKey(join(keyFolder(dataDir), keyFiles.mlDsa44), 'ml-dsa-44'),
  }
}

/**
 * Reads the keys that sign checkpoints; undefined when one of them is not there. Throws ExitError when a file does not hold a
 * key of its kind.
 */
export function findLogKeys(dataDir: string): KeyPairs | undefined {
  const ed25519 = findKey(join(keyFolder(dataDir), keyFiles.ed25519), 'ed25519')
  const mlDsa44 = findKey(join(keyFolder(dataDir), keyFiles.mlDsa44), 'ml-dsa-44')
  return ed25519 && mlDsa44 && { ed25519, mlDsa44 }
}

/** Reads a private key, or makes and stores it. Throws ExitError when the file holds none of its kind. */
function loadOrMakeKey(path: string, kind: keyof typeof keyBytes): KeyObject {
  const found = findKey(path, kind)
  if (found) return found
  const made = newKey(kind)
  storeKey(path, made)
  return made
}

/** Reads a private key; undefined when there is no file. Throws ExitError when it holds none of its kind. */
function findKey(path: string, kind: keyof typeof keyBytes): KeyObject | undefined {
  const found = readFileIfThere(path)
  if (!found) return undefined
  const key = readKey(found.toString('utf8'))
  if (key?.asymmetricKeyType !== kind) {
    throw new ExitError(78, `${path} holds no private key of type ${kind}; restore it from a backup`)
  }
  return key
}

/** Stores a private key so that it survives a power cut. */
function storeKey(path: string, key: KeyObject): void {
  writeFileDurably(path, key.export({ format: 'pem', type: 'pkcs8' }), 0o600)
}

function newKey(kind: keyof typeof keyBytes): KeyObject {
  // Two calls, because the types know no union of kinds.
  return kind === 'ed25519' ? generateKeyPairSync('ed25519').privateKey : generateKeyPairSync('ml-dsa-44').privateKey
}

function readKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined
  }
}

/** Returns the raw public key of a private key. */
export function publicBytes(key: KeyObject): Buffer {
  const der = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return der.subarray(-keyBytes[key.asymmetricKeyType as keyof typeof keyBytes])
}

/** How the name of every log begins. */
export const originPrefix = 'gatehouse/'

/** Returns the first line of a signed statement. */
export function statementFirstLine(kind: string): string {
  return `gatehouse ${kind} statement v1`
}

/** Returns the name of a log, in checkpoints and as the name of its keys. */
export function originOfLog({ siteId, logId }: { readonly siteId: string; readonly logId: string }): string {
  return `${originPrefix}${siteId}/${logId}`
}

/** Reads the key of this box as a witness, or makes it. Throws as `loadLogKeys`. */
export function loadWitnessKey(dataDir: string): KeyObject {
  return loadOrMakeKey(join(keyFolder(dataDir), keyFiles.witness), 'ed25519')
}

/** Signs the checkpoints of one log with both keys. */
export class LogSigner {
  readonly origin: string
  /** Verifier keys: the Ed25519 one, and the ML-DSA-44 one. */
  readonly keys: readonly [NoteKey, NoteKey]
  readonly #pairs: KeyPairs

  constructor(origin: string, pairs: KeyPairs) {
    this.origin = origin
    this.#pairs = pairs
    this.keys = [noteKey(origin, 1, publicBytes(pairs.ed25519)), noteKey(origin, 6, publicBytes(pairs.mlDsa44))]
  }

  /** The verifier keys in the form that readers configure. */
  get vkeys(): readonly [string, string] {
    return [vkeyOf(this.keys[0]), vkeyOf(this.keys[1])]
  }

  /** Returns a signed note over a tree head. The second signature states the time, in whole seconds. */
  sign(head: Omit<CheckpointText, 'origin'>, nowMs: number): string {
    const text = checkpointText({ origin: this.origin, ...head })
    return `${text}\n${this.lines(text, nowMs)}`
  }

  /**
   * Returns a signed note over a statement that is not a tree head, such as `untouched`, with the Ed25519 key. Its first line
   * has blanks, which no origin has, so no reader can take it for a checkpoint.
   */
  state(kind: string, json: string): string {
    const text = `${statementFirstLine(kind)}\n${json}\n`
    const signature = sign(null, Buffer.from(text), this.#pairs.ed25519)
    return `${text}\n${signatureLine({ ...this.keys[0], signature })}`
  }

  /** Returns the two signature lines over the text of a checkpoint. */
  lines(text: string, nowMs: number): string {
    const [first, second] = this.keys
    const signature = sign(null, Buffer.from(text), this.#pairs.ed25519)
    return signatureLine({ ...first, signature }) + mlDsaLine(second, this.#pairs.mlDsa44, text, nowMs)
  }
}

function mlDsaLine(key: NoteKey, pair: KeyObject, text: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000)
  const [origin = '', size, root = ''] = text.split('\n')
  const checkpoint = { origin, size: Number(size), root: Buffer.from(root, 'base64') }
  const message = cosignedMessage(key.name, seconds, checkpoint)
  if (!message) throw new Error('the name of the log is too long to be signed')
  return signatureLine({ ...key, signature: Buffer.concat([bigEndian(seconds), sign(null, message, pair)]) })
}

/** Returns the line of an Ed25519 cosignature over the text of a checkpoint; the time it states is in whole seconds. */
export function cosign(key: NoteKey, pair: KeyObject, text: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000)
  const signature = sign(null, cosignatureMessage(text, seconds), pair)
  return signatureLine({ ...key, signature: Buffer.concat([bigEndian(seconds), signature]) })
}
