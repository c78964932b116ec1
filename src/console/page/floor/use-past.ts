import { useEffect, useState } from 'preact/hooks'
import { onSignedInAgain } from '../data/again.ts'
import { get } from '../data/api.ts'
import { Refused } from '../data/ask.ts'
import type { PlacementEvent, Slot } from '../data/shapes.ts'
import { restMs } from '../data/use-odd.ts'
import { texts } from '../i18n/texts.ts'
import { justAfter } from '../i18n/words.ts'
import { floorTexts } from './floor-texts.ts'

/** `slots` and `events`: undefined until the ledger has answered. */
type Past = {
  readonly slots: readonly Slot[] | undefined
  readonly events: readonly PlacementEvent[] | undefined
  readonly problem: string
  /** The time that they are of. */
  readonly at?: string
}

const pastAgainMs = 5000
const nothingOfThePast: Past = { slots: undefined, events: undefined, problem: '' }

/** Reads the floor of a time of the past from the ledger, again and again until it answers. */
export function usePast(at: string | undefined, onLeft: (why: string) => void): Past {
  const [past, setPast] = useState<Past>(nothingOfThePast)
  useEffect(() => {
    if (at === undefined) {
      setPast(nothingOfThePast)
      return
    }
    let isWanted = true
    const read = () =>
      Promise.all([get('/api/whms/slots', { at }), get('/api/whms/events', { to: justAfter(at), limit: 40 })]).then(
        ([slots, events]) => isWanted && setPast({ slots: slots.data, events: events.data, problem: '', at }),
        (error: Error) => {
          if (!isWanted) return
          // It is read again after the next sign-in.
          if (error instanceof Refused && error.isSignedOut) return onLeft(texts.signedOut)
          setPast((before) => ({ ...before, problem: floorTexts.pastFailed(error.message) }))
          const waitMs = error instanceof Refused ? error.retryAfterSeconds * 1000 : 0
          timer = setTimeout(read, Math.max(pastAgainMs, waitMs))
        },
      )
    let timer = setTimeout(read, restMs)
    const unwatch = onSignedInAgain(() => void read())
    return () => {
      isWanted = false
      clearTimeout(timer)
      unwatch()
    }
  }, [at])
  // While Play or a finger goes on, the floor of the step before stays; one of another time never stays with a problem.
  return past.at === at || past.problem === '' ? past : { ...nothingOfThePast, problem: past.problem }
}
