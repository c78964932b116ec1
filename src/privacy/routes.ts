import { z } from '@hono/zod-openapi'
import {
  type Api,
  numericPath,
  operation,
  pageLanguage,
  pageLanguages,
  rawAnswer,
  resource,
  sendResource,
} from '../http/index.ts'
import { exportRoutes, redactionRoutes } from './clip-routes.ts'
import type { Exports } from './exports.ts'
import { noticePage, noticePolicy } from './notice-page.ts'
import { noticeShape } from './notice-schema.ts'
import type { Notices } from './notices.ts'
import type { Redactions } from './redactions.ts'

const tag = 'Cameras'
const idParam = z.object({ id: z.string() })

const getNotice = operation({
  id: 'getCameraNotice',
  method: 'get',
  path: '/api/iot/cctv/{id}/notice',
  access: 'cameras:read',
  tag,
  summary: 'The notice for the door of a room with a camera: controller, purpose, retention and contact',
  description:
    'A page of HTML for one sheet of A4; JSON with `format=json` or an Accept header that names JSON. Lines that the config does not state are marked, and listed in `missing`. In English or German; what the config states stays in its language.',
  input: {
    params: idParam,
    query: z.object({
      format: z.enum(['html', 'json']).optional(),
      language: z
        .enum(pageLanguages)
        .optional()
        .openapi({ description: 'default: en; of the page by Accept-Language, else en' }),
    }),
  },
  success: {
    200: {
      description: 'The notice',
      schema: resource(noticeShape),
      mediaType: ['application/json', 'text/html'],
    },
  },
})

type PrivacyParts = { readonly notices: Notices; readonly redactions: Redactions; readonly clipExports: Exports }

export function privacyRoutes(api: Api, { notices, redactions, clipExports }: PrivacyParts): void {
  redactionRoutes(api, redactions)
  exportRoutes(api, clipExports)
  api.openapi(getNotice, (c) => {
    const { format = preferred(c.req.header('accept')), language: asked = 'en' } = c.req.valid('query')
    // A program gets the same sentences whatever its HTTP client accepts.
    const language = format === 'json' ? asked : pageLanguage(c)
    const notice = notices.notice(numericPath(c.req.valid('param').id), c.get('caller'), language)
    c.header('Vary', 'Accept, Accept-Language')
    c.header('Content-Language', language)
    if (format === 'json') {
      return sendResource(c, { ...notice, missing: [...notice.missing] })
    }
    c.header('Content-Security-Policy', noticePolicy)
    return rawAnswer(c.html(noticePage(notice, language)) as Response)
  })
}

/** HTML unless JSON is named and HTML is not: a person who opens the address wants to print it. */
function preferred(accept = ''): 'html' | 'json' {
  return /\bapplication\/(\w+\+)?json\b/i.test(accept) && !/\btext\/html\b/i.test(accept) ? 'json' : 'html'
}
