import { type NotNull, sql as raw } from 'kysely'
import { built, pick, type ReadTx, statement, type Tx } from '../database/index.ts'
import { holdsOn, linkedColumns, linkedRowsSql } from '../log/index.ts'
import { redactedFile } from '../video/index.ts'
import { type RedactionEndRow, type RedactionRow, sql, tables } from './tables.ts'

/** A redaction with its end, once it has one. */
export type Redaction = { readonly asked: RedactionRow; readonly end: RedactionEndRow | undefined }

const newRedaction = built(tables.clip_redaction, (row) => sql.insertInto('clip_redaction').values(row))
const newEnd = built(tables.clip_redaction_end, (row) => sql.insertInto('clip_redaction_end').values(row))
const newest = built({}, () => sql.selectFrom('clip_redaction').select('id').orderBy('id', 'desc').limit(raw.lit(1)))
const newestEnd = built({}, () =>
  sql.selectFrom('clip_redaction_end').select('id').orderBy('id', 'desc').limit(raw.lit(1)),
)
const byId = built(pick(tables.clip_redaction, 'id'), ({ id }) =>
  sql.selectFrom('clip_redaction').selectAll().where('id', '=', id),
)
const ofDetection = built(pick(tables.clip_redaction, 'detection_id'), ({ detection_id }) =>
  sql.selectFrom('clip_redaction').selectAll().where('detection_id', '=', detection_id).orderBy('id'),
)
const endOf = built(pick(tables.clip_redaction_end, 'redaction_id'), ({ redaction_id }) =>
  sql.selectFrom('clip_redaction_end').selectAll().where('redaction_id', '=', redaction_id),
)
const withoutEnd = built({}, () =>
  sql
    .selectFrom('clip_redaction as r')
    .selectAll()
    .where(({ exists, not, selectFrom }) =>
      not(exists(selectFrom('clip_redaction_end as e').select('e.id').whereRef('e.redaction_id', '=', 'r.id'))),
    )
    .orderBy('r.id'),
)
const finished = built({}, () =>
  sql
    .selectFrom('clip_redaction_end as e')
    .innerJoin('clip_redaction as r', 'r.id', 'e.redaction_id')
    .select(['e.redaction_id', 'r.detection_id', 'e.sha256', 'e.snapshot_sha256'])
    .where('e.sha256', 'is not', null)
    .orderBy('e.id')
    // One that was made has both files.
    .$narrowType<{ sha256: NotNull; snapshot_sha256: NotNull }>(),
)

/** People who requested redactions, for verification. */
export const linksOfRedactions = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ table: 'clip_redaction', id: 'id', field: 'actor', column: 'actor_commitment', hasLeaf: false }),
})

export function nextRedactionId(tx: ReadTx): number {
  return (tx.get(newest)?.id ?? 0) + 1
}

export function appendRedaction(tx: Tx, row: RedactionRow): void {
  tx.run(newRedaction, row)
}

export function appendEnd(tx: Tx, row: Omit<RedactionEndRow, 'id'>): void {
  tx.run(newEnd, { id: (tx.get(newestEnd)?.id ?? 0) + 1, ...row })
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
    detectionId,
    redactionId,
    media_kind: kind,
    sha256: kind === 'clip' ? clip : snapshot,
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
