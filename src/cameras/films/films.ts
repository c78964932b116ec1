import type { ReadTx } from '../../database/index.ts'
import { clipsToComeOf, clipToCome } from '../../log/index.ts'
import type { CamerasSettings } from '../configured.ts'
import type { OpenClip } from '../copies.ts'
import { clipsIn } from '../detections/clip-files.ts'
import { lookingAt } from '../detections/watched-slots.ts'
import { clipPath, findDetection, findReservation, openReservations } from '../store.ts'
import { wantedAround } from './store.ts'

type Moment = { readonly slotCode: string; readonly timestampMs: number; readonly clipUrl: string | null }

/** A film this long before or after a moment still belongs to it. */
const nearMs = 60_000
/** A clip that fired this long ago can still show the moment: longest motion and post-roll. */
const longestClipMs = 10 * 60_000

/**
 * Returns the hashes of the clips and snapshots that the cameras of a slot have of a moment. The clip that a client named is among
 * them. For clips and films that are not finished it returns what `clipToCome` gives. It does not check the caller, so use it to
 * hold files, not to show them.
 */
export function filmsAround(tx: ReadTx, { cameras, siteUrl }: CamerasSettings, moment: Moment): string[] {
  const { slotCode, timestampMs, clipUrl } = moment
  const watching = lookingAt(cameras, slotCode).map(({ id }) => id)
  const span = { fromMs: timestampMs - nearMs - longestClipMs, toMs: timestampMs + nearMs }
  const near = clipsIn(tx, watching, span).filter((id) => shows(tx, id, timestampMs))
  const named = clipUrl === null ? undefined : detectionOf(clipUrl, siteUrl)
  const toCome = watching.flatMap((cctvId) => clipsToCome(tx, cctvId, span, timestampMs))
  return [...near, ...toCome, ...(named === undefined ? [] : [named])].flatMap((id) => filesOf(tx, id))
}

/** Returns the detections whose clips will show the moment: open clips of motion, and films that are wanted. */
function clipsToCome(tx: ReadTx, cctvId: number, { fromMs, toMs }: { fromMs: number; toMs: number }, atMs: number) {
  const open = openReservations(tx).filter((one) => one.cctv_id === cctvId)
  const fired = open.filter(({ fired_at_ms: ms }) => ms >= fromMs && ms <= toMs)
  return [...fired, ...wantedAround(tx, cctvId, { fromMs: atMs, toMs: atMs })].map(({ id }) => id)
}

/** Returns the names of a camera's clips that are being recorded, and of those to come. */
export function namesOfClipsToCome(tx: ReadTx, cctvId: number): string[] {
  const open = openReservations(tx).filter((one) => one.cctv_id === cctvId)
  return [clipsToComeOf(cctvId), ...open.map(({ id }) => clipToCome(id))]
}

/** Returns a clip that is being recorded; undefined for one that is recorded, and for an unknown one. */
export function findOpenClip(tx: ReadTx, id: number): OpenClip | undefined {
  const fired = findReservation(tx, id)
  if (!fired || findDetection(tx, id)) return undefined
  return { id, cctvId: fired.cctv_id, atMs: fired.fired_at_ms }
}

function shows(tx: ReadTx, id: number, atMs: number): boolean {
  const row = findDetection(tx, id)
  if (!row || row.clip_start_ms === null || row.clip_end_ms === null) return false
  return row.clip_start_ms <= atMs + nearMs && row.clip_end_ms >= atMs - nearMs
}

/** Returns the id of the detection whose clip has this address on this gateway. */
function detectionOf(clipUrl: string, siteUrl: string): number | undefined {
  const id = Number(/\/(\d{1,15})\/clip$/.exec(clipUrl)?.[1])
  return Number.isInteger(id) && clipUrl === `${siteUrl}${clipPath(id)}` ? id : undefined
}

function filesOf(tx: ReadTx, id: number): string[] {
  const row = findDetection(tx, id)
  if (!row) return findReservation(tx, id) ? [clipToCome(id)] : []
  return [row.clip_sha256, row.snapshot_sha256].filter((sha256) => sha256 !== null)
}
