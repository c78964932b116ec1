import type { Head, ReadTx, Stated, Tx } from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import { canonicalJson } from './canonical.ts'
import { type LeafFacts, type LeafKind, leafOf } from './leaf.ts'
import { leafHash, sha256 } from './merkle.ts'

/** A log: `number` is its key in this database, `logId` its UUID for everyone else. */
export type LogIdentity = { readonly number: number; readonly logId: string; readonly siteId: string }

/** A log of the box: the one that grows, or an earlier one. */
export type KnownLog = LogIdentity & {
  /** The log that this one continues, and the number of leaves taken over; null when it began empty. */
  readonly parent: { readonly logId: string; readonly size: number } | null
  /** Number of leaves. */
  readonly size: number
}

/** The place of a leaf; the commitments of its people are made for this place. */
export type LeafPlace = { readonly logId: string; readonly seq: number }

/** Columns that a row has from its leaf. Its `leaf_seq` is 1, 2, 3 …; its `evidence_hash` is SHA-256 of the leaf's bytes, hex. */
export type AppendedLeaf = Readonly<Stated>

const writtenVersion = 2

/**
 * Returns the log that grows, or makes the first one. Throws ExitError when the log belongs to another site: its leaves carry
 * that site's id.
 */
export function identifyLog(tx: Tx, siteId: string, makeId: () => string, nowMs: number): LogIdentity {
  const known = tx.oneOf<{ id: number; log_id: string; site_id: string }>(
    'SELECT id, log_id, site_id FROM log_identity ORDER BY id DESC LIMIT 1',
  )
  if (known && known.site_id !== siteId) {
    throw new ExitError(
      1,
      `this ledger belongs to site ${known.site_id}, the config says ${siteId}; correct site.id or dataDir`,
    )
  }
  if (known) return { number: known.id, logId: known.log_id, siteId }
  const logId = makeId()
  tx.runOf('INSERT INTO log_identity (id, log_id, site_id, created_at_ms) VALUES (1, ?, ?, ?)', [logId, siteId, nowMs])
  return { number: 1, logId, siteId }
}

/** Returns every log of the box; the last one grows. */
export function knownLogs(tx: ReadTx): KnownLog[] {
  const rows = tx.allOf<{
    id: number
    log_id: string
    site_id: string
    parent_log_id: string | null
    parent_size: number | null
    size: number
  }>(
    `SELECT i.id, i.log_id, i.site_id, i.parent_log_id, i.parent_size,
       (SELECT coalesce(max(seq), 0) FROM main.log_leaf l WHERE l.log_id = i.id) AS size
     FROM main.log_identity i ORDER BY i.id`,
  )
  return rows.map((row) => ({
    number: row.id,
    logId: row.log_id,
    siteId: row.site_id,
    parent:
      row.parent_log_id === null || row.parent_size === null
        ? null
        : { logId: row.parent_log_id, size: row.parent_size },
    size: row.size,
  }))
}

/** The log that grows. Its size is in memory and follows the commits. */
export class Log implements Head {
  readonly identity: LogIdentity
  /** Leaves of the logs before it. */
  readonly #before: number
  #size: number

  constructor(options: { identity: LogIdentity; size: number; before?: number }) {
    this.identity = options.identity
    this.#size = options.size
    this.#before = options.before ?? 0
  }

  /** Reads the size of the log that grows from the database. */
  static open(tx: ReadTx, identity: LogIdentity): Log {
    const all = tx.oneOf<{ n: number }>('SELECT coalesce(max(row), 0) AS n FROM log_leaf')?.n ?? 0
    const size =
      tx.oneOf<{ n: number }>('SELECT coalesce(max(seq), 0) AS n FROM log_leaf WHERE log_id = ?', [identity.number])
        ?.n ?? 0
    return new Log({ identity, size, before: all - size })
  }

  /** Number of leaves, committed ones only outside of a write. */
  get size(): number {
    return this.#size
  }

  /** Returns the place of the next leaf of this transaction. Make the commitments for it, then call `append`. */
  next(): LeafPlace {
    return { logId: this.identity.logId, seq: this.#size + 1 }
  }

  /** Appends the leaf that states row `ref`. Append the row itself in the same transaction, with the columns that come back. */
  append(tx: Tx, kind: LeafKind, ref: string, facts: LeafFacts): AppendedLeaf {
    const seq = this.#size + 1
    const { number, logId, siteId } = this.identity
    const leaf = leafOf({ v: writtenVersion, kind, logId, siteId, seq }, facts)
    const bytes = Buffer.from(canonicalJson(leaf), 'utf8')
    tx.runOf('INSERT INTO log_leaf (row, log_id, seq, kind, ref, bytes, hash) VALUES (?, ?, ?, ?, ?, ?, ?)', [
      this.#before + seq,
      number,
      seq,
      kind,
      ref,
      bytes,
      leafHash(bytes),
    ])
    this.#size = seq
    return {
      log_id: number,
      leaf_seq: seq,
      leaf_version: writtenVersion,
      evidence_hash: sha256(bytes).toString('hex'),
    }
  }

  save(): number {
    return this.#size
  }

  restore(saved: unknown): void {
    this.#size = saved as number
  }
}
