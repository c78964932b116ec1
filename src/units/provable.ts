import type { ReadTx } from '../database/index.ts'
import {
  findMedia,
  idOfLog,
  type LeafPlace,
  openedLink,
  openedText,
  type Provable,
  type ProvableFile,
  removalOf,
} from '../log/index.ts'
import { extensionOf, photoFile } from '../photos/index.ts'
import * as store from './store.ts'
import type { UnitHistoryRow } from './tables.ts'
import { photosIn } from './unit-record.ts'

/** Returns the provable row of one step of a unit: its leaf, the openings of its names and texts, and its photos. */
export function provableStep(tx: ReadTx, row: UnitHistoryRow, dataDir: string): Provable {
  const place: LeafPlace = { logId: idOfLog(tx, row.log_id) ?? '', seq: row.leaf_seq }
  const person = (field: 'operator' | 'actor', commitment: string) =>
    openedLink(tx, { subject: 'unit_history', row: row.row, field }, place, commitment)
  const openings = [
    person('operator', row.operator_commitment),
    person('actor', row.actor_commitment),
    openedText(tx, { field: 'note', commitment: row.note_commitment }),
    openedText(tx, { field: 'reason', commitment: row.reason_commitment }),
    openedText(tx, { field: 'vehicle', commitment: row.vehicle_commitment }),
  ].filter((one) => one !== undefined)
  return { log: row.log_id, seq: row.leaf_seq, openings, files: photosOf(tx, row, dataDir) }
}

function photosOf(tx: ReadTx, row: UnitHistoryRow, dataDir: string): ProvableFile[] {
  const hashes = [...new Set(photosIn(row).flatMap(({ sha256 }) => sha256 ?? []))]
  return hashes.flatMap((sha256, n) => {
    const photo = findMedia(tx, sha256)
    if (photo?.kind !== 'photo') return []
    const { mediaType, sizeBytes } = photo
    const name = `photo-${n + 1}.${extensionOf(mediaType)}`
    const path = removalOf(tx, sha256) ? null : photoFile(dataDir, photo)
    return [{ sha256, kind: 'photo' as const, contentType: mediaType, sizeBytes, name, path }]
  })
}

/** Returns the provable row of every step of a unit, oldest first. */
export function provableSteps(tx: ReadTx, unitId: string, dataDir: string): { row: number; provable: Provable }[] {
  return store.historyOf(tx, unitId).map((one) => ({ row: one.row, provable: provableStep(tx, one, dataDir) }))
}
