import type { Context } from 'hono'
import type { AppEnv } from '../context.ts'

/** Says whether the caller is a browser that shows an answer as a page. */
export const acceptsPage = (c: Context<AppEnv>): boolean =>
  /(^|,)\s*text\/html\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i.test(c.req.header('accept') ?? '')
