import { useEffect, useRef } from 'preact/hooks'
import { type Day, panned, type Window, zoomed } from '../../data/day-line.ts'

type Control = {
  readonly day: Day
  readonly window: Window
  readonly onWindow: (window: Window) => void
  /** A click, or a tap of a finger, at this time. */
  readonly onTap: (ms: number) => void
}

/** A finger that moves less than this taps, in pixels. */
const tapPx = 6
const wheelFactor = 1.0015

/** Turns wheel, mouse and fingers on a line of time into windows and taps. */
export function useLineControl(place: { readonly current: HTMLElement | null }, control: Control): void {
  const newest = useRef(control)
  newest.current = control
  useEffect(() => {
    const element = place.current
    if (!element) return
    const fingers = new Map<number, number>()
    let moved = 0
    const now = () => newest.current ?? control
    const timeAt = (x: number, { fromMs, toMs }: Window) =>
      fromMs + ((x - element.getBoundingClientRect().left) / element.clientWidth) * (toMs - fromMs)
    const wheel = (event: WheelEvent) => {
      const { window, day, onWindow } = now()
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey
      const pixel = (window.toMs - window.fromMs) / element.clientWidth
      const next = isSideways
        ? panned(window, day, (event.deltaX || event.deltaY) * pixel)
        : zoomed(window, day, wheelFactor ** event.deltaY, timeAt(event.clientX, window))
      // At its ends the line lets the page scroll.
      if (next.fromMs === window.fromMs && next.toMs === window.toMs) return
      event.preventDefault()
      onWindow(next)
    }
    const down = (event: PointerEvent) => {
      if (event.button !== 0) return
      if (fingers.size === 0) moved = 0
      fingers.set(event.pointerId, event.clientX)
      element.setPointerCapture(event.pointerId)
    }
    const move = (event: PointerEvent) => {
      const before = fingers.get(event.pointerId)
      if (before === undefined) return
      fingers.set(event.pointerId, event.clientX)
      moved += Math.abs(event.clientX - before)
      if (moved < tapPx) return
      const { window, day, onWindow } = now()
      const pixel = (window.toMs - window.fromMs) / element.clientWidth
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId)
      if (!other) {
        onWindow(panned(window, day, (before - event.clientX) * pixel))
        return
      }
      const [, fixed] = other
      const [was, is] = [Math.abs(before - fixed), Math.abs(event.clientX - fixed)]
      if (was > 0 && is > 0) onWindow(zoomed(window, day, was / is, timeAt(fixed, window)))
    }
    const up = (event: PointerEvent) => {
      if (!fingers.delete(event.pointerId) || event.type === 'pointercancel' || fingers.size > 0) return
      const { window, onTap } = now()
      if (moved < tapPx) onTap(timeAt(event.clientX, window))
    }
    element.addEventListener('wheel', wheel, { passive: false })
    element.addEventListener('pointerdown', down)
    element.addEventListener('pointermove', move)
    element.addEventListener('pointerup', up)
    element.addEventListener('pointercancel', up)
    return () => {
      element.removeEventListener('wheel', wheel)
      element.removeEventListener('pointerdown', down)
      element.removeEventListener('pointermove', move)
      element.removeEventListener('pointerup', up)
      element.removeEventListener('pointercancel', up)
    }
  }, [])
}
