import { useRef, useState } from 'preact/hooks'
import type { Point } from '../data/shapes.ts'
import type { Box } from '../hall/geometry.ts'
import { rounded } from '../hall/polygon-edit.ts'
import type { View as PlanView } from '../hall/view.ts'
import { arrowSteps } from './corners.tsx'
import { leastSide } from './draft.ts'
import type { useView } from './use-view.ts'

/** A shorter movement is a tap. */
const slopPx = 6

type Drag =
  | { readonly kind: 'move' | 'size'; readonly from: Point; readonly pixel: Point; readonly box: Box }
  | { readonly kind: 'pan'; readonly pixel: Point; readonly view: PlanView }

/** Moves and resizes a box by pointer and by keys, and pans the plan beside it. `dragged`: the box while it is dragged. */
export function useDrag(
  { overlay, view, pan, pixelAt, pointAt }: ReturnType<typeof useView>,
  box: Box | undefined,
  { onBox, onTap }: { onBox: (box: Box) => void; onTap: (at: Point) => void },
) {
  const [dragged, setDragged] = useState<Box | undefined>(undefined)
  const drag = useRef<Drag | null>(null)
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return
    const kind = event.target instanceof Element ? event.target.getAttribute('data-kind') : null
    if (kind === 'corner') return
    overlay.current?.setPointerCapture(event.pointerId)
    const pixel = pixelAt(event)
    drag.current =
      box && (kind === 'move' || kind === 'size')
        ? { kind, from: pointAt(event), pixel, box }
        : { kind: 'pan', pixel, view }
  }
  const boxNow = (event: PointerEvent): Box | undefined => {
    const now = drag.current
    if (!now || now.kind === 'pan') return undefined
    const by = between(now.from, pointAt(event))
    return stepped(now.box, now.kind, { x: rounded(by.x, 2), y: rounded(by.y, 2) })
  }
  const onPointerMove = (event: PointerEvent) => {
    const now = drag.current
    if (now?.kind !== 'pan') {
      setDragged(boxNow(event))
      return
    }
    const by = between(now.pixel, pixelAt(event))
    if (Math.hypot(by.x, by.y) >= slopPx) pan(now.view, by)
  }
  const onPointerCancel = () => {
    drag.current = null
    setDragged(undefined)
  }
  const onPointerUp = (event: PointerEvent) => {
    const now = drag.current
    const next = boxNow(event)
    onPointerCancel()
    if (!now) return
    const by = between(now.pixel, pixelAt(event))
    const isTap = Math.hypot(by.x, by.y) < slopPx
    if (isTap && now.kind !== 'size') onTap(pointAt(event))
    if (isTap || now.kind === 'pan') return
    if (box && next && !isSame(box, next)) onBox(next)
  }
  const press = (event: KeyboardEvent, kind: 'move' | 'size') => {
    const step = arrowSteps[event.key]
    if (!box || !step || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const times = event.shiftKey ? 10 : 1
    onBox(stepped(box, kind, { x: step.x * times, y: step.y * times }))
  }
  return { dragged, press, pointer: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel } }
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

const isSame = (a: Box, b: Box): boolean => a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height
