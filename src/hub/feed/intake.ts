import { AppError } from '../../errors/index.ts'
import { isContinuation, leafHash, MerkleFrontier, rootInPlace, sha256 } from '../../log/index.ts'
import type { HubTx } from '../store/database.ts'
import { bundleWidth, fewestOfPart, packBundle, packedAtOnce, unpackBundle } from './bundle.ts'
import { findCheckpoint, noteOver } from './checkpoints.ts'
import { bundlesBetween, type PackedBundle, widthOfBundle } from './leaves-store.ts'
import type { SentCheckpoint, SentFeed, SentLeaf } from './request.ts'
import type { Contradiction, Head } from './store.ts'
import type { StoredRoots } from './stored-tree.ts'

/** Two histories of one log. Thrown inside the feed's transaction, so that nothing of the feed stays. */
export class Forked extends Error {
  readonly found: Contradiction

  constructor(found: Contradiction) {
    super(`leaf or root ${found.place} differs from what is stored`)
    this.found = found
  }
}

/** Leaves, bundles and head that a feed adds to a log. */
export type Addition = {
  readonly leaves: readonly SentLeaf[]
  readonly bundles: readonly PackedBundle[]
  readonly head: Pick<Head, 'size' | 'frontier' | 'witnessedSize'>
  /** Whether the checkpoint is confirmed and larger than the one that was cosigned last. */
  readonly isAhead: boolean
  /** Whether the checkpoint was shown to continue everything that is stored and everything that was cosigned. */
  readonly isConfirmed: boolean
  /** Whether the checkpoint was shown to continue what is stored. */
  readonly isProven: boolean
}

/**
 * Stored rows that a feed is compared with, beside the head. They serve a feed that begins at the end of the stored leaves, as
 * nearly all do.
 */
export type KnownBefore = {
  /** The kept checkpoint of the size that is sent. */
  readonly checkpoint: Awaited<ReturnType<typeof findCheckpoint>>
  /** The bundle in which the first sent leaf is, if it has begun and is written again. */
  readonly begun: Awaited<ReturnType<typeof bundlesBetween>>
  /** How many leaves it has, if the sent ones are written behind them. */
  readonly begunWidth: number | undefined
}

/** Reads it behind the statement that locks the head, without waiting for that. */
export async function knownBefore(tx: HubTx, logId: string, feed: SentFeed): Promise<KnownBefore> {
  const n = Math.floor(feed.from / bundleWidth)
  const hasBegun = feed.from % bundleWidth > 0
  const isPart = arePart(feed)
  const [checkpoint, begun, begunWidth] = await Promise.all([
    findCheckpoint(tx, logId, feed.checkpoint.size),
    hasBegun && !isPart ? bundlesBetween(tx, logId, n, n) : [],
    isPart ? widthOfBundle(tx, logId, n) : undefined,
  ])
  return { checkpoint, begun, begunWidth }
}

/**
 * Whether the sent leaves are written behind those of their bundle as they are: they are not a few, and do not fill it. A full bundle is
 * packed as a whole, and has the root over its leaves.
 */
function arePart({ from, leaves }: SentFeed): boolean {
  const start = from % bundleWidth
  return start > 0 && leaves.length >= fewestOfPart && start + leaves.length < bundleWidth
}

/**
 * Decides what a feed adds to a log, inside the transaction that has locked its head. Reads the stored bundles that the feed
 * touches and changes nothing. Throws Forked when the log's key has signed another history than before. Throws VALIDATION_ERROR for
 * a proof that does not hold, or for leaves that are not under the checkpoint. The caller ensures that `feed.from` is not beyond
 * the head.
 */
