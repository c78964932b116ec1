import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PlanImage, Point, Slot, Warehouse, Zone } from '../data/shapes.ts'
import { PlanControl } from '../hall/control.ts'
import { type Box, boxAround, type Direction, hullOf, median, middleOf, neighbour } from '../hall/geometry.ts'
import { imageAddress, imageStyle } from '../hall/image.ts'
import type { Ground, Place } from '../hall/tile-paint.ts'
import { PlanTiles } from '../hall/tiles.ts'
import { type Hall, isNearest, isWhole, onScreen, reachPx, type Size, type View } from '../hall/view.ts'
import { HelpLink } from '../help/help-link.tsx'
import { numberWords } from '../i18n/counting.ts'
import { texts } from '../i18n/texts.ts'
import { countIn, type SlotStatus, spokenState, statusOf, statusWords } from '../i18n/words.ts'
import { follow } from '../kit/address.ts'
import { textOf } from '../kit/field.ts'
import { Icon } from '../kit/icons.tsx'
import { fallbackColor, OddMark, StatusMark, safeColor } from '../kit/slot-marks.tsx'
import { floorTexts } from './floor-texts.ts'

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
  /** By slot, what the ledger contradicts itself about. */
  odd: ReadonlyMap<number, string>
  isOddKnown: boolean
  isKnown: boolean
  isPast: boolean
  /** Whether the caller may make slots. */
  mayMake: boolean
  chosen: number | undefined
  onChoose: (id: number) => void
}

/** Which buttons are active. */
type Drawn = { readonly isWhole: boolean; readonly isNearest: boolean }

/** The element over the slot that the keys are at. */
export const planCursorId = 'plan-cursor'

/** Draws the hall from above: zones in their colors, slots with their status. */
export const FloorPlan = (props: Props) => {
  const { warehouses, warehouse, onWarehouse, slots, odd, isOddKnown, isKnown, isPast, mayMake, chosen } = props
  const [drawn, setDrawn] = useState<Drawn>({ isWhole: true, isNearest: false })
  const control = useRef<PlanControl | null>(null)
  const last = useRef<Drawn>(drawn)
  // Called in each frame while the plan is moved: the buttons are drawn again only when they change.
  const onDrawn = (now: Drawn) => {
    if (last.current?.isWhole === now.isWhole && last.current.isNearest === now.isNearest) return
    last.current = now
    setDrawn(now)
  }
  const shown = useMemo(
    () => slots.filter((slot) => slot.retiredAt === null || slot.isOccupied || slot.id === chosen),
    [slots, chosen],
  )
  return (
    <section class={isPast ? 'card floor past' : 'card floor'} id="floor" tabindex={-1} aria-labelledby="floor-title">
      <div class="card-head">
        <h2 id="floor-title">{warehouse?.name ?? floorTexts.title}</h2>
        {warehouses.length > 1 ? (
          <label class="choice">
            <span>{floorTexts.warehouse}</span>
            <select onInput={(event: Event) => onWarehouse(Number(textOf(event)))}>
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
        <Plan {...props} slots={shown} drawn={drawn} onDrawn={onDrawn} control={control} />
      ) : isKnown ? (
        <NoSlots mayMake={mayMake} isPast={isPast} />
      ) : (
        <p class="blank tall">{texts.loading}</p>
      )}
      <Legend slots={shown} odd={isOddKnown ? odd : undefined} />
    </section>
  )
}

/** Says what comes next; who may make slots gets the way there. On a floor of the past nothing comes next. */
const NoSlots = ({ mayMake, isPast }: { mayMake: boolean; isPast: boolean }) => (
  <div class="blank tall">
    <p>
      {isPast
        ? floorTexts.emptyThen
        : [floorTexts.empty, mayMake ? floorTexts.emptyNext : floorTexts.emptyWaits].join(' ')}
    </p>
    {mayMake && !isPast ? (
      <p>
        <a class="button" href="/plan" onClick={follow}>
          {floorTexts.toEditor}
        </a>{' '}
        <HelpLink to="slots" />
      </p>
    ) : null}
  </div>
)

type Control = { current: PlanControl | null }

