import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ImagePlace, Point, Warehouse } from '../data/shapes.ts'
import { type Box, boxAround } from '../hall/geometry.ts'
import { imageAddress, imageStyle } from '../hall/image.ts'
import { rounded } from '../hall/polygon-edit.ts'
import {
  type Hall,
  isWhole,
  moved,
  onScreen,
  type View as PlanView,
  reachPx,
  type Size,
  wholeHall,
  zoomed,
} from '../hall/view.ts'
import { arrowSteps } from './corners.tsx'
import { type Draft, leastSide, type PlanSlot, type PlanZone, placeOf } from './draft.ts'
import { Frame, ZoomButtons } from './frame.tsx'
import type { NewPlace } from './make/grid.ts'
import { drawSlots } from './paint.ts'
import { planTexts as words } from './texts.ts'

const planHeightPx = 520
/** Room around the hall, so that things dragged outward stay in the picture. */
const roomShare = 0.06
/** A shorter movement is a tap. */
const slopPx = 6

/** Position of the plan on the screen, for drawings over it. */
export type Screen = { readonly view: PlanView; readonly pointAt: (event: PointerEvent) => Point }

/** A tap on the plan or the frame: its place, the reach of a finger there in meters, and the slot. */
export type Tap = { readonly at: Point; readonly reach: number; readonly slot: PlanSlot | undefined }

type DrawingProps = {
  warehouse: Warehouse
  zones: readonly PlanZone[]
  slots: readonly PlanSlot[]
  proposed: readonly NewPlace[]
  draft: Draft
  /** More points that must be in the picture. */
  around: readonly Point[]
  /** Where the picture of the hall lies now, also while it is dragged. */
  imagePlace: ImagePlace | undefined
  /** Box that a frame can move; undefined when there is none. */
  box: Box | undefined
  name: string
  onBox: (box: Box) => void
  over: (screen: Screen) => unknown
  onTap: (tap: Tap) => void
}

type Drag =
  | { readonly kind: 'move' | 'size'; readonly from: Point; readonly pixel: Point; readonly box: Box }
  | { readonly kind: 'pan'; readonly pixel: Point; readonly view: PlanView }

