import type { Slot } from '../data/shapes.ts'
import { statusOf, statusWords } from '../i18n/words.ts'
import { Scroller } from '../kit/scroller.tsx'
import { StatusMark } from '../kit/slot-marks.tsx'
import { floorTexts } from './floor-texts.ts'
import { frontOf } from './rack.ts'

type Props = { slot: Slot; slots: readonly Slot[]; onChoose: (id: number) => void }

/** Shows the rack of the chosen slot from its front: levels above each other. */
export const RackFront = ({ slot: chosen, slots, onChoose }: Props) => {
  const front = frontOf(chosen, slots)
  if (!front) return null
  const name = floorTexts.front(front.aisle)
  return (
    <>
      <h3>{name}</h3>
      <Scroller name={name}>
        <table class="rack">
          <thead>
            <tr>
              <th scope="col">{floorTexts.level}</th>
              {front.bays.map((bay) => (
                <th key={bay} scope="col">
                  <span class="unseen">{floorTexts.bay} </span>
                  {bay}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {front.rows.map(({ level, slots: row }) => (
              <tr key={level}>
                <th scope="row">{level}</th>
                {row.map((slot, index) => (
                  <td key={front.bays[index]}>
                    {slot ? (
                      <button
                        type="button"
                        class={slot.id === chosen.id ? 'chosen' : ''}
                        aria-pressed={slot.id === chosen.id ? 'true' : 'false'}
                        aria-label={`${slot.slot_id}: ${statusWords[statusOf(slot)]}`}
                        onClick={() => onChoose(slot.id)}
                      >
                        <StatusMark status={statusOf(slot)} />
                      </button>
                    ) : (
                      <span class="unseen">{floorTexts.noSlot}</span>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </>
  )
}
