import type { Point, Slot } from '../../data/shapes.ts'
import type { PlanZone } from '../draft.ts'

/** Returns corners as a list of slots has them. */
export const placeText = (points: readonly Point[]): string => points.map(({ x, y }) => `${x} ${y}`).join(', ')

/** Returns rows of cells as CSV. */
export const toCsv = (rows: readonly (readonly string[])[]): string =>
  `${rows.map((row) => row.map(cellOf).join(',')).join('\r\n')}\r\n`

const columns = [
  'slot_id',
  'zone',
  'zone_type',
  'floor_plan_polygon',
  'max_weight',
  'max_height',
  'allowed_types',
  'retired',
]

/**
 * Returns the slots as a list that `gatehouse import slots` reads again (RFC 4180), as they are stored. The gateway answers with
 * the type of the zone for a slot that has none itself: such a type is left out. Pure.
 */
export function csvOf(slots: readonly Slot[], zones: readonly PlanZone[]): string {
  const typeOf = new Map(zones.map(({ id, zone_type }) => [id, zone_type]))
  const ownType = ({ zone_type, zoneId }: Slot) => (zone_type === typeOf.get(zoneId ?? 0) ? '' : (zone_type ?? ''))
  const rows = slots.map((slot) => [
    slot.slot_id,
    slot.zone,
    ownType(slot),
    placeText(slot.floor_plan_polygon),
    `${slot.constraints?.max_weight ?? ''}`,
    `${slot.constraints?.max_height ?? ''}`,
    (slot.constraints?.allowed_types ?? []).join(' '),
    slot.retiredAt === null ? 'false' : 'true',
  ])
  return toCsv([columns, ...rows])
}

/**
 * Writes a cell (RFC 4180). Text that a spreadsheet would run as a formula begins with an apostrophe, as in the gateway's other
 * lists. The gateway's import removes it. Numbers and places stay as they are.
 */
export function cellOf(text: string): string {
  const isFormula = /^'*[=+\-@\t]/.test(text) && !/^[-\d., ]*$/.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
