import { leafHash, rootOfPath, sha256 } from '../../log/index.ts'
import { type HandOver, readHandOver } from '../transparency/hand-over.ts'
import { originOfLog, originPrefix } from '../transparency/keys.ts'
import {
  type CheckpointText,
  fromBase64,
  type KnownSignature,
  type Note,
  type NoteKey,
  readCheckpointText,
  readNote,
  readVkey,
  verifySignatures,
  vkeyOf,
} from '../transparency/note.ts'
import { bundleFormat, tlogProofFirstLine } from './bundle.ts'

/** The steps of a verdict, in their order. `leaf` is also the bundle as a whole: an unreadable bundle fails there. */
export const bundleSteps = [
  'leaf',
  'hash',
  'path',
  'root',
  'signature',
  'cosignatures',
  'anchors',
  'openings',
  'media',
] as const
export type BundleStep = (typeof bundleSteps)[number]

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
  readonly leaf: Readonly<Record<string, unknown>> | undefined
}

export type BundleTrust = {
  /** Verifier keys that the reader knows from elsewhere. Without one of a log, the keys in the bundle are used. */
  readonly keys: readonly NoteKey[]
  /** Hash and size of a file by its name; undefined when it is not there. */
  readonly file: (name: string) => HashedFile | undefined
  /** Checks an RFC 3161 token over the text of a checkpoint; returns its time, or why it fails. */
  readonly stamp?: (token: Buffer, text: string) => { readonly at: string } | { readonly problem: string }
}

/** Facts of a file that a check needs: SHA-256 (hex) and size. */
export type HashedFile = { readonly sha256: string; readonly sizeBytes: number }

/** More than any bundle needs: a leaf of 65,535 bytes, 63 hashes, some dozens of signatures, openings. */
export const largestBundleBytes = 4 * 1024 * 1024
const largestLeafBytes = 65_535
const longestPath = 63
const longestList = 1000
/** A rotation a month for twenty years, as far as 4 MiB hold them. */
export const mostHandOvers = 240

/** Failure of a step, in words that follow "fails because". */
export class BadStep extends Error {
  readonly step: BundleStep

  constructor(step: BundleStep, words: string) {
    super(words)
    this.step = step
  }
}

/** Checks a proof bundle step by step; the text of its file goes in. Never throws for the contents of a bundle. */
export function verifyBundle(text: string, trust: BundleTrust): BundleVerdict {
  const findings: StepFinding[] = []
  const facts: { vkey?: string; isOwnKey?: boolean; leaf?: Record<string, unknown> } = {}
  const holds = (step: BundleStep, words: string) => void findings.push({ step, state: 'holds', words })
  try {
    const bundle = readBundle(text)
    const proof = readTlogProof(bundle.tlogProof)
    const leaf = readLeaf(bundle.leaf, proof)
    facts.leaf = leaf.facts
    holds('leaf', `number ${leaf.seq} of ${proof.checkpoint.origin}`)
    const hash = leafHash(bundle.leaf)
    holds('hash', hash.toString('hex'))
    const root = rootOfPath(proof.index, proof.checkpoint.size, hash, proof.path)
    if (!root) throw new BadStep('path', `it does not fit leaf ${leaf.seq} of ${proof.checkpoint.size}`)
    holds('path', `${proof.path.length} hashes from leaf ${leaf.seq} of ${proof.checkpoint.size}`)
    if (!root.equals(proof.checkpoint.root))
      throw new BadStep('root', 'the path leads to another root than the signed one')
    holds('root', root.toString('hex'))
    const { signature, isOwnKey, key } = checkSignatures(bundle, proof, trust.keys)
    facts.vkey = vkeyOf(key)
    facts.isOwnKey = isOwnKey
    holds('signature', signature)
    findings.push(cosignatures(bundle.keys, proof, trust.keys))
    findings.push(anchors(bundle.anchors, proof, trust.stamp))
    findings.push(openings(bundle.openings, leaf.facts))
    findings.push(media(bundle.media, leaf.facts, trust.file))
  } catch (error) {
    if (!(error instanceof BadStep)) throw error
    findings.push({ step: error.step, state: 'fails', words: error.message })
  }
  return {
    ok: findings.every(({ state }) => state !== 'fails'),
    findings,
    keyIsFromBundle: facts.isOwnKey ?? false,
    vkey: facts.vkey,
    leaf: facts.leaf,
  }
}

type Opening = { readonly field: string; readonly commitment: string; readonly salt: Buffer; readonly text: string }
type MediaFile = { readonly sha256: string; readonly sizeBytes: number; readonly name: string }
type Read = {
  readonly leaf: Buffer
  readonly tlogProof: string
  readonly keys: readonly NoteKey[]
  readonly openings: readonly Opening[]
  readonly media: readonly MediaFile[]
  readonly anchors: readonly Record<string, unknown>[]
  readonly handOvers: readonly unknown[]
}