export async function weigh(
  { tx, roots }: { readonly tx: HubTx; readonly roots: StoredRoots },
  logId: string,
  head: Head,
  feed: SentFeed,
  known: KnownBefore,
): Promise<Addition> {
  const { checkpoint, from, leaves } = feed
  const end = from + leaves.length
  refuseAnotherRoot(head, checkpoint, known.checkpoint)
  const added = leaves.slice(Math.max(0, head.size - from))
  const isPart = from === head.size && known.begunWidth === head.size % bundleWidth && arePart(feed)
  const stored = isPart ? nothingStored : await storedBefore(tx, logId, head, feed, known.begun)
  refuseOtherBytes(feed, head, stored)
  await refuseAnotherPast({ tx, roots }, logId, head, checkpoint)
  const { frontier, passed } = grow(head, added)
  if (passed && head.witnessedRoot && !passed.equals(head.witnessedRoot)) {
    const found = rootContradiction(head.witnessedSize, feed, head.witnessedNote)
    throw isOver(feed, frontier) ? new Forked(found) : contradiction(feed, found)
  }
  const isProven = end >= head.size ? prove(feed, frontier, head) : checkpoint.size === head.size
  if (end < head.size && isProven) refuseRoot(feed, frontier.root(), head)
  const isConfirmed =
    isProven &&
    checkpoint.size >= head.witnessedSize &&
    (head.witnessedSize <= frontier.size || isSame(head, checkpoint))
  const isAhead = isConfirmed && checkpoint.size > head.witnessedSize
  return {
    leaves: added,
    isProven,
    isAhead,
    isConfirmed: isConfirmed && checkpoint.size > 0,
    bundles: isPart ? [partOf(head.size, added)] : await bundlesWith(stored.first, head.size, stored.leaves, added),
    head: {
      size: frontier.size,
      frontier: frontier.peaks,
      witnessedSize: isAhead ? checkpoint.size : head.witnessedSize,
    },
  }
}

const nothingStored = { first: 0, leaves: [] }

/** Returns the stored leaves that the feed touches: of the bundle that is written again when it grows; else those that were sent again. */
function storedBefore(tx: HubTx, logId: string, head: Head, { from, leaves }: SentFeed, begun: KnownBefore['begun']) {
  const end = from + leaves.length
  if (end <= head.size) return storedLeaves(tx, logId, from, end)
  return storedLeaves(tx, logId, Math.min(from, head.size - (head.size % bundleWidth)), head.size, begun)
}

const isSame = (head: Head, { size }: SentCheckpoint): boolean => head.witnessedSize === size

/** A checkpoint of the size of the newest one or of a kept one must have its root. */
function refuseAnotherRoot(head: Head, sent: SentCheckpoint, kept: KnownBefore['checkpoint']): void {
  const known =
    sent.size === head.witnessedSize && head.witnessedRoot
      ? { root: head.witnessedRoot, note: head.witnessedNote }
      : kept
  if (known && !known.root.equals(sent.root)) throw anotherRoot(sent, known.root, known.note)
}

/** A checkpoint over leaves that are all stored must have the root over them, whether one of that size was kept or not. */
async function refuseAnotherPast(
  { tx, roots }: { readonly tx: HubTx; readonly roots: StoredRoots },
  logId: string,
  head: Head,
  sent: SentCheckpoint,
): Promise<void> {
  if (sent.size >= head.size) return
  const root = await roots.at(tx, logId, sent.size)
  if (root.equals(sent.root)) return
  throw anotherRoot(sent, root, (await noteOver(tx, logId, sent.size)) ?? head.witnessedNote)
}

const anotherRoot = ({ size, root, note }: SentCheckpoint, known: Buffer, knownNote: string | null) =>
  new Forked({ place: size, kind: 'root', known, knownNote, sent: root, sentNote: note, sentHash: sha256(note) })

/**
 * Returns stored leaves from the beginning of the bundle with leaf `from`, to at least leaf `end`. The number of that bundle is
 * `first`. Bundles that were read already are `begun`.
 */
async function storedLeaves(tx: HubTx, logId: string, from: number, end: number, begun: KnownBefore['begun'] = []) {
  const first = Math.floor(from / bundleWidth)
  if (from >= end) return { first, leaves: [] }
  const last = Math.floor((end - 1) / bundleWidth)
  const isRead = first === last && begun[0]?.n === first
  const packed = isRead ? begun : await bundlesBetween(tx, logId, first, last)
  const leaves = packed.flatMap((bundle) => unpackBundle(bundle.packed))
  if (leaves.length < end - first * bundleWidth) {
    throw new Error(`the stored bundles of log ${logId} from ${first} on do not have the leaves up to ${end}`)
  }
  return { first, leaves }
}

/**
 * A gateway that has only the token can send any leaves with a checkpoint that it saw. Two histories are there only when the sent checkpoint is
 * over the sent leaves; else nothing of the feed is believed.
 */
function contradiction(feed: SentFeed, found: Contradiction): Forked | AppError {
  if (isOverLeaves(feed)) return new Forked(found)
  return AppError.field('leaves', `they do not lead to the checkpoint over ${feed.checkpoint.size} leaves`)
}

/** Whether the sent checkpoint is over a tree, by the sent proof. */
const isOver = ({ checkpoint, proof }: SentFeed, tree: MerkleFrontier): boolean =>
  isContinuation({ size: tree.size, root: tree.root() }, checkpoint, proof)

