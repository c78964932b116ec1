import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import type { AppEnv } from '../context.ts'

/** The languages of pages for people. */
export const pageLanguages = ['en', 'de'] as const
export type PageLanguage = (typeof pageLanguages)[number]

/** Returns the language of the address (`?language=de`), else the browser's preferred one of the two. */
export function pageLanguage(c: Context<AppEnv>): PageLanguage {
  const asked = c.req.query('language')
  if (asked === 'en' || asked === 'de') return asked
  const best = accepts(c, {
    header: 'Accept-Language',
    supports: [...pageLanguages],
    default: 'en',
    // `de-AT` is German.
    match: (likes, { supports, default: otherwise }) =>
      likes
        .toSorted((one, other) => other.q - one.q)
        .map(({ type }) => type.slice(0, 2).toLowerCase())
        .find((language) => supports.includes(language)) ?? otherwise,
  })
  return best === 'de' ? 'de' : 'en'
}
