import { areSame, type Bytes, fromBase64, hexOf, isObject, isUnicode, toBase64, utf8 } from './bytes.ts'
import { followHandOvers } from './hand-overs.ts'
import { originPrefix } from './note.ts'
import {
  BadStep,
  type Bundle,
  type BundleStep,
  type Facts,
  readBundle,
  readLeaf,
  readTlogProof,
  type TlogProof,
} from './reading.ts'
import {
  algorithmNames,
  type CheckedSignature,
  checkSignatures,
  readVerifierKeys,
  type VerifierKey,
} from './signatures.ts'
import { leafHash, rootOfPath, sha256 } from './tree.ts'
import type { Crypto } from './web-crypto.ts'

/** Result of one step. `words`: the fact that holds, or the reason why it fails. */
export type StepFinding = {
  readonly step: BundleStep
  readonly state: 'holds' | 'fails' | 'not claimed' | 'not checked'
  readonly words: string
}

export type BundleVerdict = {
  /** Whether no step fails. A step that was not checked is not a failure. */
  readonly ok: boolean
  readonly findings: readonly StepFinding[]
  /** True when the only key of the log came from the bundle itself: then anybody could have signed it. */
  readonly keyIsFromBundle: boolean
  /** The verifier key of the log whose signature holds. */
  readonly vkey: string | undefined
  /** Facts of the leaf, when it holds. */
  readonly leaf: Facts | undefined
}

/** Facts of a file that a check needs: SHA-256 (hex) and size. */
export type HashedFile = { readonly sha256: string; readonly sizeBytes: number }

export type BundleTrust = {
  /** Verifier keys that the reader knows from elsewhere. Without one of a log, the keys in the bundle are used. */
  readonly keys: readonly string[]
  /**
   * True: the keys inside a bundle are also used when the reader knows keys of other logs alone. The verdict names them. False
   * protects a reader who asks for one log from being led to another one.
   */
  readonly acceptsOtherLogs?: boolean
  /** Hash and size of the file behind an item of the bundle; undefined when it is not there. */
  readonly file: (item: MediaItem) => HashedFile | undefined | Promise<HashedFile | undefined>
}

/** A file as the bundle names it. `sha256` in hex. */
export type MediaItem = { readonly sha256: string; readonly sizeBytes: number; readonly name: string }

/** Checks a proof bundle step by step; the text of its file goes in. No content of a bundle makes it reject. */
export async function checkBundle(crypto: Crypto, text: string, trust: BundleTrust): Promise<BundleVerdict> {
  const findings: StepFinding[] = []
  const holds = (step: BundleStep, words: string) => void findings.push({ step, state: 'holds', words })
  let signed: LogSignature | undefined
  let leaf: Facts | undefined
  try {
    const bundle = readBundle(text)
    const keys = await readVerifierKeys(crypto, bundle.keys)
    if (keys.length < bundle.keys.length) throw new BadStep('signature', 'a key of the bundle is not a verifier key')
    const proof = readTlogProof(bundle.tlogProof)
    const { size, origin, root: signedRoot } = proof.checkpoint
    const { seq, facts } = readLeaf(bundle.leaf, proof)
    leaf = facts
    holds('leaf', `number ${seq} of ${origin}`)
    const hash = await leafHash(crypto, bundle.leaf)
    holds('hash', hexOf(hash))
    const root = await rootOfPath(crypto, { ...proof, size }, hash)
    if (!root) throw new BadStep('path', `it does not fit leaf ${seq} of ${size}`)
    holds('path', `${proof.path.length} hashes from leaf ${seq} of ${size}`)
    if (!areSame(root, signedRoot)) throw new BadStep('root', 'the path leads to another root than the signed one')
    holds('root', hexOf(root))
    const known = await readVerifierKeys(crypto, trust.keys)
    signed = await logSignature(crypto, {
      bundle,
      keys,
      proof,
      known,
      acceptsOtherLogs: trust.acceptsOtherLogs ?? false,
    })
    findings.push(signed.finding)
    findings.push(await cosignatures(crypto, proof, { inside: keys, known }))
    findings.push(await anchors(crypto, proof, bundle.anchors))
    findings.push(await openings(crypto, facts, bundle.openings))
    findings.push(await media(facts, bundle.media, trust.file))
  } catch (error) {
    if (!(error instanceof BadStep)) throw error
    findings.push({ step: error.step, state: 'fails', words: error.message })
  }
  return {
    ok: findings.every(({ state }) => state !== 'fails'),
    findings,
    keyIsFromBundle: signed?.isOwnKey ?? false,
    vkey: signed?.vkey,
    leaf,
  }
}

