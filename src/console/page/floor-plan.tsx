import { memo, useLayoutEffect, useMemo, useRef, useState } from 'hono/jsx/dom'
import type { Point, Slot, Warehouse, Zone } from './answers.ts'
import { Icon } from './icons.tsx'
import { PlanControl } from './plan-control.ts'
import { type Box, boxAround, type Direction, hullOf, median, middleOf, neighbour } from './plan-geometry.ts'
import { type Hall, isNearest, isWhole, onScreen, reachPx, type Size, seen, type View } from './plan-view.ts'
import {
  type Detail,
  fallbackColor,
  listOf,
  SlotShape,
  StatusMark,
  safeColor,
  slotElementId,
  slotIdOf,
} from './slot-shape.tsx'
import { countIn, countOf, type SlotStatus, statusWords } from './words.ts'

/** Shorter side of a usual slot, in pixels, from which its mark and its label can be read. */
const markPx = 13
const labelPx = 34
/** Shorter side from which a mouse hits a slot. A finger needs more (`reachPx`). */
const mouseReachPx = 14
const directions: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}
const steps: Record<Direction, readonly [number, number]> = {
  left: [-0.3, 0],
  right: [0.3, 0],
  up: [0, -0.3],
  down: [0, 0.3],
}

type Props = {
  warehouses: readonly Warehouse[]
  warehouse: Warehouse | undefined
  onWarehouse: (id: number) => void
  zones: readonly Zone[]
  slots: readonly Slot[]
  isKnown: boolean
  chosen: number | undefined
  onChoose: (id: number) => void
}

/** The parts of the view that change what is drawn, or which buttons are active. */
type Drawn = {
  readonly detail: Detail
  /** Slots outside of this box are drawn without their details. In the plan's units. */
  readonly around: Box
  readonly isWhole: boolean
  readonly isNearest: boolean
}

const nothingDrawn: Drawn = { detail: 'fill', around: boxAround([]), isWhole: true, isNearest: false }

/** Draws the hall from above: zones in their colors, slots with their status. */
export const FloorPlan = (props: Props) => {
  const { warehouses, warehouse, onWarehouse, slots, isKnown, chosen } = props
  const [drawn, setDrawn] = useState(nothingDrawn)
  const control = useRef<PlanControl | null>(null)
  const shown = useMemo(
    () => slots.filter((slot) => slot.retiredAt === null || slot.isOccupied || slot.id === chosen),
    [slots, chosen],
  )
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
        {shown.length > 0 ? <ZoomButtons drawn={drawn} control={control} /> : null}
      </div>
      {shown.length > 0 ? (
        <Plan {...props} slots={shown} drawn={drawn} onDrawn={setDrawn} control={control} />
      ) : (
        <p class="blank tall">
          {isKnown ? 'No slots yet. An admin creates them through the API.' : 'Loading the floor plan …'}
        </p>
      )}
      <Legend slots={shown} />
    </section>
  )
}

type Control = { current: PlanControl | null }

/** Shows the zoom buttons, which keep the focus, also at the last step. */
const ZoomButtons = ({ drawn, control }: { drawn: Drawn; control: Control }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields of a form, and this is none.
  <div class="zoom" role="group" aria-label="Size of the plan">
    <button
      type="button"
      class="square"
      aria-label="Zoom out"
      aria-disabled={drawn.isWhole ? 'true' : 'false'}
      onClick={() => control.current?.farther()}
    >
      <Icon name="farther" />
    </button>
    <button type="button" aria-disabled={drawn.isWhole ? 'true' : 'false'} onClick={() => control.current?.whole()}>
      <Icon name="whole" /> Whole hall
    </button>
    <button
      type="button"
      class="square"
      aria-label="Zoom in"
      aria-disabled={drawn.isNearest ? 'true' : 'false'}
      onClick={() => control.current?.nearer()}
    >
      <Icon name="closer" />
    </button>
  </div>
)

type Place = { readonly slot: Slot; readonly box: Box; readonly middle: Point }
type PlanProps = Props & { drawn: Drawn; onDrawn: (next: (before: Drawn) => Drawn) => void; control: Control }

