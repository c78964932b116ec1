import { useEffect, useState } from 'hono/jsx/dom'
import { follow, pageOfCode } from './address.ts'
import type { List, PlacementEvent, Slot } from './answers.ts'
import { ask } from './ask.ts'
import { EventRow } from './event-list.tsx'
import { Icon } from './icons.tsx'
import { Scroller } from './scroller.tsx'
import { StatusMark } from './slot-shape.tsx'
import { exactTime, statusOf, statusWords } from './words.ts'

type Props = {
  slot: Slot | undefined
  /** Ids of the slot's events that the page knows; when they change, the history is asked again. */
  heardOf: string | undefined
  timeZone: string | undefined
  onClose: () => void
}

/** Shows what is in the chosen slot, since when, and what happened there. */
export const SlotPanel = ({ slot, heardOf, timeZone, onClose }: Props) => {
  const [history, setHistory] = useState<{ slotId: number; events: readonly PlacementEvent[] } | undefined>(undefined)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    if (!slot) return
    let isWanted = true
    const path = `/api/whms/events?slot_id=${slot.id}&limit=12`
    ask<List<PlacementEvent>>(path).then(
      ({ data }) => {
        if (!isWanted) return
        setProblem('')
        setHistory({ slotId: slot.id, events: data })
      },
      (error: Error) => isWanted && setProblem(`The history can’t be shown: ${error.message}.`),
    )
    return () => {
      isWanted = false
    }
  }, [slot?.id, heardOf])

  if (!slot) return null
  const events = history?.slotId === slot.id ? history.events : undefined
  return (
    <section class="card slot-panel" aria-labelledby="slot-title">
      <div class="card-head">
        <h2 id="slot-title">
          <span class="unseen">Slot </span>
          {slot.slot_id}
        </h2>
        <button type="button" class="plain square" aria-label="Close the slot" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <p class={`badge ${statusOf(slot)}`}>
        <StatusMark status={statusOf(slot)} /> {statusWords[statusOf(slot)]}
      </p>
      <Facts slot={slot} events={events ?? []} timeZone={timeZone} />
      <h3>History</h3>
      {problem ? <p class="problem">{problem}</p> : null}
      {events === undefined && !problem ? <p class="blank">Loading …</p> : null}
      {events?.length === 0 ? <p class="blank">Nothing has happened here yet.</p> : null}
      <Scroller name={`History of slot ${slot.slot_id}`}>
        <ol class="event-rows">
          {(events ?? []).map((event) => (
            <EventRow key={event.id} event={event} timeZone={timeZone} />
          ))}
        </ol>
      </Scroller>
    </section>
  )
}

const Facts = ({
  slot,
  events,
  timeZone,
}: {
  slot: Slot
  events: readonly PlacementEvent[]
  timeZone: string | undefined
}) => {
  const placed = events.find((e) => e.event_type === 'PLACED' && e.asset_barcode === slot.assetBarcode)
  const judged = slot.isVerified || slot.isDisputed ? events.find((e) => isJudgement(e, slot)) : undefined
  return (
    <>
      {slot.isOccupied && placed?.photoEvidence === 'held' && placed.photo_sha256 ? (
        <img
          class="evidence"
          key={placed.photo_sha256}
          src={`/api/whms/evidence/photos/${placed.photo_sha256}`}
          alt={`Taken when pallet ${placed.asset_barcode} was placed`}
        />
      ) : null}
      <dl class="facts">
        <div>
          <dt>Pallet</dt>
          <dd>
            {slot.assetBarcode === null ? (
              'none'
            ) : (
              <a class="code" href={pageOfCode(slot.assetBarcode)} onClick={follow}>
                {slot.assetBarcode}
              </a>
            )}
          </dd>
        </div>
        {slot.isOccupied && placed ? <Fact name="Placed" value={byWhom(placed, timeZone)} /> : null}
        {judged ? <Fact name={slot.isDisputed ? 'Disputed' : 'Verified'} value={byWhom(judged, timeZone)} /> : null}
        <Fact name="Zone" value={slot.zone_type ? `${slot.zone} (${slot.zone_type})` : slot.zone} />
        <Fact name="May hold" value={limitsOf(slot)} />
      </dl>
    </>
  )
}

const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

const isJudgement = (event: PlacementEvent, slot: Slot) =>
  event.event_type === (slot.isDisputed ? 'DISPUTED' : 'VERIFIED') && event.asset_barcode === slot.assetBarcode

const byWhom = (event: PlacementEvent, timeZone: string | undefined) =>
  `${exactTime(event.timestamp, timeZone)} by ${event.operator ?? 'somebody whose name was removed'}`

function limitsOf({ constraints }: Slot): string {
  const { max_weight, max_height, allowed_types } = constraints ?? {}
  const limits = [
    allowed_types && allowed_types.length > 0 && allowed_types.join(', '),
    max_weight !== undefined && `up to ${max_weight} kg`,
    max_height !== undefined && `up to ${max_height} cm high`,
  ].filter(Boolean)
  return limits.length > 0 ? limits.join(' · ') : 'anything'
}