type LogSignature = { readonly finding: StepFinding; readonly isOwnKey: boolean; readonly vkey: string | undefined }

/** At least one signature by a known key of the log, and none of a known key that fails. */
async function logSignature(
  crypto: Crypto,
  needs: {
    readonly bundle: Bundle
    readonly keys: readonly VerifierKey[]
    readonly proof: TlogProof
    readonly known: readonly VerifierKey[]
    readonly acceptsOtherLogs: boolean
  },
): Promise<LogSignature> {
  const step = 'signature'
  const { note, checkpoint } = needs.proof
  const { origin } = checkpoint
  const ofLog = (keys: readonly VerifierKey[]) => keys.filter(({ name, type }) => name === origin && type !== 4)
  const begin = ofLog(needs.known)
  const followed = await followHandOvers(
    crypto,
    origin,
    needs.bundle.handOvers,
    begin.map(({ vkey }) => vkey),
  )
  // A reader with the key of one log must not be made to trust a key of another one. Keys of witnesses alone prove nothing about
  // logs.
  const isOwnKey = needs.acceptsOtherLogs
    ? begin.length === 0
    : !needs.known.some(({ name, type }) => type === 1 || name.startsWith(originPrefix))
  const keys = isOwnKey ? ofLog(needs.keys) : await readVerifierKeys(crypto, followed)
  const checked = await checkSignatures(crypto, note, keys)
  refuseFailing(checked, step)
  if (checked.length === 0) throw new BadStep(step, `no key of ${origin} that is known here signed the checkpoint`)
  const held = checked.filter(({ state }) => state === 'holds')
  const unchecked = checked.filter(({ state }) => state === 'not checked')
  const list = (some: readonly CheckedSignature[]) => some.map(({ key }) => algorithmNames[key.type]).join(', ')
  if (held.length === 0) {
    const words = `this browser cannot verify ${list(unchecked)}`
    return { finding: { step, state: 'not checked', words }, isOwnKey, vkey: undefined }
  }
  const rest = unchecked.length > 0 ? `. ${list(unchecked)}: not checked here` : ''
  const isFollowed = !isOwnKey && !held.some(({ key }) => begin.some(({ vkey }) => vkey === key.vkey))
  const rotated = isFollowed ? ', by keys to which the key that you know was rotated' : ''
  return {
    finding: { step, state: 'holds', words: `${list(held)}${rest}${rotated}` },
    isOwnKey,
    vkey: held[0]?.key.vkey,
  }
}

function refuseFailing(checked: readonly CheckedSignature[], step: BundleStep): void {
  const failing = checked.find(({ state }) => state === 'fails')
  if (!failing) return
  throw new BadStep(step, `the ${algorithmNames[failing.key.type]} signature of ${failing.key.name} does not verify`)
}

async function cosignatures(
  crypto: Crypto,
  { note, checkpoint }: TlogProof,
  { inside, known }: { readonly inside: readonly VerifierKey[]; readonly known: readonly VerifierKey[] },
): Promise<StepFinding> {
  const step = 'cosignatures'
  const witnesses = (keys: readonly VerifierKey[]) =>
    keys.filter(({ name, type }) => name !== checkpoint.origin && type !== 1)
  const checked = await checkSignatures(crypto, note, [...witnesses(known), ...witnesses(inside)])
  refuseFailing(checked, step)
  const silent = witnesses(inside).find((key) => !checked.some((one) => one.key.vkey === key.vkey))
  if (silent) throw new BadStep(step, `${silent.name} is named as a witness and did not sign`)
  if (checked.length === 0) return { step, state: 'not claimed', words: '' }
  const held = checked.filter(({ state }) => state === 'holds')
  const seen = new Map(held.map(({ key, atMs }) => [key.name, new Date(atMs ?? 0).toISOString()]))
  const unseen = checked.filter(({ state }) => state === 'not checked')
  const words = [
    ...[...seen].map(([name, at]) => `${name} at ${at}`),
    ...unseen.map(({ key }) => `${key.name}: not checked here`),
  ]
  return { step, state: seen.size > 0 ? 'holds' : 'not checked', words: words.join(', ') }
}

