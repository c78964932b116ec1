import type { ReadTx, Tx } from '../../database/index.ts'
import { findMedia, holdMedia, releaseMedia } from '../../log/index.ts'
import { newestInSlot } from '../derive/state.ts'
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
 * Holds the evidence of a disputed placement on the disk while its slot shows it as disputed. These are photos of the placement and
 * of the dispute, and films of the placement. In the transaction of every event, because any may settle a dispute.
 */
export function holdDisputed(
  tx: Tx,
  row: PlacementEventRow,
  { isDisputed }: { isDisputed?: boolean | undefined },
  filmsOf: FilmsOf,
): void {
  const ref = String(row.slot_id)
  if (!isDisputed) {
    releaseMedia(tx, holdReason, ref)
    return
  }
  if (row.event_type !== 'DISPUTED') return
  const placed = newestInSlot(tx, row.slot_id, { atMs: undefined, lastId: undefined })
  const events = [placed && findEvent(tx, placed.id), row].filter((one) => one !== undefined)
  const photos = events.flatMap(({ photo_sha256: hash }) => (hash !== null && findMedia(tx, hash) ? [hash] : []))
  const films = events.flatMap((event) => filmsOf(tx, momentOf(event)))
  for (const sha256 of new Set([...photos, ...films])) {
    holdMedia(tx, { sha256, reason: holdReason, ref }, row.received_at_ms)
  }
}

function momentOf(event: Pick<PlacementEventRow, 'slot_code' | 'timestamp_ms' | 'cctv_clip_url'>): FilmedMoment {
  return { slotCode: event.slot_code, timestampMs: event.timestamp_ms, clipUrl: event.cctv_clip_url }
}
