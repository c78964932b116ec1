import { z } from '@hono/zod-openapi'
import { AppError } from '../errors/index.ts'
import {
  type Api,
  allQuery,
  bodyParts,
  hashPath,
  listOf,
  operation,
  originOf,
  pageOfAll,
  sendFile,
} from '../http/index.ts'
import { OpeningList, SlotListResult, slotListQuery } from './schema.ts'
import type { ImportResult, ImportService } from './service.ts'

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
  input: { params: z.object(hashPath) },
  success: {
    200: {
      description: 'The bytes',
      schema: z.string().openapi({ format: 'binary' }),
      mediaType: 'text/csv',
      ranges: true,
    },
  },
})

/** Takes a list as bytes, not as JSON. */
export const slotListPath = '/api/whms/slots/import'

/** Longer lists are imported at the box. */
const slotListLimitBytes = 4 * 1024 * 1024
const mostRows = 30_000
const mostFields = 100

const importSlots = operation({
  id: 'importSlots',
  method: 'post',
  path: slotListPath,
  access: 'whms:write',
  tag: 'Slots',
  summary: 'Create and change slots by a list in CSV, which is tried as a whole first',
  description:
    'The body is the list itself, at most 4 MiB and 30,000 lines. Its columns are those of `gatehouse import slots`. An existing slot gets the values of the list; the same list again changes nothing. With `dryRun=true` problems are in the answer; without it a list with a problem is refused, nothing is stored, and `fields` names each by its line and column. When somebody else changes the same things meanwhile, a line may be refused although the trial was good: the lines before it are stored then, the error says how many, and the same list may be sent again.',
  input: { query: z.object(slotListQuery), bytes: ['text/csv'] },
  success: { 200: { description: 'The stored changes, or those that would be stored', schema: SlotListResult } },
  errors: ['STORAGE_FULL', 'NOT_READY'],
})

export function importRoutes(api: Api, imports: ImportService): void {
  api.openapi(listLists, async (c) =>
    c.json(pageOfAll(await imports.lists(c.get('caller'), c.req.raw.signal), c.req.valid('query')), 200),
  )
  api.openapi(importSlots, async (c) => {
    const { dryRun = false, createZones = false, grid = false, warehouseId } = c.req.valid('query')
    const parts: Uint8Array[] = []
    for await (const part of bodyParts(c.req.raw, slotListLimitBytes)) parts.push(part)
    const options = { kind: 'slots', dryRun, createZones, grid, warehouse: warehouseId, mostRows } as const
    const result = await imports.import(Buffer.concat(parts), options, originOf(c))
    if (!dryRun && !result.ok) throw refusalOf(result)
    return c.json({ success: true as const, ...shownOf(result) }, 200)
  })
  api.openapi(getList, (c) => sendFile(c, imports.file(c.req.valid('param').sha256, c.get('caller'))))
}

const shownOf = ({ dryRun, ok, sha256, rows, created, updated, unchanged, ...rest }: ImportResult) => ({
  dryRun,
  ok,
  sha256,
  rows,
  created,
  updated,
  unchanged,
  zonesCreated: [...rest.zonesCreated],
  problems: [...rest.problems],
  problemCount: rest.problemCount,
})

function refusalOf({ problems, problemCount, partlyStored }: ImportResult): AppError {
  const fields = problems.slice(0, mostFields).map(({ line, column, message }) => ({
    path: column === null ? `line ${line}` : `line ${line}.${column}`,
    message,
  }))
  const [first] = fields
  if (partlyStored) {
    const details = fields.map(({ path, message }) => `${path}: ${message}`).join('; ')
    return new AppError('VALIDATION_ERROR', 'A part of the list is stored', { details, fields })
  }
  const details = `${first?.path}: ${first?.message}${problemCount > 1 ? `; and ${problemCount - 1} more` : ''}`
  return new AppError('VALIDATION_ERROR', 'Nothing of the list is stored', { details, fields })
}