async function anchors(
  crypto: Crypto,
  { note, checkpoint }: TlogProof,
  list: readonly unknown[],
): Promise<StepFinding> {
  const step = 'anchors'
  if (list.length === 0) return { step, state: 'not claimed', words: '' }
  const receivers: string[] = []
  let hasStamp = false
  for (const anchor of list) {
    if (!isObject(anchor)) throw new BadStep(step, 'an anchor cannot be read')
    const { kind, size, rootHash, token } = anchor
    if (kind === 'webhook') {
      receivers.push(receiverWords(anchor))
      continue
    }
    if (kind !== 'rfc3161') throw new BadStep(step, 'an anchor is of an unknown kind')
    if (size !== checkpoint.size || rootHash !== toBase64(checkpoint.root)) {
      throw new BadStep(step, 'a time stamp is not of this checkpoint')
    }
    const bytes = typeof token === 'string' ? fromBase64(token) : undefined
    if (!bytes) throw new BadStep(step, 'a time stamp is not base64')
    if (!hexOf(bytes).includes(hexOf(await sha256(crypto, utf8(note.text))))) {
      throw new BadStep(step, 'a time stamp is of something else')
    }
    hasStamp = true
  }
  const stamp = hasStamp ? ['a time stamp, without a certificate to check it'] : []
  const ask = receivers.length > 0 ? [`not checkable here, ask the receiver: ${receivers.join('; ')}`] : []
  return { step, state: 'not checked', words: [...stamp, ...ask].join('; ') }
}

/** Names the delivery whose envelope has the checkpoint, so that its receiver can be asked. */
function receiverWords({ host, deliveryId, statusCode, at }: Facts): string {
  const shown = [host, deliveryId, statusCode, at].map((one) => String(one).replace(/[^\w.:+-]/g, '?'))
  return `${shown[0]} (delivery ${shown[1]}, answered ${shown[2]} at ${shown[3]})`
}

async function openings(crypto: Crypto, leaf: Facts, list: readonly unknown[]): Promise<StepFinding> {
  const step = 'openings'
  const opened: string[] = []
  for (const opening of list) {
    const { field, commitment, salt, text } = isObject(opening) ? opening : {}
    const bytes = typeof salt === 'string' ? fromBase64(salt) : undefined
    if (typeof field !== 'string' || typeof commitment !== 'string' || typeof text !== 'string' || !bytes) {
      throw new BadStep(step, 'an opening cannot be read')
    }
    if (valueAt(leaf, field) !== commitment) throw new BadStep(step, `the leaf has another commitment at ${field}`)
    if (!isUnicode(text) || hexOf(await sha256(crypto, bytes, utf8(text))) !== commitment) {
      throw new BadStep(step, `salt and text of ${field} do not open its commitment`)
    }
    opened.push(`${field} ${JSON.stringify(text)}`)
  }
  if (opened.length === 0) return { step, state: 'not claimed', words: '' }
  return { step, state: 'holds', words: opened.join(', ') }
}

/** Returns the value behind a path of keys and numbers, such as `steps.0.note`. Only what the leaf has itself. */
function valueAt(leaf: Facts, field: string): unknown {
  let at: unknown = leaf
  for (const key of field.split('.')) {
    const own: readonly (readonly [string, unknown])[] = typeof at === 'object' && at !== null ? Object.entries(at) : []
    at = own.find(([name]) => name === key)?.[1]
  }
  return at
}

async function media(leaf: Facts, list: readonly unknown[], file: BundleTrust['file']): Promise<StepFinding> {
  const step = 'media'
  const stated = new Set(stringsIn(leaf))
  const found: string[] = []
  const absent: string[] = []
  for (const item of list.map(readMediaItem)) {
    const { sha256: hash, sizeBytes, name } = item
    if (!stated.has(hash)) throw new BadStep(step, `the leaf does not state the hash of ${name}`)
    const there = await file(item)
    if (!there) {
      absent.push(name)
      continue
    }
    if (there.sha256 !== hash) throw new BadStep(step, `${name} has other bytes`)
    if (there.sizeBytes !== sizeBytes) throw new BadStep(step, `${name} has ${there.sizeBytes} bytes, not ${sizeBytes}`)
    found.push(name)
  }
  if (list.length === 0) return { step, state: 'not claimed', words: '' }
  if (absent.length > 0) return { step, state: 'not checked', words: `not there: ${absent.join(', ')}` }
  return { step, state: 'holds', words: found.join(', ') }
}

function readMediaItem(value: unknown): MediaItem {
  const { sha256: hash, sizeBytes, name } = isObject(value) ? value : {}
  const isName = typeof name === 'string' && /^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u.test(name)
  if (typeof hash !== 'string' || typeof sizeBytes !== 'number' || !isName) {
    throw new BadStep('media', 'a file of the bundle cannot be read')
  }
  return { sha256: hash, sizeBytes, name }
}

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* stringsIn(one)
}

/** Returns hash and size of bytes that are in memory. */
export async function hashedBytes(crypto: Crypto, bytes: Bytes): Promise<HashedFile> {
  return { sha256: hexOf(await sha256(crypto, bytes)), sizeBytes: bytes.length }
}
