import { z } from '@hono/zod-openapi'
import { queryInteger } from './fields.ts'

/** Totals are counted exactly up to here; beyond it `total` is null and `hasMore` says the rest. */
export const countLimit = 10_000

export const Pagination = z
  .object({
    limit: z.int().nullable().openapi({ description: 'null: every row' }),
    offset: z.int(),
    total: z.int().nullable(),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
  })
  .openapi('Pagination')

export type Pagination = z.infer<typeof Pagination>

export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ success: z.literal(true), data: z.array(item), pagination: Pagination })
}

/** Query of a history: 50 rows unless asked, at most 500. */
export const historyQuery = {
  limit: queryInteger({ min: 0, max: 500, clamp: true }).optional(),
  offset: queryInteger({ min: 0 }).optional(),
}

/** Query of a list that the document calls "all": every row unless `limit` is sent. */
export const allQuery = {
  limit: queryInteger({ min: 0 }).optional(),
  offset: queryInteger({ min: 0 }).optional(),
}

export const historyLimit = 50

/** A list of which every row is at hand. */
export function pageOfAll<T>(rows: readonly T[], query: { limit?: number | undefined; offset?: number | undefined }) {
  const offset = query.offset ?? 0
  const data = rows.slice(offset, query.limit === undefined ? undefined : offset + query.limit)
  const hasMore = offset + data.length < rows.length
  return {
    success: true as const,
    data,
    pagination: { limit: query.limit ?? null, offset, total: rows.length, hasMore, nextCursor: null },
  }
}
