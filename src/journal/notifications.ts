import type { z } from '@hono/zod-openapi'
import type { CreatedKind, EventType } from './event-types.ts'

/** The shape of `data` for each type of notification; every room exports those of its own types. */
export type NotificationSchemas = Readonly<Partial<Record<EventType, z.ZodType>>>

/** The shape of `data.event` of `event.created` for what has no type of its own. */
export type CreatedSchemas = Readonly<Partial<Record<CreatedKind, z.ZodType>>>

/** Looks at what is about to be published. */
export type Inspect = (type: EventType, data: Readonly<Record<string, unknown>>) => void

/**
 * Compares what is published with what is documented. A difference is reported and not thrown: a fact of the yard is
 * never refused because we described it wrongly; tests hand in a `report` that throws.
 */
export function inspector(schemas: NotificationSchemas, report: (type: EventType, problem: string) => void): Inspect {
  return (type, data) => {
    const schema = schemas[type]
    const problem = schema ? mismatchOf(schema, data) : 'has no schema'
    if (problem !== undefined) report(type, problem)
  }
}

/** What of `data` is not as the schema says, also fields that it does not name; undefined when all is. */
export function mismatchOf(schema: z.ZodType, data: unknown): string | undefined {
  const parsed = schema.safeParse(data)
  if (parsed.success) return unnamed(data, parsed.data, '')
  return parsed.error.issues.map((issue) => `${issue.path.map(String).join('.')}: ${issue.message}`).join('; ')
}

/** The first field of `data` that parsing has dropped. Absent and undefined are one: JSON writes neither. */
function unnamed(data: unknown, parsed: unknown, path: string): string | undefined {
  if (typeof data !== 'object' || data === null || typeof parsed !== 'object' || parsed === null) return undefined
  for (const [key, value] of Object.entries(data)) {
    if (value === undefined) continue
    if (!(key in parsed)) return `${path}${key}: not in the schema`
    const deeper = unnamed(value, (parsed as Record<string, unknown>)[key], `${path}${key}.`)
    if (deeper !== undefined) return deeper
  }
  return undefined
}
