import type { ReadTx, Tx } from '../database/index.ts'

/** Why a file must stay, and whose reason that is: `incident`, `7`. */
export type Hold = { readonly reason: string; readonly ref: string; readonly sinceMs: number }

/** Stands for the files of a detection whose clip is not closed yet: they have no hash to be held by. */
export const clipToCome = (detectionId: number): string => `detection:${detectionId}`

/** Keeps the file of this hash, or what `clipToCome` names, from being removed. Saying it again changes nothing. */
export function holdMedia(
  tx: Tx,
  { sha256, reason, ref }: { sha256: string; reason: string; ref: string },
  nowMs: number,
): void {
  tx.runOf('INSERT INTO media_hold VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING', [sha256, reason, ref, nowMs])
}

/** Ends all holds of this reason and ref; what others hold besides stays held. */
export function releaseMedia(tx: Tx, reason: string, ref: string): void {
  tx.runOf('DELETE FROM media_hold WHERE reason = ? AND ref = ?', [reason, ref])
}

/** The detection has its files now, or never will: who held it holds them. In the transaction of its row. */
export function holdClosedClip(tx: Tx, detectionId: number, files: readonly (string | null)[]): void {
  const toCome = clipToCome(detectionId)
  for (const sha256 of files) {
    if (sha256 === null) continue
    tx.runOf(
      `INSERT INTO media_hold SELECT ?, reason, ref, created_at_ms FROM media_hold WHERE sha256 = ? ON CONFLICT DO NOTHING`,
      [sha256, toCome],
    )
  }
  tx.runOf('DELETE FROM media_hold WHERE sha256 = ?', [toCome])
}

/** Who holds this file. Whatever removes media asks, in the transaction that removes, and leaves what anybody holds. */
export function holdsOn(tx: ReadTx, sha256: string): Hold[] {
  return tx.allOf<Hold>(
    'SELECT reason, ref, created_at_ms AS sinceMs FROM media_hold WHERE sha256 = ? ORDER BY reason, ref',
    [sha256],
  )
}
