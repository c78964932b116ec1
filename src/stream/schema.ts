import { z } from '@hono/zod-openapi'
import { Camera } from '../cameras/index.ts'
import { rowId } from '../http/index.ts'
import { PlacementEvent } from '../ledger/index.ts'
import { AlertItem } from '../webhooks/index.ts'

export const streamQuery = z.object({
  follow: z.enum(['true', 'false']).default('true').openapi({
    description: 'false: the answer ends after what was missed, for clients that come by now and then',
  }),
  after: z.string().max(64).optional().openapi({
    description: 'the id of the last message, for clients that cannot send Last-Event-ID; that header wins',
  }),
})

export const streamHeaders = z.object({
  'last-event-id': z
    .string()
    .max(64)
    .optional()
    .openapi({ description: 'the id of the last message; browsers send it by themselves' }),
})

const checkStatus = z.enum(['healthy', 'degraded', 'unhealthy'])

/** `data` of each kind of message. */
export const messageShapes = {
  hello: z.object({
    resumed: z.boolean().openapi({ description: 'false: something may be missing; read everything again' }),
  }),
  floor: z.object({
    warehouseId: rowId(),
    layoutChanged: z
      .boolean()
      .openapi({ description: 'true: slots, zones or the warehouse were changed; read them again' }),
    slots: z.array(
      z.object({
        id: rowId(),
        isOccupied: z.boolean(),
        assetBarcode: z.string().nullable(),
        isVerified: z.boolean().optional(),
        isDisputed: z.boolean().optional(),
      }),
    ),
  }),
  event: PlacementEvent,
  camera: Camera.pick({
    id: true,
    name: true,
    enabled: true,
    state: true,
    problem: true,
    problemCode: true,
    online: true,
  }),
  alert: AlertItem,
  unit: z.object({
    id: z.string(),
    warehouseId: rowId(),
    stage: z.string(),
    status: z.enum(['active', 'on_hold', 'completed', 'cancelled']),
  }),
  incident: z.object({
    id: rowId(),
    warehouseId: rowId().nullable(),
    status: z.enum(['open', 'investigating', 'resolved']),
    severity: z.enum(['low', 'medium', 'high', 'critical']),
  }),
  health: z.object({
    status: checkStatus,
    checks: z.record(z.string(), z.object({ status: checkStatus, reason: z.string().optional() })),
  }),
} as const

const message = <Kind extends string, Data extends z.ZodType>(event: Kind, data: Data) =>
  z.object({ event: z.literal(event), data })

/** A message as a client of server-sent events gets it: the JSON of `data` is read. */
export const StreamMessage = z
  .discriminatedUnion('event', [
    message('hello', messageShapes.hello),
    message('floor', messageShapes.floor),
    message('event', messageShapes.event),
    message('camera', messageShapes.camera),
    message('alert', messageShapes.alert),
    message('unit', messageShapes.unit),
    message('incident', messageShapes.incident),
    message('health', messageShapes.health),
  ])
  .openapi('StreamMessage', { description: 'One message: its field `event`, and the JSON of its field `data`' })

export type Floor = z.infer<typeof messageShapes.floor>
export type UnitNow = z.infer<typeof messageShapes.unit>
export type IncidentNow = z.infer<typeof messageShapes.incident>
export type CameraNow = z.infer<typeof messageShapes.camera>
export type HealthNow = z.infer<typeof messageShapes.health>
