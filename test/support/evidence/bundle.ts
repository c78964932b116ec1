/**
 * Checks a proof bundle (`gatehouse-proof/1`) as a stranger would: from its description, the C2SP pages and RFC 6962, RFC 8785,
 * RFC 9162 and RFC 3161. Nothing of `src` is imported.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Checkpoint, parseCheckpoint, parseTlogProof, type TlogProof } from './checkpoint.ts'
import { leafHash, rootFromPath, sha256 } from './merkle.ts'
import { fromBase64, openNote, parseVkey, type Vkey } from './note.ts'

const steps = ['leaf', 'hash', 'path', 'root', 'signature', 'cosignatures', 'anchors', 'openings', 'media'] as const

/** `leaf` is also the bundle as a whole: an unreadable bundle fails there. */
export type Step = (typeof steps)[number]
type State = 'holds' | 'fails' | 'not claimed' | 'not checked'
export type StepVerdict = { readonly step: Step; readonly state: State; readonly because: string }

export type BundleVerdict = {
  /** True when no step fails. A step that was not checked is no failure: look for it. */
  readonly ok: boolean
  /** The first step that fails. */
  readonly failed?: Step
  readonly steps: readonly StepVerdict[]
}

export type Opening = { field: string; commitment: string; salt: string; text: string }
export type MediaItem = { sha256: string; kind: string; contentType: string; sizeBytes: number; name: string }
export type Anchor =
  | { kind: 'rfc3161'; size: number; rootHash: string; token: string }
  | { kind: 'webhook'; deliveryId: string; host: string; statusCode: number; at: string }

export type Bundle = {
  format: 'gatehouse-proof/1'
  leaf: string
  tlogProof: string
  keys: string[]
  openings: Opening[]
  media: MediaItem[]
  anchors: Anchor[]
  /** The hand-overs of a log whose keys were rotated, oldest first. */
  handOvers?: Omit<Bundle, 'handOvers'>[]
}

export type BundleOptions = {
  /** Verifier keys that the reader trusts, as text. Without them the keys inside the bundle are used. */
  readonly keys?: readonly string[]
  /** Bytes of media files by their name in the bundle. */
  readonly media?: Readonly<Record<string, Uint8Array>>
  /** PEM of the trusted time-stamp authority. */
  readonly stampAuthority?: string
}

/** More than any bundle needs: a leaf of 65,535 bytes, 63 hashes, 100 signatures, openings. */
const largestBundle = 4 * 1024 * 1024
/** A leaf has no room for more commitments and hashes. */
const longestList = 1000
/** A leaf is counted in two bytes of an entry bundle. */
const largestLeaf = 65_535

class Refusal extends Error {}

function refuse(because: string): never {
  throw new Refusal(because)
}

/**
 * Checks a bundle step by step, given as the text of its file or as the parsed value. No content of a bundle makes it throw.
 */
export function verifyBundle(file: string | Uint8Array | Bundle, options: BundleOptions = {}): BundleVerdict {
  const verdicts: StepVerdict[] = []
  const note = (step: Step, state: State, because: string) => void verdicts.push({ step, state, because })
  /** Does one step; later ones that need its result are not checked when it fails. */
  const attempt = <T>(step: Step, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      note(step, 'fails', (error as Error).message)
      return undefined
    }
  }
  const bundle = attempt('leaf', () => readBundle(file))
  const proof = bundle && attempt('path', () => parseTlogProof(bundle.tlogProof))
  const checkpoint = proof && attempt('root', () => readCheckpoint(proof))
  const leaf = bundle && attempt('leaf', () => readLeaf(bundle, checkpoint))
  if (leaf) {
    note(
      'leaf',
      'holds',
      `${leaf.bytes.length} bytes of ${leaf.value.kind}, number ${leaf.value.seq} of ${leaf.origin}`,
    )
    note('hash', 'holds', leafHash(leaf.bytes).toString('hex'))
  }
  if (leaf && proof && checkpoint) {
    const root = attempt('path', () => walk(leaf, proof, checkpoint))
    if (root) {
      note('path', 'holds', `${proof.path.length} hashes from leaf ${proof.index} of ${checkpoint.size}`)
      const isSame = root.equals(checkpoint.root)
      note(
        'root',
        isSame ? 'holds' : 'fails',
        isSame ? root.toString('hex') : `the path leads to ${root.toString('hex')}`,
      )
    }
  }
  if (bundle && proof && checkpoint) {
    const later: [Step, () => [State, string]][] = [
      ['signature', () => logSignatures(bundle, proof, checkpoint, options)],
      ['cosignatures', () => cosignatures(bundle, proof, checkpoint, options)],
      ['anchors', () => anchors(bundle, checkpoint, options)],
    ]
    for (const [step, work] of later) attempt(step, () => note(step, ...work()))
  }
  if (bundle && leaf) {
    attempt('openings', () => note('openings', ...openings(bundle, leaf)))
    attempt('media', () => note('media', ...media(bundle, leaf, options)))
  }
  return summary(verdicts)
}

