import type { CreatedEvent, CreatedSchemas } from '../journal/index.ts'
import { Discrepancy } from './discrepancy-schema.ts'

/** Content of `event.created` about discrepancies: the resolved dispute as its POST answers it. */
export const floorCreated = { 'dispute.resolved': Discrepancy } satisfies CreatedSchemas

export function disputeResolved(discrepancy: Discrepancy, timestampMs: number): CreatedEvent {
  const { warehouseId } = discrepancy.slot
  return { type: 'dispute.resolved', timestampMs, data: { ...discrepancy }, warehouseId }
}
