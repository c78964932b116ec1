import { ask } from './ask.ts'
import type { Page } from './shapes.ts'

/** The newest rows of a list. `total`: null when there are too many to count. */
export type Rows<T> = { readonly rows: readonly T[]; readonly total: number | null; readonly hasMore: boolean }

const mostAtOnce = 500

/**
 * Reads so many rows of a list from its beginning, page after page: by cursor where the list has one, else by offset. So what
 * came meanwhile makes no gap between pages that were read at different times. `path` has a query.
 */
export async function rowsOf<T>(path: string, limit: number): Promise<Rows<T>> {
  const rows: T[] = []
  let place = ''
  for (;;) {
    const { data, pagination } = await ask<Page<T>>(
      `${path}&limit=${Math.min(mostAtOnce, limit - rows.length)}${place}`,
    )
    rows.push(...data)
    const { hasMore, total, nextCursor } = pagination
    if (!hasMore || data.length === 0 || rows.length >= limit) return { rows, total, hasMore }
    place = nextCursor ? `&cursor=${encodeURIComponent(nextCursor)}` : `&offset=${rows.length}`
  }
}
