import { useEffect, useRef, useState } from 'preact/hooks'
import type { Point } from '../data/shapes.ts'
import { type Hall, isWhole, moved, type View as PlanView, type Size, wholeHall, zoomed } from '../hall/view.ts'

const planHeightPx = 520

/** The part of the plan that is shown in an element, by buttons and by the wheel. */
export function useView(hall: Hall) {
  const overlay = useRef<SVGSVGElement>(null)
  const [width, setWidth] = useState(800)
  const [near, setNear] = useState<PlanView | undefined>(undefined)
  const size: Size = { width, height: planHeightPx }
  const view = near ?? wholeHall(hall, size)
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
  const pixelAt = ({ clientX, clientY }: PointerEvent): Point => {
    const { left, top } = overlay.current?.getBoundingClientRect() ?? { left: 0, top: 0 }
    return { x: clientX - left, y: clientY - top }
  }
  return {
    overlay,
    size,
    view,
    /** Undefined while the whole hall is shown. */
    near,
    zoom,
    whole: () => setNear(undefined),
    /** Moves a view by pixels; that of the whole hall stays. */
    pan: (from: PlanView, by: Point) => {
      if (near) setNear(moved(from, by, hall, size))
    },
    pixelAt,
    /** The place of a pointer in the hall. */
    pointAt: (event: PointerEvent): Point => {
      const { x, y } = pixelAt(event)
      return { x: (x - view.x) / view.scale, y: (y - view.y) / view.scale }
    },
  }
}
