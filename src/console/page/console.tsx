import { useEffect, useMemo, useRef, useState } from 'hono/jsx/dom'
import { Alerts } from './alerts.tsx'
import type { SignedIn, Slot } from './answers.ts'
import { ask, Refused } from './ask.ts'
import { Cameras } from './cameras.tsx'
import { EventList } from './event-list.tsx'
import { Feed, type Known } from './feed.ts'
import { FloorPlan } from './floor-plan.tsx'
import { Icon } from './icons.tsx'
import { Numbers } from './numbers.tsx'
import { ScanField } from './scan-field.tsx'
import { SlotPanel } from './slot-panel.tsx'
import { slotElementId } from './slot-shape.tsx'
import { Webhooks } from './webhooks.tsx'
import { spokenEvent, timeOfDay } from './words.ts'

type Props = { siteId: string; caller: SignedIn; slot: number | undefined; onLeft: (why: string) => void }

/** The floor. `slot`: the one that the address names. */
export const Console = ({ siteId, caller, slot: asked, onLeft }: Props) => {
  const [known, setKnown] = useState<Known>({ absent: new Set() })
  const [chosenWarehouse, setChosenWarehouse] = useState<number | undefined>(undefined)
  const [slotId, setSlotId] = useState<number | undefined>(asked)
  const feed = useRef<Feed | null>(null)
  const board = useRef<HTMLElement>(null)
  // The focused form is gone, so the board takes the focus.
  useEffect(() => {
    if (!document.activeElement?.closest('.scan')) board.current?.focus({ preventScroll: true })
  }, [])
  useEffect(() => {
    if (asked !== undefined) choose(asked)
  }, [asked])
  useEffect(() => {
    const signedOut = () => onLeft('You were signed out. Sign in again to go on.')
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
  const slots = useMemo(() => slotsOf(known, warehouse?.id), [known.slots, warehouse?.id])
  const slot = known.slots?.data.find((one) => one.id === slotId)
  const opener = useRef<Element | null>(null)
  const choose = (id: number) => {
    opener.current = document.activeElement
    setChosenWarehouse(known.slots?.data.find((one) => one.id === id)?.warehouseId ?? warehouse?.id)
    setSlotId(id)
  }
  // The focused element may close with the panel: the focus returns to where the slot was chosen, or to the slot.
  const close = () => {
    const isKept = !document.activeElement?.closest('.slot-panel') && document.activeElement !== document.body
    const onPlan = slotId === undefined ? null : document.getElementById(slotElementId(slotId))
    const back = opener.current?.isConnected && opener.current !== document.body ? opener.current : onPlan
    if (!isKept && (back instanceof HTMLElement || back instanceof SVGElement)) back.focus()
    setSlotId(undefined)
  }
  const events = known.events?.data
  const timeZone = warehouse?.timezone
  // The pressed button disappears with its alert.
  const alertSeen = () => {
    board.current?.focus({ preventScroll: true })
    feed.current?.refresh('alerts')
  }

  return (
    <>
      <a class="skip" href="#floor">
        To the floor plan
      </a>
      <header class="bar">
        <p class="brand">
          <Icon name="logo" /> <span class="brand-name">Gatehouse</span>
        </p>
        <h1 class="site">
          <span class="unseen">Floor of site </span>
          {siteId}
        </h1>
        <Connection known={known} timeZone={timeZone} />
        <ScanField />
        <p class="who">
          <strong>{caller.username}</strong> <span class="muted">{caller.role}</span>
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
            utilization={known.utilization}
            disputed={known.slots?.data.filter((one) => one.isDisputed).length}
            zones={known.zones?.data ?? []}
          />
        </div>
        <FloorPlan
          warehouses={warehouses}
          warehouse={warehouse}
          onWarehouse={setChosenWarehouse}
          zones={known.zones?.data ?? []}
          slots={slots}
          isKnown={known.slots !== undefined && known.zones !== undefined}
          chosen={slot?.id}
          onChoose={choose}
        />
        <div class="side">
          <SlotPanel
            slot={slot}
            heardOf={events
              ?.filter((event) => event.slot_id === slot?.id)
              .map(({ id }) => id)
              .join()}
            timeZone={timeZone}
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
        {events?.[0] ? `Newest event: ${spokenEvent(events[0])}` : ''}
      </p>
    </>
  )
}

const slotsOf = (known: Known, warehouseId: number | undefined): readonly Slot[] =>
  (known.slots?.data ?? []).filter((slot) => warehouseId === undefined || slot.warehouseId === warehouseId)

const Connection = ({ known, timeZone }: { known: Known; timeZone: string | undefined }) => {
  const state = known.trouble !== undefined ? 'lost' : known.updatedMs === undefined ? 'waiting' : 'live'
  const words = { lost: 'Not up to date', waiting: 'Loading …', live: 'Live' }
  return (
    <p class={`connection ${state}`}>
      <span class="dot" aria-hidden="true" />
      {words[state]}
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
          <strong>{known.trouble}</strong>{' '}
          {known.updatedMs === undefined
            ? 'Trying again by itself.'
            : `What you see is from ${timeOfDay(known.updatedMs, timeZone)}. Trying again by itself.`}
        </span>
      </p>
    ) : null}
    {unhealthy(known).map((reason) => (
      <p key={reason}>
        <Icon name="bell" />
        <strong>{reason}</strong>
      </p>
    ))}
  </div>
)

/** Returns why the gateway cannot do its work. Messages for the admin are among the alerts. */
const unhealthy = ({ health }: Known): string[] =>
  Object.values(health?.checks ?? {}).flatMap(({ status, reason }) =>
    status === 'unhealthy' && reason ? [reason] : [],
  )

const SignOut = ({ onLeft }: { onLeft: (why: string) => void }) => {
  const [problem, setProblem] = useState('')
  const signOut = async () => {
    try {
      await ask('/api/session', { method: 'DELETE' })
      onLeft('You are signed out.')
    } catch (error) {
      if (error instanceof Refused && error.isSignedOut) return onLeft('You are signed out.')
      // A sign-in in another tab replaced the session: this page still has the old token.
      if (error instanceof Refused && error.code === 'CSRF_TOKEN_WRONG') return location.reload()
      setProblem('Signing out did not work: try again.')
    }
  }
  return (
    <div class="sign-out">
      <span class="problem" role="alert">
        {problem}
      </span>
      <button type="button" class="plain" onClick={signOut}>
        <Icon name="out" /> <span>Sign out</span>
      </button>
    </div>
  )
}
