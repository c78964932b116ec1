import { z } from 'zod'
import { AppError } from '../../errors/index.ts'
import { type NoteKey, readCheckpointText, readNote, verifySignatures } from '../../evidence/index.ts'
import { FeedBody } from '../../feed/index.ts'
import { validationError } from '../../http/index.ts'
import { commitmentOf, leafHash, MerkleFrontier } from '../../log/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import { gtin14 } from '../../warehouse/index.ts'
import { type LeafFacts, readLeaf } from './facts.ts'
import type { Erasures, OpeningFact } from './names-store.ts'
import type { AssetFact, SlotFact } from './snapshot-store.ts'

/** A leaf as it came, with its hash in the tree and its facts. */
export type SentLeaf = { readonly bytes: Buffer; readonly hash: Buffer; readonly facts: LeafFacts }

/** A checkpoint whose text is well-formed. Its signatures are checked by `demandSignature`. */
export type SentCheckpoint = {
  readonly note: string
  readonly origin: string
  readonly size: number
  readonly root: Buffer
  /** The text that the signatures are over. */
  readonly text: string
  readonly signed: NonNullable<ReturnType<typeof readNote>>
}

/** A feed whose form is right. */
export type SentFeed = {
  readonly checkpoint: SentCheckpoint
  readonly from: number
  readonly leaves: readonly SentLeaf[]
  readonly proof: readonly Buffer[]
  /** Peaks of the sender's tree over the leaves before `from`; undefined when they did not come along. */
  readonly before: Buffer | undefined
  readonly openings: readonly OpeningFact[]
  /** The leaves that the openings are of. */
  readonly names: { readonly from: number; readonly end: number } | undefined
  readonly erasures: Erasures
  readonly assets: readonly AssetFact[]
  readonly slots: readonly SlotFact[]
  readonly snapshotVersion: number
  readonly status: object | undefined
}

/** As an entry bundle counts them. */
const longestLeafBytes = 65_535

/** Reads the body of POST feed for the log with this id. Throws VALIDATION_ERROR that names the fault and its place. */
export function readFeed(body: unknown, logId: string): SentFeed {
  const read = z.safeParse(FeedBody, body)
  if (!read.success) throw validationError(read.error.issues, body)
  const { from, leaves, before, consistency = [], openings = [], names, snapshot, status } = read.data
  const { erased = [], erasedPeople = [] } = read.data
  const checkpoint = readCheckpoint(read.data.checkpoint)
  if (checkpoint.size < from + leaves.length) {
    throw AppError.field('checkpoint', `it covers ${checkpoint.size} leaves, and ${from + leaves.length} are sent`)
  }
  const assets = new Map((snapshot?.assets ?? []).map((row) => [row.key, assetOf(row)]))
  return {
    checkpoint,
    from,
    names,
    status,
    leaves: leaves.map((leaf, i) => readSent(leaf, { logId, seq: from + i + 1 }, `leaves.${i}`)),
    proof: consistency.map(readHash),
    before: before && readPeaks(before, from),
    openings: [...new Map(openings.map((one) => [one.commitment, one])).values()].map(readOpening),
    erasures: {
      commitments: [...new Set(erased)].map((hex) => Buffer.from(hex, 'hex')),
      people: [...new Set(erasedPeople)],
    },
    assets: [...assets.values()],
    slots: [...new Map((snapshot?.slots ?? []).map((row) => [row.id, row])).values()],
    snapshotVersion: snapshot?.version ?? 0,
  }
}

/** Throws NOT_SIGNED unless at least one of these keys signed the checkpoint and none of them fails. */
export function demandSignature({ signed, origin }: SentCheckpoint, keys: readonly NoteKey[]): void {
  const ofLog = keys.filter(({ name }) => name === origin)
  const signatures = verifySignatures(signed, ofLog)
  if (signatures.length > 0 && signatures.every(({ holds }) => holds)) return
  throw new AppError('NOT_SIGNED', 'The checkpoint has no valid signature by a key of this log')
}

function readCheckpoint(note: string): SentCheckpoint {
  const signed = readNote(note)
  const head = signed && readCheckpointText(signed.text)
  if (!signed || !head || head.isExtended) throw AppError.field('checkpoint', 'expected a signed note over a tree head')
  return { note, signed, text: signed.text, origin: head.origin, size: head.size, root: head.root }
}

function readSent(encoded: string, place: { readonly logId: string; readonly seq: number }, path: string): SentLeaf {
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.length === 0 || bytes.length > longestLeafBytes) {
    throw AppError.field(path, `a leaf has 1 to ${longestLeafBytes} bytes`)
  }
  const facts = readLeaf(bytes)
  if (!facts) throw AppError.field(path, 'this is no leaf of a gatehouse')
  if (facts.logId !== place.logId) throw AppError.field(path, `the leaf names the log ${facts.logId}`)
  if (facts.seq !== place.seq) throw AppError.field(path, `leaf ${place.seq} is due here; this one is ${facts.seq}`)
  return { bytes, hash: leafHash(bytes), facts }
}

function readHash(encoded: string, i: number): Buffer {
  const hash = Buffer.from(encoded, 'base64')
  if (hash.length !== 32) throw AppError.field(`consistency.${i}`, 'expected 32 bytes')
  return hash
}

function readPeaks(encoded: readonly string[], from: number): Buffer {
  const peaks = Buffer.concat(encoded.map((hash) => Buffer.from(hash, 'base64')))
  try {
    return MerkleFrontier.from(from, peaks).peaks
  } catch (cause) {
    throw AppError.field('before', errorMessage(cause))
  }
}

function readOpening(
  { commitment, salt, text, person }: NonNullable<FeedBody['openings']>[number],
  i: number,
): OpeningFact {
  const bytes = Buffer.from(salt, 'base64')
  if (commitmentOf(bytes, text) !== commitment || text.includes('\0')) {
    throw AppError.field(`openings.${i}`, 'it does not open its commitment')
  }
  return { commitment: Buffer.from(commitment, 'hex'), salt: bytes, text, person: person ?? null }
}

function assetOf({ key, ...printed }: NonNullable<FeedBody['snapshot']>['assets'][number]): AssetFact {
  const { sscc = null, gtin = null, lot = null, bestBefore = null, serial = null } = printed
  // A recall asks for a GTIN: with anything else the item of the pallet is not known.
  const item = gtin === null ? null : (gtin14(gtin) ?? null)
  return { key, sscc, gtin: item, lot, bestBefore, serial }
}
