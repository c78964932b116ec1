import type { ReadTx, Tx } from '../database/index.ts'

export type Media = {
  readonly sha256: string
  readonly kind: 'photo' | 'clip' | 'snapshot'
  readonly mediaType: string
  readonly sizeBytes: number
  readonly receivedAtMs: number
}

type Row = { sha256: string; kind: Media['kind']; media_type: string; size_bytes: number; received_at_ms: number }

/** The row of a file that the gateway holds, or undefined. */
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
 * Writes down a file that is on disk already (fsynced, under its hash). The same bytes again add nothing.
 * @returns whether a row was added
 */
export function addMedia(tx: Tx, media: Media, actorCommitment: string | null): boolean {
  if (findMedia(tx, media.sha256)) return false
  tx.runOf(
    `INSERT INTO media (id, sha256, kind, media_type, size_bytes, received_at_ms, actor_commitment)
     VALUES ((SELECT coalesce(max(id), 0) + 1 FROM media), ?, ?, ?, ?, ?, ?)`,
    [media.sha256, media.kind, media.mediaType, media.sizeBytes, media.receivedAtMs, actorCommitment],
  )
  return true
}
