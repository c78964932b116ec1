import type { ReadTx, Tx } from '../../database/index.ts'
import { findMedia, holdMedia, refsHeldFor, releaseMedia } from '../../log/index.ts'
import { openDisputes } from '../derive/disputes.ts'
import { findEvent } from '../store.ts'
import type { PlacementEventRow } from '../tables.ts'

/** Why the media of a disputed placement stay. */
const holdReason = 'dispute'

/** Time and place of an event in front of cameras. */
export type FilmedMoment = {
  readonly slotCode: string
  readonly timestampMs: number
  /** The film that a client named. */
  readonly clipUrl: string | null
}

/** Returns the hashes of the films of a moment; for a clip that is still recorded, the name from `clipToCome`. */
export type FilmsOf = (tx: ReadTx, moment: FilmedMoment) => readonly string[]

/**
 * Holds the evidence of a disputed placement on the disk until a supervisor ends the dispute. These are photos of the placement and
 * of the dispute, and films of the placement. In the transaction of the event.
 */
export function holdDisputed(tx: Tx, row: PlacementEventRow, filmsOf: FilmsOf): void {
  if (row.event_type === 'DISPUTED') hold(tx, row, filmsOf)
  if (row.event_type === 'VERIFIED' || row.corrects_event_id !== null) releaseEnded(tx)
}

/** Ends the holds of disputes that have ended. */
export function releaseEnded(tx: Tx): void {
  for (const ref of refsHeldFor(tx, holdReason)) {
    if (openDisputes(tx, Number(ref), now).length === 0) releaseMedia(tx, holdReason, ref)
  }
}

const now = { atMs: undefined, lastId: undefined }

function hold(tx: Tx, row: PlacementEventRow, filmsOf: FilmsOf): void {
  const own = openDisputes(tx, row.slot_id, now).find(({ dispute }) => dispute.id === row.id)
  if (!own) return
  const events = [findEvent(tx, own.placed.id), row].filter((one) => one !== undefined)
  const photos = events.flatMap(({ photo_sha256: hash }) => (hash !== null && findMedia(tx, hash) ? [hash] : []))
  const films = events.flatMap((event) => filmsOf(tx, momentOf(event)))
  for (const sha256 of new Set([...photos, ...films])) {
    holdMedia(tx, { sha256, reason: holdReason, ref: String(row.slot_id) }, row.received_at_ms)
  }
}

function momentOf(event: Pick<PlacementEventRow, 'slot_code' | 'timestamp_ms' | 'cctv_clip_url'>): FilmedMoment {
  return { slotCode: event.slot_code, timestampMs: event.timestamp_ms, clipUrl: event.cctv_clip_url }
}