function summary(found: readonly StepVerdict[]): BundleVerdict {
  const ordered = steps.map(
    (step): StepVerdict =>
      found.find((one) => one.step === step && one.state === 'fails') ??
      found.find((one) => one.step === step) ?? { step, state: 'not checked', because: 'a step before it fails' },
  )
  const failed = ordered.find(({ state }) => state === 'fails')?.step
  return { ok: failed === undefined, ...(failed === undefined ? {} : { failed }), steps: ordered }
}

function readBundle(file: string | Uint8Array | Bundle): Bundle {
  const isFile = typeof file === 'string' || file instanceof Uint8Array
  const bytes = isFile ? Buffer.from(file) : Buffer.from(JSON.stringify(file))
  if (bytes.length > largestBundle) refuse(`a bundle of ${bytes.length} bytes`)
  const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  if (!isRecord(value)) return refuse('the bundle is not an object')
  if (value['format'] !== 'gatehouse-proof/1') refuse('not a gatehouse-proof/1')
  strings(value, ['leaf', 'tlogProof'])
  const list = (key: string): unknown[] => {
    const items = value[key]
    return Array.isArray(items) ? items : refuse(`${key} is not a list`)
  }
  if (list('keys').some((key) => typeof key !== 'string')) refuse('a key is not a text')
  if (['keys', 'openings', 'media', 'anchors'].some((key) => list(key).length > longestList))
    refuse('a list is too long')
  for (const opening of list('openings')) strings(opening, ['field', 'commitment', 'salt', 'text'])
  for (const item of list('media')) strings(item, ['sha256', 'kind', 'contentType', 'name'])
  for (const anchor of list('anchors')) strings(anchor, ['kind'])
  return value as unknown as Bundle
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function strings(value: unknown, keys: readonly string[]): void {
  if (!isRecord(value)) throw new Refusal('an entry of a list is not an object')
  const missing = keys.find((key) => typeof value[key] !== 'string')
  if (missing !== undefined) refuse(`${missing} is not a text`)
}

type Leaf = { bytes: Buffer; value: Record<string, unknown>; origin: string; seq: number }

function readCheckpoint({ note }: TlogProof): Checkpoint {
  const checkpoint = parseCheckpoint(note)
  // The ML-DSA signature does not cover them, and the gateway writes none.
  if (checkpoint.extensions.length > 0) refuse('the checkpoint has more than three lines')
  return checkpoint
}

function readLeaf(bundle: Bundle, checkpoint: Checkpoint | undefined): Leaf {
  const bytes = fromBase64(bundle.leaf)
  if (bytes.length > largestLeaf) refuse(`a leaf of ${bytes.length} bytes`)
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  const value: unknown = JSON.parse(text)
  if (!isRecord(value)) return refuse('the leaf is not an object')
  if (canonical(value) !== text) refuse('the leaf is not canonical JSON')
  strings(value, ['kind', 'logId', 'siteId'])
  const seq = value['seq']
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 1) return refuse('the leaf has no number')
  const origin = `gatehouse/${value['siteId']}/${value['logId']}`
  if (checkpoint && checkpoint.origin !== origin)
    refuse(`the leaf is of ${origin}, the checkpoint of ${checkpoint.origin}`)
  return { bytes, value, origin, seq }
}

