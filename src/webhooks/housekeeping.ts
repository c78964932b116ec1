import type { ReadTx, Tx } from '../database/index.ts'

/** Notifications and their settled deliveries are kept this long. */
const keptMs = 30 * 24 * 60 * 60 * 1000

/** Notifications that one write removes; each may have a delivery, with attempts, for every endpoint. */
const batchRows = 50

/**
 * The next notifications after `afterSeq` that may go: older than 30 days, looked at for every endpoint, and with no
 * delivery that waits. `lastSeq` is where to go on; absent when nothing older is left. Rows are in the order of time, so
 * the look stops at the first younger one: a search by time would read the whole month on every run.
 */
export function expired(tx: ReadTx, afterSeq: number, nowMs: number): { seqs: number[]; lastSeq: number | undefined } {
  const rows = tx.allOf<{ seq: number; atMs: number; waits: number }>(
    `SELECT seq, timestamp_ms AS atMs, EXISTS (SELECT 1 FROM delivery WHERE outbox_seq = o.seq AND state = 'pending') AS waits
     FROM outbox o WHERE seq > +? AND seq <= coalesce((SELECT min(fanned_out_seq) FROM webhook), seq) ORDER BY seq LIMIT ?`,
    [afterSeq, batchRows],
  )
  const younger = rows.findIndex((row) => row.atMs >= nowMs - keptMs)
  const old = younger === -1 ? rows : rows.slice(0, younger)
  return {
    seqs: old.filter((row) => !row.waits).map((row) => row.seq),
    lastSeq: younger === -1 ? old.at(-1)?.seq : undefined,
  }
}

/** Removes notifications with their settled deliveries; one that has got a waiting delivery since stays. */
export function removeExpired(tx: Tx, seqs: readonly number[]): void {
  const list = JSON.stringify(seqs)
  tx.runOf(`DELETE FROM delivery WHERE state <> 'pending' AND outbox_seq IN (SELECT value FROM json_each(?))`, [list])
  tx.runOf(
    `DELETE FROM outbox WHERE seq IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM delivery WHERE outbox_seq = seq)`,
    [list],
  )
}
