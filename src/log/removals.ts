import { sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, type RowOf, statement, type Tx } from '../database/index.ts'
import type { MediaRemoval } from '../errors/index.ts'
import { isoTime } from '../platform/index.ts'
import type { LeafFacts } from './leaf.ts'
import { statedSql } from './leaves.ts'
import type { Log } from './log.ts'
import { type Stated, sql, tables } from './tables.ts'

/** A file that was removed on purpose. */
export type MediaRemovalRow = RowOf<typeof tables.media_removed>

/** A removal before its leaf is appended. */
export type UnsealedRemoval = Omit<MediaRemovalRow, keyof Stated>

/** A file to remove, with the cause. */
export type Removal = Pick<MediaRemovalRow, 'sha256' | 'media_kind' | 'detection_id' | 'cause' | 'policy'> & {
  /** Path of the file below the data folder. */
  readonly path: string
}

const endOfRemovals = built({}, () =>
  sql
    .selectFrom('media_removed')
    .select(({ fn, selectFrom }) => [
      fn.max<number | null>('id').as('id'),
      selectFrom('media_removed').select('removed_at_ms').orderBy('id', 'desc').limit(raw.lit(1)).as('at'),
    ]),
)
const newRemoval = built(tables.media_removed, (row) => sql.insertInto('media_removed').values(row))
const newUnlink = built(tables.media_unlink, (row) => sql.insertInto('media_unlink').values(row))
const nextUnlinks = built({ removal_id: integer }, ({ removal_id }) =>
  sql
    .selectFrom('media_unlink')
    .select(['removal_id', 'path'])
    .where('removal_id', '>', removal_id)
    .orderBy('removal_id')
    .limit(raw.lit(100)),
)
const withoutUnlink = built({ removal_id: integer }, ({ removal_id }) =>
  sql.deleteFrom('media_unlink').where('removal_id', '=', removal_id),
)
const newestOfFile = built(pick(tables.media_removed, 'sha256'), ({ sha256 }) =>
  sql
    .selectFrom('media_removed as r')
    .selectAll('r')
    .where('r.sha256', '=', sha256)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('media_return as b')
            .select(raw.lit(1).as('found'))
            .whereRef('b.sha256', '=', 'r.sha256')
            .whereRef('b.removal_id', '>=', 'r.id'),
        ),
      ),
    )
    .orderBy('r.id', 'desc')
    .limit(raw.lit(1)),
)
const ofDetection = built({ detection_id: integer }, ({ detection_id }) =>
  sql.selectFrom('media_removed').selectAll().where('detection_id', '=', detection_id).orderBy('id'),
)
const newReturn = built(tables.media_return, ({ sha256, removal_id }) =>
  sql
    .insertInto('media_return')
    .values({ sha256, removal_id })
    .onConflict((on) => on.column('sha256').doUpdateSet({ removal_id })),
)

const asked = statedSql('media_removed', 'media-removed')

/** The rows that leaves state, for verification. */
export const statedRemovals = {
  between: statement({ columns: tables.media_removed, sql: asked.between }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

/** Returns the facts of a media-removed leaf, made from the row alone. */
export function removalFacts(row: UnsealedRemoval): LeafFacts {
  return {
    eventId: row.event_id,
    id: row.id,
    sha256: row.sha256,
    mediaKind: row.media_kind,
    ...(row.detection_id !== null && { detectionId: row.detection_id }),
    cause: row.cause,
    policy: row.policy,
    removedAt: isoTime(row.removed_at_ms),
  }
}

/**
 * Writes that a file is removed: row, leaf, and the note that the file has to go. Call `holdsOn` in the same transaction
 * before. The file itself is unlinked after the commit, by the worker of `unlinksAfter`.
 */
export function removeMedia(
  tx: Tx,
  { path, ...removal }: Removal,
  { log, makeId, nowMs }: { log: Log; makeId: () => string; nowMs: number },
): void {
  const end = tx.get(endOfRemovals)
  const unsealed: UnsealedRemoval = {
    ...removal,
    id: (end?.id ?? 0) + 1,
    event_id: makeId(),
    removed_at_ms: Math.max(nowMs, end?.at ?? 0),
  }
  const leaf = log.append(tx, 'media-removed', String(unsealed.id), removalFacts(unsealed))
  tx.run(newRemoval, { ...unsealed, ...leaf })
  tx.run(newUnlink, { removal_id: unsealed.id, path })
}

/** Returns files that have to go, in the order of their removal, at most 100. */
export function unlinksAfter(tx: ReadTx, removalId: number): { removalId: number; path: string }[] {
  return tx.all(nextUnlinks, { removal_id: removalId }).map(({ removal_id, path }) => ({ removalId: removal_id, path }))
}

/** Forgets that a file has to go: it has gone, or it is wanted again. */
export function unlinked(tx: Tx, removalId: number): void {
  tx.run(withoutUnlink, { removal_id: removalId })
}

/** Returns time and cause of a removal, for answers. */
export function mediaRemoval({ removed_at_ms, cause, policy }: MediaRemovalRow): MediaRemoval {
  const days = /Days: (\d+)$/.exec(policy)?.[1]
  return { removedAt: isoTime(removed_at_ms), cause, policy, keptDays: days === undefined ? null : Number(days) }
}

/** Returns the removal of a photo; undefined while the gateway holds it. For clips use `removalsOfDetection`. */
export function removalOf(tx: ReadTx, sha256: string): MediaRemovalRow | undefined {
  return tx.get(newestOfFile, { sha256 })
}

/** Returns what was removed of a detection: its clip, its snapshot, or nothing. */
export function removalsOfDetection(tx: ReadTx, detectionId: number): MediaRemovalRow[] {
  return tx.all(ofDetection, { detection_id: detectionId })
}

/** Notes that a removed photo was sent again: the gateway holds it from now on, until the next removal. */
export function returnMedia(tx: Tx, removal: Pick<MediaRemovalRow, 'id' | 'sha256'>): void {
  tx.run(newReturn, { sha256: removal.sha256, removal_id: removal.id })
  unlinked(tx, removal.id)
}
