import type { Context } from 'hono'
import type { AppEnv } from '../context.ts'

/**
 * Says whether a page of this gateway sent the request. A browser sends `Sec-Fetch-Site` over HTTPS, but over plain HTTP only to
 * the box itself. To another machine it sends `Referer` alone, which the pages allow for their own origin (`console/sending.ts`).
 * Programs send neither.
 */
export function isFromOwnPage(c: Context<AppEnv>): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const from = c.req.header('referer') ?? c.req.header('origin') ?? ''
  return URL.canParse(from) && new URL(from).host === c.req.header('host')?.toLowerCase()
}