/** Tells whether the sent checkpoint is over the sent leaves, behind the tree that the sender shows before them. */
export function isOverLeaves(feed: SentFeed): boolean {
  const { from, before, leaves } = feed
  if (!before && from > 0) return false
  const tree = MerkleFrontier.from(from, before ?? Buffer.alloc(0))
  for (const { hash } of leaves) tree.append(hash)
  return isOver(feed, tree)
}

function refuseOtherBytes(
  feed: SentFeed,
  head: Head,
  stored: { readonly first: number; readonly leaves: readonly Buffer[] },
): void {
  const { from, leaves, checkpoint } = feed
  const offset = from - stored.first * bundleWidth
  for (const [i, { bytes }] of leaves.slice(0, Math.max(0, head.size - from)).entries()) {
    const known = stored.leaves[offset + i]
    if (!known || known.equals(bytes)) continue
    throw contradiction(feed, {
      place: from + i + 1,
      kind: 'leaf',
      known,
      knownNote: head.witnessedNote,
      sent: bytes,
      sentNote: checkpoint.note,
      sentHash: sha256(bytes),
    })
  }
}

/** Appends the leaves to the tree. `passed`: the root on the way at the size that was cosigned last, when it lay ahead. */
function grow(head: Head, added: readonly SentLeaf[]): { frontier: MerkleFrontier; passed: Buffer | undefined } {
  const frontier = MerkleFrontier.from(head.size, head.frontier)
  let passed: Buffer | undefined
  for (const { hash } of added) {
    frontier.append(hash)
    if (frontier.size === head.witnessedSize) passed = frontier.root()
  }
  return { frontier, passed }
}

/** Shows that the checkpoint is over the leaves that are stored now; throws when it is not. */
function prove(feed: SentFeed, frontier: MerkleFrontier, head: Head): boolean {
  const { checkpoint } = feed
  if (checkpoint.size === frontier.size) refuseRoot(feed, frontier.root(), head)
  else if (!isOver(feed, frontier)) {
    throw contradiction(feed, rootContradiction(checkpoint.size, feed, head.witnessedNote))
  }
  return true
}

function refuseRoot(feed: SentFeed, root: Buffer, head: Head): void {
  const { size } = feed.checkpoint
  if (root.equals(feed.checkpoint.root)) return
  const found = { ...rootContradiction(size, feed, head.witnessedNote), known: root }
  // The stored leaves are under an earlier signature: another signature over as many leaves contradicts it by itself.
  throw size === head.size ? new Forked(found) : contradiction(feed, found)
}

/** The sent leaves are kept with the checkpoint: one of the two is of another history. */
function rootContradiction(place: number, { checkpoint, leaves }: SentFeed, knownNote: string | null): Contradiction {
  const sent = leaves.length > 0 ? packedAtOnce(leaves.map(({ bytes }) => bytes)) : null
  const sentHash = sha256(checkpoint.note)
  return { place, kind: 'root', known: null, knownNote, sent, sentNote: checkpoint.note, sentHash }
}

/** Returns the bundles that the added leaves fill, the one that was begun before first. */
function bundlesWith(
  first: number,
  size: number,
  stored: readonly Buffer[],
  added: readonly SentLeaf[],
): Promise<PackedBundle[]> {
  if (added.length === 0) return Promise.resolve([])
  const begun = Math.floor(size / bundleWidth)
  const known = stored.slice((begun - first) * bundleWidth).map((bytes) => ({ bytes, hash: undefined }))
  const all = [...known, ...added]
  const count = Math.ceil(all.length / bundleWidth)
  const bundles = Array.from({ length: count }, async (_, i) => {
    const leaves = all.slice(i * bundleWidth, (i + 1) * bundleWidth)
    const packing = packBundle(leaves.map(({ bytes }) => bytes))
    const root = rootOfFull(leaves)
    return { n: begun + i, start: 0, width: leaves.length, packed: await packing, root }
  })
  return Promise.all(bundles)
}

/** Returns the added leaves as a part of the bundle that has begun. */
function partOf(size: number, added: readonly SentLeaf[]): PackedBundle {
  const start = size % bundleWidth
  const packed = packedAtOnce(added.map(({ bytes }) => bytes))
  return { n: Math.floor(size / bundleWidth), start, width: start + added.length, packed, root: null }
}

/** The root over the leaves of a full bundle, for proofs; null for another one. */
function rootOfFull(leaves: readonly { readonly bytes: Buffer; readonly hash: Buffer | undefined }[]): Buffer | null {
  if (leaves.length < bundleWidth) return null
  return rootInPlace(Buffer.concat(leaves.map(({ bytes, hash }) => hash ?? leafHash(bytes))), bundleWidth)
}
