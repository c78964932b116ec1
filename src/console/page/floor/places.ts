import type { Point, Slot, Zone } from '../data/shapes.ts'
import { type Box, boxAround, hullOf, median, middleOf } from '../hall/geometry.ts'
import type { Ground, Place } from '../hall/tile-paint.ts'
import type { Hall } from '../hall/view.ts'
import { statusOf } from '../i18n/words.ts'
import { fallbackColor, safeColor } from '../kit/slot-marks.tsx'

/** Returns the places of the slots; those that did not change as the same objects. */
export function placesOf(
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
export const hasMoved = (places: readonly Place[], { box: hall }: Hall): boolean =>
  places.some(
    ({ box }) =>
      box.x < hall.x ||
      box.y < hall.y ||
      box.x + box.width > hall.x + hall.width + 1e-9 ||
      box.y + box.height > hall.y + hall.height + 1e-9,
  )

export function hallOf(places: readonly Place[], grounds: readonly Ground[]): Hall {
  const drawn = grounds.flatMap(({ isDrawn, points }) => (isDrawn ? points : []))
  const box = boxAround([...places.flatMap(({ slot }) => slot.floor_plan_polygon), ...drawn])
  const sides = places.map((place) => Math.min(place.box.width, place.box.height))
  return { box, unit: median(sides) || Math.max(box.width, box.height) / 10 || 1 }
}

/** Zones as they are drawn, else around their slots. */
export function groundsOf(slots: readonly Slot[], zones: readonly Zone[], warehouseId: number | undefined): Ground[] {
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

/** Returns the place that a point lies in, else the nearest one. Pure. */
export function placesAt(places: readonly Place[], point: Point | undefined): { hit?: Place; near?: Place } {
  if (!point) return {}
  const hit = places.find(({ box, slot }) => holds(box, slot.floor_plan_polygon, point))
  const near = hit ?? nearestPlace(places, point)
  return { ...(hit && { hit }), ...(near && { near }) }
}

/** Says whether the point lies in the polygon (even-odd rule). */
function holds(box: Box, points: readonly Point[], { x, y }: Point): boolean {
  if (x < box.x || y < box.y || x > box.x + box.width || y > box.y + box.height) return false
  let isInside = false
  for (const [index, a] of points.entries()) {
    const b = points.at(index - 1) ?? a
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