/** Shows the zoom buttons, which keep the focus, also at the last step. */
const ZoomButtons = ({ drawn, control }: { drawn: Drawn; control: Control }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields of a form, and this is none.
  <div class="zoom" role="group" aria-label={floorTexts.size}>
    <button
      type="button"
      class="square"
      aria-label={floorTexts.zoomOut}
      aria-disabled={drawn.isWhole ? 'true' : 'false'}
      onClick={() => control.current?.farther()}
    >
      <Icon name="farther" />
    </button>
    <button type="button" aria-disabled={drawn.isWhole ? 'true' : 'false'} onClick={() => control.current?.whole()}>
      <Icon name="whole" /> {floorTexts.whole}
    </button>
    <button
      type="button"
      class="square"
      aria-label={floorTexts.zoomIn}
      aria-disabled={drawn.isNearest ? 'true' : 'false'}
      onClick={() => control.current?.nearer()}
    >
      <Icon name="closer" />
    </button>
  </div>
)

type PlanProps = Props & { drawn: Drawn; onDrawn: (now: Drawn) => void; control: Control }

const Plan = ({ slots, zones, odd, warehouse, chosen, onChoose, drawn, onDrawn, control }: PlanProps) => {
  const [at, setAt] = useState<number | undefined>(undefined)
  const plan = useRef<HTMLDivElement>(null)
  const stage = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const cursor = useRef<HTMLButtonElement>(null)
  const tiles = useRef<PlanTiles | null>(null)
  const colors = useMemo(() => new Map(zones.map(({ id, color }) => [id, safeColor(color)])), [zones])
  const before = useRef<ReadonlyMap<number, Place>>(new Map())
  const places = useMemo(() => {
    const made = placesOf(slots, colors, odd, before.current ?? new Map())
    before.current = new Map(made.map((place) => [place.slot.id, place]))
    return made
  }, [slots, colors, odd])
  // Outlines stay the same objects while only what is in the slots changes.
  const outlines = useRef<{ key: string; hall: Hall; grounds: readonly Ground[] } | null>(null)
  const key = `${slots.length} ${slots[0]?.id} ${slots.at(-1)?.id} ${warehouse?.id}`
  const isOld =
    outlines.current?.key !== key ||
    lastZones.get(outlines.current) !== zones ||
    hasMoved(places, outlines.current.hall)
  if (isOld) {
    const grounds = groundsOf(slots, zones, warehouse?.id)
    outlines.current = { key, hall: hallOf(places, grounds), grounds }
    lastZones.set(outlines.current, zones)
  }
  const { hall, grounds } = outlines.current as { hall: Hall; grounds: readonly Ground[] }
  const current = places.find(({ slot }) => slot.id === (at ?? chosen)) ?? places[0]
  const image = warehouse?.floorPlanImage
  const picture = useRef<HTMLImageElement>(null)
  const newest = useRef({ hall, current, image })
  newest.current = { hall, current, image }

  const draw = (view: View, size: Size) => {
    tiles.current?.draw(view, size)
    const of = newest.current
    if (of) onDrawn({ isWhole: isWhole(view, of.hall, size), isNearest: isNearest(view, of.hall, size) })
  }
  const layAll = (base: View) => layOnStage(newest.current, picture.current, cursor.current, base)
  useLayoutEffect(() => {
    if (!plan.current || !stage.current || !canvas.current) return
    const made = new PlanControl({ plan: plan.current, draw })
    const painter = new PlanTiles({ canvas: canvas.current, stage: stage.current, lay: layAll })
    control.current = made
    tiles.current = painter
    return () => {
      made.stop()
      painter.stop()
    }
  }, [])
  useLayoutEffect(() => tiles.current?.show({ hall, places, grounds }), [hall, places, grounds])
  useLayoutEffect(() => control.current?.show(hall), [hall])
  useLayoutEffect(() => tiles.current?.layAgain(), [current?.slot.id, hall, image])
  useLayoutEffect(() => {
    const place = places.find(({ slot }) => slot.id === chosen)
    if (!place) return
    setAt(place.slot.id)
    control.current?.goTo(place.box)
  }, [chosen, warehouse?.id])

  const click = (event: MouseEvent) => {
    // A click without a pointer comes from a key or a screen reader, so its target is certain.
    if (event.detail === 0) {
      if (current && event.target === cursor.current) onChoose(current.slot.id)
      return
    }
    const isMouse = event instanceof PointerEvent && event.pointerType === 'mouse'
    const reach = isMouse ? mouseReachPx : reachPx
    const point = control.current?.pointAt(event.clientX, event.clientY)
    const place = point && places.find(({ box, slot }) => holds(box, slot.floor_plan_polygon, point))
    const aim = place ?? nearestPlace(places, point)
    if (!aim) return
    const side = Math.min(aim.box.width, aim.box.height)
    if ((control.current?.pixelsOf(side) ?? 0) < reach) return control.current?.goTo(aim.box)
    if (!place) return
    setAt(place.slot.id)
    cursor.current?.focus({ preventScroll: true })
    onChoose(place.slot.id)
  }
  const press = (event: KeyboardEvent) => {
    if (!current || event.ctrlKey || event.metaKey || event.altKey) return
    const act = keyAction(event, current)
    if (!act) return
    event.preventDefault()
    act()
  }
  const keyAction = (event: KeyboardEvent, place: Place): (() => void) | undefined => {
    const { key: pressed } = event
    if (pressed === 'Enter' || pressed === ' ') return () => onChoose(place.slot.id)
    if (pressed === '+' || pressed === '=') return () => control.current?.nearer()
    if (pressed === '-') return () => control.current?.farther()
    if (pressed === '0' || pressed === 'Home') return () => control.current?.whole()
    const direction = directions[pressed]
    if (!direction) return undefined
    if (event.shiftKey) return () => control.current?.pan(...steps[direction])
    return () => walkTo(neighbour(place, places, direction))
  }
  const walkTo = (next: Place | undefined) => {
    if (!next) return
    setAt(next.slot.id)
    control.current?.goTo(next.box)
  }

  const isChosen = current?.slot.id === chosen
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing with a button in it; HTML has no element for that.
    <div
      id="plan"
      ref={plan}
      class={drawn.isWhole ? 'plan' : 'plan zoomed'}
      style={{ 'aspect-ratio': `${hall.box.width / (hall.box.height || 1)}` }}
      role="group"
      aria-label={floorTexts.plan(warehouse?.name ?? '', slots.length)}
      onClick={click}
      onKeyDown={press}
    >
      <div ref={stage} class="plan-stage">
        {warehouse && image ? (
          <img ref={picture} class="plan-image" alt="" draggable={false} src={imageAddress(warehouse.id, image)} />
        ) : null}
        <canvas ref={canvas} class="plan-drawing" />
        <button
          type="button"
          id={planCursorId}
          ref={cursor}
          class={isChosen ? 'plan-cursor chosen' : 'plan-cursor'}
          aria-label={current ? floorTexts.onPlan(current.slot.slot_id, spokenState(current.slot)) : ''}
          aria-pressed={isChosen ? 'true' : 'false'}
        />
      </div>
      <p class="unseen" aria-live="polite">
        {at === undefined || !current ? '' : floorTexts.onPlan(current.slot.slot_id, spokenState(current.slot))}
      </p>
    </div>
  )
}

