import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ScanField } from '../codes/scan-field.tsx'
import { onSignedInAgain } from '../data/again.ts'
import { get } from '../data/api.ts'
import { Refused } from '../data/ask.ts'
import { utilizationOf } from '../data/floor-use.ts'
import type { PlacementEvent, SignedIn, Slot } from '../data/shapes.ts'
import { restMs, useOdd } from '../data/use-odd.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { justAfter, spokenEvent, timeOfDay } from '../i18n/words.ts'
import { Views } from '../kit/bar.tsx'
import { focusFirst } from '../kit/first-focus.ts'
import { Icon } from '../kit/icons.tsx'
import { SignOut } from '../sign-in/sign-out.tsx'
import { Alerts } from './alerts.tsx'
import { Cameras } from './cameras.tsx'
import { EventList } from './event-list.tsx'
import { Feed, type Known } from './feed.ts'
import { FloorPlan, planCursorId } from './floor-plan.tsx'
import { floorTexts } from './floor-texts.ts'
import { Numbers } from './numbers.tsx'
import { SlotPanel } from './slot-panel.tsx'
import { SlotTable } from './slot-table.tsx'
import { TimeSlider } from './time-slider.tsx'
import { Webhooks } from './webhooks.tsx'

type Props = {
  siteId: string
  caller: SignedIn
  slot: number | undefined
  at: string | undefined
  onLeft: (why: string) => void
}

/** The floor. `slot` and `at`: the slot and the time that the address names. */
export const Console = ({ siteId, caller, slot: asked, at, onLeft }: Props) => {
  const [known, setKnown] = useState<Known>({ absent: new Set() })
  const [chosenWarehouse, setChosenWarehouse] = useState<number | undefined>(undefined)
  const [slotId, setSlotId] = useState<number | undefined>(asked)
  const feed = useRef<Feed | null>(null)
  const board = useRef<HTMLElement>(null)
  // The focused form is gone, so the board takes the focus.
  useEffect(() => focusFirst(board.current), [])
  useEffect(() => {
    if (asked !== undefined) choose(asked)
  }, [asked])
  useEffect(() => {
    const signedOut = () => onLeft(texts.signedOut)
    const made = new Feed({ caller, tell: setKnown, signedOut })
    feed.current = made
    made.start()
    return () => made.stop()
  }, [])

  // A small screen may not have room for panel and plan; the plan is scrolled to first.
  useEffect(() => {
    if (slotId === undefined) return
    for (const id of ['slot-title', 'plan']) document.getElementById(id)?.scrollIntoView({ block: 'nearest' })
  }, [slotId])

  const warehouses = known.warehouses?.data ?? []
  const warehouse = warehouses.find((one) => one.id === chosenWarehouse) ?? warehouses[0]
  const past = usePast(at, onLeft)
  // Never the floor of now under the time of the past.
  const shown = at === undefined ? known.slots?.data : past.slots
  const slots = useMemo(
    () => (shown ?? []).filter((one) => warehouse === undefined || one.warehouseId === warehouse.id),
    [shown, warehouse?.id],
  )
  const odd = useOdd(at, at === undefined ? '' : past.at, known.slots !== undefined, known.slots?.data)
  const slot = shown?.find((one) => one.id === slotId)
  // An address names its slot before it is known in which hall that is.
  useEffect(() => {
    if (slot) setChosenWarehouse((before) => before ?? slot.warehouseId)
  }, [slot?.id])
  const opener = useRef<Element | null>(null)
  const chosenNow = useRef<((id: number) => void) | null>(null)
  // Always the same function, so that rows that do not change are not drawn again.
  const [choose] = useState(() => (id: number) => chosenNow.current?.(id))
  chosenNow.current = (id) => {
    opener.current = document.activeElement
    setChosenWarehouse(shown?.find((one) => one.id === id)?.warehouseId ?? warehouse?.id)
    setSlotId(id)
  }
  // The focused element may close with the panel: the focus returns to where the slot was chosen, or to the slot.
  const close = () => {
    const isKept = !document.activeElement?.closest('.slot-panel') && document.activeElement !== document.body
    const onPlan = document.getElementById(planCursorId)
    const back = opener.current?.isConnected && opener.current !== document.body ? opener.current : onPlan
    if (!isKept && back instanceof HTMLElement) back.focus()
    setSlotId(undefined)
  }
  const events = at === undefined ? known.events?.data : past.events
  const timeZone = warehouse?.timezone
  // The pressed button disappears with its alert.
  const alertSeen = () => {
    board.current?.focus({ preventScroll: true })
    feed.current?.refresh('alerts')
  }

  return (
    <>
      <a class="skip" href="#floor">
        {floorTexts.toPlan}
      </a>
      <header class="bar">
        <p class="brand">
          <Icon name="logo" /> <span class="brand-name">Gatehouse</span>
        </p>
        <h1 class="site">
          <span class="unseen">{floorTexts.floorOf} </span>
          {siteId}
        </h1>
        <Connection known={known} timeZone={timeZone} />
        <Views here="floor" caller={caller} />
        <ScanField />
        <p class="who">
          <strong>{caller.username}</strong> <span class="muted">{texts.roles[caller.role] ?? caller.role}</span>
        </p>
        <SignOut onLeft={onLeft} />
      </header>
      <Trouble known={known} timeZone={timeZone} />
      <main
        class="board"
        tabindex={-1}
        ref={board}
        onKeyDown={(event: KeyboardEvent) => event.key === 'Escape' && slotId !== undefined && close()}
      >
        <div class="top">
          {known.alerts?.data.length ? (
            <Alerts alerts={known.alerts.data} timeZone={timeZone} onSeen={alertSeen} />
          ) : null}
          <Numbers
            utilization={shown && known.zones ? utilizationOf(shown, known.zones.data) : undefined}
            disputed={shown?.filter((one) => one.isDisputed).length}
            zones={known.zones?.data ?? []}
          />
        </div>
        <div class="middle">
          <FloorPlan
            warehouses={warehouses}
            warehouse={warehouse}
            onWarehouse={setChosenWarehouse}
            zones={known.zones?.data ?? noZones}
            slots={slots}
            odd={odd ?? noneOdd}
            isOddKnown={odd !== undefined}
            isKnown={shown !== undefined && known.zones !== undefined}
            isPast={at !== undefined}
            mayMake={caller.permissions.includes('whms:write')}
            chosen={slot?.id}
            onChoose={choose}
          />
          <TimeSlider at={at} slot={slotId} timeZone={timeZone} shown={past.at} />
          <p class="problem" role="alert">
            <Said words={past.problem} />
          </p>
          <SlotTable slots={slots} odd={odd ?? noneOdd} chosen={slot?.id} onChoose={choose} />
        </div>
        <div class="side">
          <SlotPanel
            slot={slot}
            heardOf={events
              ?.filter((event) => event.slot_id === slot?.id)
              .map(({ id }) => id)
              .join()}
            timeZone={timeZone}
            slots={slots}
            at={at}
            onChoose={choose}
            onClose={close}
          />
          <EventList events={events} timeZone={timeZone} onSlot={choose} />
        </div>
        <div class="more">
          <Cameras
            cameras={known.cameras?.data}
            detections={known.detections?.data}
            isAbsent={known.absent.has('cameras')}
            timeZone={timeZone}
          />
          {caller.permissions.includes('webhooks:manage') ? <Webhooks webhooks={known.webhooks?.data} /> : null}
        </div>
      </main>
      <p class="unseen" role="status">
        <Said words={events?.[0] ? floorTexts.newest(spokenEvent(events[0])) : ''} />
      </p>
    </>
  )
}

