import { type MediaRemoval, Refused } from '../data/ask.ts'
import { gatewayWords } from '../i18n/language.ts'
import { exactTime } from '../i18n/words.ts'
import { photoTexts as words } from './photo-texts.ts'

/** Says when and why the gateway removed a file. A policy that this page does not know is named as the gateway wrote it. */
export function whyRemoved(
  { removedAt, cause, policy, keptDays }: MediaRemoval,
  kind: 'photo' | 'film',
  timeZone: string | undefined,
): string {
  const when = exactTime(removedAt, timeZone)
  if (cause === 'free-space') return words.forRoom(when)
  return keptDays === null ? words.byPolicy(when, gatewayWords(policy)) : words[kind](when, keptDays)
}

/**
 * Returns why the gateway does not have this photo: somebody removed it on purpose, or its file is lost. Undefined when it may
 * still come. Only the gateway's own answer counts: a slow line, a proxy and a busy gateway prove nothing about the photo.
 */
export function whyGone(error: unknown, timeZone: string | undefined): string | undefined {
  if (!(error instanceof Refused) || error.status !== 404 || error.code !== 'NOT_FOUND') return undefined
  return error.removal === undefined ? words.lost : `${words.gone} ${whyRemoved(error.removal, 'photo', timeZone)}`
}
