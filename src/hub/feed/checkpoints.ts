import { isoTime } from '../../platform/index.ts'
import type { HubTx, HubWrite } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'
import type { Cosigned, Head } from './store.ts'

/**
 * Checkpoints that are kept for ever. With its two signatures one takes as much disk as seven leaves, and a gateway sends one with each
 * feed. The newest of a log is in its head. One before it tells only when it was seen: its root follows from the stored leaves, and what
 * was under it is under the newest. So of those the last of each hour is kept, and every one that the stored leaves cannot replace.
 */
const at = hubStatement('checkpoint-at', 'SELECT root, note FROM checkpoint WHERE log_id = $1 AND size = $2')
const over = hubStatement(
  'checkpoint-over',
  'SELECT note FROM checkpoint WHERE log_id = $1 AND size >= $2 ORDER BY size LIMIT 1',
)
const put = hubStatement(
  'put-checkpoint',
  `INSERT INTO checkpoint (log_id, size, root, note, cosignature, seen_at) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (log_id, size) DO NOTHING`,
)
const keptNewest = hubStatement(
  'keep-newest-checkpoint',
  `INSERT INTO checkpoint (log_id, size, root, note, cosignature, seen_at)
   SELECT h.log_id, h.witnessed_size, h.witnessed_root, h.witnessed_note, h.witnessed_cosignature, h.witnessed_at FROM log_head h
   WHERE h.log_id = $1 AND h.witnessed_note IS NOT NULL ON CONFLICT (log_id, size) DO NOTHING`,
)

const hourMs = 3_600_000

/**
 * Whether the checkpoint that was cosigned last is kept when the next one takes its place over so many stored leaves. One that is
 * ahead of the leaves proves nothing of them yet, so the one before it stays in use.
 */
export function isKept(
  { witnessedAt }: Pick<Head, 'witnessedAt'>,
  next: { readonly size: number; readonly atMs: number },
  storedSize: number,
): boolean {
  if (!witnessedAt) return false
  return hourOf(witnessedAt.getTime()) !== hourOf(next.atMs) || next.size > storedSize
}

const hourOf = (ms: number): number => Math.floor(ms / hourMs)

/** Keeps the checkpoint in the head of a log, if it has one. */
export function keepNewest(tx: HubWrite, logId: string): void {
  tx.send(keptNewest, [logId])
}

export function keepCheckpoint(tx: HubWrite, logId: string, made: Cosigned, atMs: number): void {
  tx.send(put, [logId, made.size, made.root, made.note, made.cosignature, isoTime(atMs)])
}

/** The kept checkpoint of this size. */
export async function findCheckpoint(tx: HubTx, logId: string, size: number) {
  const [row] = await tx.rows<{ root: Buffer; note: string }>(at, [logId, size])
  return row
}

/** The note of the smallest kept checkpoint over at least so many leaves. */
export async function noteOver(tx: HubTx, logId: string, size: number): Promise<string | undefined> {
  const [row] = await tx.rows<{ note: string }>(over, [logId, size])
  return row?.note
}