const noZones: readonly never[] = []

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
function usePast(at: string | undefined, onLeft: (why: string) => void): Past {
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

const noneOdd: ReadonlyMap<number, string> = new Map()

const Connection = ({ known, timeZone }: { known: Known; timeZone: string | undefined }) => {
  const state = known.trouble !== undefined ? 'lost' : known.updatedMs === undefined ? 'waiting' : 'live'
  return (
    <p class={`connection ${state}`}>
      <span class="dot" aria-hidden="true" />
      {floorTexts.connection[state]}
      {known.updatedMs !== undefined ? <span class="muted at">{timeOfDay(known.updatedMs, timeZone)}</span> : null}
    </p>
  )
}

/** Shows trouble. Always in the page, so that a screen reader notices when it gets text. */
const Trouble = ({ known, timeZone }: { known: Known; timeZone: string | undefined }) => (
  <div class="trouble" role="alert">
    {known.trouble !== undefined ? (
      <p>
        <Icon name="lost" />
        <span>
          <strong>
            <Said words={known.trouble} />
          </strong>{' '}
          {known.updatedMs === undefined ? floorTexts.again : floorTexts.seenFrom(timeOfDay(known.updatedMs, timeZone))}
        </span>
      </p>
    ) : null}
    {unhealthy(known).map((reason) => (
      <p key={reason}>
        <Icon name="bell" />
        <strong lang="en">{reason}</strong>
      </p>
    ))}
  </div>
)

/** Returns why the gateway cannot do its work. Messages for the admin are among the alerts. */
const unhealthy = ({ health }: Known): string[] =>
  Object.values(health?.checks ?? {}).flatMap(({ status, reason }) =>
    status === 'unhealthy' && reason ? [reason] : [],
  )
