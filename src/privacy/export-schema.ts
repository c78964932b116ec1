import { z } from '@hono/zod-openapi'
import { lines, optional, rowId, text, timeOut } from '../http/index.ts'

export const NewExport = z
  .object({
    reason: lines(2000).openapi({ description: 'why the clip leaves the gateway', example: 'Police report 4711/26' }),
    recipient: optional(text(200)).openapi({
      description: 'person who receives it',
      example: 'Police station 12, Ms. Meyer',
    }),
    redactionId: optional(rowId()).openapi({ description: 'hand out this redacted copy instead of the original' }),
    cameraClockOffsetMs: optional(z.int().min(-315_360_000_000).max(315_360_000_000)).openapi({
      description:
        "the camera's own clock, as the picture shows it, minus the gateway's, as you have read it; absent: the value that the gateway measured, if it did",
    }),
  })
  .openapi('NewClipExport')
export type NewExport = z.output<typeof NewExport>

export const ExportDecision = z.object({ note: optional(lines(2000)) }).openapi('ClipExportDecision')

export const exportShape = {
  id: rowId(),
  detectionId: rowId(),
  cctvId: rowId(),
  redactionId: rowId().nullable().openapi({ description: 'null: the original' }),
  sha256: z.string().openapi({ description: 'SHA-256 of the file that is handed out' }),
  state: z.enum(['waiting', 'granted', 'refused', 'ended']).openapi({
    description: 'waiting: for a second person · granted: the file can be downloaded · refused · ended: 24 h later',
  }),
  who: z.string().openapi({ description: 'person who asked for it' }),
  isOwn: z.boolean().openapi({ description: 'the caller asked for it, so another person decides' }),
  why: z.string().nullable().openapi({ description: 'null: erased' }),
  recipient: z.string().nullable(),
  decidedBy: z.string().nullable().openapi({ description: 'the second person; null without four eyes' }),
  decisionNote: z.string().nullable(),
  decidedAt: timeOut().nullable(),
  clock: z.object({
    trusted: z.boolean().openapi({ description: "false: the gateway's clock had lost its synchronization" }),
    cameraOffsetMs: z.int().nullable().openapi({
      description: "the camera's own clock minus the gateway's; null: neither stated nor measured",
    }),
    cameraOffsetBy: z.enum(['stated', 'rtsp', 'onvif']).nullable().openapi({
      description: 'stated: by the caller who asked · rtsp, onvif: measured by the gateway',
    }),
    cameraOffsetMeasuredAt: timeOut().nullable().openapi({ description: 'null: not measured' }),
    note: z.string(),
  }),
  createdAt: timeOut(),
  endsAt: timeOut().nullable().openapi({ description: 'until then the file can be downloaded; null: not granted' }),
  url: z.string().nullable().openapi({
    format: 'uri',
    description: 'signed address of the file, for the caller who asked, while it is granted; each read makes a new one',
  }),
  urlExpiresAt: timeOut().nullable(),
}
export const ClipExport = z.object(exportShape).openapi('ClipExport')
export type ClipExport = z.infer<typeof ClipExport>
