import type { ImagePlace, Point, Warehouse } from '../data/shapes.ts'
import { type Box, boxAround, hullOf, middleOf } from '../hall/geometry.ts'
import { rounded } from '../hall/polygon-edit.ts'
import { type Draft, type PlanSlot, type PlanZone, placeOf } from './draft.ts'

export type PlanWarehouse = Warehouse & { readonly version: number }

/** Millimeters, and hundredths for values that are no length. */
const digits = 3
/** Room between the slots of a zone and an outline around them, in meters. */
const outlineRoom = 0.5

const tidy = (points: readonly Point[]): Point[] =>
  points.map(({ x, y }) => ({ x: rounded(x, digits), y: rounded(y, digits) }))

/** Returns the outline of a zone as it is drawn; without points there is none. Pure. */
export const outlineOf = (zone: PlanZone, { outlines }: Draft): readonly Point[] =>
  outlines.get(zone.id) ?? zone.floor_plan_polygon ?? []

/** Returns the draft in which a zone has this outline; without points none. Pure. */
export const withOutline = (draft: Draft, zone: PlanZone, points: readonly Point[]): Draft => ({
  ...draft,
  outlines: new Map(draft.outlines).set(zone.id, tidy(points)),
})

/** Returns an outline around slots: their convex hull, with a little room. Pure. */
export function outlineAround(slots: readonly PlanSlot[], draft: Draft): Point[] {
  const corners = slots.flatMap((slot) => placeOf(slot, draft))
  const room = outlineRoom
  // Room on all sides, also at the ends of a row.
  const roomy = corners.flatMap(({ x, y }) => [
    { x: x - room, y: y - room },
    { x: x + room, y: y - room },
    { x: x + room, y: y + room },
    { x: x - room, y: y + room },
  ])
  return tidy(hullOf(roomy))
}

/** Returns a rectangle in the middle of a box, a third of its size. Pure. */
export function rectangleIn({ x, y, width, height }: Box): Point[] {
  const [left, top, right, bottom] = [x + width / 3, y + height / 3, x + (width * 2) / 3, y + (height * 2) / 3]
  return tidy([
    { x: left, y: top },
    { x: right, y: top },
    { x: right, y: bottom },
    { x: left, y: bottom },
  ])
}

/** Says whether a point lies in a polygon (even-odd rule). Pure. */
export function isInside(points: readonly Point[], { x, y }: Point): boolean {
  let inside = false
  for (const [index, a] of points.entries()) {
    const b = points.at(index - 1) ?? a
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) inside = !inside
  }
  return inside
}

/** Lists slots in use whose middle lies in the outline of a zone, but that belong to another zone. Pure. */
export function strangersIn(zone: PlanZone, slots: readonly PlanSlot[], draft: Draft): PlanSlot[] {
  const outline = outlineOf(zone, draft)
  if (outline.length < 3) return []
  return slots.filter(
    (slot) =>
      slot.retiredAt === null &&
      (draft.zones.get(slot.id) ?? slot.zoneId) !== zone.id &&
      isInside(outline, middleOf(boxAround(placeOf(slot, draft)))),
  )
}

/** Returns the draft in which these slots are in a zone. Pure. */
export const withZone = (draft: Draft, slots: readonly PlanSlot[], zone: PlanZone): Draft => ({
  ...draft,
  zones: new Map([...draft.zones, ...slots.map(({ id }) => [id, zone.id] as const)]),
})

/** Returns a place within the limits of the gateway. Pure. */
export const tidyPlace = ({ x, y, width, rotation, opacity }: ImagePlace): ImagePlace => ({
  x: rounded(x, digits),
  y: rounded(y, digits),
  width: Math.max(0.1, rounded(width, digits)),
  rotation: rounded(((rotation % 360) + 360) % 360, 1) % 360,
  opacity: Math.min(1, Math.max(0.05, rounded(opacity, 2))),
})

/** Requested change of a zone or the warehouse. */
export type ShapeChange = {
  readonly key: string
  readonly label: string
  readonly path: string
  readonly version: number
  readonly body: object
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Lists the changes to request besides slots; a value that is back at its old state is none. Pure. */
export function shapeChanges(draft: Draft, zones: readonly PlanZone[], warehouse: PlanWarehouse): ShapeChange[] {
  const ofZones = zones.flatMap((zone) => {
    const points = draft.outlines.get(zone.id)
    if (!points || isSame(points, zone.floor_plan_polygon ?? [])) return []
    const body = { floor_plan_polygon: points }
    return [
      { key: `zone ${zone.id}`, label: zone.name, path: `/api/whms/zones/${zone.id}`, version: zone.version, body },
    ]
  })
  const { image } = draft
  const { id, name, version, floorPlanImage } = warehouse
  if (!image || !floorPlanImage || isSame(image, tidyPlace(floorPlanImage.place))) return ofZones
  const body = { floorPlanImage: { place: image } }
  return [...ofZones, { key: 'image', label: name, path: `/api/whms/warehouses/${id}`, version, body }]
}

/** Returns the draft without the shapes that were saved. Pure. */
export function withoutShapes(draft: Draft, saved: ReadonlySet<string>): Draft {
  const outlines = new Map([...draft.outlines].filter(([id]) => !saved.has(`zone ${id}`)))
  return { ...draft, outlines, image: saved.has('image') ? undefined : draft.image }
}
