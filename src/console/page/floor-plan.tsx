import { useMemo, useState } from 'hono/jsx/dom'
import type { Slot, Warehouse, Zone } from './answers.ts'
import { Icon } from './icons.tsx'
import { type Box, boxAround, type Direction, hullOf, median, middleOf, neighbour } from './plan-geometry.ts'
import { fallbackColor, listOf, SlotShape, StatusMark, safeColor, slotElementId } from './slot-shape.tsx'
import { countIn, countOf, type SlotStatus, statusWords } from './words.ts'

/** A usual slot is never drawn with a shorter side than this many pixels; the plan scrolls instead. */
const leastUnitPx = 26
const zooms = [1, 1.5, 2, 3, 4, 6] as const
const directions: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}

type Props = {
  warehouses: readonly Warehouse[]
  warehouse: Warehouse | undefined
  onWarehouse: (id: number) => void
  zones: readonly Zone[]
  slots: readonly Slot[]
  isKnown: boolean
  chosen: number | undefined
  onChoose: (id: number | undefined) => void
}

/** The hall from above: zones in their colours, each slot with what the ledger says of it. */
export const FloorPlan = (props: Props) => {
  const { warehouses, warehouse, onWarehouse, slots, isKnown } = props
  const [zoom, setZoom] = useState(0)
  const drawn = useMemo(() => slots.filter((slot) => slot.retiredAt === null || slot.isOccupied), [slots])
  return (
    <section class="card floor" id="floor" tabindex={-1} aria-labelledby="floor-title">
      <div class="card-head">
        <h2 id="floor-title">{warehouse?.name ?? 'Floor plan'}</h2>
        {warehouses.length > 1 ? (
          <label class="choice">
            <span>Warehouse</span>
            <select onChange={(event: Event) => onWarehouse(Number((event.target as HTMLSelectElement).value))}>
              {warehouses.map((one) => (
                <option key={one.id} value={one.id} selected={one.id === warehouse?.id}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        <ZoomButtons zoom={zoom} onZoom={setZoom} />
      </div>
      {drawn.length > 0 ? <Plan {...props} slots={drawn} zoom={zooms[zoom] ?? 1} /> : null}
      {drawn.length === 0 ? (
        <p class="blank tall">
          {isKnown ? 'No slots yet. An admin creates them through the API.' : 'Loading the floor plan …'}
        </p>
      ) : null}
      <Legend slots={drawn} />
    </section>
  )
}

const ZoomButtons = ({ zoom, onZoom }: { zoom: number; onZoom: (zoom: number) => void }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields of a form, and this is none.
  <div class="zoom" role="group" aria-label="Size of the plan">
    <button type="button" class="square" aria-label="Smaller" disabled={zoom === 0} onClick={() => onZoom(zoom - 1)}>
      <Icon name="farther" />
    </button>
    <button type="button" class="square" aria-label="Whole plan" disabled={zoom === 0} onClick={() => onZoom(0)}>
      <Icon name="whole" />
    </button>
    <button
      type="button"
      class="square"
      aria-label="Larger"
      disabled={zoom === zooms.length - 1}
      onClick={() => onZoom(zoom + 1)}
    >
      <Icon name="closer" />
    </button>
  </div>
)

type Place = { readonly slot: Slot; readonly middle: { readonly x: number; readonly y: number } }

const Plan = ({ slots, zones, warehouse, chosen, onChoose, zoom }: Props & { zoom: number }) => {
  const [tabStop, setTabStop] = useState<number | undefined>(undefined)
  const places = useMemo(
    (): Place[] => slots.map((slot) => ({ slot, middle: middleOf(boxAround(slot.floor_plan_polygon)) })),
    [slots],
  )
  const { box, unit } = useMemo(() => frameOf(slots), [slots])
  const stop = places.find(({ slot }) => slot.id === (tabStop ?? chosen)) ?? places[0]
  const press = (place: Place, event: KeyboardEvent) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      return onChoose(place.slot.id)
    }
    if (event.key === 'Escape') return onChoose(undefined)
    const direction = directions[event.key]
    const next = direction && neighbour(place, places, direction)
    if (!direction) return
    event.preventDefault()
    if (!next) return
    setTabStop(next.slot.id)
    document.getElementById(slotElementId(next.slot.id))?.focus()
  }
  return (
    <div class={zoom === 1 ? 'plan' : 'plan zoomed'}>
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing with buttons in it; HTML has no element for that. */}
      <svg
        class="plan-drawing"
        viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
        width={`${zoom * 100}%`}
        style={{ 'min-width': `${Math.round((box.width / unit) * leastUnitPx * zoom)}px` }}
        role="group"
        aria-label={`Floor plan of ${warehouse?.name ?? 'the warehouse'}, ${countOf(slots.length, 'slot')}; arrow keys go from slot to slot`}
      >
        <defs>
          <pattern
            id="hatch"
            patternUnits="userSpaceOnUse"
            width={unit / 6}
            height={unit / 6}
            patternTransform="rotate(45)"
          >
            <rect class="hatch-line" width={unit / 15} height={unit / 6} />
          </pattern>
        </defs>
        <Zones slots={slots} zones={zones} unit={unit} />
        {places.map((place) => (
          <SlotShape
            key={place.slot.id}
            slot={place.slot}
            color={safeColor(zones.find((zone) => zone.id === place.slot.zoneId)?.color)}
            isChosen={place.slot.id === chosen}
            isTabStop={place === stop}
            onChoose={() => {
              setTabStop(place.slot.id)
              onChoose(place.slot.id)
            }}
            onKeyDown={(event) => press(place, event)}
          />
        ))}
      </svg>
    </div>
  )
}

/** A soft ground under the slots of a zone, with its name. */
const Zones = ({ slots, zones, unit }: { slots: readonly Slot[]; zones: readonly Zone[]; unit: number }) => {
  const grounds = useMemo(() => groundsOf(slots, zones), [slots, zones])
  return (
    <g>
      {grounds.map(({ name, color, points, box }) => (
        <g key={name} class="zone">
          <polygon points={listOf(points)} fill={color} stroke={color} stroke-width={unit * 0.5} />
          <text x={box.x} y={box.y - unit * 0.4} font-size={unit * 0.48}>
            {name}
          </text>
        </g>
      ))}
    </g>
  )
}

function groundsOf(slots: readonly Slot[], zones: readonly Zone[]) {
  const groups = new Map<number | string, Slot[]>()
  for (const slot of slots) {
    const key = slot.zoneId ?? slot.zone
    groups.set(key, [...(groups.get(key) ?? []), slot])
  }
  return [...groups].map(([key, group]) => {
    const zone = zones.find((one) => one.id === key)
    const points = group.flatMap((slot) => slot.floor_plan_polygon)
    const name = zone?.name ?? group[0]?.zone ?? ''
    return { name, color: zone ? safeColor(zone.color) : fallbackColor, points: hullOf(points), box: boxAround(points) }
  })
}

/** What is to be seen, and the length by which everything is measured: the shorter side of a usual slot. */
function frameOf(slots: readonly Slot[]): { box: Box; unit: number } {
  const all = boxAround(slots.flatMap((slot) => slot.floor_plan_polygon))
  const sides = slots.map(({ floor_plan_polygon }) => {
    const { width, height } = boxAround(floor_plan_polygon)
    return Math.min(width, height)
  })
  const unit = median(sides) || Math.max(all.width, all.height) / 10 || 1
  const margin = unit * 0.5
  const above = unit * 0.95
  return {
    unit,
    box: {
      x: all.x - margin,
      y: all.y - above,
      width: all.width + margin * 2,
      height: all.height + margin + above,
    },
  }
}

const shown: readonly SlotStatus[] = ['empty', 'occupied', 'verified', 'disputed']

const Legend = ({ slots }: { slots: readonly Slot[] }) => {
  return (
    <ul class="legend" aria-label="Legend">
      {shown.map((status) => (
        <li key={status}>
          <StatusMark status={status} /> {statusWords[status]} <span class="muted">{countIn(slots, status)}</span>
        </li>
      ))}
    </ul>
  )
}
