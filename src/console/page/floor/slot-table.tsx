import { useMemo, useState } from 'preact/hooks'
import type { Slot } from '../data/shapes.ts'
import { Said } from '../i18n/said.tsx'
import { type SlotStatus, spokenSlot, statusOf, statusWords } from '../i18n/words.ts'
import { wordTexts } from '../i18n/words-texts.ts'
import { follow, pageOfCode } from '../kit/address.ts'
import { textOf } from '../kit/field.ts'
import { Scroller } from '../kit/scroller.tsx'
import { OddMark, StatusMark } from '../kit/slot-marks.tsx'
import { floorTexts as words } from './floor-texts.ts'
import { memo } from './memo.ts'

/** The plan's slots by label, and what is odd about them. */
type Props = {
  slots: readonly Slot[]
  odd: ReadonlyMap<number, string>
  chosen: number | undefined
  onChoose: (id: number) => void
}

type Filter = 'all' | 'odd' | Exclude<SlotStatus, 'retired'>

const pageSize = 25
const filters: readonly Filter[] = ['all', 'odd', 'disputed', 'occupied', 'verified', 'empty']

/** The plan as a table: the same slots with the same states, for keyboards and screen readers. */
export const SlotTable = ({ slots, odd, chosen, onChoose }: Props) => {
  const [filter, setFilter] = useState<Filter>('all')
  const [page, setPage] = useState(0)
  const order = useMemo(() => orderOf(slots), [slots.length, slots[0]?.id, slots.at(-1)?.id])
  const rows = useMemo(() => {
    const byId = new Map(slots.map((slot) => [slot.id, slot]))
    return order
      .flatMap((id) => byId.get(id) ?? [])
      .filter((slot) => filter === 'all' || (filter === 'odd' ? odd.has(slot.id) : statusOf(slot) === filter))
  }, [slots, order, filter, odd])
  const pages = Math.max(1, Math.ceil(rows.length / pageSize))
  const at = Math.min(page, pages - 1)
  return (
    <section class="card slot-table" aria-labelledby="table-title">
      <div class="card-head">
        <h2 id="table-title">{words.table}</h2>
        <label class="choice">
          <span>{words.show}</span>
          <select
            onInput={(event: Event) => {
              setFilter(filters.find((one) => one === textOf(event)) ?? 'all')
              setPage(0)
            }}
          >
            {filters.map((one) => (
              <option key={one} value={one} selected={one === filter}>
                {one === 'all' ? words.all : one === 'odd' ? wordTexts.odd : statusWords[one]}
              </option>
            ))}
          </select>
        </label>
        <p class="pager">
          <button
            type="button"
            class="square"
            aria-label={words.pageBefore}
            aria-disabled={at === 0 ? 'true' : 'false'}
            onClick={() => setPage(Math.max(0, at - 1))}
          >
            ‹
          </button>
          <span role="status">{words.page(at + 1, pages, rows.length)}</span>
          <button
            type="button"
            class="square"
            aria-label={words.pageAfter}
            aria-disabled={at === pages - 1 ? 'true' : 'false'}
            onClick={() => setPage(Math.min(pages - 1, at + 1))}
          >
            ›
          </button>
        </p>
      </div>
      <Scroller name={words.table}>
        <table>
          <thead>
            <tr>
              {[words.slot, words.zone, words.state, words.pallet, wordTexts.odd].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(at * pageSize, (at + 1) * pageSize).map((slot) => (
              <Row key={slot.id} slot={slot} why={odd.get(slot.id)} isChosen={slot.id === chosen} onChoose={onChoose} />
            ))}
          </tbody>
        </table>
      </Scroller>
      {rows.length === 0 ? <p class="blank">{words.noRows}</p> : null}
    </section>
  )
}

/** Sorting thousands of labels takes long, and an event does not change them. */
const orderOf = (slots: readonly Slot[]): number[] =>
  slots.toSorted((a, b) => (a.slot_id < b.slot_id ? -1 : 1)).map(({ id }) => id)

type RowProps = { slot: Slot; why: string | undefined; isChosen: boolean; onChoose: (id: number) => void }

const Row = memo(({ slot, why, isChosen, onChoose }: RowProps) => (
  <tr class={isChosen ? 'chosen' : ''}>
    <th scope="row">
      <button
        type="button"
        class="slot-link slot"
        aria-label={spokenSlot(slot)}
        aria-pressed={isChosen ? 'true' : 'false'}
        onClick={() => onChoose(slot.id)}
      >
        {slot.slot_id}
      </button>
    </th>
    <td>{slot.zone}</td>
    <td>
      <span class="with-mark">
        <StatusMark status={statusOf(slot)} /> {statusWords[statusOf(slot)]}
      </span>
    </td>
    <td>
      {slot.assetBarcode === null ? (
        <span class="muted">–</span>
      ) : (
        <a class="code pallet-link" href={pageOfCode(slot.assetBarcode)} onClick={follow}>
          {slot.assetBarcode}
        </a>
      )}
    </td>
    <td>
      {why === undefined ? (
        <span class="muted">–</span>
      ) : (
        <span class="with-mark">
          <OddMark />{' '}
          <span>
            <Said words={why} />
          </span>
        </span>
      )}
    </td>
  </tr>
))
