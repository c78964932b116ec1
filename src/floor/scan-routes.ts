import { z } from '@hono/zod-openapi'
import { type Api, type Caller, demand, operation, validationError } from '../http/index.ts'
import type { Scanner } from './scan.ts'
import { ScanAnswer, scannedCode } from './scan-schema.ts'

const scanCode = operation({
  id: 'scanCode',
  method: 'get',
  path: '/api/whms/scan/{code}',
  access: 'whms:read',
  tag: 'Scan',
  summary: 'Identify a scanned code, with its present state',
  description:
    'Send the code as the scanner gives it, percent-encoded: slot labels in any case, barcodes of assets, GS1 with ' +
    'or without AIM prefix (GS as %1D), GS1 Digital Links, EPC URNs, addresses of this gateway. A code that is unknown ' +
    'here is answered 200 with kind `unknown` and what could be decoded.',
  input: { params: z.object({ code: z.string().openapi({ description: '1 to 256 characters' }) }) },
  success: { 200: { description: 'The slot, asset or unit of the code', schema: ScanAnswer } },
  errors: ['VALIDATION_ERROR'],
})

export function scanRoutes(api: Api, scanner: Scanner): void {
  const answer = (code: string, caller: Caller) => ({ success: true as const, ...scanner.scan(codeOf(code), caller) })
  api.openapi(scanCode, (c) => c.json(answer(c.req.valid('param').code, c.get('caller')), 200))
  // An unencoded slash is part of the code too.
  api.get('/api/whms/scan/:code{.+}', (c) => {
    demand(c.get('caller'), 'whms:read')
    return c.json(answer(c.req.param('code'), c.get('caller')), 200)
  })
}

function codeOf(text: string): string {
  const read = scannedCode.safeParse(text)
  if (read.success) return read.data
  throw validationError(
    read.error.issues.map((issue) => ({ ...issue, path: ['code'] })),
    { code: text },
  )
}
