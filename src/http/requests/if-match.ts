import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { AppError } from '../../errors/index.ts'
import type { AppEnv } from '../context.ts'
import { sharedParameter } from './parameters.ts'

/** Headers of every operation that changes what has a `version`. */
export const ifMatchHeaders = {
  'if-match': sharedParameter(
    'IfMatch',
    { in: 'header', name: 'if-match' },
    z.string().max(64).optional().openapi({
      description:
        'The `version` that was read. If the resource has another one, the answer is 412. `*` or no header accepts any version.',
      example: '3',
    }),
  ),
}

/** Returns the version of If-Match, with or without quotes; undefined for `*` or no header. Throws VALIDATION_ERROR. */
export function versionOf(c: Context<AppEnv>): number | undefined {
  const header = c.req.header('if-match')
  if (header === undefined || header === '*') return undefined
  const [, version] = header.match(/^(?:W\/)?"?(\d{1,15})"?$/) ?? []
  if (version === undefined) throw AppError.field('If-Match', 'expected the version, a number')
  return Number(version)
}
