import { z } from '@hono/zod-openapi'
import type { CreatedEvent, CreatedKind, CreatedSchemas, PublishedEvent } from '../journal/index.ts'
import { TransportUnit } from './schema.ts'
import type { UnitHistoryRow } from './tables.ts'

/** The fields of `transport_unit.stage_changed`, exactly as in the interface document. */
export const StageChanged = z
  .object({
    transportUnitId: z.string(),
    fromStage: z.string(),
    toStage: z.string(),
    operator: z.string(),
    evidence: z.object({
      photos: z.int().openapi({ description: 'number of photos of the unit, including this stage' }),
      scaleReading: z.number().optional().openapi({ description: 'weight of the unit in kg; absent if there is none' }),
    }),
  })
  .openapi('StageChanged')

/** `data` of this room's notifications. */
export const unitNotifications = {
  'transport_unit.created': TransportUnit,
  'transport_unit.stage_changed': StageChanged,
  'transport_unit.completed': TransportUnit,
} as const

/** Content of `event.created` for steps without an event type: the unit, whose newest history entry is the step. */
export const unitCreated = {
  'transport_unit.held': TransportUnit,
  'transport_unit.resumed': TransportUnit,
  'transport_unit.cancelled': TransportUnit,
  'transport_unit.evidence_added': TransportUnit,
} satisfies CreatedSchemas

type Cause = Pick<UnitHistoryRow, 'event_id' | 'received_at_ms' | 'action' | 'status' | 'from_stage' | 'stage'>

/**
 * Returns the notifications of a row of the history, in this order. A move that completes the unit has two; the second gets a
 * new id. A weighing has none, because the reading of the scale has one.
 */
export function notificationsOf(
  cause: Cause,
  unit: TransportUnit,
  operator: string,
  makeId: () => string,
): (PublishedEvent | CreatedEvent)[] {
  const common = { timestampMs: cause.received_at_ms, warehouseId: unit.warehouseId }
  const event = (type: PublishedEvent['type'], eventId: string, data: PublishedEvent['data']): PublishedEvent => ({
    ...common,
    type,
    eventId,
    data,
  })
  const step = (type: CreatedKind): CreatedEvent => ({ ...common, type, data: unit })
  switch (cause.action) {
    case 'created':
      return [event('transport_unit.created', cause.event_id, unit)]
    case 'completed':
      return [event('transport_unit.completed', cause.event_id, unit)]
    case 'advanced':
    case 'skipped': {
      const moved = event('transport_unit.stage_changed', cause.event_id, stageChanged(cause, unit, operator))
      return cause.status === 'completed' ? [moved, event('transport_unit.completed', makeId(), unit)] : [moved]
    }
    case 'held':
    case 'resumed':
    case 'cancelled':
      return [step(`transport_unit.${cause.action}`)]
    case 'evidence':
      return [step('transport_unit.evidence_added')]
    case 'weighed':
      return []
  }
}

function stageChanged(cause: Cause, unit: TransportUnit, operator: string): z.infer<typeof StageChanged> {
  const { photos, scaleReading } = unit.evidence
  return {
    transportUnitId: unit.id,
    fromStage: cause.from_stage ?? cause.stage,
    toStage: cause.stage,
    operator,
    evidence: { photos, ...(scaleReading !== null && { scaleReading }) },
  }
}