const Plan = ({ slots, zones, warehouse, chosen, onChoose, drawn, onDrawn, control }: PlanProps) => {
  const [tabStop, setTabStop] = useState<number | undefined>(undefined)
  const drawing = useRef<SVGSVGElement>(null)
  const floor = useRef<SVGGElement>(null)
  const names = useRef<SVGGElement>(null)
  const places = useMemo(() => placesOf(slots), [slots])
  const hall = useMemo(() => hallOf(places), [places])
  const grounds = useMemo(() => groundsOf(slots, zones), [slots, zones])
  const colors = useMemo(() => new Map(zones.map(({ id, color }) => [id, safeColor(color)])), [zones])
  const stop = places.find(({ slot }) => slot.id === (tabStop ?? chosen)) ?? places[0]
  const newest = useRef({ hall, grounds })
  newest.current = { hall, grounds }

  // Moving the plan changes two attributes; it is rendered again only when other slots or details become visible.
  const draw = (view: View, size: Size) => {
    const of = newest.current
    floor.current?.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.scale})`)
    if (!of) return
    if (names.current) placeNames(names.current, of.grounds, view, size)
    onDrawn((before) => drawnOf(before, view, size, of.hall))
  }
  useLayoutEffect(() => {
    if (!drawing.current) return
    const made = new PlanControl({ plan: drawing.current, draw })
    control.current = made
    return () => made.stop()
  }, [])
  useLayoutEffect(() => control.current?.show(hall), [hall])
  useLayoutEffect(() => control.current?.redraw(), [grounds])
  useLayoutEffect(() => {
    const place = places.find(({ slot }) => slot.id === chosen)
    if (!place) return
    setTabStop(place.slot.id)
    control.current?.goTo(place.box)
  }, [chosen, warehouse?.id])

  const click = (event: PointerEvent) => {
    const id = slotIdOf(event.target)
    const place = places.find(({ slot }) => slot.id === id)
    // A click without a pointer comes from a key or a screen reader, so its target is certain.
    const reach = event.detail === 0 ? 0 : event.pointerType === 'mouse' ? mouseReachPx : reachPx
    const aim = place ?? nearestPlace(places, control.current?.pointAt(event.clientX, event.clientY))
    if (!aim) return
    const side = Math.min(aim.box.width, aim.box.height)
    if ((control.current?.pixelsOf(side) ?? 0) < Math.min(reach, reachPx)) return control.current?.goTo(aim.box)
    if (place) onChoose(place.slot.id)
  }
  const press = (event: KeyboardEvent) => {
    const place = places.find(({ slot }) => slot.id === slotIdOf(event.target))
    if (!place || event.ctrlKey || event.metaKey || event.altKey) return
    const act = keyAction(event, place)
    if (!act) return
    event.preventDefault()
    act()
  }
  const keyAction = (event: KeyboardEvent, place: Place): (() => void) | undefined => {
    const { key } = event
    if (key === 'Enter' || key === ' ') return () => onChoose(place.slot.id)
    if (key === '+' || key === '=') return () => control.current?.nearer()
    if (key === '-') return () => control.current?.farther()
    if (key === '0' || key === 'Home') return () => control.current?.whole()
    const direction = directions[key]
    if (!direction) return undefined
    if (event.shiftKey) return () => control.current?.pan(...steps[direction])
    return () => walkTo(neighbour(place, places, direction))
  }
  const walkTo = (next: Place | undefined) => {
    if (!next) return
    setTabStop(next.slot.id)
    control.current?.goTo(next.box)
    document.getElementById(slotElementId(next.slot.id))?.focus({ preventScroll: true })
  }

  return (
    <div
      id="plan"
      class={drawn.isWhole ? 'plan' : 'plan zoomed'}
      style={{ 'aspect-ratio': `${hall.box.width / (hall.box.height || 1)}` }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing with buttons in it; HTML has no element for that. */}
      <svg
        class={`plan-drawing of-${drawn.detail}`}
        ref={drawing}
        role="group"
        aria-label={`Floor plan of ${warehouse?.name ?? 'the warehouse'}, ${countOf(slots.length, 'slot')}; arrow keys go from slot to slot, plus and minus zoom, 0 shows the whole hall`}
        onClick={click}
        onKeyDown={press}
      >
        <defs>
          <pattern
            id="hatch"
            patternUnits="userSpaceOnUse"
            width={hall.unit / 6}
            height={hall.unit / 6}
            patternTransform="rotate(45)"
          >
            <rect class="hatch-line" width={hall.unit / 15} height={hall.unit / 6} />
          </pattern>
        </defs>
        <g ref={floor}>
          <Grounds grounds={grounds} unit={hall.unit} />
          {places.map(({ slot, box }) => (
            <SlotShape
              key={slot.id}
              slot={slot}
              color={(slot.zoneId === null ? undefined : colors.get(slot.zoneId)) ?? fallbackColor}
              isChosen={slot.id === chosen}
              isTabStop={slot.id === stop?.slot.id}
              detail={touches(box, drawn.around) ? drawn.detail : 'fill'}
            />
          ))}
        </g>
        <g ref={names} class="zone-names">
          {grounds.map(({ key, name }) => (
            <g key={key}>
              <rect x={-5} y={-15} width={nameWidth(name)} height={20} rx={5} />
              <text>{name}</text>
            </g>
          ))}
        </g>
      </svg>
    </div>
  )
}

const placesOf = (slots: readonly Slot[]): Place[] =>
  slots.map((slot) => {
    const box = boxAround(slot.floor_plan_polygon)
    return { slot, box, middle: middleOf(box) }
  })

function hallOf(places: readonly Place[]): Hall {
  const box = boxAround(places.flatMap(({ slot }) => slot.floor_plan_polygon))
  const sides = places.map((place) => Math.min(place.box.width, place.box.height))
  return { box, unit: median(sides) || Math.max(box.width, box.height) / 10 || 1 }
}

/** Returns the same object as before when the drawing would not differ. */
function drawnOf(before: Drawn, view: View, size: Size, hall: Hall): Drawn {
  const unitPx = hall.unit * view.scale
  const detail = unitPx < markPx ? 'fill' : unitPx < labelPx ? 'mark' : 'label'
  const now = { detail, isWhole: isWhole(view, hall, size), isNearest: isNearest(view, hall, size) } as const
  const box = seen(view, size)
  const isAround = contains(before.around, box) && before.around.width < box.width * 6
  const around = isAround ? before.around : grown(box)
  const isSame =
    isAround && before.detail === now.detail && before.isWhole === now.isWhole && before.isNearest === now.isNearest
  return isSame ? before : { ...now, around }
}

const contains = (outer: Box, inner: Box): boolean =>
  outer.x <= inner.x &&
  outer.y <= inner.y &&
  outer.x + outer.width >= inner.x + inner.width &&
  outer.y + outer.height >= inner.y + inner.height

/** Returns the box with a border that a short drag makes visible. */
const grown = ({ x, y, width, height }: Box): Box => ({
  x: x - width / 2,
  y: y - height / 2,
  width: width * 2,
  height: height * 2,
})

const touches = (a: Box, b: Box): boolean =>
  a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height

function nearestPlace(places: readonly Place[], at: Point | undefined): Place | undefined {
  if (!at) return undefined
  const away = ({ middle }: Place) => Math.hypot(middle.x - at.x, middle.y - at.y)
  return places.reduce<Place | undefined>(
    (best, place) => (best && away(best) <= away(place) ? best : place),
    undefined,
  )
}

type Ground = {
  readonly key: number | string
  readonly name: string
  readonly color: string
  readonly points: readonly Point[]
  readonly box: Box
}

/** Draws a soft background under the slots of a zone. */
const Grounds = memo(({ grounds, unit }: { grounds: readonly Ground[]; unit: number }) => (
  <g>
    {grounds.map(({ key, color, points }) => (
      <polygon key={key} class="zone" points={listOf(points)} fill={color} stroke={color} stroke-width={unit * 0.14} />
    ))}
  </g>
))

function groundsOf(slots: readonly Slot[], zones: readonly Zone[]): Ground[] {
  const groups = new Map<number | string, Slot[]>()
  for (const slot of slots) {
    const key = slot.zoneId ?? slot.zone
    const group = groups.get(key)
    if (group) group.push(slot)
    else groups.set(key, [slot])
  }
  return [...groups].map(([key, group]) => {
    const zone = zones.find((one) => one.id === key)
    const points = group.flatMap((slot) => slot.floor_plan_polygon)
    const name = zone?.name ?? group[0]?.zone ?? ''
    const color = zone ? safeColor(zone.color) : fallbackColor
    return { key, name, color, points: hullOf(points), box: boxAround(points) }
  })
}

/** Places each zone's name above the zone, or at the upper edge of the plan; hides it where there is no room. */
function placeNames(group: SVGGElement, grounds: readonly Ground[], view: View, size: Size): void {
  for (const [index, plate] of [...group.children].entries()) {
    const ground = grounds[index]
    if (!ground) continue
    const box = onScreen(ground.box, view)
    const x = Math.max(box.x, 6)
    const y = Math.max(box.y - 7, 18)
    const room = Math.min(box.x + box.width, size.width) - x
    const isSeen = room >= nameWidth(ground.name) - 5 && y < box.y + box.height && box.y < size.height
    plate.setAttribute('transform', `translate(${x} ${y})`)
    plate.setAttribute('visibility', isSeen ? 'visible' : 'hidden')
  }
}

/** Estimates a name's width in pixels. Measuring the text would lay out the page at each step of a drag. */
const nameWidth = (name: string): number => name.length * 8.6 + 10

const statuses: readonly SlotStatus[] = ['empty', 'occupied', 'verified', 'disputed']

const Legend = ({ slots }: { slots: readonly Slot[] }) => {
  return (
    <ul class="legend" aria-label="Legend">
      {statuses.map((status) => (
        <li key={status}>
          <StatusMark status={status} /> {statusWords[status]} <span class="muted">{countIn(slots, status)}</span>
        </li>
      ))}
    </ul>
  )
}
