import type { ReadTx, Tx } from '../database/index.ts'

/** Why a file must not be removed, with the reference of the reason: `incident`, `7`. */
export type Hold = { readonly reason: string; readonly ref: string; readonly sinceMs: number }

/** Returns a name for the files of a detection whose clip is not closed yet, because they have no hash. */
export const clipToCome = (detectionId: number): string => `detection:${detectionId}`

/** Protects the file of this hash, or what `clipToCome` names, from being removed. A repeat changes nothing. */
export function holdMedia(
  tx: Tx,
  { sha256, reason, ref }: { sha256: string; reason: string; ref: string },
  nowMs: number,
): void {
  tx.runOf('INSERT INTO media_hold VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING', [sha256, reason, ref, nowMs])
}

/** Ends all holds with this reason and reference; other holds on the same files remain. */
export function releaseMedia(tx: Tx, reason: string, ref: string): void {
  tx.runOf('DELETE FROM media_hold WHERE reason = ? AND ref = ?', [reason, ref])
}

/** Moves the holds on a detection to its files, or drops them when it has none. In the transaction of its row. */
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

/** Returns the holds on a file. Code that removes media calls it in the same transaction and keeps files with a hold. */
export function holdsOn(tx: ReadTx, sha256: string): Hold[] {
  return tx.allOf<Hold>(
    'SELECT reason, ref, created_at_ms AS sinceMs FROM media_hold WHERE sha256 = ? ORDER BY reason, ref',
    [sha256],
  )
}