function readBundle(text: string): Read {
  if (text.length > largestBundleBytes) throw new BadStep('leaf', 'the file is larger than a bundle can be')
  const bundle = parseObject(text)
  if (!bundle) throw new BadStep('leaf', 'the file is not a JSON object')
  if (bundle['format'] !== bundleFormat) throw new BadStep('leaf', `the file is not a ${bundleFormat}`)
  const { leaf, tlogProof, keys } = bundle
  const bytes = typeof leaf === 'string' ? fromBase64(leaf) : undefined
  if (!bytes || bytes.length === 0 || bytes.length > largestLeafBytes) {
    throw new BadStep('leaf', 'it is not the base64 of a leaf')
  }
  if (typeof tlogProof !== 'string') throw new BadStep('path', 'the bundle has no proof')
  return {
    leaf: bytes,
    tlogProof,
    keys: listOf(keys, 'key').map((key) => {
      if (typeof key !== 'string') throw new BadStep('leaf', 'a key of the bundle is not a text')
      const read = readVkey(key)
      if (!read) throw new BadStep('signature', 'a key of the bundle is not a verifier key')
      return read
    }),
    openings: listOf(bundle['openings'], 'opening').map(readOpening),
    media: listOf(bundle['media'], 'file').map(readMedia),
    anchors: listOf(bundle['anchors'], 'anchor').map((anchor) => {
      if (!isObject(anchor)) throw new BadStep('anchors', 'an anchor cannot be read')
      return anchor
    }),
    handOvers: handOversOf(bundle['handOvers']),
  }
}

function handOversOf(value: unknown): readonly unknown[] {
  const list = value === undefined ? [] : listOf(value, 'hand-over')
  if (list.length > mostHandOvers) throw new BadStep('leaf', `the bundle has more than ${mostHandOvers} hand-overs`)
  return list
}

function listOf(value: unknown, noun: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadStep('leaf', `the bundle has no list of ${noun}s`)
  if (value.length > longestList) throw new BadStep('leaf', `the bundle has more than ${longestList} ${noun}s`)
  return value
}

function readOpening(value: unknown): Opening {
  const { field, commitment, salt, text } = isObject(value) ? value : {}
  const bytes = typeof salt === 'string' ? fromBase64(salt) : undefined
  if (typeof field !== 'string' || typeof commitment !== 'string' || typeof text !== 'string' || !bytes) {
    throw new BadStep('openings', 'an opening cannot be read')
  }
  return { field, commitment, salt: bytes, text }
}

function readMedia(value: unknown): MediaFile {
  const { sha256: hash, sizeBytes, name } = isObject(value) ? value : {}
  const isName = typeof name === 'string' && /^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u.test(name)
  if (typeof hash !== 'string' || typeof sizeBytes !== 'number' || !isName) {
    throw new BadStep('media', 'a file of the bundle cannot be read')
  }
  return { sha256: hash, sizeBytes, name }
}

type Proof = {
  readonly index: number
  readonly path: readonly Buffer[]
  readonly note: Note
  readonly checkpoint: CheckpointText
}

function readTlogProof(text: string): Proof {
  const end = text.indexOf('\n\n')
  const [first, ...lines] = text.slice(0, Math.max(end, 0)).split('\n')
  if (first !== tlogProofFirstLine) throw new BadStep('path', `the proof is not a ${tlogProofFirstLine}`)
  if (lines[0]?.startsWith('extra ')) lines.shift()
  const [, index] = /^index (0|[1-9]\d{0,14})$/.exec(lines.shift() ?? '') ?? []
  if (index === undefined) throw new BadStep('path', 'the proof has no index')
  if (lines.length > longestPath) throw new BadStep('path', `it has more than ${longestPath} hashes`)
  const path = lines.map((line) => {
    const hash = fromBase64(line)
    if (hash?.length !== 32) throw new BadStep('path', 'a line of it is not a hash')
    return hash
  })
  const note = readNote(text.slice(end + 2))
  const checkpoint = note && readCheckpointText(note.text)
  if (!note || !checkpoint) throw new BadStep('root', 'the checkpoint is not a signed note of a tree head')
  if (checkpoint.isExtended) throw new BadStep('root', 'the checkpoint has lines that a gatehouse log does not write')
  return { index: Number(index), path, note, checkpoint }
}

