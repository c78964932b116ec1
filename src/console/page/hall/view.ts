import type { Point } from '../data/shapes.ts'
import { type Box, middleOf } from './geometry.ts'

/** How the hall is drawn: a point of it lies `x + scale × its x` pixels right of the plan's upper left corner. */
export type View = { readonly x: number; readonly y: number; readonly scale: number }

/** Size of the plan on the screen, in pixels. */
export type Size = { readonly width: number; readonly height: number }

/** Box of all slots, and the shorter side of a usual slot, in the plan's units. */
export type Hall = { readonly box: Box; readonly unit: number }

/** Pixels around the hall; above it is the place for the names of zones. */
export const margin = { side: 14, above: 30 } as const
/** Shorter side of a slot after the view moved to it, in pixels: its label can be read and a thumb hits it. */
const closePx = 60
/** A slot with a side of this many pixels is large enough to tap. */
export const reachPx = 44
const nearestPx = 160

/** Returns the view with the whole hall, as large as possible. */
export function wholeHall(hall: Hall, size: Size): View {
  return kept({ x: 0, y: 0, scale: leastScale(hall, size) }, hall, size)
}

export function isWhole({ scale }: View, hall: Hall, size: Size): boolean {
  return scale <= leastScale(hall, size) * 1.001
}

export function isNearest({ scale }: View, hall: Hall, size: Size): boolean {
  return scale >= mostScale(hall, size) * 0.999
}

function leastScale({ box }: Hall, size: Size): number {
  const wide = Math.max(size.width - 2 * margin.side, 1) / Math.max(box.width, Number.EPSILON)
  const high = Math.max(size.height - margin.side - margin.above, 1) / Math.max(box.height, Number.EPSILON)
  return Math.min(wide, high)
}

const mostScale = (hall: Hall, size: Size): number => Math.max(nearestPx / hall.unit, leastScale(hall, size))

/** Returns the view zoomed in (factor above 1) or out around this pixel. */
export function zoomed(view: View, at: Point, factor: number, hall: Hall, size: Size): View {
  const scale = Math.min(Math.max(view.scale * factor, leastScale(hall, size)), mostScale(hall, size))
  const ratio = scale / view.scale
  return kept({ x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio, scale }, hall, size)
}

/** Returns the view moved by pixels, as far as the hall reaches. */
export function moved(view: View, by: Point, hall: Hall, size: Size): View {
  return kept({ ...view, x: view.x + by.x, y: view.y + by.y }, hall, size)
}

/** Returns the view in which this box can be read; the same view when it can be already. */
export function showing(view: View, target: Box, hall: Hall, size: Size): View {
  const side = Math.min(target.width, target.height) || hall.unit
  const isNear = side * view.scale >= reachPx
  if (isNear && isInside(onScreen(target, view), size)) return view
  const fitting = Math.min((size.width * 0.8) / target.width, (size.height * 0.8) / target.height)
  const wanted = isNear ? view.scale : Math.max(Math.min(closePx / side, fitting), leastScale(hall, size))
  const { x, y } = middleOf(target)
  return kept({ x: size.width / 2 - x * wanted, y: size.height / 2 - y * wanted, scale: wanted }, hall, size)
}

const isInside = ({ x, y, width, height }: Box, size: Size): boolean =>
  x >= 4 && y >= 4 && x + width <= size.width - 4 && y + height <= size.height - 4

/** Returns a box of the plan in pixels. */
export function onScreen({ x, y, width, height }: Box, view: View): Box {
  const { scale } = view
  return { x: view.x + x * scale, y: view.y + y * scale, width: width * scale, height: height * scale }
}

/** Returns the view within bounds: centered where the hall fits, otherwise without empty space beyond the margin. */
function kept({ x, y, scale }: View, { box }: Hall, size: Size): View {
  const across = along(x, box.x * scale, box.width * scale, [margin.side, size.width - margin.side])
  const down = along(y, box.y * scale, box.height * scale, [margin.above, size.height - margin.side])
  return { x: across, y: down, scale }
}

function along(offset: number, start: number, length: number, [from, to]: readonly [number, number]): number {
  if (length <= to - from) return (from + to - length) / 2 - start
  return Math.min(Math.max(offset, to - length - start), from - start)
}
