import type { Head, ReadTx, Tx } from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import { canonicalJson } from './canonical.ts'
import { type LeafFacts, type LeafKind, leafV1 } from './leaf.ts'
import { leafHash, sha256 } from './merkle.ts'

export type LogIdentity = { readonly logId: string; readonly siteId: string }

export type AppendedLeaf = {
  /** 1, 2, 3 …; the next leaf of this transaction has one more. */
  readonly seq: number
  /** SHA-256 of the leaf's bytes, 64 hex digits. */
  readonly evidenceHash: string
}

/**
 * Reads who this log is, or makes it at first start. Throws ExitError when the log is another site's: its leaves
 * carry that site's id and would be continued under a false name.
 */
export function identifyLog(tx: Tx, siteId: string, makeId: () => string, nowMs: number): LogIdentity {
  const known = tx.oneOf<{ log_id: string; site_id: string }>('SELECT log_id, site_id FROM log_identity')
  if (known && known.site_id !== siteId) {
    throw new ExitError(
      1,
      `this ledger belongs to site ${known.site_id}, the config says ${siteId}; correct site.id or dataDir`,
    )
  }
  if (known) return { logId: known.log_id, siteId }
  const logId = makeId()
  tx.runOf('INSERT INTO log_identity VALUES (1, ?, ?, ?)', [logId, siteId, nowMs])
  return { logId, siteId }
}

/** The one log of the box. Its head is in memory and follows the commits. */
export class Log implements Head {
  readonly identity: LogIdentity
  #size: number

  constructor(options: { identity: LogIdentity; size: number }) {
    this.identity = options.identity
    this.#size = options.size
  }

  static sizeOf(tx: ReadTx): number {
    return tx.oneOf<{ size: number }>('SELECT coalesce(max(seq), 0) AS size FROM log_leaf')?.size ?? 0
  }

  /** Number of leaves, committed ones only outside of a write. */
  get size(): number {
    return this.#size
  }

  /** Appends the leaf that states row `ref`. Append the row itself in the same transaction, with what comes back. */
  append(tx: Tx, kind: LeafKind, ref: string, facts: LeafFacts): AppendedLeaf {
    const seq = this.#size + 1
    const bytes = Buffer.from(canonicalJson(leafV1({ kind, seq, ...this.identity }, facts)), 'utf8')
    tx.runOf('INSERT INTO log_leaf (seq, kind, ref, bytes, hash) VALUES (?, ?, ?, ?, ?)', [
      seq,
      kind,
      ref,
      bytes,
      leafHash(bytes),
    ])
    this.#size = seq
    return { seq, evidenceHash: sha256(bytes).toString('hex') }
  }

  save(): number {
    return this.#size
  }

  restore(saved: unknown): void {
    this.#size = saved as number
  }
}
