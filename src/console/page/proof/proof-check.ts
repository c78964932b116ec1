/**
 * Checks a proof bundle in the browser: with WebCrypto alone, without a word of the gateway but the bundle. Pure: the
 * cryptography, the keys that the reader knows and the files come in.
 */

export type ProofStep =
  | 'leaf'
  | 'hash'
  | 'path'
  | 'root'
  | 'signature'
  | 'cosignatures'
  | 'anchors'
  | 'openings'
  | 'media'

/** Result of one step. `words`: the proven fact, or why it fails. */
export type ProofLine = {
  readonly step: ProofStep
  readonly state: 'holds' | 'fails' | 'not claimed' | 'not checked'
  readonly words: string
}

/** The part of WebCrypto that is used. */
export type Crypto = {
  digest(algorithm: 'SHA-256', data: Bytes): Promise<ArrayBuffer>
  importKey(format: 'raw', key: Bytes, algorithm: 'Ed25519', extractable: false, uses: ['verify']): Promise<object>
  verify(algorithm: 'Ed25519', key: object, signature: Bytes, data: Bytes): Promise<boolean>
}

export type ProofTrust = {
  /** Verifier keys of the log that the reader knows from elsewhere. Without one of the log, the keys in the bundle are used. */
  readonly keys: readonly string[]
  /** The bytes of a file by its hash; undefined when it is not there. */
  readonly file: (sha256: string) => Bytes | undefined
}

export type ProofVerdict = {
  readonly lines: readonly ProofLine[]
  /** Whether no step fails. */
  readonly ok: boolean
  /** True when the only key of the log came from the bundle: then anybody could have signed it. */
  readonly keyIsFromBundle: boolean
}

type Bytes = Uint8Array<ArrayBuffer>
type Facts = Readonly<Record<string, unknown>>
type Key = { readonly name: string; readonly id: string; readonly type: 1 | 4 | 6; readonly bytes: Bytes }
type Signature = { readonly name: string; readonly id: string; readonly bytes: Bytes }
type Checkpoint = {
  readonly text: string
  readonly signatures: readonly Signature[]
  readonly origin: string
  readonly size: number
  readonly root: Bytes
}
type Proof = { readonly index: number; readonly path: readonly Bytes[]; readonly checkpoint: Checkpoint }
type Checked = { readonly key: Key; readonly state: 'holds' | 'fails' | 'not checked'; readonly at?: string }

const largestBundle = 4 * 1024 * 1024
const largestLeafBytes = 65_535
const longestPath = 63
const longestList = 1000
const mostSignatures = 64
const keyBytes = { 1: 32, 4: 32, 6: 1312 } as const

/** Failure of a step; its message follows "fails because". */
class Fault extends Error {
  readonly step: ProofStep

  constructor(step: ProofStep, words: string) {
    super(words)
    this.step = step
  }
}

/** Checks a bundle step by step, from the text of its file. No content of a bundle makes it reject. */
export async function checkProof(text: string, crypto: Crypto, trust: ProofTrust): Promise<ProofVerdict> {
  const lines: ProofLine[] = []
  const holds = (step: ProofStep, words: string) => void lines.push({ step, state: 'holds', words })
  let keyIsFromBundle = false
  try {
    const bundle = await readBundle(text, crypto)
    const proof = readProof(bundle.tlogProof)
    const { size, origin, root: signedRoot } = proof.checkpoint
    const { seq, facts } = readLeaf(bundle.leaf, proof)
    holds('leaf', `number ${seq} of ${origin}`)
    const hash = await sha256(crypto, Uint8Array.of(0), bundle.leaf)
    holds('hash', hex(hash))
    const root = await rootOfPath(crypto, proof, hash)
    if (!root) throw new Fault('path', `it does not fit leaf ${seq} of ${size}`)
    holds('path', `${proof.path.length} hashes from leaf ${seq} of ${size}`)
    if (hex(root) !== hex(signedRoot)) throw new Fault('root', 'the path leads to another root than the signed one')
    holds('root', hex(root))
    const given = await keysOf(crypto, trust.keys)
    const known = given.filter(({ name }) => name === origin)
    keyIsFromBundle = known.length === 0
    lines.push(await signatures(crypto, proof.checkpoint, keyIsFromBundle ? bundle.keys : known))
    lines.push(await cosignatures(crypto, proof.checkpoint, bundle.keys))
    lines.push(await anchors(crypto, proof.checkpoint, bundle.anchors))
    lines.push(await openings(crypto, facts, bundle.openings))
    lines.push(await media(crypto, facts, bundle.media, trust.file))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    lines.push({ step: error.step, state: 'fails', words: error.message })
  }
  return { lines, ok: lines.every(({ state }) => state !== 'fails'), keyIsFromBundle }
}

