import { z } from '@hono/zod-openapi'
import { onceFieldsFit, optional, rowId, timeOut } from '../http/index.ts'

const Point = z.object({ x: z.number().min(0).max(1), y: z.number().min(0).max(1) })
/** A copy in which a region covers nothing would pass for a redacted one. */
function hasArea([first, ...rest]: readonly { readonly x: number; readonly y: number }[]): boolean {
  if (!first) return false
  const other = rest.find(({ x, y }) => x !== first.x || y !== first.y)
  if (!other) return false
  const [dx, dy] = [other.x - first.x, other.y - first.y]
  return rest.some(({ x, y }) => Math.abs(dx * (y - first.y) - dy * (x - first.x)) > 1e-9)
}

const Polygon = z
  .array(Point)
  .min(3)
  .max(256)
  .refine(hasArea, { message: 'encloses nothing: its points are one point, or lie on one line', ...onceFieldsFit() })
  .openapi({
    description: 'points from 0 to 1 of width and height, from the upper left; what they go around is covered',
  })
const seconds = () => optional(z.number().min(0).max(86_400))

const Region = z
  .object({
    polygon: Polygon,
    from: seconds().openapi({ description: 'seconds from the first picture of the clip; default: its beginning' }),
    to: seconds().openapi({ description: 'seconds from the first picture of the clip; default: its end' }),
  })
  .openapi('RedactionRegion')

export const NewRedaction = z
  .object({
    regions: z.array(Region).min(1).max(16).openapi({ description: 'covered regions; at most 16' }),
  })
  .openapi('NewRedaction')
export type NewRedaction = z.output<typeof NewRedaction>

export const redactionShape = {
  id: rowId(),
  detectionId: rowId(),
  state: z.enum(['pending', 'done', 'failed']),
  problem: z.string().nullable().openapi({ description: 'why there is no copy' }),
  sha256: z.string().nullable().openapi({ description: 'SHA-256 of the redacted copy; null until it is done' }),
  originalSha256: z.string().openapi({ description: 'SHA-256 of the clip, which stays as it is' }),
  sizeBytes: z.int().nullable(),
  snapshotSha256: z.string().nullable(),
  url: z.string().nullable().openapi({ format: 'uri' }),
  snapshotUrl: z.string().nullable().openapi({ format: 'uri' }),
  regions: z.array(
    z.object({
      polygon: z.array(z.object({ x: z.number(), y: z.number() })),
      from: z.number().nullable(),
      to: z.number().nullable(),
    }),
  ),
  requestedBy: z.string(),
  requestedAt: timeOut(),
  finishedAt: timeOut().nullable(),
}
export const Redaction = z.object(redactionShape).openapi('Redaction')
export type Redaction = z.infer<typeof Redaction>
