import { useState } from 'preact/hooks'
import { ask } from '../data/ask.ts'
import { whyGone } from './photo-gone.ts'

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
