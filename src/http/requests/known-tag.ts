import type { Context } from 'hono'
import type { AppEnv } from '../context.ts'

/**
 * Says whether the caller has what this ETag names: If-None-Match has it, alone or in a list, or is `*`. A proxy that packs answers
 * marks a tag as weak (`W/`), so tags are compared without that mark (RFC 9110, 13.1.2).
 */
export function isKnown(c: Context<AppEnv>, etag: string): boolean {
  const tags = c.req.header('if-none-match')?.split(',') ?? []
  return tags.map(opaque).some((tag) => tag === opaque(etag) || tag === '*')
}

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')