/** Returns the RFC 8785 text of a parsed value. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
  return `{${members.join(',')}}`
}

function walk(leaf: Leaf, { index, path }: TlogProof, { size }: Checkpoint): Buffer {
  if (index !== leaf.seq - 1) refuse(`the proof is of index ${index}, the leaf has number ${leaf.seq}`)
  const root = rootFromPath({ hash: leafHash(leaf.bytes), index, size, path })
  return root ?? refuse(`${path.length} hashes do not lead from index ${index} to a root of ${size} leaves`)
}

const isLogKey = (origin: string) => (key: Vkey) => key.name === origin && (key.type === 1 || key.type === 6)
const isWitnessKey = (origin: string) => (key: Vkey) => key.name !== origin && (key.type === 4 || key.type === 6)

function logSignatures(
  bundle: Bundle,
  { note }: TlogProof,
  { origin }: Checkpoint,
  options: BundleOptions,
): [State, string] {
  const inside = bundle.keys.map(parseVkey).filter(isLogKey(origin))
  const led = followHandOvers(
    origin,
    bundle.handOvers ?? [],
    options.keys?.map(parseVkey).filter(isLogKey(origin)) ?? [],
  )
  const trusted = options.keys && led
  const { signed } = openNote(note, trusted ?? inside)
  const names = signed.map(({ vkey }) => (vkey.type === 1 ? 'Ed25519' : 'ML-DSA-44')).join(' and ')
  return ['holds', trusted ? `${names}, by a key that you gave` : `${names}, by the key inside this file: compare it`]
}

/**
 * Returns the trusted keys of a log and the keys of its hand-overs. A hand-over is the proof of a `log-key` leaf with
 * `previousKeys` and `keys` (each an Ed25519 and an ML-DSA-44 vkey of the log). All four keys have signed its checkpoint.
 * Throws for an invalid one.
 */
export function followHandOvers(origin: string, handOvers: readonly unknown[], trusted: readonly Vkey[]): Vkey[] {
  const known = [...trusted]
  const isKnown = (key: Vkey) => known.some((one) => one.key.equals(key.key) && one.type === key.type)
  for (const one of handOvers) {
    const bundle = readBundle(one as Bundle)
    const proof = parseTlogProof(bundle.tlogProof)
    const checkpoint = readCheckpoint(proof)
    const leaf = readLeaf(bundle, checkpoint)
    if (leaf.value['kind'] !== 'log-key' || leaf.origin !== origin) refuse('a hand-over of something else')
    if (!walk(leaf, proof, checkpoint).equals(checkpoint.root)) refuse('a hand-over that is not in the signed tree')
    const before = handedKeys(leaf.value['previousKeys'], origin)
    const after = handedKeys(leaf.value['keys'], origin)
    // Each alone: a key that has not signed throws.
    for (const key of [...before, ...after]) openNote(proof.note, [key])
    if (before.some(isKnown)) known.push(...after.filter((key) => !isKnown(key)))
  }
  return known
}

function handedKeys(value: unknown, origin: string): Vkey[] {
  const keys = Array.isArray(value) ? value.map((one) => parseVkey(String(one))) : []
  const isPair = keys.length === 2 && keys[0]?.type === 1 && keys[1]?.type === 6
  return isPair && keys.every(({ name }) => name === origin) ? keys : refuse('a hand-over without two pairs of keys')
}

function cosignatures(
  bundle: Bundle,
  { note }: TlogProof,
  { origin }: Checkpoint,
  options: BundleOptions,
): [State, string] {
  const claimed = bundle.keys.map(parseVkey).filter(isWitnessKey(origin))
  const given = (options.keys ?? []).map(parseVkey).filter(isWitnessKey(origin))
  const keys = [...given, ...claimed]
  if (keys.length === 0) return ['not claimed', 'no witness']
  const { signed } = openNote(note, keys)
  const silent = claimed.find((key) => !signed.some(({ vkey }) => vkey.name === key.name && vkey.id === key.id))
  if (silent) refuse(`${silent.name} is named as a witness and did not sign`)
  return ['holds', signed.map(({ vkey, atSeconds }) => `${vkey.name} at ${atSeconds}`).join(', ')]
}

