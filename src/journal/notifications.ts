import type { z } from '@hono/zod-openapi'
import type { CreatedKind, EventType } from './event-types.ts'

/** The schema of `data` for each event type; every room exports those of its types. */
export type NotificationSchemas = Readonly<Partial<Record<EventType, z.ZodType>>>

/** The schema of `data.event` of `event.created` for facts without an event type. */
export type CreatedSchemas = Readonly<Partial<Record<CreatedKind, z.ZodType>>>

/** Checks what is about to be published. Returns whether it is as documented. */
export type Inspect = (type: EventType, data: Readonly<Record<string, unknown>>) => boolean

/** Notifications of a type that are all compared after a start, and the interval between later ones. */
const comparedFirst = 100
const comparedEvery = 64

/**
 * Returns a function that compares what is published with its schema: the first hundred of a type, then one in 64, because a wrong
 * description is wrong for a whole type or a form of it. A difference is reported and not
 * thrown, because a fact must not be refused for a wrong description; tests pass a `report` that throws.
 */
export function inspector(schemas: NotificationSchemas, report: (type: EventType, problem: string) => void): Inspect {
  const seen = new Map<EventType, number>()
  return (type, data) => {
    const before = seen.get(type) ?? 0
    seen.set(type, before + 1)
    if (before >= comparedFirst && before % comparedEvery !== 0) return true
    const schema = schemas[type]
    const problem = schema ? mismatchOf(schema, data) : 'has no schema'
    if (problem !== undefined) report(type, problem)
    return problem === undefined
  }
}

/** Returns how `data` differs from the schema, also by fields that it does not declare; undefined when it fits. */
export function mismatchOf(schema: z.ZodType, data: unknown): string | undefined {
  const parsed = schema.safeParse(data)
  if (parsed.success) return unnamed(data, parsed.data, '')
  return parsed.error.issues.map((issue) => `${issue.path.map(String).join('.')}: ${issue.message}`).join('; ')
}

/** Returns the first field of `data` that parsing has dropped. Absent and undefined are equal: JSON writes neither. */
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
