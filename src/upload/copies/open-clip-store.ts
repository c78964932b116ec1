import { sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, type Tx } from '../../database/index.ts'
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
const every = built({}, () =>
  sql.selectFrom('upload_open_clip').selectAll().orderBy('detection_id', 'desc').limit(raw.lit(100)),
)
const recording = built({}, () =>
  sql.selectFrom('upload_open_clip').selectAll().where('status', '=', 'recording').orderBy('detection_id'),
)
const replaced = built({}, () =>
  sql
    .selectFrom('upload_open_clip as o')
    .innerJoin('upload as u', (join) =>
      join
        .on('u.kind', '=', raw.lit('clip' as const))
        .on(({ eb, cast }) => eb('u.ref', '=', cast<string>('o.replaced_by', 'text'))),
    )
    .selectAll('o')
    .where('o.status', '=', raw.lit('finished' as const))
    .where('u.status', '=', raw.lit('uploaded' as const))
    .orderBy('o.detection_id'),
)
const anyRecording = built({}, () =>
  sql
    .selectFrom('upload_open_clip')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('status', '=', 'recording'),
)
const decided = built(pick(tables.upload_open_clip, 'detection_id', 'part_bytes'), ({ detection_id, part_bytes }) =>
  sql.updateTable('upload_open_clip').set({ part_bytes }).where('detection_id', '=', detection_id),
)
const arrived = built(pick(tables.upload_open_clip, 'detection_id', 'part_bytes'), ({ detection_id, part_bytes }) =>
  sql
    .updateTable('upload_open_clip')
    .set((clip) => ({
      parts: clip('parts', '+', raw.lit(1)),
      sent_bytes: clip('sent_bytes', '+', clip.ref('part_bytes')),
      part_bytes: 0,
    }))
    .where('detection_id', '=', detection_id)
    .where('part_bytes', '=', part_bytes),
)
const finished = built({ detection_id: integer, replaced_by: integer }, ({ detection_id, replaced_by }) =>
  sql.updateTable('upload_open_clip').set({ status: 'finished', replaced_by }).where('detection_id', '=', detection_id),
)
const kept = built(pick(tables.upload_open_clip, 'detection_id'), ({ detection_id }) =>
  sql.updateTable('upload_open_clip').set({ status: 'kept' }).where('detection_id', '=', detection_id),
)

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
  tx.run(decided, { detection_id: detectionId, part_bytes: bytes })
}

export function notePart(tx: Tx, detectionId: number, bytes: number): void {
  tx.run(arrived, { detection_id: detectionId, part_bytes: bytes })
}

/** The clip is recorded; the one of the detection `by` shows what the parts show. */
export function finishOpen(tx: Tx, detectionId: number, by: number): void {
  tx.run(finished, { detection_id: detectionId, replaced_by: by })
}

/** No clip came of it: its parts stay on the server. */
export function keepParts(tx: Tx, detectionId: number): void {
  tx.run(kept, { detection_id: detectionId })
}

export function forgetOpen(tx: Tx, detectionId: number): void {
  tx.run(withoutId, { detection_id: detectionId })
}
