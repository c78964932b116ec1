import { z } from '@hono/zod-openapi'
import { rowId, timeOut } from '../http/index.ts'
import type { CreatedEvent, CreatedSchemas } from '../journal/index.ts'
import { isoTime } from '../platform/index.ts'
import type { Change } from './troubles.ts'

const camera = {
  cctvId: rowId(),
  name: z.string(),
  offlineSince: timeOut().openapi({ description: 'Time of its last picture' }),
}

const CameraOffline = z
  .object({
    ...camera,
    problem: z.string().openapi({
      description: 'The fault and the next step, in words for people',
      example:
        'Nothing answers at the address of the camera. Check its power, its cable and the host and port of the url.',
    }),
  })
  .openapi('CameraOfflineNotification')

const CameraOnline = z
  .object({
    ...camera,
    onlineSince: timeOut().openapi({ description: 'When the gateway noticed pictures again' }),
  })
  .openapi('CameraOnlineNotification')

/** Schemas of the content of `event.created` about the health of the gateway. */
export const healthCreated = {
  'camera.offline': CameraOffline,
  'camera.online': CameraOnline,
} satisfies CreatedSchemas

/** Returns the notification of a change; undefined where the alert alone is enough. */
export function notificationOf(
  change: Change,
  nowMs: number,
  camera: (id: number) => { readonly name: string; readonly problem: string | null; readonly warehouseId: number },
): CreatedEvent | undefined {
  const trouble = change.direction === 'worse' ? change.trouble : change.before
  if (trouble.kind !== 'camera.offline' || change.direction === 'gone') return undefined
  const cctvId = Number(trouble.subject)
  const { name, problem, warehouseId } = camera(cctvId)
  const known = { cctvId, name, offlineSince: isoTime(trouble.sinceMs) }
  const common = { timestampMs: nowMs, warehouseId }
  return change.direction === 'worse'
    ? { ...common, type: 'camera.offline', data: { ...known, problem: problem ?? trouble.message } }
    : { ...common, type: 'camera.online', data: { ...known, onlineSince: isoTime(nowMs) } }
}
