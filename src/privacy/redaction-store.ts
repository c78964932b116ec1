import { built, integer, pick, type ReadTx, statement, type Tx, text } from '../database/index.ts'
import { holdsOn, linkedColumns, linkedRowsSql } from '../log/index.ts'
import { redactedFile } from '../video/index.ts'
import { type RedactionEndRow, type RedactionRow, sql, tables } from './tables.ts'

/** A redaction with its end, once it has one. */
export type Redaction = { readonly asked: RedactionRow; readonly end: RedactionEndRow | undefined }

const newRedaction = built(tables.clip_redaction, (row) => sql.insertInto('clip_redaction').values(row))
const newEnd = built(tables.clip_redaction_end, (row) => sql.insertInto('clip_redaction_end').values(row))
const lastIds = statement({
  columns: { redaction: integer, end: integer },
  sql: `SELECT (SELECT coalesce(max(id), 0) FROM main.clip_redaction) AS redaction,
    (SELECT coalesce(max(id), 0) FROM main.clip_redaction_end) AS end`,
})
const byId = built(pick(tables.clip_redaction, 'id'), ({ id }) =>
  sql.selectFrom('clip_redaction').selectAll().where('id', '=', id),
)
const ofDetection = built(pick(tables.clip_redaction, 'detection_id'), ({ detection_id }) =>
  sql.selectFrom('clip_redaction').selectAll().where('detection_id', '=', detection_id).orderBy('id'),
)
const endOf = built(pick(tables.clip_redaction_end, 'redaction_id'), ({ redaction_id }) =>
  sql.selectFrom('clip_redaction_end').selectAll().where('redaction_id', '=', redaction_id),
)
const withoutEnd = statement({
  columns: tables.clip_redaction,
  sql: `SELECT * FROM main.clip_redaction r
    WHERE NOT EXISTS (SELECT 1 FROM main.clip_redaction_end e WHERE e.redaction_id = r.id) ORDER BY id`,
})
const finished = statement({
  columns: { redaction_id: integer, detection_id: integer, sha256: text, snapshot_sha256: text },
  sql: `SELECT e.redaction_id, r.detection_id, e.sha256, e.snapshot_sha256
    FROM main.clip_redaction_end e JOIN main.clip_redaction r ON r.id = e.redaction_id
    WHERE e.sha256 IS NOT NULL ORDER BY e.id`,
})

/** People who requested redactions, for verification. */
export const linksOfRedactions = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ table: 'clip_redaction', id: 'id', field: 'actor', column: 'actor_commitment', hasLeaf: false }),
})

export function nextRedactionId(tx: ReadTx): number {
  return (tx.get(lastIds)?.redaction ?? 0) + 1
}

export function appendRedaction(tx: Tx, row: RedactionRow): void {
  tx.run(newRedaction, row)
}

export function appendEnd(tx: Tx, row: Omit<RedactionEndRow, 'id'>): void {
  tx.run(newEnd, { id: (tx.get(lastIds)?.end ?? 0) + 1, ...row })
}

export function findRedaction(tx: ReadTx, id: number): Redaction | undefined {
  const asked = tx.get(byId, { id })
  return asked && { asked, end: tx.get(endOf, { redaction_id: id }) }
}

/** Returns the redactions of a detection, in the order of their requests. */
export function redactionsOf(tx: ReadTx, detectionId: number): Redaction[] {
  return tx
    .all(ofDetection, { detection_id: detectionId })
    .map((asked) => ({ asked, end: tx.get(endOf, { redaction_id: asked.id }) }))
}

/** Redactions that wait or are being made. */
export function openRedactions(tx: ReadTx): RedactionRow[] {
  return tx.all(withoutEnd)
}

export type RedactedFile = {
  readonly detectionId: number
  readonly redactionId: number
  readonly media_kind: 'clip' | 'snapshot'
  readonly sha256: string
  /** Name in the folder of the clips. */
  readonly file: string
}

const filesOf = (redactionId: number, detectionId: number, clip: string, snapshot: string): RedactedFile[] =>
  (['clip', 'snapshot'] as const).map((kind) => ({
    ...{ detectionId, redactionId, media_kind: kind, sha256: kind === 'clip' ? clip : snapshot },
    file: redactedFile({ detectionId, redactionId }, kind),
  }))

/** Returns the files of every redaction, for verification. */
export function everyRedactedFile(tx: ReadTx): RedactedFile[] {
  return tx.all(finished).flatMap((row) => filesOf(row.redaction_id, row.detection_id, row.sha256, row.snapshot_sha256))
}

/** Returns the files of the redactions of a detection: they are held and removed together with its clip. */
export function redactedFilesOf(tx: ReadTx, detectionId: number): RedactedFile[] {
  return redactionsOf(tx, detectionId).flatMap(({ asked, end }) =>
    end?.sha256 && end.snapshot_sha256 ? filesOf(asked.id, detectionId, end.sha256, end.snapshot_sha256) : [],
  )
}

/** Returns whether something holds a redacted file of a detection. */
export function isRedactedCopyHeld(tx: ReadTx, detectionId: number): boolean {
  return redactedFilesOf(tx, detectionId).some(({ sha256 }) => holdsOn(tx, sha256).length > 0)
}