function readLeaf(bytes: Buffer, { index, checkpoint }: Proof): { seq: number; facts: Record<string, unknown> } {
  const facts = parseObject(new TextDecoder().decode(bytes))
  if (!facts) throw new BadStep('leaf', 'it is not JSON')
  const { siteId, logId, seq } = facts
  if (typeof siteId !== 'string' || typeof logId !== 'string') throw new BadStep('leaf', 'it names no log')
  if (originOfLog({ siteId, logId }) !== checkpoint.origin) {
    throw new BadStep('leaf', 'it is of another log than the checkpoint')
  }
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 1) throw new BadStep('leaf', 'it has no number')
  if (seq - 1 !== index) throw new BadStep('path', `the proof is for index ${index}, the leaf has number ${seq}`)
  return { seq, facts }
}

/** At least one signature by a known key of the log, and none of a known key that fails. */
function checkSignatures(
  { keys: inside, handOvers }: Pick<Read, 'keys' | 'handOvers'>,
  { note, checkpoint }: Proof,
  trusted: readonly NoteKey[],
) {
  const ofLog = (keys: readonly NoteKey[]) => keys.filter(({ name, type }) => name === checkpoint.origin && type !== 4)
  const begin = ofLog(trusted)
  const given = followHandOvers(checkpoint.origin, handOvers, begin)
  // A reader with the key of one log must not be made to trust a key of another one. Keys of witnesses alone prove nothing about
  // logs.
  const isOwnKey = !trusted.some(({ name, type }) => type === 1 || name.startsWith(originPrefix))
  const known = verifySignatures(note, isOwnKey ? ofLog(inside) : given)
  refuseFailing(known, 'signature')
  const [first] = known
  if (!first) throw new BadStep('signature', `no key of ${checkpoint.origin} that is known here signed the checkpoint`)
  const isFollowed = !isOwnKey && !known.some(({ key }) => begin.includes(key))
  const signature = known.map(({ key }) => algorithms[key.type]).join(', ')
  return {
    signature: isFollowed ? `${signature}, by keys to which the key that you know was rotated` : signature,
    ...{ isOwnKey, key: first.key },
  }
}

/**
 * Checks each hand-over of a log, and returns the keys that are trusted with those to which they were rotated. A hand-over counts
 * when all four keys that its leaf names have signed the checkpoint that covers the leaf. Earlier keys are never trusted because of
 * a later one: they may be stolen by now. Throws a BadStep for one that does not hold.
 */
export function followHandOvers(
  origin: string,
  handOvers: readonly unknown[],
  trusted: readonly NoteKey[],
): readonly NoteKey[] {
  const known = new Map(trusted.map((key) => [vkeyOf(key), key]))
  for (const { previousKeys, keys } of handOvers.map((one) => readHandOverProof(origin, one))) {
    if (!previousKeys.some((key) => known.has(vkeyOf(key)))) continue
    for (const key of keys) if (!known.has(vkeyOf(key))) known.set(vkeyOf(key), key)
  }
  return [...known.values()]
}

function readHandOverProof(origin: string, handOver: unknown): HandOver {
  const fails = (words: string) => new BadStep('signature', `a hand-over of the keys does not hold: ${words}`)
  const { leaf: encoded, tlogProof } = isObject(handOver) ? handOver : {}
  const bytes = typeof encoded === 'string' ? fromBase64(encoded) : undefined
  if (!bytes || bytes.length > largestLeafBytes || typeof tlogProof !== 'string') throw fails('it cannot be read')
  try {
    const proof = readTlogProof(tlogProof)
    const { facts } = readLeaf(bytes, proof)
    const { origin: signed, size, root } = proof.checkpoint
    const named = readHandOver(facts, origin)
    if (facts['kind'] !== 'log-key' || signed !== origin || !named) throw fails('its leaf names no keys of this log')
    if (!rootOfPath(proof.index, size, leafHash(bytes), proof.path)?.equals(root)) {
      throw fails('its path does not lead to the signed root')
    }
    for (const key of [...named.previousKeys, ...named.keys]) {
      if (!verifySignatures(proof.note, [key]).some(({ holds }) => holds)) {
        throw fails(`the ${algorithms[key.type]} key ${key.id} that it names did not sign its checkpoint`)
      }
    }
    return named
  } catch (error) {
    if (!(error instanceof BadStep) || error.step === 'signature') throw error
    throw fails(error.message)
  }
}

const algorithms = { 1: 'Ed25519', 4: 'Ed25519 with a time', 6: 'ML-DSA-44' } as const

function refuseFailing(known: readonly KnownSignature[], step: BundleStep): void {
  const failing = known.find(({ holds }) => !holds)
  if (failing)
    throw new BadStep(step, `the ${algorithms[failing.key.type]} signature of ${failing.key.name} does not verify`)
}

