import { built, pick, type ReadTx } from '../database/index.ts'
import {
  findMedia,
  idOfLog,
  type LeafPlace,
  openedPerson,
  openedText,
  type Provable,
  type ProvableFile,
  removalOf,
} from '../log/index.ts'
import { extensionOf, photoFile } from '../photos/index.ts'
import { type PlacementEventRow, sql, tables } from './tables.ts'

const peopleOfEvent = built(pick(tables.placement_person, 'event_id'), ({ event_id }) =>
  sql.selectFrom('placement_person').select(['operator_id', 'actor_id']).where('event_id', '=', event_id),
)

/** Returns the ids of the people of an event; null for one who is not known or was erased. */
export function peopleOf(tx: ReadTx, eventId: number): { operator: number | null; actor: number | null } {
  const people = tx.get(peopleOfEvent, { event_id: eventId })
  return { operator: people?.operator_id ?? null, actor: people?.actor_id ?? null }
}

/** Returns the provable row of an event: its leaf, the openings of its names and notes, and its photo. */
export function provableEvent(tx: ReadTx, row: PlacementEventRow, dataDir: string): Provable {
  const place: LeafPlace = { logId: idOfLog(tx, row.log_id) ?? '', seq: row.leaf_seq }
  const people = tx.get(peopleOfEvent, { event_id: row.id })
  const openings = [
    openedPerson(tx, people?.operator_id, place, { field: 'operator', commitment: row.operator_commitment }),
    openedPerson(tx, people?.actor_id, place, { field: 'actor', commitment: row.actor_commitment }),
    openedText(tx, { field: 'verificationNotes', commitment: row.notes_commitment }),
  ].filter((one) => one !== undefined)
  return { log: row.log_id, seq: row.leaf_seq, openings, files: photoOf(tx, row, dataDir) }
}

function photoOf(
  tx: ReadTx,
  { photo_sha256: sha256, photo_evidence }: PlacementEventRow,
  dataDir: string,
): ProvableFile[] {
  const photo = sha256 === null || photo_evidence !== 'held' ? undefined : findMedia(tx, sha256)
  if (!photo) return []
  const { mediaType, sizeBytes } = photo
  const path = removalOf(tx, photo.sha256) ? null : photoFile(dataDir, photo)
  const name = `photo.${extensionOf(mediaType)}`
  return [{ sha256: photo.sha256, kind: 'photo', contentType: mediaType, sizeBytes, name, path }]
}