const lastZones = new WeakMap<object, readonly Zone[]>()

type OnStage = { readonly current: Place | undefined; readonly image: PlanImage | null | undefined }

/** Puts picture and cursor where this view has them. */
function layOnStage(
  of: OnStage | null,
  picture: HTMLImageElement | null,
  cursor: HTMLElement | null,
  base: View,
): void {
  if (picture && of?.image) Object.assign(picture.style, imageStyle(of.image, of.image.place, base))
  if (cursor && of?.current) lay(cursor, onScreen(of.current.box, base))
}

/** Puts an element over a box of the screen. */
function lay({ style }: HTMLElement, { x, y, width, height }: Box): void {
  style.transform = `translate(${x}px, ${y}px)`
  const [across, down] = [`${width}px`, `${height}px`]
  // Writing the same size again would lay out the page.
  if (style.width !== across) style.width = across
  if (style.height !== down) style.height = down
}

/** Returns the places of the slots; those that did not change as the same objects. */
function placesOf(
  slots: readonly Slot[],
  colors: ReadonlyMap<number, string>,
  odd: ReadonlyMap<number, string>,
  before: ReadonlyMap<number, Place>,
): Place[] {
  return slots.map((slot) => {
    const old = before.get(slot.id)
    const isOdd = odd.has(slot.id)
    const color = (slot.zoneId === null ? undefined : colors.get(slot.zoneId)) ?? fallbackColor
    if (old?.slot === slot && old.isOdd === isOdd && old.color === color) return old
    const isSameShape = old !== undefined && old.slot.floor_plan_polygon === slot.floor_plan_polygon
    const box = isSameShape ? old.box : boxAround(slot.floor_plan_polygon)
    return { slot, box, middle: isSameShape ? old.middle : middleOf(box), status: statusOf(slot), color, isOdd }
  })
}

