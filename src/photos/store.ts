import type { ReadTx, Tx } from '../database/index.ts'
import type { Person } from '../log/index.ts'
import type { PhotoTime } from './photo-time.ts'
import type { PictureSize } from './picture.ts'

/** What a photo says of itself. */
export type PhotoFacts = { readonly size: PictureSize | undefined; readonly time: PhotoTime | undefined }

export function keepFacts(tx: Tx, sha256: string, { size, time }: PhotoFacts): void {
  tx.runOf('INSERT OR IGNORE INTO photo_facts VALUES (?, ?, ?, ?, ?)', [
    sha256,
    size?.width ?? null,
    size?.height ?? null,
    time?.local ?? null,
    time?.offsetMinutes ?? null,
  ])
}

export function photoTimeIn(tx: ReadTx, sha256: string): PhotoTime | undefined {
  const row = tx.oneOf<{ taken_local: string | null; taken_offset_minutes: number | null }>(
    'SELECT taken_local, taken_offset_minutes FROM photo_facts WHERE sha256 = +?',
    [sha256],
  )
  if (!row || row.taken_local === null) return undefined
  return { local: row.taken_local, offsetMinutes: row.taken_offset_minutes }
}

/** Whoever brought these bytes, first or again, may see them. */
export function keepBringer(tx: Tx, sha256: string, person: Person): void {
  tx.runOf('INSERT OR IGNORE INTO photo_bringer (sha256, person_id) VALUES (?, ?)', [sha256, person.id])
}

export function hasBrought(tx: ReadTx, sha256: string, person: Person): boolean {
  return tx.oneOf('SELECT 1 FROM photo_bringer WHERE sha256 = +? AND person_id = +?', [sha256, person.id]) !== undefined
}

/** Whether any event or transport unit holds the photo (naming a hash is not enough), and whether one of them is in a warehouse that is not hidden. */
export function useOf(tx: ReadTx, sha256: string, hidden: readonly number[]): { isUsed: boolean; isShown: boolean } {
  // The first that is found decides: a photo that somebody sends with every event has thousands.
  const uses = `SELECT l.warehouse_id FROM placement_event e CROSS JOIN slot l ON l.id = e.slot_id
       WHERE e.photo_sha256 = +? AND e.photo_evidence = 'held'
     UNION ALL SELECT warehouse_id FROM unit_photo WHERE sha256 = +?`
  const row = tx.oneOf<{ used: number; shown: number }>(
    `SELECT EXISTS (${uses}) AS used,
       EXISTS (SELECT 1 FROM (${uses}) WHERE warehouse_id NOT IN (SELECT value FROM json_each(?))) AS shown`,
    [sha256, sha256, sha256, sha256, JSON.stringify(hidden)],
  )
  return { isUsed: row?.used === 1, isShown: row?.shown === 1 }
}
