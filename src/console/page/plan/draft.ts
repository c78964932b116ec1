import type { ImagePlace, Point, Slot, Zone } from '../data/shapes.ts'
import { type Box, boxAround } from '../hall/geometry.ts'
import { rounded } from '../hall/polygon-edit.ts'

export type PlanZone = Zone & { readonly zone_type: string; readonly version: number }

export type PlanSlot = Slot & { readonly version: number }

/** Changes that are not saved yet: of slots, then of zones, then of the picture of the hall. */
export type Draft = {
  readonly places: ReadonlyMap<number, readonly Point[]>
  readonly retired: ReadonlyMap<number, boolean>
  /** Zones that slots are put into. */
  readonly zones: ReadonlyMap<number, number>
  /** Outlines of zones; an empty one is removed. */
  readonly outlines: ReadonlyMap<number, readonly Point[]>
  readonly image: ImagePlace | undefined
}

/** Requested change of one slot. */
export type Change = {
  readonly slot: PlanSlot
  readonly body: {
    readonly floor_plan_polygon?: readonly Point[]
    readonly retired?: boolean
    readonly zoneId?: number
  }
}

export const unchanged: Draft = {
  places: new Map(),
  retired: new Map(),
  zones: new Map(),
  outlines: new Map(),
  image: undefined,
}

/** A side shorter than this is no place for a pallet, in meters. */
export const leastSide = 0.1
/** Millimeters. */
const digits = 3

export const placeOf = (slot: Slot, { places }: Draft): readonly Point[] =>
  places.get(slot.id) ?? slot.floor_plan_polygon

export const isRetired = (slot: Slot, { retired }: Draft): boolean => retired.get(slot.id) ?? slot.retiredAt !== null

/** Returns the box around slots as they are drawn. Pure. */
export const boxOf = (slots: readonly Slot[], draft: Draft): Box =>
  boxAround(slots.flatMap((slot) => placeOf(slot, draft)))

/** Returns the draft in which these slots fill another box: moved, and stretched when its size differs. Pure. */
export function fitted(draft: Draft, slots: readonly Slot[], to: Box): Draft {
  const from = boxOf(slots, draft)
  const places = new Map(draft.places)
  for (const slot of slots) places.set(slot.id, stretched(placeOf(slot, draft), from, to))
  return { ...draft, places }
}

/** Returns points that lay in a box in their places of another box, which has some size. Pure. */
export function stretched(points: readonly Point[], from: Box, to: Box): Point[] {
  const width = Math.max(to.width, leastSide)
  const height = Math.max(to.height, leastSide)
  const at = (value: number, start: number, length: number, toStart: number, toLength: number) =>
    rounded(toStart + (length === 0 ? 0 : ((value - start) / length) * toLength), digits)
  return points.map(({ x, y }) => ({
    x: at(x, from.x, from.width, to.x, width),
    y: at(y, from.y, from.height, to.y, height),
  }))
}

/** Returns the draft in which one slot has these corners. Pure. */
export const withPlace = (draft: Draft, slot: Slot, points: readonly Point[]): Draft => ({
  ...draft,
  places: new Map(draft.places).set(
    slot.id,
    points.map(({ x, y }) => ({ x: rounded(x, digits), y: rounded(y, digits) })),
  ),
})

/** Returns the draft in which a slot is out of use, or in use again. Pure. */
export const withRetired = (draft: Draft, slot: Slot, isOut: boolean): Draft => ({
  ...draft,
  retired: new Map(draft.retired).set(slot.id, isOut),
})

/** Lists the changes to request; a value that is back at its old state is none. Pure. */
export function changesOf(draft: Draft, slots: readonly PlanSlot[]): Change[] {
  return slots.flatMap((slot) => {
    const points = draft.places.get(slot.id)
    const isOut = draft.retired.get(slot.id)
    const zoneId = draft.zones.get(slot.id)
    const body = {
      ...(points && !isSamePlace(points, slot.floor_plan_polygon) && { floor_plan_polygon: points }),
      ...(isOut !== undefined && isOut !== (slot.retiredAt !== null) && { retired: isOut }),
      ...(zoneId !== undefined && zoneId !== slot.zoneId && { zoneId }),
    }
    return Object.keys(body).length === 0 ? [] : [{ slot, body }]
  })
}

const isSamePlace = (a: readonly Point[], b: readonly Point[]): boolean =>
  a.length === b.length &&
  a.every(({ x, y }, i) => rounded(b[i]?.x ?? 0, digits) === x && rounded(b[i]?.y ?? 0, digits) === y)

/** Returns the draft without the slots that were saved. Pure. */
export function withoutSaved(draft: Draft, saved: ReadonlySet<number>): Draft {
  const rest = <T>(map: ReadonlyMap<number, T>) => new Map([...map].filter(([id]) => !saved.has(id)))
  return { ...draft, places: rest(draft.places), retired: rest(draft.retired), zones: rest(draft.zones) }
}
