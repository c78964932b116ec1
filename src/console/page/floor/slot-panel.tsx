import { useEffect, useState } from 'preact/hooks'
import { ask } from '../data/ask.ts'
import type { List, PlacementEvent, Slot } from '../data/shapes.ts'
import { kilograms, numberWords } from '../i18n/counting.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { assetTypeWords, exactTime, justAfter, statusOf, statusWords, whenWords, zoneTypeWords } from '../i18n/words.ts'
import { follow, pageOfCode } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import { Scroller } from '../kit/scroller.tsx'
import { StatusMark } from '../kit/slot-marks.tsx'
import { KeptPhoto } from '../pictures/kept-photo.tsx'
import { EventRow } from './event-list.tsx'
import { floorTexts } from './floor-texts.ts'
import { RackFront } from './rack-front.tsx'

const words = floorTexts.panel

type Props = {
  slot: Slot | undefined
  /** Ids of the slot's events that the page knows; when they change, the history is asked again. */
  heardOf: string | undefined
  timeZone: string | undefined
  slots: readonly Slot[]
  at: string | undefined
  onChoose: (id: number) => void
  onClose: () => void
}

/** Shows what is in the chosen slot, since when, and what happened there. */
export const SlotPanel = ({ slot, heardOf, timeZone, slots, at, onChoose, onClose }: Props) => {
  const [history, setHistory] = useState<{ slotId: number; events: readonly PlacementEvent[] } | undefined>(undefined)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    if (!slot) return
    let isWanted = true
    const path = `/api/whms/events?slot_id=${slot.id}&limit=12${at === undefined ? '' : `&to=${encodeURIComponent(justAfter(at))}`}`
    ask<List<PlacementEvent>>(path).then(
      ({ data }) => {
        if (!isWanted) return
        setProblem('')
        setHistory({ slotId: slot.id, events: data })
      },
      (error: Error) => isWanted && setProblem(words.failed(error.message)),
    )
    return () => {
      isWanted = false
    }
  }, [slot?.id, heardOf, at])

  if (!slot) return null
  const events = history?.slotId === slot.id ? history.events : undefined
  return (
    <section class="card slot-panel" aria-labelledby="slot-title">
      <div class="card-head">
        <h2 id="slot-title">
          <span class="unseen">{floorTexts.slot} </span>
          {slot.slot_id}
        </h2>
        <button type="button" class="plain square" aria-label={words.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <p class={`badge ${statusOf(slot)}`}>
        <StatusMark status={statusOf(slot)} /> {statusWords[statusOf(slot)]}
      </p>
      <Facts slot={slot} events={events ?? []} timeZone={timeZone} />
      <RackFront slot={slot} slots={slots} onChoose={onChoose} />
      <h3>{words.history}</h3>
      {problem ? (
        <p class="problem">
          <Said words={problem} />
        </p>
      ) : null}
      {events === undefined && !problem ? <p class="blank">{texts.loading}</p> : null}
      {events?.length === 0 ? <p class="blank">{words.nothing}</p> : null}
      <Scroller name={words.historyOf(slot.slot_id)}>
        <ol class="event-rows">
          {(events ?? []).map((event) => (
            <EventRow key={event.id} event={event} when={whenWords(event.timestamp, timeZone)} timeZone={timeZone} />
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
        <KeptPhoto
          class="evidence"
          key={placed.photo_sha256}
          sha256={placed.photo_sha256}
          alt={words.photo(placed.asset_barcode)}
          timeZone={timeZone}
        />
      ) : null}
      <dl class="facts">
        <div>
          <dt>{words.pallet}</dt>
          <dd>
            {slot.assetBarcode === null ? (
              words.none
            ) : (
              <a class="code" href={pageOfCode(slot.assetBarcode)} onClick={follow}>
                {slot.assetBarcode}
              </a>
            )}
          </dd>
        </div>
        {slot.isOccupied && placed ? <Fact name={words.placed} value={byWhom(placed, timeZone)} /> : null}
        {judged ? (
          <Fact name={slot.isDisputed ? words.disputed : words.verified} value={byWhom(judged, timeZone)} />
        ) : null}
        <Fact
          name={words.zone}
          value={slot.zone_type ? `${slot.zone} (${zoneTypeWords(slot.zone_type)})` : slot.zone}
        />
        <Fact name={words.mayHold} value={limitsOf(slot)} />
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
  words.byWhom(exactTime(event.timestamp, timeZone), event.operator ?? texts.nameRemoved)

function limitsOf({ constraints }: Slot): string {
  const { max_weight, max_height, allowed_types } = constraints ?? {}
  const limits = [
    allowed_types && allowed_types.length > 0 && allowed_types.map(assetTypeWords).join(', '),
    max_weight !== undefined && words.upToKg(kilograms(max_weight)),
    max_height !== undefined && words.upToCm(numberWords(max_height)),
  ].filter(Boolean)
  return limits.length > 0 ? limits.join(' · ') : words.anything
}