type Bundle = {
  readonly leaf: Bytes
  readonly tlogProof: string
  readonly keys: readonly Key[]
  readonly openings: readonly unknown[]
  readonly media: readonly unknown[]
  readonly anchors: readonly unknown[]
}

async function readBundle(text: string, crypto: Crypto): Promise<Bundle> {
  if (text.length > largestBundle) throw new Fault('leaf', 'the file is larger than a bundle can be')
  const bundle = parseObject(text)
  if (!bundle) throw new Fault('leaf', 'the file is not a JSON object')
  if (bundle['format'] !== 'gatehouse-proof/1') throw new Fault('leaf', 'the file is not a gatehouse-proof/1')
  const { leaf, tlogProof } = bundle
  const bytes = typeof leaf === 'string' ? fromBase64(leaf) : undefined
  if (!bytes || bytes.length === 0 || bytes.length > largestLeafBytes)
    throw new Fault('leaf', 'it is not the base64 of a leaf')
  if (typeof tlogProof !== 'string') throw new Fault('path', 'the bundle has no proof')
  const named = listOf(bundle['keys'], 'keys')
  if (!named.every((key) => typeof key === 'string')) throw new Fault('leaf', 'a key of the bundle is not a text')
  const keys = await keysOf(crypto, named)
  if (keys.length < named.length) throw new Fault('signature', 'a key of the bundle is not a verifier key')
  return {
    leaf: bytes,
    tlogProof,
    keys,
    openings: listOf(bundle['openings'], 'openings'),
    media: listOf(bundle['media'], 'files'),
    anchors: listOf(bundle['anchors'], 'anchors'),
  }
}

function listOf(value: unknown, nouns: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Fault('leaf', `the bundle has no list of ${nouns}`)
  if (value.length > longestList) throw new Fault('leaf', `the bundle has more than ${longestList} ${nouns}`)
  return value
}

/** Reads c2sp.org/tlog-proof. */
function readProof(text: string): Proof {
  const end = text.indexOf('\n\n')
  const [first, ...lines] = text.slice(0, Math.max(end, 0)).split('\n')
  if (first !== 'c2sp.org/tlog-proof@v1') throw new Fault('path', 'the proof is not a c2sp.org/tlog-proof@v1')
  if (lines[0]?.startsWith('extra ')) lines.shift()
  const [, index] = /^index (0|[1-9]\d{0,14})$/.exec(lines.shift() ?? '') ?? []
  if (index === undefined) throw new Fault('path', 'the proof has no index')
  if (lines.length > longestPath) throw new Fault('path', `it has more than ${longestPath} hashes`)
  const path = lines.map((line) => {
    const hash = fromBase64(line)
    if (hash?.length !== 32) throw new Fault('path', 'a line of it is not a hash')
    return hash
  })
  return { index: Number(index), path, checkpoint: readCheckpoint(text.slice(end + 2)) }
}

