import type { EventFootage, Evidence, Gap, ScanMatch, StoryStep, Watched } from '../data/shapes.ts'
import { whyRemoved } from '../pictures/photo-gone.ts'
import { gatewayWords } from './language.ts'
import { storyTexts as texts } from './story-texts.ts'
import { exactTime } from './words.ts'

/** Says where the pallet is, or was at the time that the story shows, in one sentence. */
export function placeWords(
  steps: readonly StoryStep[],
  location: ScanMatch['location'] | undefined,
  timeZone: string | undefined,
): string {
  const last = steps.at(-1)
  if (location === null) return texts.hidden
  if (!last) return texts.never
  const placed = newestPlacement(steps)
  const at = ({ event }: StoryStep) => exactTime(event.timestamp, timeZone)
  if (placed?.until === null) return texts.since(placed.slot.slot_id, at(placed))
  const removal = placed ? steps.find((step) => hasEnded(placed, step)) : last
  if (removal) return texts.removedFrom(removal.slot.slot_id, at(removal))
  return placed ? texts.replaced(placed.slot.slot_id, at(placed)) : texts.never
}

const newestPlacement = (steps: readonly StoryStep[]) => steps.findLast(({ event }) => event.event_type === 'PLACED')

/** Whether the removal of the pallet itself has ended its stay. One from another slot ends nothing. */
const hasEnded = (placed: StoryStep, { event, slot }: StoryStep): boolean =>
  event.event_type === 'REMOVED' && slot.id === placed.slot.id && event.timestamp === placed.until

/** Returns the slot in which the pallet is, or was at the time that the story shows; undefined when it is in none. */
export function slotNow(
  steps: readonly StoryStep[],
  location: ScanMatch['location'] | undefined,
): StoryStep['slot'] | undefined {
  const placed = newestPlacement(steps)
  return location !== null && placed?.until === null ? placed.slot : undefined
}

/** Returns a length of time in words, by its two largest units. */
export function spanWords(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000))
  if (minutes < 1) return texts.underAMinute
  if (minutes < 60) return texts.minutes(minutes)
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? texts.hours(hours) : `${hours} h ${minutes % 60} min`
  return hours % 24 === 0 ? texts.days(hours / 24) : `${texts.days(Math.floor(hours / 24))} ${hours % 24} h`
}

/** Says why a camera did not watch. */
export const causeWords = ({ cause, detail }: Pick<Gap, 'detail'> & { readonly cause: string }): string =>
  texts.causes[cause] ?? gatewayWords(detail ?? cause.replaceAll('_', ' '))

/** Says why a move has no film; undefined when it has one. */
export function whyNoFilm(
  { reason, detail, gaps, watching }: EventFootage,
  slot: string,
  timeZone: string | undefined,
): string | undefined {
  if (reason === null) return undefined
  if (reason === 'no_camera') return texts.noCamera(slot)
  if (reason === 'camera_not_visible') return texts.notVisible(slot)
  if (reason === 'pending') return texts.pending
  if (reason === 'expired') {
    const clips = watching.flatMap((camera) => camera.clips).filter(({ offsetSeconds }) => offsetSeconds !== null)
    const [removal] = clips.flatMap(({ detection }) => detection.removal ?? [])
    return removal ? `${texts.filmGone} ${whyRemoved(removal, 'film', timeZone)}` : texts.expired
  }
  if (reason === 'not_kept') return texts.notKept
  const [gap] = gaps
  if (detail !== null) return texts.noFilm(gatewayWords(detail))
  return gap ? texts.noneWatched(causeWords(gap)) : texts.nothingRecorded
}

/** Says how far the cameras of a slot watched it between two moves. */
export function watchedWords(watched: Watched, name: string): string {
  const percent = Math.floor(watched.watchedShare * 1000) / 10
  const saw = watched.detections.length === 0 ? texts.nothingMoved : texts.motion(watched.detections.length)
  if (percent >= 100) return texts.watchedAll(name, saw)
  const why = [...new Set(watched.gaps.map(causeWords))].join('; ')
  if (percent <= 0) return texts.watchedNot(name, why)
  return texts.watchedPartly(name, percent, saw, why)
}

/** Says how far a fact is secured, by whom and when. */
export function evidenceWords(
  { state, signedAt, witnesses, timestampedAt }: Evidence,
  timeZone: string | undefined,
): string {
  const at = (time: string | null | undefined) => (time ? exactTime(time, timeZone) : '')
  const names = (witnesses ?? []).map(({ name }) => name).join(', ')
  if (state === 'recorded') return texts.recorded
  if (state === 'signed') return texts.signed(at(signedAt))
  if (state === 'witnessed') return texts.witnessed(names)
  return texts.stamped(at(timestampedAt), names)
}
