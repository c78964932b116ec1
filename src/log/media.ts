import type { ReadTx, Tx } from '../database/index.ts'
import type { People, Person } from './people.ts'

export type Media = {
  readonly sha256: string
  readonly kind: 'photo' | 'clip' | 'snapshot'
  readonly mediaType: string
  readonly sizeBytes: number
  readonly receivedAtMs: number
}

type Row = { sha256: string; kind: Media['kind']; media_type: string; size_bytes: number; received_at_ms: number }

/** Returns the row of a stored file, or undefined. */
export function findMedia(tx: ReadTx, sha256: string): Media | undefined {
  const row = tx.oneOf<Row>('SELECT sha256, kind, media_type, size_bytes, received_at_ms FROM media WHERE sha256 = ?', [
    sha256,
  ])
  return (
    row && {
      sha256: row.sha256,
      kind: row.kind,
      mediaType: row.media_type,
      sizeBytes: row.size_bytes,
      receivedAtMs: row.received_at_ms,
    }
  )
}

/**
 * Adds the row of a file that is already on disk (fsynced, under its hash), with the person who brought it; without a person
 * for files of the gateway itself. The same bytes again add nothing.
 * @returns whether a row was added
 */
export function addMedia(tx: Tx, media: Media, broughtBy?: { people: People; person: Person }): boolean {
  if (findMedia(tx, media.sha256)) return false
  const row = (tx.oneOf<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM main.media')?.id ?? 0) + 1
  const place = { subject: 'media', row, field: 'actor' }
  tx.runOf(
    `INSERT INTO main.media (id, sha256, kind, media_type, size_bytes, received_at_ms, actor_commitment)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [
      row,
      media.sha256,
      media.kind,
      media.mediaType,
      media.sizeBytes,
      media.receivedAtMs,
      broughtBy ? broughtBy.people.inRow(tx, broughtBy.person, place) : null,
    ],
  )
  return true
}
