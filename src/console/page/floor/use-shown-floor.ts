import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { SignedIn } from '../data/shapes.ts'
import { useOdd } from '../data/use-odd.ts'
import { texts } from '../i18n/texts.ts'
import { Feed, type Known } from './feed.ts'
import { usePast } from './use-past.ts'

type Asked = {
  readonly caller: SignedIn
  /** Undefined: the floor of now. */
  readonly at: string | undefined
  readonly onLeft: (why: string) => void
}

/** Everything that the floor shows: of now or of a time of the past, and of one hall. */
export function useShownFloor({ caller, at, onLeft }: Asked) {
  const { known, refresh } = useFeed(caller, onLeft)
  const [chosenWarehouse, setChosenWarehouse] = useState<number | undefined>(undefined)
  const warehouses = known.warehouses?.data ?? []
  const warehouse = warehouses.find((one) => one.id === chosenWarehouse) ?? warehouses[0]
  const past = usePast(at, onLeft)
  // Never the floor of now under the time of the past.
  const all = at === undefined ? known.slots?.data : past.slots
  const slots = useMemo(
    () => (all ?? []).filter((one) => warehouse === undefined || one.warehouseId === warehouse.id),
    [all, warehouse?.id],
  )
  const odd = useOdd(at, at === undefined ? '' : past.at, known.slots !== undefined, known.slots?.data)
  const events = at === undefined ? known.events?.data : past.events
  return {
    known,
    refresh,
    past,
    warehouses,
    warehouse,
    setChosenWarehouse,
    /** Slots of all halls; undefined until they are known. */
    all,
    /** Slots of this hall. */
    slots,
    odd,
    events,
  }
}

/** Follows the gateway while the floor is on the screen. */
function useFeed(caller: SignedIn, onLeft: (why: string) => void) {
  const [known, setKnown] = useState<Known>({ absent: new Set() })
  const feed = useRef<Feed | null>(null)
  useEffect(() => {
    const signedOut = () => onLeft(texts.signedOut)
    const made = new Feed({ caller, tell: setKnown, signedOut })
    feed.current = made
    made.start()
    return () => made.stop()
  }, [])
  const refresh = (part: 'alerts') => feed.current?.refresh(part)
  return { known, refresh }
}
