import { z } from '@hono/zod-openapi'
import {
  type Api,
  historyLimit,
  historyQuery,
  isKnown,
  listOf,
  numericPath,
  operation,
  originOf,
  pageOfAll,
  resource,
  sendFile,
  sendResource,
} from '../http/index.ts'
import { ClipExport, ExportDecision, exportShape, NewExport } from './export-schema.ts'
import type { Exports } from './exports.ts'
import { NewRedaction, Redaction, redactionShape } from './redaction-schema.ts'
import type { Redactions } from './redactions.ts'

const tag = 'Cameras'
const params = z.object({ id: z.string() })
const binary = z.string().openapi({ format: 'binary' })
const access = 'cameras:read'
const clipFile = { description: 'MP4', schema: binary, mediaType: 'video/mp4', ranges: true } as const
const pngFile = { description: 'PNG', schema: binary, mediaType: 'image/png', ranges: true } as const

const redactClip = operation({
  id: 'redactClip',
  method: 'post',
  path: '/api/iot/detection-events/{id}/redact',
  access,
  tag,
  summary: 'Make a copy of a clip in which regions are covered',
  description:
    'For the owner of the camera and callers with cameras:export. Each region is filled with one color, so nothing under it can be computed back. The original stays as it is. The answer waits up to 20 s for the copy; after that its state is `pending`. The same regions again give the same copy.',
  input: { params, body: NewRedaction },
  success: { 201: { description: 'The copy, with both hashes', schema: resource(redactionShape), location: true } },
  errors: ['PERMISSION_DENIED', 'CLIP_PENDING', 'REDACTIONS_WAITING'],
})

const listRedactions = operation({
  id: 'listRedactions',
  method: 'get',
  path: '/api/iot/detection-events/{id}/redactions',
  access,
  tag,
  summary: 'The redacted copies of a clip',
  description: 'In the order in which they were asked for.',
  input: { params },
  success: { 200: { description: 'Every copy', schema: listOf(Redaction) } },
  errors: ['CLIP_PENDING'],
})

const getRedaction = operation({
  id: 'getRedaction',
  method: 'get',
  path: '/api/iot/redactions/{id}',
  access,
  tag,
  summary: 'One redacted copy',
  description: 'Its state is `pending` while it is made; `problem` says why one failed.',
  input: { params },
  success: { 200: { description: 'The copy', schema: resource(redactionShape) } },
})

const getRedactedClip = operation({
  id: 'getRedactedClip',
  method: 'get',
  path: '/api/iot/redactions/{id}/clip',
  access,
  tag,
  summary: 'The video of a redacted copy, whole or in ranges',
  description: 'While it is made the answer is 503 with the code CLIP_PENDING.',
  input: { params },
  success: { 200: clipFile },
  errors: ['CLIP_PENDING', 'SECOND_PERSON_NEEDED'],
})

const getRedactedSnapshot = operation({
  id: 'getRedactedSnapshot',
  method: 'get',
  path: '/api/iot/redactions/{id}/snapshot',
  access,
  tag,
  summary: 'The snapshot of a redacted copy',
  description: 'Taken from the redacted video.',
  input: { params },
  success: { 200: pngFile },
  errors: ['CLIP_PENDING'],
})

const exportClip = operation({
  id: 'exportClip',
  stepUp: true,
  method: 'post',
  path: '/api/iot/detection-events/{id}/export',
  access,
  tag,
  summary: 'Hand out a clip, or a redacted copy of it, and record its recipient and reason',
  description:
    'For the owner of the camera and callers with cameras:export. The answer has a signed address of the file. With `privacy.fourEyesForExport` its state is `waiting` until another person approves it.',
  input: { params, body: NewExport },
  success: { 201: { description: 'The export', schema: resource(exportShape), location: true } },
  errors: ['PERMISSION_DENIED', 'CLIP_PENDING', 'REFERENCE_NOT_FOUND'],
})

const listExports = operation({
  id: 'listClipExports',
  method: 'get',
  path: '/api/iot/exports',
  access: 'audit:read',
  tag,
  summary: 'Clips that were handed out, of the cameras that the caller may see, newest first',
  description: 'Rows are never changed and never removed.',
  input: { query: z.object(historyQuery) },
  success: { 200: { description: 'One page', schema: listOf(ClipExport) } },
})

