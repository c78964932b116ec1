import { useEffect, useRef, useState } from 'preact/hooks'
import { ScanField } from '../codes/scan-field.tsx'
import { utilizationOf } from '../data/floor-use.ts'
import type { SignedIn, Slot, Webhook } from '../data/shapes.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { hostOf, spokenEvent, timeOfDay } from '../i18n/words.ts'
import { Views } from '../kit/bar.tsx'
import { focusFirst } from '../kit/first-focus.ts'
import { Icon } from '../kit/icons.tsx'
import { SignOut } from '../sign-in/sign-out.tsx'
import { Alerts } from './alerts.tsx'
import { Cameras } from './cameras.tsx'
import { planCursorId } from './drawn-plan.tsx'
import { EventList } from './event-list.tsx'
import type { Known } from './feed.ts'
import { FloorPlan } from './floor-plan.tsx'
import { floorTexts } from './floor-texts.ts'
import { Numbers } from './numbers.tsx'
import { SlotPanel } from './slot-panel.tsx'
import { SlotTable } from './slot-table.tsx'
import { TimeSlider } from './time-slider.tsx'
import { useShownFloor } from './use-shown-floor.ts'

type Props = {
  siteId: string
  caller: SignedIn
  slot: number | undefined
  at: string | undefined
  onLeft: (why: string) => void
}

const noZones: readonly never[] = []
const noneOdd: ReadonlyMap<number, string> = new Map()

/** The floor. `slot` and `at`: the slot and the time that the address names. */
export const Console = ({ siteId, caller, slot: asked, at, onLeft }: Props) => {
  const board = useRef<HTMLElement>(null)
  // The focused form is gone, so the board takes the focus.
  useEffect(() => focusFirst(board.current), [])
  const floor = useShownFloor({ caller, at, onLeft })
  const { known, past, warehouse, setChosenWarehouse, all, slots, odd, events } = floor
  const { slotId, choose, close } = useChosenSlot(asked, (id) =>
    setChosenWarehouse(all?.find((one) => one.id === id)?.warehouseId ?? warehouse?.id),
  )
  const slot = all?.find((one) => one.id === slotId)
  // An address names its slot before it is known in which hall that is.
  useEffect(() => {
    if (slot) setChosenWarehouse((before) => before ?? slot.warehouseId)
  }, [slot?.id])
  const timeZone = warehouse?.timezone
  // The pressed button disappears with its alert.
  const alertSeen = () => {
    board.current?.focus({ preventScroll: true })
    floor.refresh('alerts')
  }
  return (
    <>
      <a class="skip" href="#floor">
        {floorTexts.toPlan}
      </a>
      <Head {...{ siteId, caller, known, timeZone, onLeft }} />
      <Trouble known={known} timeZone={timeZone} />
      <main
        class="board"
        tabindex={-1}
        ref={board}
        onKeyDown={(event: KeyboardEvent) => event.key === 'Escape' && slotId !== undefined && close()}
      >
        <Overview known={known} slots={all} timeZone={timeZone} onSeen={alertSeen} />
        <div class="middle">
          <FloorPlan
            warehouses={floor.warehouses}
            warehouse={warehouse}
            onWarehouse={setChosenWarehouse}
            zones={known.zones?.data ?? noZones}
            slots={slots}
            odd={odd ?? noneOdd}
            isOddKnown={odd !== undefined}
            isKnown={all !== undefined && known.zones !== undefined}
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
            {...{ slot, slots, at, timeZone }}
            heardOf={events
              ?.filter((event) => event.slot_id === slot?.id)
              .map(({ id }) => id)
              .join()}
            onChoose={choose}
            onClose={close}
          />
          <EventList events={events} timeZone={timeZone} onSlot={choose} />
        </div>
        <Equipment known={known} mayWebhooks={caller.permissions.includes('webhooks:manage')} timeZone={timeZone} />
      </main>
      <p class="unseen" role="status">
        <Said words={events?.[0] ? floorTexts.newest(spokenEvent(events[0])) : ''} />
      </p>
    </>
  )
}

