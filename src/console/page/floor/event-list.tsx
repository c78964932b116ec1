import type { PlacementEvent } from '../data/shapes.ts'
import { kilograms } from '../i18n/counting.ts'
import { texts } from '../i18n/texts.ts'
import { eventWords, exactTime, whenWords } from '../i18n/words.ts'
import { follow, pageOfCode } from '../kit/address.ts'
import { Icon, type IconName } from '../kit/icons.tsx'
import { Scroller } from '../kit/scroller.tsx'
import { Warnings } from '../kit/warnings.tsx'
import { floorTexts } from './floor-texts.ts'
import { memo } from './memo.ts'

const iconOf: Record<PlacementEvent['event_type'], IconName> = {
  PLACED: 'placed',
  REMOVED: 'removed',
  VERIFIED: 'verified',
  DISPUTED: 'disputed',
}

const words = floorTexts.events

type Props = {
  events: readonly PlacementEvent[] | undefined
  timeZone: string | undefined
  onSlot: (id: number) => void
}

export const EventList = ({ events, timeZone, onSlot }: Props) => (
  <section class="card events" aria-labelledby="events-title">
    <h2 id="events-title">{words.title}</h2>
    {events === undefined ? <p class="blank">{texts.loading}</p> : null}
    {events?.length === 0 ? <p class="blank">{words.none}</p> : null}
    <Scroller name={words.title}>
      <ol class="event-rows">
        {(events ?? []).map((event) => (
          <EventRow
            key={event.id}
            event={event}
            when={whenWords(event.timestamp, timeZone)}
            timeZone={timeZone}
            onSlot={onSlot}
          />
        ))}
      </ol>
    </Scroller>
  </section>
)

type RowProps = {
  event: PlacementEvent
  /** How long ago it was, in words: the row is drawn again when they change. */
  when: string
  timeZone: string | undefined
  onSlot?: (id: number) => void
}

export const EventRow = memo(({ event, when, timeZone, onSlot }: RowProps) => (
  <li class={`event ${event.event_type.toLowerCase()}`}>
    <span class="event-icon">
      <Icon name={iconOf[event.event_type]} />
    </span>
    <div class="event-body">
      <p class="event-line">
        <strong>{eventWords[event.event_type]}</strong>
        {onSlot ? (
          <button type="button" class="slot-link" onClick={() => onSlot(event.slot_id)}>
            <span class="unseen">{floorTexts.slot} </span>
            {event.slot_code}
          </button>
        ) : null}
        <time class="muted" datetime={event.timestamp} title={exactTime(event.timestamp, timeZone)}>
          {when}
        </time>
      </p>
      <p>
        <a class="code pallet-link" href={pageOfCode(event.asset_barcode)} onClick={follow}>
          {event.asset_barcode}
        </a>
      </p>
      <p class="muted">
        {event.operator ?? words.nameRemoved}
        {event.scale_weight_kg === null ? '' : ` · ${kilograms(event.scale_weight_kg)}`}
      </p>
      {event.verification_notes ? <p class="quote">{event.verification_notes}</p> : null}
      <Warnings of={event.warnings} />
    </div>
  </li>
))
