import { z } from '@hono/zod-openapi'
import { type Api, operation, originOf, rawAnswer, resource, sendResource } from '../../http/index.ts'
import { bodyOf } from '../incident/zip-stream.ts'
import { linkPage, linkPolicy, qrSvg } from './link-page.ts'
import type { Receipts } from './receipts.ts'
import { receiptLinkShape, receiptShape } from './schema.ts'

const params = z.object({ id: z.string() })

const getReceipt = operation({
  id: 'getTransportUnitReceipt',
  method: 'get',
  path: '/api/whms/transport-units/{id}/receipt',
  access: 'whms:read',
  tag: 'Evidence',
  summary: 'The records of one transport unit, with proofs that the person who handed it over can keep',
  description:
    'Steps with weights and photos, the moves of its work orders, a proof bundle of each, and the newest checkpoint. Without names of people. `format=zip` is one file to keep; `gatehouse ledger verify FILE.zip` checks it. A signed address shows it without headers; the page is /receipt/ID. Answers 503 with Retry-After while no checkpoint covers all of it; asking makes one, at most one a second.',
  input: { params, query: z.object({ format: z.enum(['json', 'zip']).optional() }) },
  success: {
    200: {
      description: 'The receipt',
      schema: resource(receiptShape),
      mediaType: ['application/json', 'application/zip'],
    },
  },
  errors: ['STORAGE_FULL'],
})

const getReceiptLink = operation({
  id: 'getTransportUnitReceiptLink',
  method: 'get',
  path: '/api/whms/transport-units/{id}/receipt-link',
  access: 'units:advance',
  tag: 'Evidence',
  summary: 'The address of a receipt for the person who hands the unit over, as a QR code',
  description:
    'The address shows this unit alone, works without sign-in for 90 days, and does not end with the account of its maker. `format=html` is a sheet to show or print at the dock. Each address is an entry of the audit trail.',
  input: { params, query: z.object({ format: z.enum(['json', 'html']).optional() }) },
  success: {
    200: {
      description: 'The address',
      schema: resource(receiptLinkShape),
      mediaType: ['application/json', 'text/html'],
    },
  },
  errors: ['STORAGE_FULL'],
})

/** Serves receipts and the addresses under which unknown callers read them. */
export function receiptRoutes(
  api: Api,
  { receipts, site }: { receipts: Pick<Receipts, 'receipt' | 'zip' | 'link'>; site: () => { readonly siteId: string } },
): void {
  api.openapi(getReceipt, async (c) => {
    const { id } = c.req.valid('param')
    c.header('Cache-Control', 'private, no-store')
    if (c.req.valid('query').format !== 'zip') return sendResource(c, await receipts.receipt(id, c.get('caller')))
    const stream = await receipts.zip(id, c.get('caller'))
    const headers = {
      'Content-Type': 'application/zip',
      'Content-Disposition': `attachment; filename="receipt-${id.replace(/[^\w-]/g, '_')}.zip"`,
      'Cache-Control': 'private, no-store',
    }
    if (c.req.method === 'HEAD') stream.destroy()
    const body = c.req.method === 'HEAD' ? null : bodyOf(stream)
    return rawAnswer(new Response(body, { headers }))
  })
  api.openapi(getReceiptLink, async (c) => {
    const { url, expiresAt, ...words } = await receipts.link(c.req.valid('param').id, originOf(c))
    const qr = qrSvg(url)
    c.header('Cache-Control', 'private, no-store')
    if (c.req.valid('query').format !== 'html') return sendResource(c, { url, expiresAt, qr })
    c.header('Content-Security-Policy', linkPolicy)
    return rawAnswer(c.html(linkPage({ ...words, siteId: site().siteId, expiresAt, qr })) as Response)
  })
}
