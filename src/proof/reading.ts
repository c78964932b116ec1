import { type Bytes, fromBase64, isObject, parseObject, textOf } from './bytes.ts'
import { originOfLog, readCheckpointText, readNote, type SignedNote, type TreeHeadText } from './note.ts'

/** Format of a proof bundle, and the first line of the proof in it. */
export const bundleFormat = 'gatehouse-proof/1'
export const tlogProofFirstLine = 'c2sp.org/tlog-proof@v1'

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

/** Failure of a step, in words that follow "fails because". */
export class BadStep extends Error {
  readonly step: BundleStep

  constructor(step: BundleStep, words: string) {
    super(words)
    this.step = step
  }
}

/** More than any bundle needs: a leaf of 65,535 bytes, 63 hashes, some dozens of signatures, openings. */
export const largestBundleBytes = 4 * 1024 * 1024
const largestLeafBytes = 65_535
const longestPath = 63
const longestList = 1000
/** A rotation a month for twenty years, as far as 4 MiB hold them. */
export const maxHandOvers = 240

export type Facts = Readonly<Record<string, unknown>>

/** A bundle whose parts are still to be checked. */
export type Bundle = {
  readonly leaf: Bytes
  readonly tlogProof: string
  readonly keys: readonly string[]
  readonly openings: readonly unknown[]
  readonly media: readonly unknown[]
  readonly anchors: readonly unknown[]
  readonly handOvers: readonly unknown[]
}

/** Reads the text of a bundle. Throws BadStep. */
export function readBundle(text: string): Bundle {
  if (text.length > largestBundleBytes) throw new BadStep('leaf', 'the file is larger than a bundle can be')
  const bundle = parseObject(text)
  if (!bundle) throw new BadStep('leaf', 'the file is not a JSON object')
  if (bundle['format'] !== bundleFormat) throw new BadStep('leaf', `the file is not a ${bundleFormat}`)
  const leaf = leafOf(bundle['leaf'])
  if (!leaf) throw new BadStep('leaf', 'it is not the base64 of a leaf')
  const { tlogProof, handOvers } = bundle
  if (typeof tlogProof !== 'string') throw new BadStep('path', 'the bundle has no proof')
  const keys = listOf(bundle['keys'], 'keys')
  if (!keys.every((key) => typeof key === 'string')) throw new BadStep('leaf', 'a key of the bundle is not a text')
  return {
    leaf,
    tlogProof,
    keys,
    openings: listOf(bundle['openings'], 'openings'),
    media: listOf(bundle['media'], 'files'),
    anchors: listOf(bundle['anchors'], 'anchors'),
    handOvers: handOvers === undefined ? [] : listOf(handOvers, 'hand-overs', maxHandOvers),
  }
}

function leafOf(value: unknown): Bytes | undefined {
  const bytes = typeof value === 'string' ? fromBase64(value) : undefined
  return bytes && bytes.length > 0 && bytes.length <= largestLeafBytes ? bytes : undefined
}

function listOf(value: unknown, nouns: string, longest = longestList): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadStep('leaf', `the bundle has no list of ${nouns}`)
  if (value.length > longest) throw new BadStep('leaf', `the bundle has more than ${longest} ${nouns}`)
  return value
}

/** Reads the leaf and the proof of a hand-over; undefined when they are not there. */
export function readHandOverParts(value: unknown): Pick<Bundle, 'leaf' | 'tlogProof'> | undefined {
  const parts = isObject(value) ? value : {}
  const leaf = leafOf(parts['leaf'])
  const tlogProof = parts['tlogProof']
  return leaf && typeof tlogProof === 'string' ? { leaf, tlogProof } : undefined
}

/** An inclusion proof with the checkpoint that it leads to. `index` counts from 0. */
export type TlogProof = {
  readonly index: number
  readonly path: readonly Bytes[]
  readonly note: SignedNote
  readonly checkpoint: TreeHeadText
}

/** Reads c2sp.org/tlog-proof. Throws BadStep. */
export function readTlogProof(text: string): TlogProof {
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

/** Reads the facts of a leaf that a proof is for. Throws BadStep when it is for another one. */
export function readLeaf(bytes: Bytes, { index, checkpoint }: TlogProof): { seq: number; facts: Facts } {
  const facts = parseObject(textOf(bytes))
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