/** Reads a signed note whose text is a tree head of three lines (c2sp.org/signed-note, tlog-checkpoint). */
function readCheckpoint(note: string): Checkpoint {
  const wrong = () => new Fault('root', 'the checkpoint is not a signed note of a tree head')
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n') || !isUnicode(note) || /[\0-\x09\x0b-\x1f]/.test(note)) throw wrong()
  const lines = note
    .slice(end + 2)
    .split('\n')
    .slice(0, -1)
  if (lines.length === 0 || lines.length > mostSignatures) throw wrong()
  const signatures = lines.map((line) => readSignature(line) ?? raise(wrong()))
  const [origin, size, root, ...more] = note.slice(0, end).split('\n')
  const rootBytes = fromBase64(root ?? '')
  if (!origin || !/^(0|[1-9]\d{0,15})$/.test(size ?? '') || !Number.isSafeInteger(Number(size))) throw wrong()
  if (rootBytes?.length !== 32) throw wrong()
  if (more.length > 0) throw new Fault('root', 'the checkpoint has lines that a gatehouse log does not write')
  return { text: note.slice(0, end + 1), signatures, origin, size: Number(size), root: rootBytes }
}

function readSignature(line: string): Signature | undefined {
  const [dash, name, encoded, ...more] = line.split(' ')
  const bytes = fromBase64(encoded ?? '')
  if (dash !== '\u2014' || !name || !isName(name) || more.length > 0 || !bytes || bytes.length < 5) return undefined
  return { name, id: hex(bytes.slice(0, 4)), bytes: bytes.slice(4) }
}

function readLeaf(bytes: Bytes, { index, checkpoint }: Proof): { seq: number; facts: Facts } {
  const facts = parseObject(textOf(bytes))
  if (!facts) throw new Fault('leaf', 'it is not JSON')
  const { siteId, logId, seq } = facts
  if (typeof siteId !== 'string' || typeof logId !== 'string') throw new Fault('leaf', 'it names no log')
  if (`gatehouse/${siteId}/${logId}` !== checkpoint.origin)
    throw new Fault('leaf', 'it is of another log than the checkpoint')
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 1) throw new Fault('leaf', 'it has no number')
  if (seq - 1 !== index) throw new Fault('path', `the proof is for index ${index}, the leaf has number ${seq}`)
  return { seq, facts }
}

/** Returns the root that the path leads to (RFC 9162, 2.1.3.2); undefined when its length does not fit. */
async function rootOfPath(crypto: Crypto, { index, path, checkpoint }: Proof, hash: Bytes): Promise<Bytes | undefined> {
  if (index >= checkpoint.size) return undefined
  let at = index
  let last = checkpoint.size - 1
  let root = hash
  for (const other of path) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      root = await sha256(crypto, Uint8Array.of(1), other, root)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else root = await sha256(crypto, Uint8Array.of(1), root, other)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? root : undefined
}

const algorithms = { 1: 'Ed25519', 4: 'Ed25519 with a time', 6: 'ML-DSA-44' } as const

/** One Ed25519 signature of the log that holds, and none that fails. ML-DSA is not in browsers yet. */
async function signatures(crypto: Crypto, checkpoint: Checkpoint, keys: readonly Key[]): Promise<ProofLine> {
  const step = 'signature'
  const { origin } = checkpoint
  const checked = await verified(
    crypto,
    checkpoint,
    keys.filter(({ name, type }) => name === origin && type !== 4),
  )
  refuseFailing(checked, step)
  if (checked.length === 0) throw new Fault(step, `no key of ${origin} that is known here signed the checkpoint`)
  const unchecked = checked.filter(({ state }) => state === 'not checked')
  const list = (of: readonly Checked[]) => of.map(({ key }) => algorithms[key.type]).join(', ')
  if (unchecked.length === checked.length)
    return { step, state: 'not checked', words: `this browser cannot verify ${list(unchecked)}` }
  const rest = unchecked.length > 0 ? `. ${list(unchecked)}: not checked here` : ''
  return { step, state: 'holds', words: `${list(checked.filter(({ state }) => state === 'holds'))}${rest}` }
}

