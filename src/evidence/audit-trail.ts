import type { ReadTx } from '../database/index.ts'
import {
  type AuditEntryRow,
  type DigestSpan,
  endOfHashes,
  endOfTrail,
  entriesBehind,
  entryHashHex,
  hashTextsBehind,
} from '../journal/index.ts'
import { rootInPlace } from '../log/index.ts'
import type { Findings } from './findings.ts'

/** Extent of a check of the audit trail. */
export type CheckedTrail = {
  readonly entries: number
  readonly digests: number
  /** The last entry that a leaf covers; later ones are compared with their hashes alone. 0: none is covered. */
  readonly coveredTo: number
}

const batch = 2000
/** Length of a SHA-256 in hex. */
const hexDigits = 64

/** An entry beside its stored hash (hex); one of the two may be missing. */
type Pair = { readonly id: number; readonly entry: AuditEntryRow | undefined; readonly hash: string | undefined }

/**
 * Compares every entry with its hash, and every digest with the hashes that it covers. A changed entry is named. When its hash was
 * changed as well, the entries of its digest are named.
 *
 * @param digests those of the verified leaves, in their order
 *
 * @param onEntries gets the number of compared entries from time to time
 */
export function checkAuditTrail(
  tx: ReadTx,
  findings: Findings,
  digests: readonly DigestSpan[],
  onEntries: (count: number) => void,
): CheckedTrail {
  // The hashes first: an entry that is written meanwhile comes with its hash.
  const end = Math.max(endOfHashes(tx), endOfTrail(tx))
  const spans = inOrder(digests, findings)
  const coveredTo = spans.at(-1)?.to ?? 0
  const walk = new TrailWalk(spans, findings)
  let entries = 0
  let lastId = 0
  for (const pair of pairs(tx, end)) {
    if (pair.id > lastId + 1) reportMissing(findings, lastId + 1, pair.id - 1)
    lastId = pair.id
    if (pair.entry) entries += 1
    if (entries % batch === 0) onEntries(entries)
    walk.take(pair)
  }
  if (coveredTo > lastId) reportMissing(findings, lastId + 1, coveredTo)
  walk.end()
  return { entries, digests: spans.length, coveredTo }
}

const nameOf = (from: number, to: number) => (from === to ? `audit entry ${from}` : `audit entries ${from}-${to}`)

function reportMissing(findings: Findings, from: number, to: number): void {
  findings.add(nameOf(from, to), from === to ? 'is missing' : 'are missing')
}

/** Returns the digests that continue each other, and reports any that does not. */
function inOrder(digests: readonly DigestSpan[], findings: Findings): DigestSpan[] {
  const spans: DigestSpan[] = []
  for (const span of digests) {
    const next = (spans.at(-1)?.to ?? 0) + 1
    if (span.from !== next) {
      findings.add(`digest of ${nameOf(span.from, span.to)}`, `does not go on from audit entry ${next}`)
    }
    if (span.from >= next) spans.push(span)
  }
  return spans
}

/** Yields entries and hashes side by side, up to and with `end`, in the order of ids. */
function* pairs(tx: ReadTx, end: number): Generator<Pair> {
  for (let after = 0; after < end; ) {
    const entries = entriesBehind(tx, after, end, batch)
    const last = entries.length < batch ? end : (entries.at(-1)?.id ?? end)
    const hashes = hashTextsBehind(tx, after, last)
    let at = 0
    const strays = function* (before: number): Generator<Pair> {
      for (let stray = hashes[at]; stray && stray.entry_id < before; stray = hashes[at]) {
        at += 1
        yield { id: stray.entry_id, entry: undefined, hash: stray.hash }
      }
    }
    for (const entry of entries) {
      yield* strays(entry.id)
      const own = hashes[at]?.entry_id === entry.id ? hashes[at] : undefined
      if (own) at += 1
      yield { id: entry.id, entry, hash: own?.hash }
    }
    yield* strays(Number.POSITIVE_INFINITY)
    after = last
  }
}

/** Walks the trail, one digest after the other. */
class TrailWalk {
  readonly #spans: readonly DigestSpan[]
  readonly #findings: Findings
  #at = 0
  #stored: string[] = []
  /** Hashes computed from the entries. */
  #made: string[] = []
  /** Entries that differ from their hash. */
  #differing: number[] = []

  constructor(spans: readonly DigestSpan[], findings: Findings) {
    this.#spans = spans
    this.#findings = findings
  }

  take({ id, entry, hash }: Pair): void {
    for (let span = this.#spans[this.#at]; span && id > span.to; span = this.#spans[this.#at]) this.#close(span)
    const isCovered = id >= (this.#spans[this.#at]?.from ?? Number.POSITIVE_INFINITY)
    const made = entry && entryHashHex(entry)
    if (hash && isCovered) this.#stored.push(hash)
    if (made && isCovered) this.#made.push(made)
    if (!entry) reportMissing(this.#findings, id, id)
    // Entries from before schema 16 name no log; they get their hashes when they are digested.
    else if (!hash && (isCovered || entry.log_id !== null)) this.#findings.add(nameOf(id, id), 'its hash is missing')
    else if (made && hash && made !== hash) this.#differs(id, isCovered)
  }

  /** Closes the digests behind the last entry. */
  end(): void {
    for (let span = this.#spans[this.#at]; span; span = this.#spans[this.#at]) this.#close(span)
  }

  #differs(id: number, isCovered: boolean): void {
    if (isCovered) this.#differing.push(id)
    else
      this.#findings.add(nameOf(id, id), 'does not have its hash, and no digest covers it: one of the two was changed')
  }

  #close(span: DigestSpan): void {
    const isStored = hasRoot(span, this.#stored)
    const isMade = !isStored && hasRoot(span, this.#made)
    for (const id of this.#differing) {
      if (isStored) this.#findings.add(nameOf(id, id), 'was changed: the log covers another hash')
      else if (isMade) this.#findings.add(`hash of audit entry ${id}`, 'was changed; the entry is what the log covers')
      else this.#findings.add(nameOf(id, id), 'does not have its hash')
    }
    if (!isStored && !isMade) {
      this.#findings.add(
        nameOf(span.from, span.to),
        'do not have the root in the log: at least one was changed, removed, added or exchanged, with its hash',
      )
    }
    this.#at += 1
    this.#stored = []
    this.#made = []
    this.#differing = []
  }
}

function hasRoot({ count, root }: DigestSpan, hashes: readonly string[]): boolean {
  // A stored hash can have any length after somebody changed it.
  if (hashes.length !== count || hashes.some((hash) => hash.length !== hexDigits)) return false
  return rootInPlace(Buffer.from(hashes.join(''), 'hex'), count).toString('hex') === root
}