function anchors(bundle: Bundle, checkpoint: Checkpoint, { stampAuthority }: BundleOptions): [State, string] {
  const stamps = bundle.anchors.filter((anchor) => anchor.kind === 'rfc3161')
  const hosts = bundle.anchors.filter((anchor) => anchor.kind === 'webhook').map(({ host }) => host)
  if (stamps.length === 0)
    return hosts.length === 0 ? ['not claimed', 'none'] : ['not checked', `ask the receivers: ${hosts.join(', ')}`]
  for (const { size, rootHash, token } of stamps) {
    if (size !== checkpoint.size || rootHash !== checkpoint.root.toString('base64'))
      refuse(`an anchor of size ${size} does not fit the checkpoint of size ${checkpoint.size}`)
    // A token without the hash of the checkpoint stamps something else, whichever authority signed it.
    if (!fromBase64(token).includes(sha256(Buffer.from(checkpoint.text)))) refuse('a time stamp of something else')
    if (stampAuthority !== undefined) checkStamp(checkpoint.text, fromBase64(token), stampAuthority)
  }
  return stampAuthority === undefined
    ? ['not checked', 'give the certificate of the authority']
    : ['holds', `${stamps.length} time stamps`]
}

function checkStamp(text: string, token: Buffer, authority: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'stamp-'))
  try {
    const [data, stamp, ca] = [join(folder, 'data'), join(folder, 'token'), join(folder, 'ca.pem')]
    writeFileSync(data, text)
    writeFileSync(stamp, token)
    writeFileSync(ca, authority)
    const args = ['ts', '-verify', '-data', data, '-in', stamp, '-token_in', '-CAfile', ca]
    const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
    if (status !== 0) refuse(`openssl refuses a time stamp: ${stderr.trim().split('\n').at(-1)}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function openings(bundle: Bundle, { value }: Leaf): [State, string] {
  if (bundle.openings.length === 0) return ['not claimed', 'none']
  for (const { field, commitment, salt, text } of bundle.openings) {
    if (at(value, field) !== commitment) refuse(`the leaf has another commitment at ${field}`)
    if (!text.isWellFormed()) refuse(`the text of ${field} is not Unicode`)
    const opened = sha256(fromBase64(salt), Buffer.from(text)).toString('hex')
    if (opened !== commitment) refuse(`salt and text of ${field} do not open the commitment`)
  }
  return ['holds', bundle.openings.map(({ field }) => field).join(', ')]
}

/** Returns the value at a path of keys and list positions joined by dots, such as `operator` or `evidence.0.text`. */
function at(value: unknown, field: string): unknown {
  return field.split('.').reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return /^[0-9]+$/.test(key) ? inner[Number(key)] : undefined
    return isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined
  }, value)
}

function media(bundle: Bundle, { value }: Leaf, { media: files = {} }: BundleOptions): [State, string] {
  if (bundle.media.length === 0) return ['not claimed', 'none']
  const stated = new Set(textsOf(value))
  const unseen: string[] = []
  for (const { sha256: hash, name, sizeBytes } of bundle.media) {
    if (!/^[0-9a-f]{64}$/.test(hash) || !stated.has(hash)) refuse(`the leaf does not state the hash of ${name}`)
    if (!/^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u.test(name)) refuse(`not the name of a file: ${name}`)
    const bytes = Object.hasOwn(files, name) ? files[name] : undefined
    if (bytes === undefined) unseen.push(name)
    else if (sha256(bytes).toString('hex') !== hash) refuse(`${name} has other bytes`)
    else if (bytes.length !== sizeBytes) refuse(`${name} has ${bytes.length} bytes, not ${sizeBytes}`)
  }
  return unseen.length > 0
    ? ['not checked', `not here: ${unseen.join(', ')}`]
    : ['holds', bundle.media.map(({ name }) => name).join(', ')]
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}
