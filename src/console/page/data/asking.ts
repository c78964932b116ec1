import { ask, Refused } from './ask.ts'
import type { Page } from './shapes.ts'

/** The most rows that the gateway gives of a history at once. */
const mostRows = 500

/** Asks for the newest rows of a history, in as many requests as it takes. Throws Refused or Unreachable. */
export async function askNewest<T extends { readonly id: number | string }>(
  path: string,
  wanted: number,
): Promise<Page<T>> {
  const rows = new Map<number | string, T>()
  for (let offset = 0; ; ) {
    const limit = Math.min(mostRows, wanted - offset)
    const rest = `limit=${limit}${offset === 0 ? '' : `&offset=${offset}`}`
    const page = await ask<Page<T>>(`${path}${path.includes('?') ? '&' : '?'}${rest}`)
    // New rows push rows that were already read onto the next page.
    for (const row of page.data) rows.set(row.id, row)
    offset += limit
    if (!page.pagination.hasMore || offset >= wanted) return { ...page, data: [...rows.values()] }
  }
}

/** As `ask`; waits while the rate of the caller is used up. */
export async function askPatiently<T>(
  path: string,
  options: Parameters<typeof ask>[1] = {},
  onWait: (seconds: number) => void = () => {},
): Promise<T> {
  for (;;) {
    try {
      return await ask<T>(path, options)
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 429) throw error
      const seconds = Math.max(1, error.retryAfterSeconds)
      onWait(seconds)
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    }
  }
}

const outdatedCodes: ReadonlySet<string> = new Set(['VERSION_MISMATCH', 'PLACEMENT_MISMATCH'])

/** Tells whether a request was refused because the thing differs from what the page shows. */
export const isOutdated = (error: unknown): boolean => error instanceof Refused && outdatedCodes.has(error.code)