/** Says whether some slot is not inside of the hall as it was. */
const hasMoved = (places: readonly Place[], { box: hall }: Hall): boolean =>
  places.some(
    ({ box }) =>
      box.x < hall.x ||
      box.y < hall.y ||
      box.x + box.width > hall.x + hall.width + 1e-9 ||
      box.y + box.height > hall.y + hall.height + 1e-9,
  )

function hallOf(places: readonly Place[], grounds: readonly Ground[]): Hall {
  const drawn = grounds.flatMap(({ isDrawn, points }) => (isDrawn ? points : []))
  const box = boxAround([...places.flatMap(({ slot }) => slot.floor_plan_polygon), ...drawn])
  const sides = places.map((place) => Math.min(place.box.width, place.box.height))
  return { box, unit: median(sides) || Math.max(box.width, box.height) / 10 || 1 }
}

/** Says whether the point lies in the polygon (even-odd rule). */
function holds(box: Box, points: readonly Point[], { x, y }: Point): boolean {
  if (x < box.x || y < box.y || x > box.x + box.width || y > box.y + box.height) return false
  let isInside = false
  for (const [index, a] of points.entries()) {
    const b = points.at(index - 1) as Point
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) isInside = !isInside
  }
  return isInside
}

function nearestPlace(places: readonly Place[], at: Point | undefined): Place | undefined {
  if (!at) return undefined
  const away = ({ middle }: Place) => Math.hypot(middle.x - at.x, middle.y - at.y)
  return places.reduce<Place | undefined>(
    (best, place) => (best && away(best) <= away(place) ? best : place),
    undefined,
  )
}

/** Zones as they are drawn, else around their slots. */
function groundsOf(slots: readonly Slot[], zones: readonly Zone[], warehouseId: number | undefined): Ground[] {
  const byZone = new Map<number | string, Slot[]>()
  for (const slot of slots) {
    const key = slot.zoneId ?? slot.zone
    const group = byZone.get(key)
    if (group) group.push(slot)
    else byZone.set(key, [slot])
  }
  // A zone that is drawn is shown without slots as well.
  for (const zone of zones)
    if (zone.floor_plan_polygon && zone.warehouseId === warehouseId && !byZone.has(zone.id)) byZone.set(zone.id, [])
  return [...byZone].map(([key, group]) => {
    const zone = zones.find((one) => one.id === key)
    const drawn = zone?.floor_plan_polygon ?? undefined
    const points = drawn ?? group.flatMap((slot) => slot.floor_plan_polygon)
    const name = zone?.name ?? group[0]?.zone ?? ''
    const color = zone ? safeColor(zone.color) : fallbackColor
    return { key, name, color, points: drawn ?? hullOf(points), box: boxAround(points), isDrawn: drawn !== undefined }
  })
}

const statuses: readonly SlotStatus[] = ['empty', 'occupied', 'verified', 'disputed']

const Legend = ({ slots, odd }: { slots: readonly Slot[]; odd: ReadonlyMap<number, string> | undefined }) => {
  return (
    <ul class="legend" aria-label={floorTexts.legend}>
      {statuses.map((status) => (
        <li key={status}>
          <StatusMark status={status} /> {statusWords[status]}{' '}
          <span class="muted">{numberWords(countIn(slots, status))}</span>
        </li>
      ))}
      <li>
        <OddMark /> {floorTexts.odd}{' '}
        <span class="muted">{odd ? numberWords(slots.filter(({ id }) => odd.has(id)).length) : '–'}</span>
      </li>
    </ul>
  )
}
