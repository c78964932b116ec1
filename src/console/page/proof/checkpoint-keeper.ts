/** The newest checkpoint of the log that this browser has seen. `root` is base64, as the note has it; `vkey` is the log's. */
export type KeptCheckpoint = {
  readonly origin: string
  readonly size: number
  readonly root: string
  readonly vkey: string
  readonly note: string
}

/** Verdict on a checkpoint of the gateway, against the stored one. */
export type KeeperVerdict =
  /** It is stored from now on: the first one, the same again, or one that continues the stored one. */
  | { readonly kind: 'kept'; readonly kept: KeptCheckpoint }
  /** Older than the stored one: the answer was overtaken, or the log was put back. Ask again; twice is an alarm. */
  | { readonly kind: 'older'; readonly words: string }
  /** Proof, or strong suspicion, that the log was changed. The stored checkpoint stays: show it to somebody. */
  | { readonly kind: 'alarm'; readonly words: string }

export type KeeperQuestion = {
  /** The signed note of GET /api/log/checkpoint. */
  readonly note: string
  /** The Ed25519 verifier key of the log (`logKey` of GET /api/health); used only while no checkpoint is stored. */
  readonly vkey: string
  readonly kept: KeptCheckpoint | undefined
  /** Returns the proof of GET /api/log/consistency (base64). Its errors are passed on, without a verdict. */
  readonly proof: (from: number, to: number) => Promise<readonly string[]>
}

type Checkpoint = { readonly origin: string; readonly size: number; readonly root: Bytes; readonly text: string }
type Bytes = Uint8Array<ArrayBuffer>

/**
 * Decides whether a checkpoint continues the stored one. It needs WebCrypto alone (a page over HTTPS has it) and stores nothing:
 * the caller stores the result. Rejects only with an error of `proof`.
 */
export async function keepCheckpoint({ note, vkey, kept, proof }: KeeperQuestion): Promise<KeeperVerdict> {
  const shown = readCheckpoint(note)
  if (!shown) return alarm('The gateway shows a checkpoint that cannot be read.')
  const key = kept?.vkey ?? vkey
  if (kept && kept.origin !== shown.origin) {
    return alarm(
      `The log is another one: ${shown.origin}, and this device has kept ${kept.origin}. After a restore somebody has to confirm that.`,
    )
  }
  if (!(await isSigned(note, shown, key))) return alarm('The checkpoint is not signed by the key of the log.')
  const now = { origin: shown.origin, size: shown.size, root: toBase64(shown.root), vkey: key, note }
  if (!kept) return { kind: 'kept', kept: now }
  if (shown.size < kept.size) {
    return { kind: 'older', words: `The log shows ${shown.size} entries; this device has seen ${kept.size}.` }
  }
  const hashes = shown.size === kept.size ? [] : (await proof(kept.size, shown.size)).map(fromBase64)
  const before = { size: kept.size, root: fromBase64(kept.root) }
  if (before.root && hashes.every((hash) => hash?.length === 32)) {
    if (await isContinuation({ size: before.size, root: before.root }, shown, hashes as Bytes[])) {
      return { kind: 'kept', kept: now }
    }
  }
  return alarm(
    `The log does not continue what this device saw: ${kept.size} entries then, ${shown.size} now. An entry was changed or removed. Do not clear this device; call the person who checks the ledger.`,
  )
}

const alarm = (words: string): KeeperVerdict => ({ kind: 'alarm', words })

/** Reads the first three lines of a signed note; undefined for anything else. */
function readCheckpoint(note: string): Checkpoint | undefined {
  const text = note.slice(0, note.indexOf('\n\n') + 1)
  const [origin, size, root, ...more] = text.split('\n')
  const bytes = root === undefined ? undefined : fromBase64(root)
  if (!origin || !size || !/^(0|[1-9]\d{0,15})$/.test(size) || bytes?.length !== 32 || more.join('') !== '') {
    return undefined
  }
  return Number.isSafeInteger(Number(size)) ? { origin, size: Number(size), root: bytes, text } : undefined
}

/** Tells whether the note has a signature by this Ed25519 key (type 1 of c2sp.org/signed-note), which is the log's own. */
async function isSigned(note: string, { origin, text }: Checkpoint, vkey: string): Promise<boolean> {
  const [, name, id, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? []
  const bytes = encoded === undefined ? undefined : fromBase64(encoded)
  if (name !== origin || bytes?.length !== 33 || bytes[0] !== 1) return false
  const lines = note.slice(text.length + 1).split('\n')
  for (const line of lines) {
    const [dash, who, signature = ''] = line.split(' ')
    const signed = fromBase64(signature)
    if (dash !== '\u2014' || who !== name || signed?.length !== 68 || toHex(signed.subarray(0, 4)) !== id) continue
    const key = await crypto.subtle.importKey('raw', bytes.slice(1), 'Ed25519', false, ['verify'])
    return crypto.subtle.verify('Ed25519', key, signed.slice(4), new TextEncoder().encode(text))
  }
  return false
}

type Head = { readonly size: number; readonly root: Bytes }

/** Verifies a consistency proof as RFC 9162, section 2.1.4.2, says. */
async function isContinuation(first: Head, second: Head, path: readonly Bytes[]): Promise<boolean> {
  if (first.size === second.size) return path.length === 0 && same(first.root, second.root)
  if (first.size === 0) return path.length === 0
  const isComplete = 2 ** Math.floor(Math.log2(first.size)) === first.size
  const [start, ...rest] = isComplete ? [first.root, ...path] : path
  if (!start) return false
  let [at, last] = [first.size - 1, second.size - 1]
  while (at % 2 === 1) [at, last] = [half(at), half(last)]
  let [one, two] = [start, start]
  for (const other of rest) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      one = await node(other, one)
      two = await node(other, two)
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)]
    } else two = await node(two, other)
    at = half(at)
    last = half(last)
  }
  return last === 0 && same(one, first.root) && same(two, second.root)
}

/** The hash of an inner node: SHA-256 over 1, left, right. */
async function node(left: Bytes, right: Bytes): Promise<Bytes> {
  const bytes = new Uint8Array(65)
  bytes[0] = 1
  bytes.set(left, 1)
  bytes.set(right, 33)
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

const half = (n: number): number => Math.floor(n / 2)
const same = (one: Bytes, other: Bytes): boolean => toHex(one) === toHex(other)
const toHex = (bytes: Bytes): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
const toBase64 = (bytes: Bytes): string => btoa(String.fromCharCode(...bytes))

/** Returns the bytes of standard base64 in its only form; undefined for anything else. */
function fromBase64(text: string): Bytes | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
    return toBase64(bytes) === text ? bytes : undefined
  } catch {
    return undefined
  }
}
