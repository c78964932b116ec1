import { z } from '@hono/zod-openapi'
import { type Api, operation, rawAnswer } from '../http/index.ts'
import { EpcisDocument, exportFormats, exportQuery } from './schema.ts'
import type { ExchangeService, ExportQuery } from './service.ts'
import { streamOf } from './text-stream.ts'

const tag = 'Ledger'
const mediaTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

const exportEvents = operation({
  id: 'exportEvents',
  method: 'get',
  path: '/api/whms/events/export',
  access: 'whms:read',
  tag,
  summary: 'The history as a file: CSV for a spreadsheet, NDJSON for a program',
  description:
    'Oldest first by event time, or with after_seq in the order of the log. An answer that is cut off ' +
    'ends without its last chunk. In CSV a cell that a spreadsheet would take for a formula begins with an apostrophe.',
  input: {
    query: z.object({
      format: z.enum(exportFormats),
      bom: z.enum(['true', 'false']).optional().openapi({ description: 'CSV: a byte order mark, which Excel needs' }),
      ...exportQuery,
    }),
  },
  success: {
    200: { description: 'The file', schema: z.string(), mediaType: [mediaTypes.csv, mediaTypes.ndjson] },
  },
})

const getEpcis = operation({
  id: 'getEpcisDocument',
  method: 'get',
  path: '/api/whms/epcis',
  access: 'whms:read',
  tag,
  summary: 'The history as an EPCIS 2.0 document (JSON-LD)',
  description:
    'ObjectEvents with readPoint, bizStep and disposition. A corrected event is declared wrong before ' +
    'its correction, under its own eventID.',
  input: { query: z.object(exportQuery) },
  success: { 200: { description: 'An EPCISDocument', schema: EpcisDocument, mediaType: 'application/ld+json' } },
})

export function exchangeRoutes(api: Api, exchange: ExchangeService): void {
  api.openapi(exportEvents, (c) => {
    const { format, bom, ...query } = c.req.valid('query')
    const caller = c.get('caller')
    const pieces =
      format === 'csv' ? exchange.csv(asked(query), caller, bom === 'true') : exchange.ndjson(asked(query), caller)
    const headers = {
      'Content-Type': `${mediaTypes[format]}; charset=utf-8`,
      'Content-Disposition': `attachment; filename="events.${format}"`,
    }
    return rawAnswer(c.body(streamOf(pieces), 200, headers))
  })

  api.openapi(getEpcis, (c) => {
    const pieces = exchange.epcis(asked(c.req.valid('query')), c.get('caller'))
    return rawAnswer(c.body(streamOf(pieces), 200, { 'Content-Type': 'application/ld+json' }))
  })
}

type Query = Omit<ExportQuery, 'fromMs' | 'toMs' | 'knownAtMs' | 'afterSeq'> & {
  from?: number | undefined
  to?: number | undefined
  known_at?: number | undefined
  after_seq?: number | undefined
}

function asked({ from, to, known_at, after_seq, ...rest }: Query): ExportQuery {
  return { ...rest, fromMs: from, toMs: to, knownAtMs: known_at, afterSeq: after_seq }
}
