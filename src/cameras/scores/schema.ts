import { z } from '@hono/zod-openapi'
import { motionRanges, zonesAreLarge } from '../../config/index.ts'
import { closedObject, optional, rowId, time, timeOut } from '../../http/index.ts'
import { columns, intervalMs, rows } from '../../video/index.ts'

const when = () => time().openapi({ format: 'date-time' })
const share = z.number().min(0).max(1)
/** As many polygons as this keep a replay short. */
const polygons = z
  .array(
    z
      .array(closedObject({ x: share, y: share }))
      .min(3)
      .max(256),
  )
  .max(32)

export const scoresQuery = z.object({
  from: when(),
  to: when().openapi({ description: 'at most 6 hours later, with cells=true 1 hour' }),
  cells: z.enum(['true', 'false']).optional().openapi({ description: 'whether the cells of each frame are added' }),
})

export const scoresShape = {
  cctvId: rowId(),
  intervalMs: z.int().openapi({ example: intervalMs }),
  from: timeOut().openapi({ description: 'when the interval of the first score begins' }),
  cells: z.object({
    columns: z.int().openapi({ example: columns }),
    rows: z.int().openapi({ example: rows }),
    bytes: z.string().optional().openapi({
      description:
        'base64, with cells=true: for each interval 144 bytes, row by row from the upper left, how many percent of the cell have changed, without masks; 255: no picture',
    }),
  }),
  scores: z.array(z.number().nullable()).openapi({
    description:
      'one number for each interval, 0 to 1, with the masks and zones of the config; 0 where the picture changed as a whole; null: no picture, or nothing is stored. While the decoder of the camera sleeps, its key frames alone have a number',
  }),
}

export const WhatIf = closedObject({
  sensitivity: optional(z.number().min(motionRanges.sensitivity.min).max(motionRanges.sensitivity.max)).openapi({
    description: 'absent: as it is now',
  }),
  masks: optional(polygons).openapi({
    description: 'parts of the picture that do not count; absent: as in the config',
  }),
  zones: optional(polygons.superRefine(zonesAreLarge)).openapi({
    description: 'parts outside of which nothing counts, each at least 0.7 % of the picture; absent: as in the config',
  }),
  from: when(),
  to: when().openapi({ description: 'at most 25 hours later' }),
}).openapi('WhatIf')
export type WhatIf = z.output<typeof WhatIf>

const ids = (description: string) => z.array(rowId()).openapi({ description })

export const whatIfShape = {
  cctvId: rowId(),
  from: timeOut(),
  to: timeOut().openapi({ description: 'as asked for, but not later than now' }),
  sensitivity: z.number().openapi({ description: 'the one that was tried' }),
  events: z
    .array(
      z.object({
        timestamp: timeOut(),
        score: z.number(),
        clip: z.boolean().openapi({ description: 'false: the cooldown would have prevented its clip' }),
        detectionId: rowId().optional().openapi({ description: 'the recorded detection; absent: there was none' }),
      }),
    )
    .openapi({ description: 'motion that these settings would have found, oldest first, at most 10,000' }),
  recorded: z.int().openapi({ description: 'detections of motion that were recorded in this time' }),
  lost: ids('recorded detections that would be gone'),
  merged: ids('recorded detections that would be in the clip of another event'),
  undecided: ids('recorded detections of a time of which nothing is stored'),
  added: z.int().openapi({ description: 'events that were not recorded' }),
  unknown: z
    .array(z.object({ from: timeOut(), to: timeOut() }))
    .openapi({ description: 'times without pictures, or of which nothing is stored: nothing is known of them' }),
}
