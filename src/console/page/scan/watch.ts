import { useEffect, useState } from 'preact/hooks'
import type { Credential } from './gateway.ts'
import type { ItemStore } from './items.ts'
import { signal } from './signals.ts'
import type { SlotLabels } from './slots.ts'
import { type Watched, watchLog } from './witness.ts'

const watchEveryMs = 5 * 60_000

/** While a person is signed in: reads the labels of the slots once, and looks every 5 minutes whether the log was rewritten. */
export function useWatch(person: Credential | undefined, store: ItemStore, slots: SlotLabels): Watched {
  const [watched, setWatched] = useState<Watched>(undefined)
  useEffect(() => {
    if (!person) return
    let isKnown = false
    const look = async () => {
      if (!isKnown) isKnown = await slots.refresh(person)
      const found = await watchLog(person)
      if (found) await store.setFact('alarm', 'alarm' in found ? found.alarm : undefined)
      if (found && 'alarm' in found) signal(false)
      if (found) setWatched(found)
    }
    const recall = async () => {
      const alarm = await store.fact<string>('alarm')
      if (alarm) setWatched({ alarm })
    }
    void recall().then(look)
    const timer = setInterval(look, watchEveryMs)
    return () => clearInterval(timer)
  }, [person?.secret])
  return watched
}
