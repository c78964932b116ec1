import { z } from '@hono/zod-openapi'
import { type Api, allQuery, listOf, operation, pageOfAll, sendFile } from '../http/index.ts'
import { OpeningList } from './schema.ts'
import type { ImportService } from './service.ts'

const listsPath = '/api/whms/evidence/opening-lists'
// A list is for callers who may read the audit trail and see every warehouse that it names.
const reading = { method: 'get', access: 'audit:read', tag: 'Ledger' } as const

const listLists = operation({
  id: 'listOpeningLists',
  ...reading,
  path: listsPath,
  summary: 'The imported lists of opening stock, newest first',
  description: 'Each with its SHA-256, which is also in the log with every event that the import recorded.',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The lists', schema: listOf(OpeningList) } },
})

const getList = operation({
  id: 'getOpeningList',
  ...reading,
  path: `${listsPath}/{sha256}`,
  summary: 'The file of a list of opening stock, as it was imported',
  description: 'Supports Range and If-None-Match. The file never changes.',
  input: { params: z.object({ sha256: z.string() }) },
  success: {
    200: {
      description: 'The bytes',
      schema: z.string().openapi({ format: 'binary' }),
      mediaType: 'text/csv',
      ranges: true,
    },
  },
})

export function importRoutes(api: Api, imports: ImportService): void {
  api.openapi(listLists, async (c) =>
    c.json(pageOfAll(await imports.lists(c.get('caller'), c.req.raw.signal), c.req.valid('query')), 200),
  )
  api.openapi(getList, (c) => sendFile(c, imports.file(c.req.valid('param').sha256, c.get('caller'))))
}
