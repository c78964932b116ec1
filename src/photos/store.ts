import { built, pick, type ReadTx, type Tx } from '../database/index.ts'
import type { Person } from '../log/index.ts'
import type { PhotoTime } from './photo-time.ts'
import type { PictureSize } from './picture.ts'
import { sql, tables } from './tables.ts'

/** Facts in the file of a photo. */
export type PhotoFacts = { readonly size: PictureSize | undefined; readonly time: PhotoTime | undefined }

const newFacts = built(tables.photo_facts, (row) => sql.insertInto('photo_facts').orIgnore().values(row))
const photoTime = built(pick(tables.photo_facts, 'sha256'), ({ sha256 }) =>
  sql.selectFrom('photo_facts').select(['taken_local', 'taken_offset_minutes']).where('sha256', '=', sha256),
)
const newBringer = built(tables.photo_bringer, (row) => sql.insertInto('photo_bringer').orIgnore().values(row))
const bringer = built(tables.photo_bringer, ({ sha256, person_id }) =>
  sql.selectFrom('photo_bringer').select('sha256').where('sha256', '=', sha256).where('person_id', '=', person_id),
)
const withoutBringer = built(pick(tables.photo_bringer, 'person_id'), ({ person_id }) =>
  sql.deleteFrom('photo_bringer').where('person_id', '=', person_id),
)

export function keepFacts(tx: Tx, sha256: string, { size, time }: PhotoFacts): void {
  tx.run(newFacts, {
    sha256,
    width_px: size?.width ?? null,
    height_px: size?.height ?? null,
    taken_local: time?.local ?? null,
    taken_offset_minutes: time?.offsetMinutes ?? null,
  })
}

export function photoTimeIn(tx: ReadTx, sha256: string): PhotoTime | undefined {
  const row = tx.get(photoTime, { sha256 })
  if (!row || row.taken_local === null) return undefined
  return { local: row.taken_local, offsetMinutes: row.taken_offset_minutes }
}

/** Callers who brought these bytes, first or again, may see them. */
export function keepBringer(tx: Tx, sha256: string, person: Person): void {
  tx.run(newBringer, { sha256, person_id: person.id })
}

export function hasBrought(tx: ReadTx, sha256: string, person: Person): boolean {
  return tx.get(bringer, { sha256, person_id: person.id }) !== undefined
}

/** Takes a person out of those who brought photos. */
export function forgetBringer(tx: Tx, personId: number): void {
  tx.run(withoutBringer, { person_id: personId })
}

/**
 * Returns whether anything holds the photo (naming a hash is not enough), and whether such a thing is in a warehouse that is not
 * hidden. The rooms above, which hold photos, answer it.
 */
export type UseOf = (tx: ReadTx, sha256: string, hidden: readonly number[]) => { isUsed: boolean; isShown: boolean }
