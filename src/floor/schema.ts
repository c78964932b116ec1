import { z } from '@hono/zod-openapi'
import { label, queryInteger, resource, rowId, time, timeOut } from '../http/index.ts'
import { slotStateShape } from '../ledger/index.ts'
import { slotShape, warehouseShape, zoneShape, zoneTypes } from '../warehouse/index.ts'

/** Query of every derived read: as it was at `at`, as known at `known_at`. */
export const whenQuery = {
  at: time().optional().openapi({ description: 'the state at this time, as known now', format: 'date-time' }),
  known_at: time()
    .optional()
    .openapi({ description: 'only what the gateway had received by this time', format: 'date-time' }),
}

export const flag = () => z.enum(['true', 'false']).transform((value) => value === 'true')

export const inWarehouseQuery = {
  warehouseId: queryInteger({ min: 1 })
    .optional()
    .openapi({ description: 'Only of the warehouse with this id.', example: 1 }),
}

const occupied = () =>
  flag()
    .optional()
    .openapi({
      type: 'string',
      enum: ['true', 'false'],
      description: '`true`: only slots with something in them. `false`: only empty ones. With `at`: at that time.',
      example: 'true',
    })

export const zoneSlotsQuery = { occupied: occupied() }

export const slotFilterQuery = {
  ...inWarehouseQuery,
  zoneId: queryInteger({ min: 1 })
    .optional()
    .openapi({ description: 'Only slots of the zone with this id; 404 without one.', example: 1 }),
  zone: label(200).optional().openapi({
    description: 'Only slots that show this `zone`: the name of a zone or another label, in any case.',
    example: 'A',
  }),
  occupied: occupied(),
}

export const byQuery = {
  by: z
    .enum(['slot_id'])
    .optional()
    .openapi({ description: 'slot_id: the path is a slot label even if it is a number' }),
}

export const FloorSlot = z.object({ ...slotShape, ...slotStateShape }).openapi('Slot')
export type FloorSlot = z.infer<typeof FloorSlot>
export const FloorSlotResource = resource({ ...slotShape, ...slotStateShape })

const zoneUseShape = {
  slotCount: z.int(),
  occupiedCount: z.int(),
  utilizationPercent: z.number().openapi({ description: '0 to 100, two decimals' }),
}
export const FloorZone = z.object({ ...zoneShape, ...zoneUseShape }).openapi('Zone')
export const FloorZoneResource = resource({ ...zoneShape, ...zoneUseShape })

const utilizationShape = {
  totalSlots: z.int(),
  occupiedSlots: z.int(),
  utilizationPercent: z.number(),
  pendingVerifications: z.int().openapi({ description: 'occupied and not verified, including disputed ones' }),
  byZone: z.array(
    z.object({
      zone: z.string(),
      warehouseId: rowId(),
      zoneId: rowId().nullable().openapi({ description: 'null: slots whose `zone` is no name of a zone' }),
      occupied: z.int(),
      total: z.int(),
    }),
  ),
}
const Utilization = z.object(utilizationShape).openapi('Utilization')
export type Utilization = z.infer<typeof Utilization>
export const UtilizationResource = resource(utilizationShape)

export const WarehouseDetail = resource({
  ...warehouseShape,
  zones: z.array(
    z.object({
      id: rowId(),
      name: z.string(),
      zone_type: z.enum(zoneTypes),
      color: z.string(),
      slotCount: z.int(),
      occupiedCount: z.int(),
    }),
  ),
  utilization: Utilization,
})

const slotNameShape = {
  id: rowId(),
  slot_id: z.string(),
  warehouseId: rowId(),
  zone: z.string(),
  zoneId: rowId().nullable(),
}
export const SlotName = z.object(slotNameShape).openapi('SlotName')
export type SlotName = z.infer<typeof SlotName>

/** Place of an asset besides its slot. */
export const placeShape = {
  since: timeOut()
    .nullable()
    .openapi({ description: 'time of the event that put it there or ended its last stay; null: it was never placed' }),
  // Not .nullable(): for a named schema the description would require object and null at once.
  lastSlot: z.union([SlotName, z.null()]).openapi({
    description: 'slot of its last stay; null while it is in a slot, or was never placed',
  }),
  endedBy: rowId().nullable().openapi({ description: 'id of the event that ended the last stay' }),
}

export const AssetLocationResource = resource({
  asset_barcode: z.string(),
  slot: z.union([FloorSlot, z.null()]),
  ...placeShape,
})
