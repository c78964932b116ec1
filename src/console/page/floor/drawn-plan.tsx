import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PlanImage, Slot, Warehouse, Zone } from '../data/shapes.ts'
import { PlanControl } from '../hall/control.ts'
import { type Box, type Direction, neighbour } from '../hall/geometry.ts'
import { imageAddress, imageStyle } from '../hall/image.ts'
import type { Ground, Place } from '../hall/tile-paint.ts'
import { PlanTiles } from '../hall/tiles.ts'
import { type Hall, isNearest, isWhole, onScreen, reachPx, type Size, type View } from '../hall/view.ts'
import { spokenState } from '../i18n/words.ts'
import { safeColor } from '../kit/slot-marks.tsx'
import { floorTexts } from './floor-texts.ts'
import { groundsOf, hallOf, hasMoved, placesAt, placesOf } from './places.ts'

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

/** The element over the slot that the keys are at. */
export const planCursorId = 'plan-cursor'

/** Which buttons are active. */
export type Drawn = { readonly isWhole: boolean; readonly isNearest: boolean }

export type Control = { current: PlanControl | null }

/** The floor of a hall, and the slot that somebody looks at. */
export type ShownHall = {
  warehouse: Warehouse | undefined
  zones: readonly Zone[]
  slots: readonly Slot[]
  /** By slot, what the ledger contradicts itself about. */
  odd: ReadonlyMap<number, string>
  chosen: number | undefined
  onChoose: (id: number) => void
}

type PlanProps = ShownHall & { drawn: Drawn; onDrawn: (now: Drawn) => void; control: Control }

/** The drawing of a hall, with one button over the slot that the keys are at. */
export const DrawnPlan = (props: PlanProps) => {
  const { slots, warehouse, chosen, onChoose, drawn, onDrawn, control } = props
  const [at, setAt] = useState<number | undefined>(undefined)
  const { places, hall, grounds } = useHall(props)
  const current = places.find(({ slot }) => slot.id === (at ?? chosen)) ?? places[0]
  const image = warehouse?.floorPlanImage
  const { plan, stage, canvas, cursor, picture } = useDrawing(
    { places, hall, grounds, current, image },
    onDrawn,
    control,
  )
  const walkTo = (next: Place | undefined) => {
    if (!next) return
    setAt(next.slot.id)
    control.current?.goTo(next.box)
  }
  useLayoutEffect(() => walkTo(places.find(({ slot }) => slot.id === chosen)), [chosen, warehouse?.id])

  const click = (event: MouseEvent) => {
    // A click without a pointer comes from a key or a screen reader, so its target is certain.
    if (event.detail === 0) {
      if (current && event.target === cursor.current) onChoose(current.slot.id)
      return
    }
    const isMouse = event instanceof PointerEvent && event.pointerType === 'mouse'
    const { hit, near } = placesAt(places, control.current?.pointAt(event.clientX, event.clientY))
    if (!near) return
    const sidePx = control.current?.pixelsOf(Math.min(near.box.width, near.box.height)) ?? 0
    if (sidePx < (isMouse ? mouseReachPx : reachPx)) return control.current?.goTo(near.box)
    if (!hit) return
    setAt(hit.slot.id)
    cursor.current?.focus({ preventScroll: true })
    onChoose(hit.slot.id)
  }
  const press = (event: KeyboardEvent) => {
    if (!current || event.ctrlKey || event.metaKey || event.altKey) return
    const act = keyAct(event, control.current, {
      choose: () => onChoose(current.slot.id),
      walk: (direction) => walkTo(neighbour(current, places, direction)),
    })
    if (!act) return
    event.preventDefault()
    act()
  }

  const isChosen = current?.slot.id === chosen
  const spoken = current ? floorTexts.onPlan(current.slot.slot_id, spokenState(current.slot)) : ''
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
          aria-label={spoken}
          aria-pressed={isChosen ? 'true' : 'false'}
        />
      </div>
      <p class="unseen" aria-live="polite">
        {at === undefined ? '' : spoken}
      </p>
    </div>
  )
}

type KeyActs = { readonly choose: () => void; readonly walk: (direction: Direction) => void }

/** Returns what a key does on the plan; undefined: nothing. */
function keyAct({ key, shiftKey }: KeyboardEvent, control: PlanControl | null, { choose, walk }: KeyActs) {
  if (key === 'Enter' || key === ' ') return choose
  if (key === '+' || key === '=') return () => control?.nearer()
  if (key === '-') return () => control?.farther()
  if (key === '0' || key === 'Home') return () => control?.whole()
  const direction = directions[key]
  if (!direction) return undefined
  return shiftKey ? () => control?.pan(...steps[direction]) : () => walk(direction)
}

type Outlines = {
  readonly key: string
  readonly zones: readonly Zone[]
  readonly hall: Hall
  readonly grounds: readonly Ground[]
}

/** Returns the places of the slots, and the outlines around them. Both stay the same objects as long as nothing of them changes. */
function useHall({ slots, zones, odd, warehouse }: ShownHall) {
  const colors = useMemo(() => new Map(zones.map(({ id, color }) => [id, safeColor(color)])), [zones])
  const before = useRef<ReadonlyMap<number, Place>>(new Map())
  const places = useMemo(() => {
    const made = placesOf(slots, colors, odd, before.current ?? new Map())
    before.current = new Map(made.map((place) => [place.slot.id, place]))
    return made
  }, [slots, colors, odd])
  const last = useRef<Outlines | null>(null)
  const key = `${slots.length} ${slots[0]?.id} ${slots.at(-1)?.id} ${warehouse?.id}`
  const outlined = (): Outlines => {
    const grounds = groundsOf(slots, zones, warehouse?.id)
    return { key, zones, hall: hallOf(places, grounds), grounds }
  }
  const old = last.current
  const isSame = old?.key === key && old.zones === zones && !hasMoved(places, old.hall)
  const outlines = isSame ? old : outlined()
  last.current = outlines
  return { places, hall: outlines.hall, grounds: outlines.grounds }
}

type Shown = {
  readonly places: readonly Place[]
  readonly hall: Hall
  readonly grounds: readonly Ground[]
  readonly current: Place | undefined
  readonly image: PlanImage | null | undefined
}

/** Draws the plan into the elements that it returns, and lets wheel, fingers and mouse move it. */
function useDrawing(shown: Shown, onDrawn: (now: Drawn) => void, control: Control) {
  const { places, hall, grounds, current, image } = shown
  const plan = useRef<HTMLDivElement>(null)
  const stage = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const cursor = useRef<HTMLButtonElement>(null)
  const picture = useRef<HTMLImageElement>(null)
  const tiles = useRef<PlanTiles | null>(null)
  const newest = useRef(shown)
  newest.current = shown
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
  return { plan, stage, canvas, cursor, picture }
}

/** Puts picture and cursor where this view has them. */
function layOnStage(
  of: Pick<Shown, 'current' | 'image'> | null,
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
