import { useEffect, useMemo, useRef, useState } from 'hono/jsx/dom'
import type { Point, Warehouse, Zone } from './answers.ts'
import { Icon } from './icons.tsx'
import { arrowSteps, Corners } from './plan-corners.tsx'
import { type Draft, leastSide, type PlanSlot, placeOf } from './plan-draft.ts'
import { type Box, boxAround } from './plan-geometry.ts'
import type { NewPlace } from './plan-grid.ts'
import { planMakeTexts } from './plan-make-texts.ts'
import { drawSlots } from './plan-paint.ts'
import { planTexts as words } from './plan-texts.ts'
import {
  type Hall,
  isWhole,
  moved,
  onScreen,
  type View as PlanView,
  type Size,
  wholeHall,
  zoomed,
} from './plan-view.ts'
import { rounded } from './polygon-edit.ts'

const planHeightPx = 520
/** Room around the hall, so that what is dragged outward stays in the picture. */
const roomShare = 0.06
const handlePx = 24
const zoomStep = 1.6
/** What moves less than this is a tap. */
const slopPx = 6

type DrawingProps = {
  warehouse: Warehouse
  zones: readonly Zone[]
  slots: readonly PlanSlot[]
  proposed: readonly NewPlace[]
  draft: Draft
  /** What is chosen; undefined in a hall without slots. */
  box: Box | undefined
  name: string
  /** The chosen slot, whose corners can be moved. */
  corners: readonly Point[] | undefined
  onBox: (box: Box) => void
  onCorners: (points: readonly Point[]) => void
  onChoose: (slot: PlanSlot) => void
}

type Drag =
  | { readonly kind: 'move' | 'size'; readonly from: Point; readonly box: Box }
  | { readonly kind: 'pan'; readonly from: Point; readonly view: PlanView; readonly hit: PlanSlot | undefined }

/** The plan with a frame around what is chosen: dragged, resized by its corner, panned and zoomed. */
export const Drawing = (props: DrawingProps) => {
  const { warehouse, zones, slots, proposed, draft, box, name, corners, onBox, onCorners, onChoose } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const overlay = useRef<SVGSVGElement>(null)
  const [width, setWidth] = useState(800)
  const [dragged, setDragged] = useState<Box | undefined>(undefined)
  const [near, setNear] = useState<PlanView | undefined>(undefined)
  const drag = useRef<Drag | null>(null)
  const size: Size = { width, height: planHeightPx }
  // The picture stays where it is while something is dragged, and fits again afterwards.
  const hall = useMemo(() => hallAround(slots, draft, proposed), [slots, draft, proposed])
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
  }, [slots, zones, draft, width, proposed, near])
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
      drag.current = { kind, from: at, box }
      return
    }
    const hit = slots.find((slot) => isIn(at, boxAround(placeOf(slot, draft))))
    drag.current = { kind: 'pan', from: pixelAt(event), view, hit }
  }
  const boxNow = (event: PointerEvent): Box | undefined => {
    const now = drag.current
    if (!now || now.kind === 'pan') return undefined
    const at = pointAt(event)
    const by = { x: rounded(at.x - now.from.x, 2), y: rounded(at.y - now.from.y, 2) }
    return stepped(now.box, now.kind, by)
  }
  const movedBy = (event: PointerEvent, from: Point): Point => {
    const at = pixelAt(event)
    return { x: at.x - from.x, y: at.y - from.y }
  }
  const move = (event: PointerEvent) => {
    const now = drag.current
    if (now?.kind !== 'pan') {
      setDragged(boxNow(event))
      return
    }
    const by = movedBy(event, now.from)
    if (near && Math.hypot(by.x, by.y) >= slopPx) setNear(moved(now.view, by, hall, size))
  }
  const up = (event: PointerEvent) => {
    const now = drag.current
    const next = boxNow(event)
    drag.current = null
    setDragged(undefined)
    if (now?.kind === 'pan') {
      const by = movedBy(event, now.from)
      if (now.hit && Math.hypot(by.x, by.y) < slopPx) onChoose(now.hit)
      return
    }
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
          {corners && !dragged ? (
            <Corners name={name} points={corners} view={view} pointAt={pointAt} onPoints={onCorners} />
          ) : null}
        </svg>
      </div>
    </>
  )
}

type FrameProps = {
  readonly name: string
  readonly shown: Box
  readonly onPress: (event: KeyboardEvent, kind: 'move' | 'size') => void
}

const Frame = ({ name, shown, onPress }: FrameProps) => (
  <>
    {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML. */}
    <rect
      class="frame"
      role="button"
      tabindex={0}
      aria-label={words.frame(name)}
      data-kind="move"
      x={shown.x}
      y={shown.y}
      width={Math.max(shown.width, 1)}
      height={Math.max(shown.height, 1)}
      onKeyDown={(event: KeyboardEvent) => onPress(event, 'move')}
    />
    {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML. */}
    <rect
      class="corner"
      role="button"
      tabindex={0}
      aria-label={words.corner(name)}
      data-kind="size"
      x={shown.x + shown.width}
      y={shown.y + shown.height}
      width={handlePx}
      height={handlePx}
      rx={5}
      onKeyDown={(event: KeyboardEvent) => onPress(event, 'size')}
    />
  </>
)

type ZoomProps = {
  readonly isWhole: boolean
  readonly onZoom: (factor: number) => void
  readonly onWhole: () => void
}

const ZoomButtons = ({ isWhole: isAll, onZoom, onWhole }: ZoomProps) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields of a form, and this is none.
  <div class="zoom" role="group" aria-label={planMakeTexts.zoom}>
    <button
      type="button"
      class="square"
      aria-label={planMakeTexts.zoomOut}
      aria-disabled={isAll ? 'true' : 'false'}
      onClick={() => onZoom(1 / zoomStep)}
    >
      <Icon name="farther" />
    </button>
    <button type="button" aria-disabled={isAll ? 'true' : 'false'} onClick={onWhole}>
      <Icon name="whole" /> {planMakeTexts.whole}
    </button>
    <button type="button" class="square" aria-label={planMakeTexts.zoomIn} onClick={() => onZoom(zoomStep)}>
      <Icon name="closer" />
    </button>
  </div>
)

function hallAround(slots: readonly PlanSlot[], draft: Draft, proposed: readonly NewPlace[]): Hall {
  const around = boxAround([
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
