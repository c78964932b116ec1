import { sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, statement, type Tx } from '../database/index.ts'
import { linkedColumns, linkedRowsSql } from './links.ts'
import type { People, Person } from './people.ts'
import { sql, tables } from './tables.ts'

export type Media = {
  readonly sha256: string
  readonly kind: 'photo' | 'clip' | 'snapshot'
  readonly mediaType: string
  readonly sizeBytes: number
  readonly receivedAtMs: number
}

const fileOf = built(pick(tables.media, 'sha256'), ({ sha256 }) =>
  sql
    .selectFrom('media')
    .select(['sha256', 'kind', 'media_type', 'size_bytes', 'received_at_ms'])
    .where('sha256', '=', sha256),
)
const lastFile = built({}, () => sql.selectFrom('media').select(({ fn }) => fn.max<number | null>('id').as('id')))
const newFile = built(tables.media, (row) => sql.insertInto('media').values(row))
/** People linked to the files, for verification. */
export const linksOfMedia = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ table: 'media', id: 'id', field: 'actor', column: 'actor_commitment', hasLeaf: false }),
})
const photo = raw.lit('photo' as const)
const everyPhoto = built({}, () => sql.selectFrom('media').select(['sha256', 'media_type']).where('kind', '=', photo))

const nextPhotos = built({ id: integer, limit: integer }, ({ id, limit }) =>
  sql
    .selectFrom('media')
    .select(['id', 'sha256', 'media_type', 'size_bytes'])
    .where('id', '>', id)
    .where('kind', '=', photo)
    .orderBy('id')
    .limit(limit),
)

/** Columns that name the file of a photo. */
export type PhotoFile = Pick<Media, 'sha256' | 'mediaType'>

const nextFiles = built({ id: integer, limit: integer }, ({ id, limit }) =>
  sql
    .selectFrom('media')
    .select(['id', 'sha256', 'kind', 'media_type', 'size_bytes', 'received_at_ms'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit),
)

const kindsOf = statement({
  columns: pick(tables.media, 'sha256', 'kind'),
  sql: 'SELECT sha256, kind FROM main.media WHERE sha256 IN (SELECT value FROM json_each(?))',
})

/** Returns the kinds of those of the files that are known, by their hashes. */
export function kindsOfMedia(tx: ReadTx, hashes: ReadonlySet<string>): ReadonlyMap<string, Media['kind']> {
  if (hashes.size === 0) return new Map()
  return new Map(tx.all(kindsOf, [JSON.stringify([...hashes])]).map(({ sha256, kind }) => [sha256, kind]))
}

/** Returns the row of a stored file, or undefined. */
export function findMedia(tx: ReadTx, sha256: string): Media | undefined {
  const row = tx.get(fileOf, { sha256 })
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

/** Looks at the next `limit` files behind a row: the last row, and the photos among them; undefined at the end. */
export function photosBehind(tx: ReadTx, row: number, limit: number): { upTo: number; photos: Media[] } | undefined {
  const rows = tx.all(nextFiles, { id: row, limit })
  const upTo = rows.at(-1)?.id
  if (upTo === undefined) return undefined
  const photos = rows
    .filter(({ kind }) => kind === 'photo')
    .map(({ sha256, kind, media_type: mediaType, size_bytes: sizeBytes, received_at_ms: receivedAtMs }) => ({
      sha256,
      kind,
      mediaType,
      sizeBytes,
      receivedAtMs,
    }))
  return { upTo, photos }
}

/**
 * Adds the row of a file that is already on disk (fsynced, under its hash), with the person who brought it. Files of the gateway
 * itself have no person. The same bytes again add nothing.
 * @returns whether a row was added
 */
export function addMedia(tx: Tx, media: Media, broughtBy?: { people: People; person: Person }): boolean {
  if (findMedia(tx, media.sha256)) return false
  const row = (tx.get(lastFile)?.id ?? 0) + 1
  const place = { subject: 'media', row, field: 'actor' }
  tx.run(newFile, {
    id: row,
    sha256: media.sha256,
    kind: media.kind,
    media_type: media.mediaType,
    size_bytes: media.sizeBytes,
    received_at_ms: media.receivedAtMs,
    actor_commitment: broughtBy ? broughtBy.people.inRow(tx, broughtBy.person, place) : null,
  })
  return true
}

/** Returns files of every kind behind a row, in the order in which they came. */
export function mediaBehind(tx: ReadTx, id: number, limit: number): { id: number; sha256: string }[] {
  return tx.all(nextFiles, { id, limit }).map((row) => ({ id: row.id, sha256: row.sha256 }))
}

/** Returns the photos behind a row, in the order in which they came. */
export function photosAfter(tx: ReadTx, id: number, limit: number): (PhotoFile & { id: number; sizeBytes: number })[] {
  return tx
    .all(nextPhotos, { id, limit })
    .map((row) => ({ id: row.id, sha256: row.sha256, mediaType: row.media_type, sizeBytes: row.size_bytes }))
}

/** Returns all photos that have a row. */
export function heldPhotos(tx: ReadTx): PhotoFile[] {
  return tx.all(everyPhoto).map(({ sha256, media_type: mediaType }) => ({ sha256, mediaType }))
}
