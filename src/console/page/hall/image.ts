import type { ImagePlace, PlanImage, Point } from '../data/shapes.ts'
import { type Box, middleOf } from './geometry.ts'
import type { View } from './view.ts'

/** Width of the element; its size on the screen comes from its transform, so that moving the plan lays out nothing. */
const elementPx = 1000

export const imageAddress = (warehouseId: number, { sha256 }: PlanImage): string =>
  `/api/whms/warehouses/${warehouseId}/floor-plan-image/${sha256}`

/** Returns the box of a picture before turning, in units of the plan. Pure. */
export const imageBox = ({ widthPx, heightPx }: PlanImage, { x, y, width }: ImagePlace): Box => ({
  x,
  y,
  width,
  height: (width * heightPx) / widthPx,
})

/** Returns a point turned around another. Pure. */
export function turned({ x, y }: Point, around: Point, degrees: number): Point {
  const angle = (degrees * Math.PI) / 180
  const [dx, dy] = [x - around.x, y - around.y]
  return {
    x: around.x + dx * Math.cos(angle) - dy * Math.sin(angle),
    y: around.y + dx * Math.sin(angle) + dy * Math.cos(angle),
  }
}

/** Returns the corners of a picture as it lies, from the upper left clockwise. Pure. */
export function imageCorners(image: PlanImage, place: ImagePlace): Point[] {
  const box = imageBox(image, place)
  const { x, y, width, height } = box
  const upright = [
    { x, y },
    { x: x + width, y },
    { x: x + width, y: y + height },
    { x, y: y + height },
  ]
  return upright.map((corner) => turned(corner, middleOf(box), place.rotation))
}

/** Returns the style that lays the element of a picture where it belongs. Pure. */
export function imageStyle(image: PlanImage, place: ImagePlace, view: View): Record<string, string> {
  const high = (elementPx * image.heightPx) / image.widthPx
  const box = imageBox(image, place)
  const middle = middleOf(box)
  const [x, y] = [view.x + middle.x * view.scale, view.y + middle.y * view.scale]
  const by = (box.width * view.scale) / elementPx
  return {
    width: `${elementPx}px`,
    height: `${high}px`,
    opacity: String(place.opacity),
    transform: `translate(${x}px, ${y}px) rotate(${place.rotation}deg) scale(${by}) translate(${-elementPx / 2}px, ${-high / 2}px)`,
  }
}
