import { useState } from 'hono/jsx/dom'
import { ask, type MediaRemoval, Refused } from '../data/ask.ts'
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

/** A photo on the screen. `state`: known state of a photo that did not load. */
export type ShownPhoto = {
  readonly state: 'coming' | 'failed' | 'gone'
  /** Why it is gone, as a sentence. */
  readonly why: string
  /** Number of attempts to load it. */
  readonly tries: number
  readonly onError: () => void
  readonly again: () => void
}

/** Keeps the state of a photo that did not load: the gateway is asked whether it still has it. */
export function usePhoto(address: string, timeZone: string | undefined): ShownPhoto {
  const [known, setKnown] = useState<Pick<ShownPhoto, 'state' | 'why' | 'tries'>>({
    state: 'coming',
    why: '',
    tries: 0,
  })
  const onError = () => {
    const failed = () => setKnown((before) => ({ ...before, state: 'failed' }))
    ask(address).then(failed, (error: Error) => {
      const why = whyGone(error, timeZone)
      if (why === undefined) return failed()
      setKnown((before) => ({ ...before, state: 'gone', why }))
    })
  }
  const again = () => setKnown(({ tries }) => ({ state: 'coming', why: '', tries: tries + 1 }))
  return { ...known, onError, again }
}
