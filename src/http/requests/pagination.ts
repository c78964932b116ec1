import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { takesGzip } from '../answers/accept-encoding.ts'
import { leastPackedBytes, sentToMany } from '../answers/answer.ts'
import { type RawAnswer, rawAnswer } from '../answers/envelope.ts'
import { joinPacked, type PackedText, storeText } from '../answers/packed-text.ts'
import type { AppEnv } from '../context.ts'
import { queryInteger } from './fields.ts'
import { sharedParameter } from './parameters.ts'

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

/** Rows of a page of a history when `limit` is not sent. */
export const historyLimit = 50

const offset = sharedParameter(
  'Offset',
  { in: 'query', name: 'offset' },
  queryInteger({ min: 0, unlessSent: 0 })
    .optional()
    .openapi({ description: 'Number of rows to skip at the beginning.' }),
)

/** Query of a history: 50 rows unless asked, at most 500. */
export const historyQuery = {
  limit: sharedParameter(
    'HistoryLimit',
    { in: 'query', name: 'limit' },
    queryInteger({ min: 0, max: 500, clamp: true, unlessSent: historyLimit })
      .optional()
      .openapi({
        description: `Maximum number of rows of this page. Default ${historyLimit}; more than 500 counts as 500.`,
      }),
  ),
  offset,
}

/** Query of a list that the document calls "all": every row unless `limit` is sent. */
export const allQuery = {
  limit: sharedParameter(
    'AllLimit',
    { in: 'query', name: 'limit' },
    queryInteger({ min: 0 })
      .optional()
      .openapi({ description: 'Maximum number of rows of this page. Default: every row.' }),
  ),
  offset,
}

/** Returns one page of a list whose rows are all in memory. */
export function pageOfAll<T>(rows: readonly T[], query: { limit?: number | undefined; offset?: number | undefined }) {
  const offset = query.offset ?? 0
  const data = rows.slice(offset, query.limit === undefined ? undefined : offset + query.limit)
  return pageOf(data, rows.length, query)
}

/** A page of a list that has `total` rows. */
function pageOf<T>(data: T[], total: number, query: { limit?: number | undefined; offset?: number | undefined }) {
  const offset = query.offset ?? 0
  const hasMore = offset + (query.limit ?? Number.POSITIVE_INFINITY) < total
  return {
    success: true as const,
    data,
    pagination: { limit: query.limit ?? null, offset, total, hasMore, nextCursor: null },
  }
}

/** Whole lists that many callers get, as they are sent, by their rows. */
const sharedLists = new WeakMap<readonly unknown[], Buffer<ArrayBuffer>>()

/**
 * Sends the result of `pageOfAll`, for rows that do not change and that many callers get. The whole list is written and compressed
 * once for all of them. Callers choose the pages, so none of these is kept.
 */
export function sendShared(
  c: Context<AppEnv>,
  rows: readonly unknown[],
  query: { limit?: number | undefined; offset?: number | undefined },
): RawAnswer {
  const isWhole = query.limit === undefined && query.offset === undefined
  const known = isWhole ? sharedLists.get(rows) : undefined
  const body = known ?? Buffer.from(JSON.stringify(pageOfAll(rows, query)))
  if (isWhole && !known) sharedLists.set(rows, sentToMany(body))
  return rawAnswer(c.body(body, 200, { 'Content-Type': 'application/json' }))
}

const listHead = '{"success":true,"data":['
const comma = storeText(',')

/** Sends what `pageOf` returns, of rows that are JSON already. */
export function sendPage(
  c: Context<AppEnv>,
  rows: readonly string[],
  total: number,
  query: { limit?: number | undefined; offset?: number | undefined },
): RawAnswer {
  const { pagination } = pageOf([], total, query)
  const text = `${listHead}${rows.join(',')}],"pagination":${JSON.stringify(pagination)}}`
  return rawAnswer(c.body(text, 200, { 'Content-Type': 'application/json' }))
}

/**
 * As `pageOfAll`, for rows that come in slices, as objects or as their JSON. Each slice is serialized separately, so that a
 * long list never blocks the event loop.
 */
export async function sendAll(
  c: Context<AppEnv>,
  slices: AsyncIterable<readonly object[] | readonly string[]>,
  query: { limit?: number | undefined; offset?: number | undefined },
): Promise<RawAnswer> {
  const offset = query.offset ?? 0
  const end = query.limit === undefined ? Number.POSITIVE_INFINITY : offset + query.limit
  const parts: Buffer[] = [Buffer.from(listHead)]
  let total = 0
  for await (const rows of slices) {
    // The client has disconnected; the rest is not needed.
    if (c.req.raw.signal.aborted) break
    const wanted = rows.slice(Math.max(0, offset - total), Math.max(0, end - total))
    const text = wanted.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join(',')
    if (text !== '') parts.push(Buffer.from(`${parts.length > 1 ? ',' : ''}${text}`))
    total += rows.length
  }
  const pagination = { limit: query.limit ?? null, offset, total, hasMore: end < total, nextCursor: null }
  parts.push(Buffer.from(`],"pagination":${JSON.stringify(pagination)}}`))
  return rawAnswer(c.body(Buffer.concat(parts), 200, { 'Content-Type': 'application/json' }))
}

/** Whether a request may be answered with the result of `packedList`. */
export function takesPacked(c: Context<AppEnv>): boolean {
  return c.req.method === 'GET' && !c.get('listsIgnored') && takesGzip(c.req.header('accept-encoding'))
}

/**
 * Returns in gzip what `sendAll` sends of a whole list. `parts`: rows in JSON, with commas in between. Undefined for a list so short
 * that it is sent unpacked.
 */
export function packedList(parts: readonly PackedText[], total: number): Buffer<ArrayBuffer> | undefined {
  const rows = parts.flatMap((part, i) => (i === 0 ? [part] : [comma, part]))
  const { pagination } = pageOf([], total, {})
  const all = [storeText(listHead), ...rows, storeText(`],"pagination":${JSON.stringify(pagination)}}`)]
  return all.reduce((sum, { length }) => sum + length, 0) < leastPackedBytes ? undefined : joinPacked(all)
}

/** Sends what `packedList` has returned to a request that `takesPacked`. */
export function sendPacked(c: Context<AppEnv>, packed: Buffer<ArrayBuffer>): RawAnswer {
  c.header('Vary', 'Accept-Encoding', { append: true })
  return rawAnswer(c.body(packed, 200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }))
}
