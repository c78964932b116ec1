import type { Slot, Warehouse } from '../data/shapes.ts'
import { boxAround } from '../hall/geometry.ts'
import { Legend } from '../hall/legend.tsx'
import { numberWords } from '../i18n/counting.ts'
import { type SlotStatus, statusOf } from '../i18n/words.ts'
import { wallTexts as words } from './texts.ts'

const drawn: readonly SlotStatus[] = ['empty', 'occupied', 'verified', 'disputed']
/** Share of the longer side that stays free around the slots. */
const edge = 0.02

type Props = {
  readonly warehouse: Warehouse
  readonly slots: readonly Slot[]
  /** By slot, what the ledger contradicts itself about; undefined while that is not known. */
  readonly odd: ReadonlyMap<number, string> | undefined
}

/** The hall from above: one path for each status, so that ten thousand slots are five elements. */
export const WallPlan = ({ warehouse, slots, odd }: Props) => {
  const own = slotsOn(slots, warehouse)
  const box = boxAround(own.flatMap((slot) => slot.floor_plan_polygon))
  const free = Math.max(box.width, box.height) * edge
  const view = [box.x - free, box.y - free, box.width + 2 * free, box.height + 2 * free]
  const inUse = own.filter(({ isOccupied }) => isOccupied).length
  const use = words.inUse(warehouse.name, numberWords(inUse), numberWords(own.length))
  return (
    <figure class="wall-plan">
      <svg viewBox={view.join(' ')} role="img" aria-label={use} focusable="false">
        {drawn.map((status) => (
          <path key={status} class={`wall-slots ${status}`} d={pathOf(own.filter((one) => statusOf(one) === status))} />
        ))}
        <path class="wall-slots odd" d={pathOf(own.filter(({ id }) => odd?.has(id)))} />
      </svg>
      <figcaption class="wall-legend">
        <Legend slots={own} odd={odd} />
      </figcaption>
    </figure>
  )
}

/** Returns the slots of a hall that are on its plan: those in use, and retired ones with a pallet. Pure. */
export const slotsOn = (slots: readonly Slot[], { id }: Warehouse): readonly Slot[] =>
  slots.filter(({ warehouseId, retiredAt, isOccupied }) => warehouseId === id && (retiredAt === null || isOccupied))

const pathOf = (slots: readonly Slot[]): string =>
  slots.map(({ floor_plan_polygon: points }) => `M${points.map(({ x, y }) => `${x} ${y}`).join('L')}Z`).join('')
