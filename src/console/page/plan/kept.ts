import type { ImagePlace, Person, Point } from '../data/shapes.ts'
import type { Draft, PlanSlot, PlanZone } from './draft.ts'
import { keptPlans } from './forget.ts'
import type { PlanWarehouse } from './shapes.ts'

/** A plan as it is stored. */
export type Plan = {
  readonly warehouse: PlanWarehouse
  readonly zones: readonly PlanZone[]
  readonly slots: readonly PlanSlot[]
}

/** Unsaved drawings. `sketch`: corners of the outline under way, of the zone with the number `outlined`. */
export type Unsaved = {
  readonly draft: Draft
  readonly outlined: number
  readonly sketch: readonly Point[] | undefined
}

/** Restored drawings: the time they were stored, and the names of rows that have changed since and are not restored. */
export type Back = Unsaved & { readonly at: string; readonly leftOut: readonly string[] }

/** A value for a row that was read with this version. */
type Row<T> = readonly [id: number, version: number, value: T]

type Written = {
  readonly form: 1
  readonly at: string
  readonly places: readonly Row<readonly Point[]>[]
  readonly retired: readonly Row<boolean>[]
  readonly zones: readonly Row<number>[]
  readonly outlines: readonly Row<readonly Point[]>[]
  readonly image: Row<ImagePlace> | null
  readonly outlined: number
  readonly sketch: readonly Point[] | null
}

/** Writes unsaved changes as text, with the versions of the rows below them. Pure. */
export function writtenOf({ draft, outlined, sketch }: Unsaved, { warehouse, zones, slots }: Plan, at: string): string {
  const rows = <T>(values: ReadonlyMap<number, T>, of: readonly { id: number; version: number }[]): Row<T>[] => {
    const versions = new Map(of.map(({ id, version }) => [id, version]))
    return [...values].flatMap(([id, value]) => {
      const version = versions.get(id)
      return version === undefined ? [] : [[id, version, value] as const]
    })
  }
  const written: Written = {
    form: 1,
    at,
    places: rows(draft.places, slots),
    retired: rows(draft.retired, slots),
    zones: rows(draft.zones, slots),
    outlines: rows(draft.outlines, zones),
    image: draft.image ? [warehouse.id, warehouse.version, draft.image] : null,
    outlined,
    sketch: sketch ?? null,
  }
  return JSON.stringify(written)
}

/** Reads stored changes, without those of rows whose version has changed. Undefined for other text. Pure. */
export function backFrom(text: string | null, { warehouse, zones, slots }: Plan): Back | undefined {
  const written = parsed(text)
  if (written?.form !== 1) return undefined
  const leftOut = new Set<string>()
  const still = <T>(rows: readonly Row<T>[], of: readonly { id: number; version: number }[], nameOf: NameOf) => {
    const now = new Map(of.map((row) => [row.id, row.version]))
    const same = rows.filter(([id, version]) => now.get(id) === version)
    for (const row of rows) if (!same.includes(row)) leftOut.add(nameOf(row[0]))
    return new Map(same.map(([id, , value]) => [id, value]))
  }
  const ofSlot = (id: number) => slots.find((slot) => slot.id === id)?.slot_id ?? `${id}`
  const ofZone = (id: number) => zones.find((zone) => zone.id === id)?.name ?? `${id}`
  const image = still(written.image ? [written.image] : [], [warehouse], () => warehouse.name)
  const draft = {
    places: still(written.places, slots, ofSlot),
    retired: still(written.retired, slots, ofSlot),
    zones: still(written.zones, slots, ofSlot),
    outlines: still(written.outlines, zones, ofZone),
    image: image.get(warehouse.id),
  }
  const { at, outlined, sketch } = written
  return { draft, outlined, sketch: sketch ?? undefined, at, leftOut: [...leftOut] }
}

type NameOf = (id: number) => string

function parsed(text: string | null): Written | undefined {
  try {
    return (JSON.parse(text ?? 'null') as Written | null) ?? undefined
  } catch {
    return undefined
  }
}

/** Where this browser keeps the plan of a warehouse for a person: the same name of another instance is another one. */
export const keptAs = ({ instance, username }: Pick<Person, 'instance' | 'username'>, { warehouse }: Plan): string =>
  `${keptPlans}${JSON.stringify([instance, username, warehouse.id])}`

/** Reads the changes that this browser has stored; undefined without any. */
export function readBack(place: string, plan: Plan): Back | undefined {
  try {
    return backFrom(localStorage.getItem(place), plan)
  } catch {
    return undefined
  }
}

/** Stores unsaved changes, or deletes them (undefined). Returns whether the browser could; after a failure none are stored. */
export function keep(place: string, unsaved: Unsaved | undefined, plan: Plan): boolean {
  try {
    if (unsaved) localStorage.setItem(place, writtenOf(unsaved, plan, new Date().toISOString()))
    else localStorage.removeItem(place)
    return true
  } catch {
    forget(place)
    return false
  }
}

/** An older draft would be restored as the unsaved changes. */
function forget(place: string): void {
  try {
    localStorage.removeItem(place)
  } catch {
    // A browser that keeps nothing has none.
  }
}
