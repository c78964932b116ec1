import { z } from '@hono/zod-openapi'
import { byteOrderMark, streamOf, toCsv } from '../exchange/index.ts'
import {
  type Api,
  askOf,
  historyLimit,
  historyQuery,
  numericPath,
  onceHeaders,
  operation,
  pageLanguage,
  pageLanguages,
  rawAnswer,
  readTimeCursor,
  send,
  sendFile,
  sendResource,
} from '../http/index.ts'
import type { AuditReader } from './audit.ts'
import type { Incidents } from './incidents.ts'
import { reportPolicy } from './report-page.ts'
import { type Reports, reportsPath } from './reports.ts'
import {
  type AuditEntry,
  AuditExportQuery,
  AuditList,
  AuditQuery,
  IncidentList,
  IncidentQuery,
  IncidentResource,
  NewIncident,
  NewReport,
  ReportList,
  ReportResource,
  Resolution,
} from './schema.ts'

/** Columns of the trail as a file. Add new ones at the end only: spreadsheets refer to them by position. */
const columns = [
  ...['id', 'timestamp', 'operator', 'actor', 'instance', 'action', 'entity', 'entityId', 'changes', 'requestId'],
  ...['address', 'authMode'],
] as readonly (keyof AuditEntry)[]

/** Yields the trail as CSV, a piece for each step. A cell that a spreadsheet would run as a formula begins with an apostrophe. */
async function* auditCsv(steps: AsyncIterable<readonly AuditEntry[]>, withMark: boolean): AsyncGenerator<string> {
  yield `${withMark ? byteOrderMark : ''}${toCsv([[...columns]])}`
  for await (const entries of steps) yield toCsv(entries.map((entry) => columns.map((column) => cell(entry[column]))))
}

const cell = (value: AuditEntry[keyof AuditEntry]): string | number | null =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value

