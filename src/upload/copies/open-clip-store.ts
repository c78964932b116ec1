import { built, change, integer, pick, type ReadTx, statement, type Tx } from '../../database/index.ts'
import { type OpenClipRow, sql, tables } from '../tables.ts'

const newOpenClip = built(pick(tables.upload_open_clip, 'detection_id', 'cctv_id', 'root', 'path', 'about'), (row) =>
  sql
    .insertInto('upload_open_clip')
    .values({ ...row, parts: 0, sent_bytes: 0, part_bytes: 0, status: 'recording', replaced_by: null })
    .onConflict((on) => on.doNothing()),
)
const byId = built(pick(tables.upload_open_clip, 'detection_id'), ({ detection_id }) =>
  sql.selectFrom('upload_open_clip').selectAll().where('detection_id', '=', detection_id),
)
const withoutId = built(pick(tables.upload_open_clip, 'detection_id'), ({ detection_id }) =>
  sql.deleteFrom('upload_open_clip').where('detection_id', '=', detection_id),
)
const every = statement({
  columns: tables.upload_open_clip,
  sql: 'SELECT * FROM main.upload_open_clip ORDER BY detection_id DESC LIMIT 100',
})
const recording = statement({
  columns: tables.upload_open_clip,
  sql: `SELECT * FROM main.upload_open_clip WHERE status = 'recording' ORDER BY detection_id`,
})
const replaced = statement({
  columns: tables.upload_open_clip,
  sql: `SELECT o.* FROM main.upload_open_clip o JOIN main.upload u ON u.kind = 'clip' AND u.ref = CAST(o.replaced_by AS TEXT)
    WHERE o.status = 'finished' AND u.status = 'uploaded' ORDER BY o.detection_id`,
})
const anyRecording = statement({
  columns: { n: integer },
  sql: `SELECT count(*) AS n FROM main.upload_open_clip WHERE status = 'recording'`,
})
const decided = change('UPDATE upload_open_clip SET part_bytes = ? WHERE detection_id = ?')
const arrived = change(
  `UPDATE upload_open_clip SET parts = parts + 1, sent_bytes = sent_bytes + part_bytes, part_bytes = 0
    WHERE detection_id = ? AND part_bytes = ?`,
)
const finished = change(`UPDATE upload_open_clip SET status = 'finished', replaced_by = ? WHERE detection_id = ?`)
const kept = change(`UPDATE upload_open_clip SET status = 'kept' WHERE detection_id = ?`)

/** Begins to send a clip while it is being recorded, once. Returns whether it is new. */
export function openClip(
  tx: Tx,
  row: Pick<OpenClipRow, 'detection_id' | 'cctv_id' | 'root' | 'path' | 'about'>,
): boolean {
  return tx.run(newOpenClip, row).changes > 0
}

export const findOpen = (tx: ReadTx, detectionId: number): OpenClipRow | undefined =>
  tx.get(byId, { detection_id: detectionId })

/** The newest hundred. */
export const openClips = (tx: ReadTx): OpenClipRow[] => tx.all(every)

export const recordingClips = (tx: ReadTx): OpenClipRow[] => tx.all(recording)

export const hasRecording = (tx: ReadTx): boolean => (tx.get(anyRecording)?.n ?? 0) > 0

/** Clips that are on the server, with their parts beside them. */
export const replacedClips = (tx: ReadTx): OpenClipRow[] => tx.all(replaced)

/** Fixes the length of the next part. */
export function decidePart(tx: Tx, detectionId: number, bytes: number): void {
  tx.run(decided, [bytes, detectionId])
}

export function notePart(tx: Tx, detectionId: number, bytes: number): void {
  tx.run(arrived, [detectionId, bytes])
}

/** The clip is recorded; the one of the detection `by` shows what the parts show. */
export function finishOpen(tx: Tx, detectionId: number, by: number): void {
  tx.run(finished, [by, detectionId])
}

/** No clip came of it: its parts stay on the server. */
export function keepParts(tx: Tx, detectionId: number): void {
  tx.run(kept, [detectionId])
}

export function forgetOpen(tx: Tx, detectionId: number): void {
  tx.run(withoutId, { detection_id: detectionId })
}
