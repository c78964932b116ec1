import { sql as raw } from 'kysely'
import { built, type Head, pick, type ReadTx, type Tx } from '../database/index.ts'
import { AppError, ExitError } from '../errors/index.ts'
import { canonicalJson } from './canonical.ts'
import { type LeafFacts, type LeafKind, leafOf } from './leaf.ts'
import { leafHash, sha256 } from './merkle.ts'
import { type Stated, sql, tables } from './tables.ts'
import { storeTileOfLeaf } from './tiles.ts'

/** A log: `number` is its key in this database, `logId` its UUID for everyone else. */
export type LogIdentity = { readonly number: number; readonly logId: string; readonly siteId: string }

/** A log of the box: the growing one, or an earlier one. */
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
/** An entry bundle of a tiled log counts the bytes of a leaf in 16 bits. */
const longestLeafBytes = 65_535

const newestLog = built({}, () =>
  sql.selectFrom('log_identity').select(['id', 'log_id', 'site_id']).orderBy('id', 'desc').limit(1),
)
const newLog = built(pick(tables.log_identity, 'id', 'log_id', 'site_id', 'created_at_ms'), (row) =>
  sql.insertInto('log_identity').values(row),
)
const newForkedLog = built(tables.log_identity, (row) => sql.insertInto('log_identity').values(row))
const anyLog = built({}, () => sql.selectFrom('log_identity').select(raw.lit(1).as('found')).limit(raw.lit(1)))
const logNumber = built(pick(tables.log_identity, 'log_id'), ({ log_id }) =>
  sql.selectFrom('log_identity').select('id').where('log_id', '=', log_id),
)
const logId = built(pick(tables.log_identity, 'id'), ({ id }) =>
  sql.selectFrom('log_identity').select('log_id').where('id', '=', id),
)
const newestNumber = built({}, () =>
  sql.selectFrom('log_identity').select(({ fn }) => fn.max<number | null>('id').as('n')),
)
const everyLog = built({}, () =>
  sql
    .selectFrom('log_identity as i')
    .select(['i.id', 'i.log_id', 'i.site_id', 'i.parent_log_id', 'i.parent_size'])
    .select(({ selectFrom }) =>
      selectFrom('log_leaf as l')
        .select(({ fn }) => fn.max<number | null>('l.seq').as('seq'))
        .whereRef('l.log_id', '=', 'i.id')
        .as('size'),
    )
    .orderBy('i.id'),
)
const lastLeaf = built({}, () => sql.selectFrom('log_leaf').select(({ fn }) => fn.max<number | null>('row').as('row')))
const lastSeq = built(pick(tables.log_leaf, 'log_id'), ({ log_id }) =>
  sql
    .selectFrom('log_leaf')
    .select(({ fn }) => fn.max<number | null>('seq').as('seq'))
    .where('log_id', '=', log_id),
)
const newLeaf = built(tables.log_leaf, (row) => sql.insertInto('log_leaf').values(row))

/**
 * Returns the log that grows, or makes the first one. Throws ExitError when the log belongs to another site: its leaves carry
 * that site's id.
 */
export function identifyLog(tx: Tx, siteId: string, makeId: () => string, nowMs: number): LogIdentity {
  const known = tx.get(newestLog)
  if (known && known.site_id !== siteId) {
    throw new ExitError(
      1,
      `this ledger belongs to site ${known.site_id}, the config says ${siteId}; correct site.id or dataDir`,
    )
  }
  if (known) return { number: known.id, logId: known.log_id, siteId }
  const logId = makeId()
  tx.run(newLog, { id: 1, log_id: logId, site_id: siteId, created_at_ms: nowMs })
  return { number: 1, logId, siteId }
}

/**
 * Begins a log of another site. Throws ExitError when a log of the box has leaves: they carry their site for good. A log
 * without leaves stays where it is, because an empty head of it may have been signed.
 */
export function beginLogOf(tx: Tx, siteId: string, makeId: () => string, nowMs: number): void {
  const logs = knownLogs(tx)
  const last = logs.at(-1)
  if (!last || last.siteId === siteId) return
  const used = logs.find(({ size }) => size > 0)
  if (used) throw new ExitError(1, `this ledger belongs to site ${used.siteId}, and its log has leaves`)
  tx.run(newLog, { id: last.number + 1, log_id: makeId(), site_id: siteId, created_at_ms: nowMs })
}

/** Makes a log that continues another one as it is; it is the growing one from now on. */
export function newIdentity(tx: Tx, parent: KnownLog, logId: string, nowMs: number): LogIdentity {
  const number = parent.number + 1
  tx.run(newForkedLog, {
    id: number,
    log_id: logId,
    site_id: parent.siteId,
    parent_log_id: parent.logId,
    parent_size: parent.size,
    created_at_ms: nowMs,
  })
  return { number, logId, siteId: parent.siteId }
}

/** Returns every log of the box; the last one grows. */
export function knownLogs(tx: ReadTx): KnownLog[] {
  return tx.all(everyLog).map((row) => ({
    number: row.id,
    logId: row.log_id,
    siteId: row.site_id,
    parent:
      row.parent_log_id === null || row.parent_size === null
        ? null
        : { logId: row.parent_log_id, size: row.parent_size },
    size: row.size ?? 0,
  }))
}

/** Returns how many leaves a log has now. */
export function leafCount(tx: ReadTx, log: number): number {
  return tx.get(lastSeq, { log_id: log })?.seq ?? 0
}

/** Looks whether the ledger can be read at all. */
export function lookAtLog(tx: ReadTx): void {
  tx.get(anyLog)
}

/** Returns the number by which the rows of this box name a log. */
export function numberOfLog(tx: ReadTx, id: string): number | undefined {
  return tx.get(logNumber, { log_id: id })?.id
}

/** Returns the UUID of a log. */
export function idOfLog(tx: ReadTx, number: number): string | undefined {
  return tx.get(logId, { id: number })?.log_id
}

/** Returns the number of the growing log. */
export function newestLogNumber(tx: ReadTx): number | undefined {
  return tx.get(newestNumber)?.n ?? undefined
}

/** The log that grows. Its head is in memory and follows the commits. */
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
    const all = tx.get(lastLeaf)?.row ?? 0
    const size = tx.get(lastSeq, { log_id: identity.number })?.seq ?? 0
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

  /**
   * Appends the leaf that states row `ref`. Append the row itself in the same transaction, with the columns that come back.
   * Throws VALIDATION_ERROR when the facts need more than 65,535 bytes.
   */
  append(tx: Tx, kind: LeafKind, ref: string, facts: LeafFacts): AppendedLeaf {
    const seq = this.#size + 1
    const { number, logId, siteId } = this.identity
    const leaf = leafOf({ v: writtenVersion, kind, logId, siteId, seq }, facts)
    const bytes = Buffer.from(canonicalJson(leaf), 'utf8')
    if (bytes.length > longestLeafBytes) throw tooLong(kind, bytes.length)
    tx.run(newLeaf, { row: this.#before + seq, log_id: number, seq, kind, ref, bytes, hash: leafHash(bytes) })
    storeTileOfLeaf(tx, number, seq)
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

function tooLong(kind: LeafKind, length: number): AppError {
  const details = `A leaf of the kind ${kind} takes at most ${longestLeafBytes} bytes. Send less at once: fewer or shorter addresses.`
  return new AppError('VALIDATION_ERROR', `This needs ${length} bytes in the log`, { details })
}
