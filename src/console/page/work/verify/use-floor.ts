import { useEffect, useRef, useState } from 'preact/hooks'
import { errorMessage } from '../../../../platform/faults.ts'
import { onSignedInAgain } from '../../data/again.ts'
import { get } from '../../data/api.ts'
import { Refused } from '../../data/ask.ts'
import { Calm, layoutPace } from '../../data/calm.ts'
import type { Heard } from '../../data/heard.ts'
import { listen } from '../../data/live.ts'
import { afterHearing, type FloorNow, type SlotState, withStates } from '../../data/verify-queue.ts'
import { texts } from '../../i18n/texts.ts'

const aloneMs = 15_000
const firstMs = 1500

async function readFloor(): Promise<{ readonly floor: FloorNow; readonly timeZone: string | undefined }> {
  const [slots, events, warehouses] = await Promise.all([
    get('/api/whms/slots', {}),
    get('/api/whms/events', { event_type: 'PLACED', limit: 500 }),
    get('/api/whms/warehouses', {}),
  ])
  return { floor: { slots: slots.data, events: events.data }, timeZone: warehouses.data[0]?.timezone }
}

/** Reads the floor once, and keeps it up to date by the stream; without the stream it is read again. */
export function useFloor(onLeft: (why: string) => void) {
  const [floor, setFloor] = useState<FloorNow | undefined>(undefined)
  const [timeZone, setTimeZone] = useState<string | undefined>(undefined)
  const [trouble, setTrouble] = useState('')
  const again = useRef<() => void>(() => {})
  useEffect(() => {
    let timer = 0
    let isOver = false
    let reading: { heard: Heard[] } | undefined
    const relaid = new Calm(() => (reading ? relaid.soon() : void read()), layoutPace)
    const read = async () => {
      clearTimeout(timer)
      const mine: { heard: Heard[] } = { heard: [] }
      reading = mine
      try {
        const next = await readFloor()
        if (isOver || reading !== mine) return
        setTrouble('')
        // Messages that came meanwhile may be newer than the answers.
        setFloor(mine.heard.reduce(afterHearing, next.floor))
        setTimeZone(next.timeZone)
      } catch (error) {
        if (isOver || reading !== mine) return
        if (error instanceof Refused && error.isSignedOut) onLeft(texts.signedOut)
        else setTrouble(texts.notAsked(errorMessage(error)))
        timer = window.setTimeout(read, aloneMs)
      } finally {
        if (reading === mine) reading = undefined
      }
    }
    const unlisten = listen((heard) => {
      if (heard.kind === 'hello' && !heard.data.resumed) void read()
      else if (heard.kind === 'floor' && heard.data.layoutChanged) relaid.soon()
      else if (heard.kind === 'lost') {
        clearTimeout(timer)
        timer = window.setTimeout(read, aloneMs)
      } else {
        reading?.heard.push(heard)
        setFloor((before) => before && afterHearing(before, heard))
      }
    })
    const unwatch = onSignedInAgain(() => void read())
    timer = window.setTimeout(read, firstMs)
    again.current = () => void read()
    return () => {
      isOver = true
      clearTimeout(timer)
      relaid.stop()
      unwatch()
      unlisten()
    }
  }, [])
  return {
    ...{ floor, timeZone, trouble },
    reload: () => again.current?.(),
    /** Takes the state of a slot from an answer, which is here before the stream tells it. */
    learn: (state: SlotState) =>
      setFloor((before) => before && { ...before, slots: withStates(before.slots, [state]) }),
  }
}
