import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ExitError } from '../../errors/index.ts'
import { readFileIfThere, writeFileDurably, writeFileDurablyAside } from '../../platform/index.ts'
import { bigEndian, cosignatureMessage, cosignedMessage } from '../../proof/index.ts'
import { type CheckpointText, checkpointText, type NoteKey, noteKey, signatureLine, vkeyOf } from './note.ts'

/** The two key pairs that sign the checkpoints of this box, whatever its log is called. */
export type KeyPairs = { readonly ed25519: KeyObject; readonly mlDsa44: KeyObject }

/** Length of a public key at the end of its DER form, in bytes. */
const keyBytes = { ed25519: 32, 'ml-dsa-44': 1312 } as const

/** File names below the folder of keys. */
export const keyFiles = {
  ed25519: 'log.key',
  mlDsa44: 'log-mldsa.key',
  /** Both keys that follow, from the begin of a rotation to its end. */
  next: 'log-next.key',
  head: 'log.head',
  count: 'log.count',
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

/** Makes the key pairs that follow in a rotation. Nothing is stored. */
export function newLogKeys(): KeyPairs {
  return { ed25519: newKey('ed25519'), mlDsa44: newKey('ml-dsa-44') }
}

/**
 * Reads the key pairs of a rotation that has begun and not ended; undefined when there is none. Throws ExitError when the file
 * does not hold both.
 */
export function findNextKeys(dataDir: string): KeyPairs | undefined {
  const path = nextFile(dataDir)
  const found = readFileIfThere(path)
  if (!found) return undefined
  const [ed25519, mlDsa44, ...more] = (found.toString('utf8').match(pemBlock) ?? []).map(readKey)
  const isWhole =
    ed25519?.asymmetricKeyType === 'ed25519' && mlDsa44?.asymmetricKeyType === 'ml-dsa-44' && more.length === 0
  if (!isWhole) throw new ExitError(78, `${path} does not hold the two keys of a rotation; restore it from a backup`)
  return { ed25519, mlDsa44 }
}

/** Stores the key pairs that follow, both in one file: a crash leaves both or none. */
export async function storeNextKeys(dataDir: string, { ed25519, mlDsa44 }: KeyPairs): Promise<void> {
  await writeFileDurablyAside(nextFile(dataDir), Buffer.from(pem(ed25519) + pem(mlDsa44)))
}

/**
 * Puts key pairs in the place of the ones that signed before, of which nothing is kept. A crash in between leaves
 * `log-next.key`, and the same call again does the rest.
 */
export async function installKeys(dataDir: string, { ed25519, mlDsa44 }: KeyPairs): Promise<void> {
  const folder = keyFolder(dataDir)
  await writeFileDurablyAside(join(folder, keyFiles.ed25519), Buffer.from(pem(ed25519)))
  await writeFileDurablyAside(join(folder, keyFiles.mlDsa44), Buffer.from(pem(mlDsa44)))
  await dropNextKeys(dataDir)
}

/** Removes the key pairs of a rotation that is over, or that no leaf has named. */
export async function dropNextKeys(dataDir: string): Promise<void> {
  await rm(nextFile(dataDir), { force: true })
}

/** Removes what a crash has left of key files that were not whole: it may hold keys. Call it under the lock of the data folder. */
export function removeKeyParts(dataDir: string): void {
  const folder = keyFolder(dataDir)
  const names = existsSync(folder) ? readdirSync(folder) : []
  for (const name of names) if (/^log.*\.part-/.test(name)) rmSync(join(folder, name), { force: true })
}

const nextFile = (dataDir: string) => join(keyFolder(dataDir), keyFiles.next)
const pemBlock = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----/g
const pem = (key: KeyObject) => key.export({ format: 'pem', type: 'pkcs8' }) as string

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
  writeFileDurably(path, pem(key), 0o600)
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

/** Returns the first line of a signed statement. */
export function statementFirstLine(kind: string): string {
  return `gatehouse ${kind} statement v1`
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

  /**
   * Returns a signed note over a tree head. The second signature states the time, in whole seconds. It is computed beside the
   * thread: an ML-DSA-44 signature takes 0.6 ms.
   */
  async sign(head: Omit<CheckpointText, 'origin'>, nowMs: number): Promise<string> {
    const text = checkpointText({ origin: this.origin, ...head })
    return `${text}\n${await this.lines(text, nowMs)}`
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
  async lines(text: string, nowMs: number): Promise<string> {
    const [first, second] = this.keys
    const [signature, mlDsa] = await Promise.all([
      signAside(null, Buffer.from(text), this.#pairs.ed25519),
      mlDsaLine(second, this.#pairs.mlDsa44, text, nowMs),
    ])
    return signatureLine({ ...first, signature }) + mlDsa
  }
}

const signAside = promisify(sign)

async function mlDsaLine(key: NoteKey, pair: KeyObject, text: string, nowMs: number): Promise<string> {
  const seconds = Math.floor(nowMs / 1000)
  const [origin = '', size, root = ''] = text.split('\n')
  const checkpoint = { origin, size: Number(size), root: Buffer.from(root, 'base64') }
  const message = cosignedMessage(key.name, seconds, checkpoint)
  if (!message) throw new Error('the name of the log is too long to be signed')
  return signatureLine({ ...key, signature: Buffer.concat([bigEndian(seconds), await signAside(null, message, pair)]) })
}

/** Returns the line of an Ed25519 cosignature over the text of a checkpoint; the time it states is in whole seconds. */
export function cosign(key: NoteKey, pair: KeyObject, text: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000)
  const signature = sign(null, cosignatureMessage(text, seconds), pair)
  return signatureLine({ ...key, signature: Buffer.concat([bigEndian(seconds), signature]) })
}
