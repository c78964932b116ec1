import { z } from '@hono/zod-openapi'
import { type Api, historyLimit, numericPath, operation, originOf } from '../http/index.ts'
import { UploadList, UploadOut, UploadQuery } from './schema.ts'
import type { UploadService } from './service.ts'

const tag = 'Uploads'

const listUploads = operation({
  id: 'listUploads',
  method: 'get',
  path: '/api/uploads',
  access: 'storage:read',
  tag,
  summary: 'List the files that are copied to the storage server',
  description: 'Each with its status, its last error and the way the copy was compared.',
  input: { query: UploadQuery },
  success: { 200: { description: `Newest first; ${historyLimit} unless asked`, schema: UploadList } },
})

const retryUpload = operation({
  id: 'retryUpload',
  method: 'post',
  path: '/api/uploads/{id}/retry',
  access: 'storage:manage',
  tag,
  summary: 'Upload a parked or waiting file now',
  description:
    'Also ends the wait for a storage server that did not answer or refused the password. The copy of an uploaded file is compared now; when it is missing on the server, the file is uploaded again, and when it has other bytes, under another name beside it. A file whose copy is on a former server is uploaded to the present one.',
  input: { params: z.object({ id: z.string() }) },
  success: {
    200: { description: 'The file: pending again, or uploaded while its copy is compared', schema: UploadOut },
  },
  errors: ['INVALID_TRANSITION', 'STORAGE_FULL'],
})

/** Adds /api/uploads. */
export function uploadRoutes(api: Api, uploads: UploadService): void {
  api.openapi(listUploads, async (c) => c.json(await uploads.list(c.req.valid('query'), c.req.raw.signal), 200))
  api.openapi(retryUpload, async (c) =>
    c.json(await uploads.retry(numericPath(c.req.valid('param').id), originOf(c)), 200),
  )
}
