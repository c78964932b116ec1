import { built, change, integer, pick, type ReadTx, statement, type Tx } from '../database/index.ts'
import { sql, tables } from './tables.ts'

/** Why a file must not be removed, with the reference of the reason: `incident`, `7`. */
export type Hold = { readonly reason: string; readonly ref: string; readonly sinceMs: number }

const newHold = built(tables.media_hold, (row) =>
  sql
    .insertInto('media_hold')
    .values(row)
    .onConflict((on) => on.doNothing()),
)
const alsoHeld = change(
  'INSERT INTO media_hold SELECT ?, reason, ref, created_at_ms FROM media_hold WHERE sha256 = ? ON CONFLICT DO NOTHING',
)
const withoutReason = built(pick(tables.media_hold, 'reason', 'ref'), ({ reason, ref }) =>
  sql.deleteFrom('media_hold').where('reason', '=', reason).where('ref', '=', ref),
)
const withoutAny = built(pick(tables.media_hold, 'reason'), ({ reason }) =>
  sql.deleteFrom('media_hold').where('reason', '=', reason),
)
const withoutFile = built(pick(tables.media_hold, 'sha256'), ({ sha256 }) =>
  sql.deleteFrom('media_hold').where('sha256', '=', sha256),
)
const refsOfReason = built(pick(tables.media_hold, 'reason'), ({ reason }) =>
  sql.selectFrom('media_hold').select('ref').where('reason', '=', reason).distinct(),
)
const holdsOnFile = built(pick(tables.media_hold, 'sha256'), ({ sha256 }) =>
  sql
    .selectFrom('media_hold')
    .select(['reason', 'ref', 'created_at_ms as sinceMs'])
    .where('sha256', '=', sha256)
    .orderBy('reason')
    .orderBy('ref'),
)

const holdsOnCameras = statement({
  columns: { n: integer },
  sql: `SELECT count(*) AS n FROM media_hold WHERE sha256 GLOB 'camera:*'`,
})

/** Returns a name for the files of a detection whose clip is not closed yet, because they have no hash. */
export const clipToCome = (detectionId: number): string => `detection:${detectionId}`

/** Returns the detection of a name that `clipToCome` made; undefined for other names. */
export function clipOfName(name: string): number | undefined {
  const id = /^detection:(\d{1,15})$/.exec(name)?.[1]
  return id === undefined ? undefined : Number(id)
}

/** Returns a name for all clips that a camera will record: a hold on it holds each of them from its first second. */
export const clipsToComeOf = (cctvId: number): string => `camera:${cctvId}`

/** Returns whether the clips of any camera are held so, also of one that was taken out of the config. */
export function isAnyCameraHeld(tx: ReadTx): boolean {
  return (tx.get(holdsOnCameras, [])?.n ?? 0) > 0
}

/** Protects the file of this hash, or a name from `clipToCome`, from being removed. A repeat changes nothing. */
export function holdMedia(
  tx: Tx,
  { sha256, reason, ref }: { sha256: string; reason: string; ref: string },
  nowMs: number,
): void {
  tx.run(newHold, { sha256, reason, ref, created_at_ms: nowMs })
}

/** Ends all holds with this reason and reference; other holds on the same files remain. */
export function releaseMedia(tx: Tx, reason: string, ref: string): void {
  tx.run(withoutReason, { reason, ref })
}

/** Ends all holds with this reason. */
export function releaseEvery(tx: Tx, reason: string): void {
  tx.run(withoutAny, { reason })
}

/** Moves the holds on a detection to its files, or drops them when it has none. In the transaction of its row. */
export function holdClosedClip(tx: Tx, detectionId: number, files: readonly (string | null)[]): void {
  const toCome = clipToCome(detectionId)
  for (const sha256 of files) {
    if (sha256 === null) continue
    tx.run(alsoHeld, [sha256, toCome])
  }
  tx.run(withoutFile, { sha256: toCome })
}

/** Holds a file for the same reasons as another: a copy of evidence is evidence. */
export function holdLike(tx: Tx, sha256: string, likeSha256: string): void {
  tx.run(alsoHeld, [sha256, likeSha256])
}

/** Returns the references of all holds with this reason. */
export function refsHeldFor(tx: ReadTx, reason: string): string[] {
  return tx.all(refsOfReason, { reason }).map(({ ref }) => ref)
}

/** Returns the holds on a file. Code that removes media calls it in the same transaction and keeps files with a hold. */
export function holdsOn(tx: ReadTx, sha256: string): Hold[] {
  return tx.all(holdsOnFile, { sha256 })
}