const getExport = operation({
  id: 'getClipExport',
  method: 'get',
  path: '/api/iot/exports/{id}',
  access,
  tag,
  summary: 'One export',
  description: 'For the caller who asked for it, and for callers with audit:read who may see the camera.',
  input: { params },
  success: { 200: { description: 'The export', schema: resource(exportShape) } },
})

const approveExport = operation({
  id: 'approveClipExport',
  stepUp: true,
  method: 'post',
  path: '/api/iot/exports/{id}/approve',
  access: 'cameras:export',
  tag,
  summary: 'Approve an export that waits, as the second person',
  description: 'Refused with SECOND_PERSON_NEEDED for the caller who asked for it.',
  input: { params, body: ExportDecision, bodyOptional: true },
  success: { 200: { description: 'The export', schema: resource(exportShape) } },
  errors: ['INVALID_TRANSITION', 'SECOND_PERSON_NEEDED'],
})

const refuseExport = operation({
  id: 'refuseClipExport',
  method: 'post',
  path: '/api/iot/exports/{id}/refuse',
  access: 'cameras:export',
  tag,
  summary: 'Refuse an export that waits, or withdraw it',
  description: 'A note can say why.',
  input: { params, body: ExportDecision, bodyOptional: true },
  success: { 200: { description: 'The export', schema: resource(exportShape) } },
  errors: ['INVALID_TRANSITION'],
})

const getExportFile = operation({
  id: 'getClipExportFile',
  method: 'get',
  path: '/api/iot/exports/{id}/file',
  access,
  tag,
  summary: 'The exported file, whole or in ranges, for the caller who asked for the export',
  description:
    'Use the signed `url` of the export in a browser. Each download, also of a range, is in the audit trail. It ends 24 h after the export was granted.',
  input: { params },
  success: { 200: clipFile },
  errors: ['SECOND_PERSON_NEEDED'],
})

const idOf = (c: { req: { valid(of: 'param'): { id: string } } }) => numericPath(c.req.valid('param').id)

export function redactionRoutes(api: Api, redactions: Redactions): void {
  api.openapi(redactClip, async (c) => {
    const made = await redactions.create(idOf(c), c.req.valid('json'), originOf(c))
    c.header('Location', `/api/iot/redactions/${made.id}`)
    return c.json({ success: true as const, ...made }, 201)
  })
  api.openapi(listRedactions, (c) => c.json(pageOfAll(redactions.list(idOf(c), c.get('caller')), {}), 200))
  api.openapi(getRedaction, (c) => sendResource(c, redactions.one(idOf(c), c.get('caller'))))
  api.openapi(getRedactedClip, (c) => sendFile(c, redactions.clip(idOf(c), c.get('caller'))))
  api.openapi(getRedactedSnapshot, (c) => sendFile(c, redactions.file(idOf(c), 'snapshot', c.get('caller'))))
}

export function exportRoutes(api: Api, exports: Exports): void {
  api.openapi(exportClip, async (c) => {
    const made = await exports.create(idOf(c), c.req.valid('json'), originOf(c))
    c.header('Location', `/api/iot/exports/${made.id}`)
    return c.json({ success: true as const, ...made }, 201)
  })
  api.openapi(listExports, async (c) => {
    const { limit = historyLimit, offset = 0 } = c.req.valid('query')
    const { data, ...found } = await exports.list({ limit, offset }, c.get('caller'), c.req.raw.signal)
    return c.json({ success: true as const, data, pagination: { limit, offset, ...found } }, 200)
  })
  api.openapi(getExport, (c) => sendResource(c, exports.one(idOf(c), c.get('caller'))))
  api.openapi(approveExport, async (c) =>
    sendResource(c, await exports.decide(idOf(c), 'approved', c.req.valid('json').note, originOf(c))),
  )
  api.openapi(refuseExport, async (c) =>
    sendResource(c, await exports.decide(idOf(c), 'refused', c.req.valid('json').note, originOf(c))),
  )
  api.openapi(getExportFile, async (c) => {
    // Whatever the Range: any part of the file is a download.
    const hasBytes = (sha256: string) => c.req.method !== 'HEAD' && !isKnown(c, `"${sha256}"`)
    return sendFile(c, await exports.file(idOf(c), hasBytes, originOf(c)))
  })
}