function cosignatures(
  inside: readonly NoteKey[],
  { note, checkpoint }: Proof,
  trusted: readonly NoteKey[],
): StepFinding {
  const step = 'cosignatures'
  const witnesses = (keys: readonly NoteKey[]) =>
    keys.filter(({ name, type }) => name !== checkpoint.origin && type !== 1)
  const known = verifySignatures(note, [...witnesses(trusted), ...witnesses(inside)])
  refuseFailing(known, step)
  const silent = witnesses(inside).find(
    (key) => !known.some(({ key: { id, name } }) => id === key.id && name === key.name),
  )
  if (silent) throw new BadStep(step, `${silent.name} is named as a witness and did not sign`)
  if (known.length === 0) return { step, state: 'not claimed', words: '' }
  const seen = new Map(known.map(({ key, atMs }) => [key.name, new Date(atMs ?? 0).toISOString()]))
  return { step, state: 'holds', words: [...seen].map(([name, at]) => `${name} at ${at}`).join(', ') }
}

function anchors(
  list: readonly Record<string, unknown>[],
  { note, checkpoint }: Proof,
  stamp: BundleTrust['stamp'],
): StepFinding {
  const step = 'anchors'
  const hosts: string[] = []
  const stamps: string[] = []
  let isUnchecked = false
  for (const anchor of list) {
    if (anchor['kind'] === 'webhook') {
      hosts.push(receiverWords(anchor))
      continue
    }
    const { kind, size, rootHash, token } = anchor
    if (kind !== 'rfc3161') throw new BadStep(step, 'an anchor is of an unknown kind')
    if (size !== checkpoint.size || rootHash !== checkpoint.root.toString('base64')) {
      throw new BadStep(step, 'a time stamp is not of this checkpoint')
    }
    const bytes = typeof token === 'string' ? fromBase64(token) : undefined
    if (!bytes) throw new BadStep(step, 'a time stamp is not base64')
    if (!bytes.includes(sha256(note.text))) throw new BadStep(step, 'a time stamp is of something else')
    const found = stamp?.(bytes, note.text)
    if (found && 'problem' in found) throw new BadStep(step, found.problem)
    if (found) stamps.push(found.at)
    else isUnchecked = true
  }
  if (list.length === 0) return { step, state: 'not claimed', words: '' }
  const ask = hosts.length > 0 ? [`not checkable here, ask the receiver: ${hosts.join('; ')}`] : []
  if (stamps.length > 0) return { step, state: 'holds', words: [`stamped at ${stamps.join(', ')}`, ...ask].join('; ') }
  const unchecked = isUnchecked ? ['a time stamp, without a certificate to check it'] : []
  return { step, state: 'not checked', words: [...unchecked, ...ask].join('; ') }
}

/** Names the delivery whose envelope has the checkpoint, so that its receiver can be asked. */
function receiverWords({ host, deliveryId, statusCode, at }: Readonly<Record<string, unknown>>): string {
  const shown = [host, deliveryId, statusCode, at].map((one) => String(one).replace(/[^\w.:+-]/g, '?'))
  return `${shown[0]} (delivery ${shown[1]}, answered ${shown[2]} at ${shown[3]})`
}

function openings(list: readonly Opening[], leaf: Readonly<Record<string, unknown>>): StepFinding {
  const step = 'openings'
  for (const { field, commitment, salt, text } of list) {
    if (valueAt(leaf, field) !== commitment) throw new BadStep(step, `the leaf has another commitment at ${field}`)
    const opened = sha256(Buffer.concat([salt, Buffer.from(text, 'utf8')])).toString('hex')
    if (opened !== commitment) throw new BadStep(step, `salt and text of ${field} do not open its commitment`)
  }
  if (list.length === 0) return { step, state: 'not claimed', words: '' }
  return { step, state: 'holds', words: list.map(({ field, text }) => `${field} ${JSON.stringify(text)}`).join(', ') }
}

/** Returns the value behind a path of keys and numbers, such as `steps.0.note`. Only what the leaf has itself. */
function valueAt(leaf: Readonly<Record<string, unknown>>, field: string): unknown {
  return field.split('.').reduce<unknown>(
    // `hasOwn` has just shown that the key is there.
    (at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as never)[key] : undefined),
    leaf,
  )
}

function media(
  list: readonly MediaFile[],
  leaf: Readonly<Record<string, unknown>>,
  file: BundleTrust['file'],
): StepFinding {
  const step = 'media'
  const stated = new Set(stringsIn(leaf))
  const found: string[] = []
  const absent: string[] = []
  for (const { sha256: hash, sizeBytes, name } of list) {
    if (!stated.has(hash)) throw new BadStep(step, `the leaf does not state the hash of ${name}`)
    const there = file(name)
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

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* stringsIn(one)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** JSON nested deeper than a stack is refused by the parser itself; that counts as unreadable. */
function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
