import { cameraTexts } from '../../i18n/camera-texts.ts'
import { storyTexts } from '../../i18n/story-texts.ts'
import { causeWords } from '../../i18n/story-words.ts'
import { formatted } from '../../i18n/words.ts'
import { whyRemoved } from '../../pictures/photo-gone.ts'
import type { Entry } from './entries.ts'
import { foundWords } from './kinds.tsx'

const words = cameraTexts.day

export const dateWords = (ms: number, timeZone: string | undefined) =>
  formatted(ms, timeZone, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })

export const clockWords = (ms: number, timeZone: string | undefined) =>
  formatted(ms, timeZone, { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** The midnight at which a day ends is 24:00, not the 00:00 that it began at. */
export const endWords = (ms: number, timeZone: string | undefined) =>
  clockWords(ms, timeZone).replace(/^00:00:00$/, '24:00:00')

/** Names an entry: the gap with its cause, or the film and whether it can be played. */
export function whatWords(entry: Entry, timeZone: string | undefined): string {
  if (entry.kind === 'gap') return words.gap(causeWords(entry.gap))
  const { clipStatus, removal } = entry.detection
  const what = foundWords(entry.detection)
  if (removal) return `${what}. ${storyTexts.filmGone} ${whyRemoved(removal, 'film', timeZone)}`
  return clipStatus === 'recorded' ? what : `${what}, ${words.without[clipStatus] ?? clipStatus}`
}

/** Says what was at a time. */
export const spokenAt = (entries: readonly Entry[], ms: number, timeZone: string | undefined) => {
  const here = entries.filter(({ fromMs, toMs }) => fromMs <= ms && toMs >= ms)
  return here.length === 0
    ? words.quiet
    : here.map((one) => `${whatWords(one, timeZone).replace(/\.$/, '')}.`).join(' ')
}