/** The plan with a frame around the selection. It can be dragged, resized by its corner, panned and zoomed. */
export const Drawing = (props: DrawingProps) => {
  const { warehouse, zones, slots, proposed, draft, around, imagePlace, box, name, onBox, over, onTap } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const overlay = useRef<SVGSVGElement>(null)
  const [width, setWidth] = useState(800)
  const [dragged, setDragged] = useState<Box | undefined>(undefined)
  const [near, setNear] = useState<PlanView | undefined>(undefined)
  const drag = useRef<Drag | null>(null)
  const size: Size = { width, height: planHeightPx }
  // The picture stays where it is while something is dragged, and fits again afterwards.
  const hall = useMemo(() => hallAround(slots, draft, proposed, around), [slots, draft, proposed, around])
  const view: PlanView = near ?? wholeHall(hall, size)
  const zoom = (factor: number, at: Point = { x: width / 2, y: planHeightPx / 2 }) => {
    const next = zoomed(view, at, factor, hall, size)
    setNear(isWhole(next, hall, size) ? undefined : next)
  }
  const newest = useRef(zoom)
  newest.current = zoom
  useEffect(() => {
    const place = overlay.current
    if (!place) return
    const sizes = new ResizeObserver(() => setWidth(place.clientWidth || 800))
    sizes.observe(place)
    const wheel = (event: WheelEvent) => {
      // Without Ctrl the wheel scrolls the page, which is longer than the screen here.
      if (!event.ctrlKey) return
      event.preventDefault()
      const { left, top } = place.getBoundingClientRect()
      newest.current?.(Math.exp(-event.deltaY * 0.01), { x: event.clientX - left, y: event.clientY - top })
    }
    place.addEventListener('wheel', wheel, { passive: false })
    return () => sizes.disconnect()
  }, [])
  const paint = () => canvas.current && drawSlots(canvas.current, { slots, zones, draft, view, size, proposed })
  useEffect(() => {
    paint()
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', paint)
    return () => dark.removeEventListener('change', paint)
  }, [slots, zones, draft, width, proposed, near, hall])
  const pixelAt = (event: PointerEvent): Point => {
    const { left, top } = (overlay.current as SVGSVGElement).getBoundingClientRect()
    return { x: event.clientX - left, y: event.clientY - top }
  }
  const pointAt = (event: PointerEvent): Point => {
    const { x, y } = pixelAt(event)
    return { x: (x - view.x) / view.scale, y: (y - view.y) / view.scale }
  }
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return
    const at = pointAt(event)
    const kind = (event.target as SVGElement).getAttribute('data-kind')
    if (kind === 'corner') return
    overlay.current?.setPointerCapture(event.pointerId)
    if (box && (kind === 'move' || kind === 'size')) {
      drag.current = { kind, from: at, pixel: pixelAt(event), box }
      return
    }
    drag.current = { kind: 'pan', pixel: pixelAt(event), view }
  }
  const tapped = (at: Point) => {
    const slot = slots.find((one) => isIn(at, boxAround(placeOf(one, draft))))
    onTap({ at, reach: reachPx / 2 / view.scale, slot })
  }
  const boxNow = (event: PointerEvent): Box | undefined => {
    const now = drag.current
    if (!now || now.kind === 'pan') return undefined
    const at = pointAt(event)
    const by = { x: rounded(at.x - now.from.x, 2), y: rounded(at.y - now.from.y, 2) }
    return stepped(now.box, now.kind, by)
  }
  const move = (event: PointerEvent) => {
    const now = drag.current
    if (now?.kind !== 'pan') {
      setDragged(boxNow(event))
      return
    }
    const by = between(now.pixel, pixelAt(event))
    if (near && Math.hypot(by.x, by.y) >= slopPx) setNear(moved(now.view, by, hall, size))
  }
  const up = (event: PointerEvent) => {
    const now = drag.current
    const next = boxNow(event)
    drag.current = null
    setDragged(undefined)
    if (!now) return
    const by = between(now.pixel, pixelAt(event))
    const isTap = Math.hypot(by.x, by.y) < slopPx
    if (isTap && now.kind !== 'size') tapped(pointAt(event))
    if (isTap || now.kind === 'pan') return
    if (box && next && (next.x !== box.x || next.y !== box.y || next.width !== box.width || next.height !== box.height))
      onBox(next)
  }
  const press = (event: KeyboardEvent, kind: 'move' | 'size') => {
    const step = arrowSteps[event.key]
    if (!box || !step || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const times = event.shiftKey ? 10 : 1
    onBox(stepped(box, kind, { x: step.x * times, y: step.y * times }))
  }
  const shown = box && onScreen(dragged ?? box, view)
  return (
    <>
      <ZoomButtons isWhole={near === undefined} onZoom={zoom} onWhole={() => setNear(undefined)} />
      <div class="edit-drawing">
        {warehouse.floorPlanImage && imagePlace ? (
          <img
            class="plan-image"
            alt=""
            draggable={false}
            src={imageAddress(warehouse.id, warehouse.floorPlanImage)}
            style={imageStyle(warehouse.floorPlanImage, imagePlace, view)}
          />
        ) : null}
        <canvas ref={canvas} />
        {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset. */}
        <svg
          ref={overlay}
          role="group"
          aria-label={words.plan(warehouse.name)}
          onPointerDown={down}
          onPointerMove={move}
          onPointerUp={up}
          onPointerCancel={() => {
            drag.current = null
            setDragged(undefined)
          }}
        >
          {shown ? <Frame name={name} shown={shown} onPress={press} /> : null}
          {dragged ? null : over({ view, pointAt })}
        </svg>
      </div>
    </>
  )
}

function hallAround(
  slots: readonly PlanSlot[],
  draft: Draft,
  proposed: readonly NewPlace[],
  more: readonly Point[],
): Hall {
  const around = boxAround([
    ...more,
    ...slots.flatMap((slot) => placeOf(slot, draft)),
    ...proposed.flatMap(({ points }) => points),
  ])
  const room = Math.max(around.width, around.height, 1) * roomShare
  const box = {
    x: around.x - room,
    y: around.y - room,
    width: around.width + 2 * room,
    height: around.height + 2 * room,
  }
  return { box, unit: 1 }
}

const between = (from: Point, to: Point): Point => ({ x: to.x - from.x, y: to.y - from.y })

const stepped = (box: Box, kind: 'move' | 'size', by: Point): Box =>
  kind === 'move'
    ? { ...box, x: rounded(box.x + by.x, 3), y: rounded(box.y + by.y, 3) }
    : {
        ...box,
        width: Math.max(leastSide, rounded(box.width + by.x, 3)),
        height: Math.max(leastSide, rounded(box.height + by.y, 3)),
      }

const isIn = ({ x, y }: Point, box: Box): boolean =>
  x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height
