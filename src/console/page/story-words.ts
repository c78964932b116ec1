import type { EventFootage, Evidence, Gap, ScanMatch, StoryStep, Watched } from './answers.ts'
import { countOf, exactTime } from './words.ts'

/** Says where the pallet is, or was at the time that the story shows, in one sentence. */
export function placeWords(
  steps: readonly StoryStep[],
  location: ScanMatch['location'] | undefined,
  timeZone: string | undefined,
): string {
  const last = steps.at(-1)
  if (location === null) return 'It is in a place that you may not see.'
  if (!last) return 'Never seen: no move of it is recorded.'
  const { event, slot, until } = last
  const at = exactTime(event.timestamp, timeZone)
  if (event.event_type === 'REMOVED') return `Removed from ${slot.slot_id} on ${at}. Not placed since.`
  if (location && !location.slot)
    return `No longer in ${slot.slot_id}: another pallet is recorded there. Placed there on ${at}.`
  return until === null ? `In ${slot.slot_id} since ${at}.` : `Last seen in ${slot.slot_id} on ${at}.`
}

/** Returns a length of time in words, by its two largest units. */
export function spanWords(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000))
  if (minutes < 1) return 'less than a minute'
  if (minutes < 60) return countOf(minutes, 'minute')
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? countOf(hours, 'hour') : `${hours} h ${minutes % 60} min`
  return hours % 24 === 0 ? countOf(hours / 24, 'day') : `${countOf(Math.floor(hours / 24), 'day')} ${hours % 24} h`
}

const causes: Readonly<Record<string, string>> = {
  offline: 'the camera was offline',
  refused: 'the camera refused the sign-in',
  stalled: 'the camera sent no pictures',
  disarmed: 'the camera was disarmed',
  cooldown: 'the camera paused after the clip before',
  disk_full: 'the disk was full',
  daemon_down: 'the gateway was off',
  restarted: 'the gateway was restarted',
  no_keyframe: 'the stream had no complete picture',
  outside_hours: 'it was outside of the recording hours',
}

/** Says why a camera did not watch. */
export const causeWords = ({ cause, detail }: Pick<Gap, 'cause' | 'detail'>): string =>
  causes[cause] ?? detail ?? cause.replaceAll('_', ' ')

/** Says why a move has no film; undefined when it has one. */
export function whyNoFilm({ reason, detail, gaps }: EventFootage, slot: string): string | undefined {
  if (reason === null) return undefined
  if (reason === 'no_camera') return `No camera watches ${slot}.`
  if (reason === 'camera_not_visible') return `A camera watches ${slot}, but you may not see it.`
  if (reason === 'pending') return 'The film is being made.'
  if (reason === 'expired') return 'The film was removed when its time to be kept was over.'
  const [gap] = gaps
  if (detail !== null) return `No film: ${detail}.`
  return gap ? `No camera watched here, because ${causeWords(gap)}.` : 'No film: nothing was recorded at that moment.'
}

/** Says how far the cameras of a slot watched it between two moves. */
export function watchedWords(watched: Watched, name: string): string {
  const percent = Math.floor(watched.watchedShare * 1000) / 10
  const saw = watched.detections.length === 0 ? 'nothing moved' : `motion ${countOf(watched.detections.length, 'time')}`
  if (percent >= 100) return `${name} watched all the time: ${saw}.`
  const why = [...new Set(watched.gaps.map(causeWords))].join('; ')
  const because = why === '' ? '' : `, because ${why}`
  if (percent <= 0) return `${name} did not watch here${because || ': it was not connected to this gateway yet'}.`
  return `${name} watched ${percent} % of the time (${saw}). For the rest no camera watched here${because || ', because it was added later'}.`
}

/** Says how far a fact is secured, by whom and when. */
export function evidenceWords(
  { state, signedAt, witnesses, timestampedAt }: Evidence,
  timeZone: string | undefined,
): string {
  const at = (time: string | null | undefined) => (time ? ` on ${exactTime(time, timeZone)}` : '')
  const names = (witnesses ?? []).map(({ name }) => name).join(', ')
  if (state === 'recorded') return 'Recorded: on disk, not signed yet'
  if (state === 'signed') return `Signed${at(signedAt)}`
  if (state === 'witnessed') return `Witnessed by ${names}`
  return `Time-stamped${at(timestampedAt)}${names === '' ? '' : `, witnessed by ${names}`}`
}