async function cosignatures(crypto: Crypto, checkpoint: Checkpoint, keys: readonly Key[]): Promise<ProofLine> {
  const step = 'cosignatures'
  const witnesses = keys.filter(({ name, type }) => name !== checkpoint.origin && type !== 1)
  const checked = await verified(crypto, checkpoint, witnesses)
  refuseFailing(checked, step)
  const silent = witnesses.find((key) => !checked.some((one) => one.key === key))
  if (silent) throw new Fault(step, `${silent.name} is named as a witness and did not sign`)
  if (checked.length === 0) return { step, state: 'not claimed', words: '' }
  const seen = checked.filter(({ state }) => state === 'holds').map(({ key, at }) => `${key.name} at ${at}`)
  const unseen = checked
    .filter(({ state }) => state === 'not checked')
    .map(({ key }) => `${key.name}: not checked here`)
  return { step, state: seen.length > 0 ? 'holds' : 'not checked', words: [...seen, ...unseen].join(', ') }
}

function refuseFailing(checked: readonly Checked[], step: ProofStep): void {
  const failing = checked.find(({ state }) => state === 'fails')
  if (!failing) return
  throw new Fault(step, `the ${algorithms[failing.key.type]} signature of ${failing.key.name} does not verify`)
}

/** Verifies the signatures of these keys; those of other keys are left out. */
async function verified(crypto: Crypto, { text, signatures: all }: Checkpoint, keys: readonly Key[]) {
  const checked: Checked[] = []
  for (const { name, id, bytes } of all) {
    const key = keys.find((one) => one.name === name && one.id === id)
    if (key) checked.push(await verify(crypto, text, bytes, key))
  }
  return checked
}

async function verify(crypto: Crypto, text: string, signature: Bytes, key: Key): Promise<Checked> {
  if (key.type === 6) return { key, state: 'not checked' }
  if (key.type === 1) return { key, state: await ed25519(crypto, key, signature, text) }
  if (signature.length !== 72) return { key, state: 'fails' }
  const seconds = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0)
  // The latest time that a Date can have.
  if (seconds > 8_640_000_000_000n) return { key, state: 'fails' }
  const state = await ed25519(crypto, key, signature.slice(8), `cosignature/v1\ntime ${seconds}\n${text}`)
  return { key, state, at: new Date(Number(seconds) * 1000).toISOString() }
}

async function ed25519(crypto: Crypto, key: Key, signature: Bytes, text: string): Promise<Checked['state']> {
  let imported: object
  try {
    imported = await crypto.importKey('raw', key.bytes, 'Ed25519', false, ['verify'])
  } catch (error) {
    // Browsers before 2025 do not have it; every other error is the key's.
    return error instanceof Error && error.name === 'NotSupportedError' ? 'not checked' : 'fails'
  }
  return (await crypto.verify('Ed25519', imported, signature, utf8(text))) ? 'holds' : 'fails'
}

async function anchors(crypto: Crypto, checkpoint: Checkpoint, list: readonly unknown[]): Promise<ProofLine> {
  const step = 'anchors'
  const stamped = hex(await sha256(crypto, utf8(checkpoint.text)))
  const others: string[] = []
  for (const anchor of list) {
    if (!isObject(anchor)) throw new Fault(step, 'an anchor cannot be read')
    const { kind, size, rootHash, token, host } = anchor
    if (kind === 'webhook') {
      others.push(`not checkable here, ask the receiver ${String(host)}`)
      continue
    }
    if (kind !== 'rfc3161') throw new Fault(step, 'an anchor is of an unknown kind')
    const root = typeof rootHash === 'string' ? fromBase64(rootHash) : undefined
    if (size !== checkpoint.size || !root || hex(root) !== hex(checkpoint.root))
      throw new Fault(step, 'a time stamp is not of this checkpoint')
    const bytes = typeof token === 'string' ? fromBase64(token) : undefined
    if (!bytes || !hex(bytes).includes(stamped)) throw new Fault(step, 'a time stamp is of something else')
    others.push('a time stamp: its authority is not checked here')
  }
  if (others.length === 0) return { step, state: 'not claimed', words: '' }
  return { step, state: 'not checked', words: others.join(', ') }
}

