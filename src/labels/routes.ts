import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import {
  type Api,
  type AppEnv,
  askOf,
  barcodePath,
  historyLimit,
  historyQuery,
  listOf,
  numericPath,
  onceHeaders,
  operation,
  pageOfAll,
  type RawAnswer,
  rawAnswer,
  send,
  sendResource,
} from '../http/index.ts'
import { jobStates, labelQuery, NewSsccs, Printer, PrintJob, PrintJobResource, PrintOrder, Ssccs } from './schema.ts'
import { jobsPath, type Label, type LabelService } from './service.ts'

const tag = 'Labels'
const label = {
  description: 'The label, with every name and code escaped',
  schema: z.string(),
  mediaType: ['image/svg+xml', 'application/zpl'],
}

const slotLabel = operation({
  id: 'getSlotLabel',
  method: 'get',
  path: '/api/whms/slots/{id}/label',
  access: 'whms:read',
  tag,
  summary: 'The label of a slot',
  description: 'As ZPL for a label printer or as SVG, by `format`.',
  input: {
    params: z.object({ id: z.string() }),
    query: z.object({ ...labelQuery, by: z.enum(['slot_id']).optional() }),
  },
  success: { 200: label },
})

const assetLabel = operation({
  id: 'getAssetLabel',
  method: 'get',
  path: '/api/whms/assets/{barcode}/label',
  access: 'whms:read',
  tag,
  summary: 'The label of an asset',
  description: 'As ZPL for a label printer or as SVG, by `format`.',
  input: { params: barcodePath(), query: z.object(labelQuery) },
  success: { 200: label },
})

const printLabel = operation({
  id: 'printLabel',
  method: 'post',
  path: '/api/whms/labels/print',
  access: 'events:create',
  tag,
  summary: 'Print the label of a slot or an asset',
  description:
    'Answers when the job is in the queue of its printer. A printer prints its jobs in this order; while it cannot ' +
    'be reached, its jobs wait.',
  input: { headers: z.object(onceHeaders), body: PrintOrder },
  success: { 201: { description: 'The job', schema: PrintJobResource, location: true } },
  errors: ['REFERENCE_NOT_FOUND', 'NOT_CONFIGURED'],
})

const listJobs = operation({
  id: 'listPrintJobs',
  method: 'get',
  path: jobsPath,
  access: 'whms:read',
  tag,
  summary: 'Print jobs of the last 30 days, newest first',
  description: 'With the state of each and the last error of the printer.',
  input: {
    query: z.object({ printer: z.string().max(64).optional(), state: z.enum(jobStates).optional(), ...historyQuery }),
  },
  success: { 200: { description: 'One page', schema: listOf(PrintJob) } },
})

const idParam = z.object({ id: z.string() })

const getJob = operation({
  id: 'getPrintJob',
  method: 'get',
  path: `${jobsPath}/{id}`,
  access: 'whms:read',
  tag,
  summary: 'One print job',
  description: '`unconfirmed`: the printer took the label, but did not say that it printed it.',
  input: { params: idParam },
  success: { 200: { description: 'The job', schema: PrintJobResource } },
})

const reprint = operation({
  id: 'reprintLabel',
  method: 'post',
  path: `${jobsPath}/{id}/reprint`,
  access: 'events:create',
  tag,
  summary: 'Print a job again',
  description: 'Creates a new job with the same label; the old one does not change.',
  input: { params: idParam, headers: z.object(onceHeaders) },
  success: { 201: { description: 'The new job', schema: PrintJobResource, location: true } },
})

const cancel = operation({
  id: 'cancelPrintJob',
  method: 'post',
  path: `${jobsPath}/{id}/cancel`,
  access: 'events:create',
  tag,
  summary: 'Cancel a print job',
  description: 'Only a waiting job can be cancelled; any other is answered unchanged.',
  input: { params: idParam, headers: z.object(onceHeaders) },
  success: { 200: { description: 'The job', schema: PrintJobResource } },
})

const listPrinters = operation({
  id: 'listPrinters',
  method: 'get',
  path: '/api/whms/labels/printers',
  access: 'whms:read',
  tag,
  summary: 'The printers and the lengths of their queues',
  description: 'Printers are in the config file.',
  input: { query: z.object({}) },
  success: { 200: { description: 'The printers', schema: listOf(Printer) } },
})

const allocateSsccs = operation({
  id: 'allocateSsccs',
  method: 'post',
  path: '/api/whms/sscc',
  access: 'events:create',
  tag,
  summary: 'Assign SSCC numbers to pallets that have none',
  description:
    'Numbers come from the configured range of this gateway. Each is assigned once and is a registered asset from then on. A repeat with the same Idempotency-Key gets the same numbers.',
  input: { headers: z.object(onceHeaders), body: NewSsccs },
  success: { 201: { description: 'The numbers', schema: Ssccs, location: true } },
  errors: ['NOT_CONFIGURED'],
})

export function labelRoutes(api: Api, labels: LabelService): void {
  api.openapi(slotLabel, (c) => {
    const { by, ...form } = c.req.valid('query')
    return sendLabel(c, labels.slotLabel(c.req.valid('param').id, by !== undefined, c.get('caller'), form))
  })
  api.openapi(assetLabel, (c) =>
    sendLabel(c, labels.assetLabel(c.req.valid('param').barcode, c.get('caller'), c.req.valid('query'))),
  )
  api.openapi(printLabel, async (c) => send(c, await labels.print(c.req.valid('json'), askOf(c)), 201))
  api.openapi(listJobs, (c) => {
    const { limit = historyLimit, offset = 0, ...filter } = c.req.valid('query')
    const { jobs, total } = labels.jobs(filter, { limit, offset }, c.get('caller'))
    const hasMore = offset + jobs.length < total
    return c.json(
      { success: true as const, data: jobs, pagination: { limit, offset, total, hasMore, nextCursor: null } },
      200,
    )
  })
  api.openapi(getJob, (c) => sendResource(c, labels.job(numericPath(c.req.valid('param').id), c.get('caller'))))
  api.openapi(reprint, async (c) => send(c, await labels.reprint(numericPath(c.req.valid('param').id), askOf(c)), 201))
  api.openapi(cancel, async (c) => send(c, await labels.cancel(numericPath(c.req.valid('param').id), askOf(c)), 200))
  api.openapi(listPrinters, (c) => c.json(pageOfAll(labels.printers(c.get('caller')), {}), 200))
  api.openapi(allocateSsccs, async (c) => send(c, await labels.allocate(c.req.valid('json'), askOf(c)), 201))
}

function sendLabel(c: Context<AppEnv>, { mediaType, text }: Label): RawAnswer {
  const headers = {
    'Content-Type': mediaType === 'image/svg+xml' ? `${mediaType}; charset=utf-8` : mediaType,
    'Content-Security-Policy': "default-src 'none'; sandbox",
  }
  return rawAnswer(c.body(text, 200, headers))
}
