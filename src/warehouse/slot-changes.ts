import { namedFields } from './change.ts'
import type { SlotChange } from './schema.ts'
import type * as slotStore from './slot-store.ts'

/** Field of a slot by the column that holds it. */
const fieldOfColumn: Readonly<Record<string, string>> = { zone_id: 'zoneId', retired_at_ms: 'retired' }

/** Returns the fields of a slot that a change has given another value, for the audit trail. */
export function auditOf(change: SlotChange, { floor_plan_polygon, ...columns }: slotStore.SlotChanges) {
  const names = Object.keys(columns).map((column) => fieldOfColumn[column] ?? column)
  const moved = { zone: columns.zone, zoneId: columns.zone_id }
  return {
    ...namedFields({ ...change, ...moved }, names),
    ...(floor_plan_polygon !== undefined && { polygon: 'changed' }),
  }
}
