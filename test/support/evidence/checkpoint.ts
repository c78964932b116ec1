/** Checkpoints and proofs as text, from C2SP tlog-checkpoint, tlog-proof and tlog-witness alone: no import from `src`. */
import { fromBase64, openNote, parseNote, type Signature, type Signed, type Vkey } from './note.ts'

export type Checkpoint = {
  readonly origin: string
  readonly size: number
  readonly root: Buffer
  readonly extensions: readonly string[]
  /** The signed text. */
  readonly text: string
  readonly signatures: readonly Signature[]
}

/** Reads a decimal number without leading zeros; throws above the largest safe integer. */
function decimal(text: string, what: string): number {
  const n = /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(n)) throw new Error(`${what} is not a number: ${text.slice(0, 40)}`)
  return n
}

function hashOf(text: string, what: string): Buffer {
  const bytes = fromBase64(text)
  if (bytes.length !== 32) throw new Error(`${what} has ${bytes.length} bytes, not 32`)
  return bytes
}

/** Reads a checkpoint without checking its signatures; throws when the note is no checkpoint. */
export function parseCheckpoint(note: string | Uint8Array): Checkpoint {
  const { text, signatures } = parseNote(note)
  const [origin, size, root, ...rest] = text.split('\n')
  if (!origin || size === undefined || root === undefined) throw new Error('a checkpoint has at least three lines')
  const extensions = rest.slice(0, -1)
  if (rest.length === 0 || extensions.includes('')) throw new Error('an empty line in a checkpoint')
  return { origin, size: decimal(size, 'the size'), root: hashOf(root, 'the root'), extensions, text, signatures }
}

/** Returns a checkpoint and its signers; throws as `openNote` does. */
export function openCheckpoint(note: string | Uint8Array, keys: readonly Vkey[]): Checkpoint & { signed: Signed[] } {
  const checkpoint = parseCheckpoint(note)
  return { ...checkpoint, signed: openNote(note, keys).signed }
}

export type TlogProof = {
  readonly index: number
  readonly path: readonly Buffer[]
  /** The signed note, as it came. */
  readonly note: string
}

/** The most hashes that a proof can have: sizes are below 2^63. */
const mostHashes = 63

/** Reads a `c2sp.org/tlog-proof@v1`. */
export function parseTlogProof(text: string): TlogProof {
  const end = text.indexOf('\n\n')
  if (end < 0) throw new Error('a proof without a checkpoint')
  const [title, ...lines] = text.slice(0, end).split('\n')
  if (title !== 'c2sp.org/tlog-proof@v1') throw new Error(`not a proof: ${title?.slice(0, 40)}`)
  if (lines[0]?.startsWith('extra ')) fromBase64(lines.shift()?.slice('extra '.length) ?? '')
  const index = lines.shift()?.match(/^index (.+)$/)?.[1]
  if (index === undefined) throw new Error('a proof without an index')
  if (lines.length > mostHashes) throw new Error(`a path of ${lines.length} hashes`)
  return {
    index: decimal(index, 'the index'),
    path: lines.map((line) => hashOf(line, 'a hash of the path')),
    note: text.slice(end + 2),
  }
}

/** Writes a `c2sp.org/tlog-proof@v1`. */
export function formatTlogProof({
  index,
  path,
  note,
}: {
  index: number
  path: readonly Buffer[]
  note: string
}): string {
  const hashes = path.map((hash) => `${hash.toString('base64')}\n`)
  return `c2sp.org/tlog-proof@v1\nindex ${index}\n${hashes.join('')}\n${note}`
}

export type AddCheckpoint = { readonly old: number; readonly proof: readonly Buffer[]; readonly note: string }

/** Reads the body of a witness's `add-checkpoint`. */
export function parseAddCheckpoint(body: string): AddCheckpoint {
  const end = body.indexOf('\n\n')
  if (end < 0) throw new Error('a request without a checkpoint')
  const [first, ...lines] = body.slice(0, end).split('\n')
  const old = first?.match(/^old (.+)$/)?.[1]
  if (old === undefined) throw new Error('a request without an old size')
  if (lines.length > mostHashes) throw new Error(`a proof of ${lines.length} hashes`)
  return {
    old: decimal(old, 'the old size'),
    proof: lines.map((line) => hashOf(line, 'a hash of the proof')),
    note: body.slice(end + 2),
  }
}

/** Writes the body of a witness's `add-checkpoint`. */
export function formatAddCheckpoint({ old, proof, note }: AddCheckpoint): string {
  return `old ${old}\n${proof.map((hash) => `${hash.toString('base64')}\n`).join('')}\n${note}`
}
