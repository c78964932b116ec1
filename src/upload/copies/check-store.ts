import { sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, type Tx } from '../../database/index.ts'
import type { FolderId } from '../dav/folder-facts.ts'
import { sql, tables, type UploadRow } from '../tables.ts'

const dayMs = 86_400_000
/** Each copy is compared at least once a month. The rest of the month is for servers that are away. */
const everyMs = 25 * dayMs
/** Delay after a comparison that had no result. */
const againMs = 3_600_000
/** The due time of a copy that is never compared again. Its row stays: a copy without one is put in at each start. */
const neverMs = Number.MAX_SAFE_INTEGER
const rowsAtOnce = 200
/** Evidence. Copies of the ledger are removed when newer ones have followed. */
const checkedKinds = [raw.lit('clip' as const), raw.lit('photo' as const), raw.lit('report' as const)]

const scheduled = built(tables.upload_check, (row) =>
  sql
    .insertInto('upload_check')
    .values(row)
    .onConflict((on) =>
      on.column('upload_id').doUpdateSet({ due_at_ms: row.due_at_ms, compared_at_ms: row.compared_at_ms }),
    ),
)
const postponed = built(pick(tables.upload_check, 'upload_id', 'due_at_ms'), ({ upload_id, due_at_ms }) =>
  sql.updateTable('upload_check').set({ due_at_ms }).where('upload_id', '=', upload_id),
)
const unscheduled = built({ id: integer, delay: integer }, ({ id, delay }) =>
  sql
    .insertInto('upload_check')
    .columns(['upload_id', 'due_at_ms', 'compared_at_ms'])
    .expression(
      sql
        .selectFrom('upload')
        .select(({ eb }) => ['id', eb('uploaded_at_ms', '+', delay).as('due_at_ms'), 'uploaded_at_ms'])
        .where('id', '>', id)
        .where('status', '=', raw.lit('uploaded' as const))
        .where('kind', 'in', checkedKinds)
        .where('id', 'not in', sql.selectFrom('upload_check').select('upload_id'))
        .orderBy('id')
        .limit(raw.lit(rowsAtOnce)),
    ),
)
const firstDue = built({}, () =>
  sql
    .selectFrom('upload_check')
    .select(['upload_id as id', 'due_at_ms as dueMs'])
    .where('due_at_ms', '<', raw.lit(neverMs))
    .orderBy('due_at_ms')
    .orderBy('upload_id')
    .limit(raw.lit(1)),
)
const comparedAt = built(pick(tables.upload_check, 'upload_id'), ({ upload_id }) =>
  sql
    .selectFrom('upload_check')
    .select('compared_at_ms')
    .where('upload_id', '=', upload_id)
    .where('due_at_ms', '<', neverMs),
)
const folderOf = built(pick(tables.upload_folder, 'instance', 'username', 'root'), ({ instance, username, root }) =>
  sql
    .selectFrom('upload_folder')
    .select(['file_id', 'owner'])
    .where('instance', '=', instance)
    .where('username', '=', username)
    .where('root', '=', root),
)
const newFolder = built(tables.upload_folder, (row) =>
  sql
    .insertInto('upload_folder')
    .values(row)
    .onConflict((on) => on.doNothing()),
)

/** Whether copies of such files are compared again. */
export const isChecked = ({ kind }: Pick<UploadRow, 'kind'>): boolean =>
  kind === 'clip' || kind === 'photo' || kind === 'report'

/** The copy was compared now and is the same: it is compared again before a month has passed. */
export function scheduleCheck(tx: Tx, row: Pick<UploadRow, 'id' | 'kind'>, nowMs: number): void {
  if (isChecked(row)) tx.run(scheduled, { upload_id: row.id, due_at_ms: nowMs + everyMs, compared_at_ms: nowMs })
}

/** Puts the next copies behind an id in that an older program has made. Returns the last id; undefined at the end. */
export function scheduleUnknown(tx: Tx, behind: number): number | undefined {
  const { changes, lastId } = tx.run(unscheduled, { id: behind, delay: everyMs })
  return changes < rowsAtOnce ? undefined : lastId
}

/** A comparison without a result is made again in an hour. */
export function postponeCheck(tx: Tx, uploadId: number, nowMs: number): void {
  tx.run(postponed, { upload_id: uploadId, due_at_ms: nowMs + againMs })
}

/** The copy is on another server than the present one: whether it still is, is asked again before a month has passed. */
export function skipCheck(tx: Tx, uploadId: number, nowMs: number): void {
  tx.run(postponed, { upload_id: uploadId, due_at_ms: nowMs + everyMs })
}

/** Has a copy compared at once. */
export function hurryCheck(tx: Tx, uploadId: number): void {
  tx.run(postponed, { upload_id: uploadId, due_at_ms: 0 })
}

/** The copy is not compared again until it is uploaded anew. */
export function endCheck(tx: Tx, uploadId: number): void {
  tx.run(postponed, { upload_id: uploadId, due_at_ms: neverMs })
}

/** The copy that is compared next, and when; undefined without one. */
export const nextCheck = (tx: ReadTx): { readonly id: number; readonly dueMs: number } | undefined => tx.get(firstDue)

/** When a copy was last compared and was the same; undefined where it is not compared again. */
export const comparedAtMs = (tx: ReadTx, uploadId: number): number | undefined =>
  tx.get(comparedAt, { upload_id: uploadId })?.compared_at_ms

type FolderKey = { readonly instance: string; readonly username: string; readonly root: string }

/** The folder as the first upload found it. */
export function firstFolder(tx: ReadTx, key: FolderKey): FolderId | undefined {
  const row = tx.get(folderOf, key)
  return row && { fileId: row.file_id, ownerId: row.owner }
}

export function rememberFolder(tx: Tx, key: FolderKey, { fileId, ownerId }: FolderId): void {
  tx.run(newFolder, { ...key, file_id: fileId, owner: ownerId })
}