const tag = 'Governance'
const incidentsPath = '/api/governance/incidents'
const params = z.object({ id: z.string() })
const headers = z.object(onceHeaders)
/** Routes without a body ignore it, but it must be readable. */
const unreadable = ['MALFORMED_JSON', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const

const listAudit = operation({
  id: 'listAuditEntries',
  method: 'get',
  path: '/api/governance/audit',
  access: 'audit:read',
  tag,
  summary: 'The audit trail, newest first; with after_seq oldest first and without gaps',
  description: 'Without entries about warehouses or cameras that the caller may not see.',
  input: { query: AuditQuery },
  success: { 200: { description: 'One page', schema: AuditList } },
})

const exportAudit = operation({
  id: 'exportAuditTrail',
  method: 'get',
  path: '/api/governance/audit/export',
  access: 'audit:read',
  tag,
  summary: 'The audit trail as a file for a spreadsheet (CSV)',
  description:
    'Newest first, or with after_seq oldest first; the same filters and the same entries as the list. An answer that is cut off ' +
    'ends without its last chunk. A cell that a spreadsheet would take for a formula begins with an apostrophe.',
  input: { query: AuditExportQuery },
  success: { 200: { description: 'The file', schema: z.string(), mediaType: 'text/csv' } },
})

const createIncident = operation({
  id: 'createIncident',
  method: 'post',
  path: incidentsPath,
  access: 'incidents:create',
  tag,
  summary: 'Report an incident',
  description: 'Retention keeps everything that the incident refers to until it is resolved.',
  input: { headers, body: NewIncident },
  success: { 201: { description: 'Open', schema: IncidentResource, location: true } },
  errors: ['REFERENCE_NOT_FOUND'],
})

const listIncidents = operation({
  id: 'listIncidents',
  method: 'get',
  path: incidentsPath,
  access: 'incidents:read',
  tag,
  summary: 'Incidents, newest first',
  description: 'Filters are combined.',
  input: { query: IncidentQuery },
  success: { 200: { description: 'One page', schema: IncidentList } },
})

const getIncident = operation({
  id: 'getIncident',
  method: 'get',
  path: `${incidentsPath}/{id}`,
  access: 'incidents:read',
  tag,
  summary: 'One incident with its history',
  description: 'With every change of its status, who made it and when.',
  input: { params },
  success: { 200: { description: 'The incident', schema: IncidentResource } },
})

const investigateIncident = operation({
  id: 'investigateIncident',
  method: 'post',
  path: `${incidentsPath}/{id}/investigate`,
  access: 'incidents:resolve',
  tag,
  summary: 'Start the investigation of an incident',
  description: 'From `open` to `investigating`. Its evidence is still kept.',
  input: { params, headers },
  success: { 200: { description: 'Investigating', schema: IncidentResource } },
  errors: ['INVALID_TRANSITION', 'STORAGE_FULL', ...unreadable],
})

const resolveIncident = operation({
  id: 'resolveIncident',
  method: 'post',
  path: `${incidentsPath}/{id}/resolve`,
  access: 'incidents:resolve',
  tag,
  summary: 'Resolve an incident',
  description:
    'Final. Retention applies to its evidence again, unless another incident refers to it. Receivers get incident.resolved.',
  input: { params, headers, body: Resolution },
  success: { 200: { description: 'Resolved', schema: IncidentResource } },
  errors: ['INVALID_TRANSITION'],
})

const createReport = operation({
  id: 'createReport',
  method: 'post',
  path: reportsPath,
  access: 'reports:create',
  tag,
  summary: 'Create a compliance report',
  description: 'Made from the log as it is now, for the warehouses that the caller may see.',
  input: { headers, body: NewReport },
  success: { 201: { description: 'Created', schema: ReportResource, location: true } },
})

const listReports = operation({
  id: 'listReports',
  method: 'get',
  path: reportsPath,
  access: 'reports:read',
  tag,
  summary: 'Reports, newest first',
  description: 'Without reports on warehouses that the caller may not see.',
  input: { query: z.object({ cursor: z.string().max(64).optional(), ...historyQuery }) },
  success: { 200: { description: 'One page', schema: ReportList } },
})

const getReport = operation({
  id: 'getReport',
  method: 'get',
  path: `${reportsPath}/{id}`,
  access: 'reports:read',
  tag,
  summary: 'One report',
  description:
    'With the hash of its file, the size of the log from which it was made, how far its facts are secured, camera gaps and the trust in the clock. A page to print with `format=html` or an Accept header that names text/html and not JSON, in English or German.',
  input: {
    params,
    query: z.object({
      format: z.enum(['json', 'html']).optional(),
      language: z
        .enum(pageLanguages)
        .optional()
        .openapi({ description: 'language of the page to print; default: by Accept-Language, else en' }),
    }),
  },
  success: {
    200: { description: 'The report', schema: ReportResource, mediaType: ['application/json', 'text/html'] },
  },
})

const getReportFile = operation({
  id: 'getReportFile',
  method: 'get',
  path: `${reportsPath}/{id}/file`,
  access: 'reports:read',
  tag,
  summary: 'The file of a report: RFC 8785 JSON, whose SHA-256 is in the log',
  description: 'The bytes never change. Supports Range and If-None-Match.',
  input: { params },
  success: {
    200: { description: 'The bytes', schema: z.looseObject({ v: z.int().min(1).max(2) }), ranges: true },
  },
})

/** JSON unless HTML is named and JSON is not: programs that name nothing get what they always got. */
function preferred(accept = ''): 'html' | 'json' {
  return /\btext\/html\b/i.test(accept) && !/\bapplication\/(\w+\+)?json\b/i.test(accept) ? 'html' : 'json'
}

export type GovernanceParts = { readonly audit: AuditReader; readonly incidents: Incidents; readonly reports: Reports }

export function governanceRoutes(api: Api, { audit, incidents, reports }: GovernanceParts): void {
  auditRoutes(api, audit)
  incidentRoutes(api, incidents)
  reportRoutes(api, reports)
}

function auditRoutes(api: Api, audit: AuditReader): void {
  api.openapi(listAudit, async (c) => {
    const { limit = historyLimit, offset = 0, cursor, entity_id, from, to, after_seq, ...rest } = c.req.valid('query')
    const query = { ...rest, entityId: entity_id, fromMs: from, toMs: to, afterId: after_seq }
    const page = { limit, offset, before: cursor === undefined ? undefined : readTimeCursor(cursor) }
    const { data, ...found } = await audit.entries(query, page, c.get('caller'))
    return c.json({ success: true as const, data, pagination: { limit, offset, ...found } }, 200)
  })

  api.openapi(exportAudit, (c) => {
    const { bom, entity_id, from, to, after_seq, ...rest } = c.req.valid('query')
    const query = { ...rest, entityId: entity_id, fromMs: from, toMs: to, afterId: after_seq }
    const headers = {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="audit.csv"',
    }
    const pieces = auditCsv(audit.all(query, c.get('caller')), bom === 'true')
    return rawAnswer(c.body(streamOf(pieces), 200, headers))
  })
}

function incidentRoutes(api: Api, incidents: Incidents): void {
  api.openapi(createIncident, async (c) => {
    const reply = await incidents.create(c.req.valid('json'), askOf(c))
    return send(c, reply, 201)
  })

  api.openapi(listIncidents, async (c) => {
    const { limit = historyLimit, offset = 0, cursor, ...query } = c.req.valid('query')
    const page = { limit, offset, before: cursor === undefined ? undefined : readTimeCursor(cursor) }
    const { data, ...found } = await incidents.incidents(query, page, c.get('caller'), c.req.raw.signal)
    return c.json({ success: true as const, data, pagination: { limit, offset, ...found } }, 200)
  })

  api.openapi(getIncident, (c) => {
    const incident = incidents.incident(numericPath(c.req.valid('param').id), c.get('caller'))
    return sendResource(c, incident)
  })

  api.openapi(investigateIncident, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    const reply = await incidents.act(id, 'investigate', undefined, askOf(c))
    return send(c, reply, 200)
  })

  api.openapi(resolveIncident, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    const { resolution } = c.req.valid('json')
    return send(c, await incidents.act(id, 'resolve', resolution, askOf(c)), 200)
  })
}

function reportRoutes(api: Api, reports: Reports): void {
  api.openapi(createReport, async (c) => {
    const reply = await reports.create(c.req.valid('json'), askOf(c))
    return send(c, reply, 201)
  })

  api.openapi(listReports, async (c) => {
    const { limit = historyLimit, offset = 0, cursor } = c.req.valid('query')
    const beforeId = cursor === undefined ? undefined : readTimeCursor(cursor).id
    const { data, nextCursor, ...found } = await reports.reports(
      { limit, offset, beforeId },
      c.get('caller'),
      c.req.raw.signal,
    )
    return c.json({ success: true as const, data, pagination: { limit, offset, ...found, nextCursor } }, 200)
  })

  api.openapi(getReport, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    c.header('Vary', 'Accept')
    if ((c.req.valid('query').format ?? preferred(c.req.header('accept'))) === 'json') {
      return sendResource(c, await reports.report(id, c.get('caller')))
    }
    const language = pageLanguage(c)
    c.header('Vary', 'Accept, Accept-Language')
    c.header('Content-Language', language)
    c.header('Content-Security-Policy', reportPolicy)
    return rawAnswer(c.html(await reports.page(id, c.get('caller'), language)) as Response)
  })

  api.openapi(getReportFile, (c) => {
    const file = reports.file(numericPath(c.req.valid('param').id), c.get('caller'))
    return sendFile(c, file)
  })
}
