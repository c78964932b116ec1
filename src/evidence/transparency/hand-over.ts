import { built, integer, pick, type ReadTx, type RowOf, statement, type Tx } from '../../database/index.ts'
import { type KnownLog, type LeafFacts, type Stated, signedSize, statedSql } from '../../log/index.ts'
import { isoTime } from '../../platform/index.ts'
import { originOfLog } from '../../proof/index.ts'
import { sql, tables } from '../tables.ts'
import { type NoteKey, noteKey, readVkey, vkeyOf } from './note.ts'

/** A change of the keys of a log: vkeys before and after. */
export type HandOverRow = RowOf<typeof tables.log_key>

/** A row before its leaf is appended. */
export type UnsealedHandOver = Omit<HandOverRow, keyof Stated>

/** Returns the facts of a log-key leaf, made from the row alone. */
export function handOverFacts(row: UnsealedHandOver): LeafFacts {
  return {
    eventId: row.event_id,
    id: row.id,
    timestamp: isoTime(row.handed_over_at_ms),
    previousKeys: [row.previous_ed25519, row.previous_ml_dsa_44],
    keys: [row.ed25519, row.ml_dsa_44],
  }
}

/** The keys that a log-key leaf names: Ed25519, then ML-DSA-44. `seq` is the leaf's number. */
export type HandOver = {
  readonly seq: number
  readonly previousKeys: readonly [NoteKey, NoteKey]
  readonly keys: readonly [NoteKey, NoteKey]
}

/** Reads a hand-over from the parsed bytes of a leaf; undefined when it does not name two pairs of keys of this origin. */
export function readHandOver(
  { previousKeys, keys, seq }: Readonly<Record<string, unknown>>,
  origin: string,
): HandOver | undefined {
  const before = pairOf(previousKeys, origin)
  const after = pairOf(keys, origin)
  return before && after && typeof seq === 'number' ? { seq, previousKeys: before, keys: after } : undefined
}

function pairOf(value: unknown, origin: string): readonly [NoteKey, NoteKey] | undefined {
  const [first, second, ...more] = Array.isArray(value) ? value : []
  const ed25519 = typeof first === 'string' ? readVkey(first) : undefined
  const mlDsa44 = typeof second === 'string' ? readVkey(second) : undefined
  const isPair = ed25519?.type === 1 && mlDsa44?.type === 6 && more.length === 0
  return isPair && ed25519.name === origin && mlDsa44.name === origin ? [ed25519, mlDsa44] : undefined
}

/** Tells whether two pairs of keys are the same. */
export function isSamePair(one: readonly [NoteKey, NoteKey], other: readonly [NoteKey, NoteKey]): boolean {
  return vkeyOf(one[0]) === vkeyOf(other[0]) && vkeyOf(one[1]) === vkeyOf(other[1])
}

const newHandOver = built(tables.log_key, (row) => sql.insertInto('log_key').values(row))
const newest = statement({
  columns: pick(tables.log_key, 'id', 'handed_over_at_ms'),
  sql: 'SELECT id, handed_over_at_ms FROM main.log_key ORDER BY id DESC LIMIT 1',
})
const ofLog = statement({
  columns: tables.log_key,
  sql: 'SELECT * FROM main.log_key WHERE log_id = +? ORDER BY leaf_seq',
})
const every = statement({ columns: tables.log_key, sql: 'SELECT * FROM main.log_key ORDER BY id' })
const asked = statedSql('log_key', 'log-key')

/** The rows that leaves state, for verification. */
export const statedHandOvers = {
  between: statement({ columns: tables.log_key, sql: asked.between }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

/** Returns the end of the hand-overs of all logs: number and time of the newest one; zeros before the first. */
export function endOfHandOvers(tx: ReadTx): Pick<HandOverRow, 'id' | 'handed_over_at_ms'> {
  return tx.get(newest) ?? { id: 0, handed_over_at_ms: 0 }
}

/** Appends the row of a hand-over. */
export function appendHandOver(tx: Tx, row: HandOverRow): void {
  tx.run(newHandOver, row)
}

/** Returns the number of the newest log-key leaf of a log that a checkpoint covers; undefined when there is none. */
export function signedHandOver(tx: ReadTx, log: number): number | undefined {
  const size = signedSize(tx, log)
  return handOversOf(tx, log).findLast(({ leaf_seq }) => leaf_seq <= size)?.leaf_seq
}

/** Returns the hand-overs of a log, in the order of its leaves. */
export function handOversOf(tx: ReadTx, log: number): HandOverRow[] {
  return tx.all(ofLog, [log])
}

/**
 * Returns the verifier keys that this box has had, under the name of one of its logs. A key pair signs every log of the box, and
 * its public key is the same under each name.
 * @param present the keys that sign now
 */
export function keysOfBox(
  tx: ReadTx,
  log: Pick<KnownLog, 'siteId' | 'logId'>,
  present: readonly NoteKey[],
): readonly NoteKey[] {
  const named = tx
    .all(every)
    .flatMap((row) => [row.previous_ed25519, row.previous_ml_dsa_44, row.ed25519, row.ml_dsa_44])
    .flatMap((vkey) => readVkey(vkey) ?? [])
  const origin = originOfLog(log)
  const renamed = [...present, ...named].map(({ type, publicKey }) => noteKey(origin, type, publicKey))
  return [...new Map(renamed.map((key) => [vkeyOf(key), key])).values()]
}