/** The slot that somebody looks at. `onChosen`: called with each slot that is chosen. */
function useChosenSlot(asked: number | undefined, onChosen: (id: number) => void) {
  const [slotId, setSlotId] = useState<number | undefined>(asked)
  const opener = useRef<Element | null>(null)
  const chosenNow = useRef<((id: number) => void) | null>(null)
  // Always the same function, so that rows that do not change are not drawn again.
  const [choose] = useState(() => (id: number) => chosenNow.current?.(id))
  chosenNow.current = (id) => {
    opener.current = document.activeElement
    onChosen(id)
    setSlotId(id)
  }
  useEffect(() => {
    if (asked !== undefined) choose(asked)
  }, [asked])
  // A small screen may not have room for panel and plan; the plan is scrolled to first.
  useEffect(() => {
    if (slotId === undefined) return
    for (const id of ['slot-title', 'plan']) document.getElementById(id)?.scrollIntoView({ block: 'nearest' })
  }, [slotId])
  // The focused element may close with the panel: the focus returns to where the slot was chosen, or to the slot.
  const close = () => {
    const isKept = !document.activeElement?.closest('.slot-panel') && document.activeElement !== document.body
    const onPlan = document.getElementById(planCursorId)
    const back = opener.current?.isConnected && opener.current !== document.body ? opener.current : onPlan
    if (!isKept && back instanceof HTMLElement) back.focus()
    setSlotId(undefined)
  }
  return { slotId, choose, close }
}

type HeadProps = Pick<Props, 'siteId' | 'caller' | 'onLeft'> & { known: Known; timeZone: string | undefined }

const Head = ({ siteId, caller, known, timeZone, onLeft }: HeadProps) => (
  <header class="bar view-bar">
    <p class="brand">
      <Icon name="logo" /> <span class="brand-name">Gatehouse</span>
    </p>
    <h1 class="site">
      <span class="unseen">{floorTexts.floorOf} </span>
      {siteId}
    </h1>
    <Connection known={known} timeZone={timeZone} />
    <Views here="floor" {...{ siteId, caller, onLeft }} />
    <ScanField />
    <p class="who">
      <strong>{caller.username}</strong> <span class="muted">{texts.roles[caller.role] ?? caller.role}</span>
    </p>
    <SignOut onLeft={onLeft} />
  </header>
)

type OverviewProps = {
  known: Known
  slots: readonly Slot[] | undefined
  timeZone: string | undefined
  onSeen: () => void
}

/** Alerts that are open, and how full the halls are. */
const Overview = ({ known, slots, timeZone, onSeen }: OverviewProps) => (
  <div class="top">
    {known.alerts?.data.length ? <Alerts alerts={known.alerts.data} timeZone={timeZone} onSeen={onSeen} /> : null}
    <Numbers
      utilization={slots && known.zones ? utilizationOf(slots, known.zones.data) : undefined}
      disputed={slots?.filter((one) => one.isDisputed).length}
      zones={known.zones?.data ?? []}
    />
  </div>
)

type EquipmentProps = { known: Known; mayWebhooks: boolean; timeZone: string | undefined }

const Equipment = ({ known, mayWebhooks, timeZone }: EquipmentProps) => (
  <div class="more">
    <Cameras
      cameras={known.cameras?.data}
      detections={known.detections?.data}
      isAbsent={known.absent.has('cameras')}
      timeZone={timeZone}
    />
    {mayWebhooks ? <Webhooks webhooks={known.webhooks?.data} /> : null}
  </div>
)

/** Shows where notifications go, and whether they arrive. */
const Webhooks = ({ webhooks }: { webhooks: readonly Webhook[] | undefined }) => (
  <section class="card webhooks" aria-labelledby="webhooks-title">
    <h2 id="webhooks-title">
      <Icon name="webhook" /> {floorTexts.webhooks.title}
    </h2>
    {webhooks === undefined ? <p class="blank">{texts.loading}</p> : null}
    {webhooks?.length === 0 ? <p class="blank">{floorTexts.webhooks.none}</p> : null}
    <ul class="rows">
      {(webhooks ?? []).map((webhook) => (
        <li key={webhook.id}>
          <span class="address">
            <strong>{hostOf(webhook.url)}</strong>
            <span class="muted">{floorTexts.webhooks.eventTypes(webhook.events.length)}</span>
          </span>
          <WebhookState webhook={webhook} />
        </li>
      ))}
    </ul>
  </section>
)

const WebhookState = ({ webhook }: { webhook: Webhook }) => {
  const { active, hold, status, pacing, consecutiveFailures } = webhook
  if (!active) return <span class="chip off">{hold ? floorTexts.webhooks.holding : floorTexts.webhooks.off}</span>
  if (status === 'failing') return <span class="chip warn">{floorTexts.webhooks.failing}</span>
  if (pacing) return <span class="chip warn">{floorTexts.webhooks.slowed(consecutiveFailures)}</span>
  if (status === 'active') return <span class="chip ok">{floorTexts.webhooks.delivering}</span>
  return <span class="chip danger">{floorTexts.webhooks.disabled(consecutiveFailures)}</span>
}

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