async function openings(crypto: Crypto, facts: Facts, list: readonly unknown[]): Promise<ProofLine> {
  const step = 'openings'
  const opened: string[] = []
  for (const opening of list) {
    const { field, commitment, salt, text } = isObject(opening) ? opening : {}
    const bytes = typeof salt === 'string' ? fromBase64(salt) : undefined
    if (typeof field !== 'string' || typeof commitment !== 'string' || typeof text !== 'string' || !bytes)
      throw new Fault(step, 'an opening cannot be read')
    if (valueAt(facts, field) !== commitment) throw new Fault(step, `the leaf has another commitment at ${field}`)
    if (!isUnicode(text) || hex(await sha256(crypto, bytes, utf8(text))) !== commitment)
      throw new Fault(step, `salt and text of ${field} do not open the commitment`)
    opened.push(`${field} ${JSON.stringify(text)}`)
  }
  if (opened.length === 0) return { step, state: 'not claimed', words: '' }
  return { step, state: 'holds', words: opened.join(', ') }
}

async function media(
  crypto: Crypto,
  facts: Facts,
  list: readonly unknown[],
  file: ProofTrust['file'],
): Promise<ProofLine> {
  const step = 'media'
  const stated = new Set(stringsIn(facts))
  const found: string[] = []
  const absent: string[] = []
  for (const item of list) {
    const { sha256: hash, sizeBytes, name } = isObject(item) ? item : {}
    if (typeof hash !== 'string' || typeof name !== 'string' || !/^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u.test(name))
      throw new Fault(step, 'a file of the bundle cannot be read')
    if (!stated.has(hash)) throw new Fault(step, `the leaf does not state the hash of ${name}`)
    const bytes = file(hash)
    if (!bytes) {
      absent.push(name)
      continue
    }
    if (hex(await sha256(crypto, bytes)) !== hash) throw new Fault(step, `${name} has other bytes`)
    if (bytes.length !== sizeBytes) throw new Fault(step, `${name} has ${bytes.length} bytes, not ${String(sizeBytes)}`)
    found.push(name)
  }
  if (list.length === 0) return { step, state: 'not claimed', words: '' }
  if (absent.length > 0) return { step, state: 'not checked', words: `not there: ${absent.join(', ')}` }
  return { step, state: 'holds', words: found.join(', ') }
}

/** Reads verifier keys; leaves out invalid ones, and those with the id of another key. */
async function keysOf(crypto: Crypto, texts: readonly string[]): Promise<Key[]> {
  const keys: Key[] = []
  for (const text of texts) {
    const [, name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? []
    const material = fromBase64(encoded ?? '')
    const type = material?.[0]
    if (!name || !id || !isName(name) || !material || (type !== 1 && type !== 4 && type !== 6)) continue
    const bytes = material.slice(1)
    const hash = await sha256(crypto, utf8(`${name}\n`), material)
    if (bytes.length === keyBytes[type] && hex(hash.slice(0, 4)) === id) keys.push({ name, id, type, bytes })
  }
  return keys
}

const isName = (name: string): boolean => /^[^\s+\p{C}]+$/u.test(name)

/** Returns the bytes of standard base64 with padding; undefined for anything else, so that one value has one form. */
function fromBase64(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined
  const binary = atob(text)
  return btoa(binary) === text ? Uint8Array.from(binary, (one) => one.charCodeAt(0)) : undefined
}

async function sha256(crypto: Crypto, ...parts: readonly Bytes[]): Promise<Bytes> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return new Uint8Array(await crypto.digest('SHA-256', all))
}

const hex = (bytes: Bytes): string => Array.from(bytes, (one) => one.toString(16).padStart(2, '0')).join('')
const utf8 = (text: string): Bytes => new TextEncoder().encode(text)
const textOf = (bytes: Bytes): string => new TextDecoder().decode(bytes)

/** Whether a text can be written as UTF-8. */
const isUnicode = (text: string): boolean => new TextDecoder('utf-8', { ignoreBOM: true }).decode(utf8(text)) === text

/** Returns the value at a path of keys and numbers, such as `steps.0.note`. */
const valueAt = (facts: Facts, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>(
      (at, key) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, key)
          ? (at as Record<string, unknown>)[key]
          : undefined,
      facts,
    )

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* stringsIn(one)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function raise(error: Error): never {
  throw error
}
