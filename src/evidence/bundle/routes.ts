import { z } from '@hono/zod-openapi'
import { type Api, numericPath, operation, rawAnswer } from '../../http/index.ts'
import { bundleFormat, type ProofBundle } from './bundle.ts'
import type { Proofs } from './proofs.ts'

const base64 = z.string().openapi({ format: 'byte' })
const tlogProofType = 'text/x.tlog.proof'

const Bundle = z
  .object({
    format: z.literal(bundleFormat),
    leaf: base64.openapi({ description: "The leaf's bytes: RFC 8785 JSON with every fact of the row" }),
    tlogProof: z.string().openapi({
      description: 'c2sp.org/tlog-proof: index, inclusion path from the leaf to the root, and the signed checkpoint',
    }),
    keys: z
      .array(z.string())
      .openapi({ description: 'Verifier keys of the log, then of the witnesses that cosigned the checkpoint' }),
    openings: z
      .array(
        z.object({
          field: z.string().openapi({ description: 'Key of the leaf' }),
          commitment: z.string().openapi({ description: 'What the leaf holds: SHA-256(salt, text), hex' }),
          salt: base64,
          text: z.string(),
        }),
      )
      .openapi({ description: 'Names and texts behind commitments of the leaf, as far as they were not erased' }),
    media: z
      .array(
        z.object({
          sha256: z.string(),
          kind: z.enum(['photo', 'clip', 'snapshot']),
          contentType: z.string(),
          sizeBytes: z.int(),
          name: z.string(),
        }),
      )
      .openapi({ description: 'Files whose hash the leaf states' }),
    anchors: z
      .array(
        z.union([
          z.object({ kind: z.literal('rfc3161'), size: z.int(), rootHash: base64, token: base64 }),
          z.object({
            kind: z.literal('webhook'),
            deliveryId: z.string(),
            host: z.string(),
            statusCode: z.int(),
            at: z.string(),
          }),
        ]),
      )
      .openapi({ description: 'Others who have seen the checkpoint: time stamp authorities, receivers of webhooks' }),
  })
  .openapi('ProofBundle')

const description =
  'For whoever may see the row. `Accept: text/x.tlog.proof` or `format=tlog-proof` answers the c2sp.org/tlog-proof alone. The README has a recipe that checks a bundle with openssl and jq. Answers 503 with Retry-After while no checkpoint covers the row; asking makes one, at most one a second.'

const query = z.object({ format: z.enum(['bundle', 'tlog-proof']).optional() })
const params = z.object({ id: z.string() })
const success = {
  200: { description: 'The proof', schema: Bundle, mediaType: ['application/json', tlogProofType] },
} as const

const getEventProof = operation({
  id: 'getEventProof',
  method: 'get',
  path: '/api/whms/events/{id}/proof',
  access: 'whms:read',
  tag: 'Evidence',
  summary: 'Proof that an event is in the log, as it was recorded',
  description,
  input: { params, query },
  success,
  errors: ['STORAGE_FULL'],
})

const getDetectionProof = operation({
  id: 'getDetectionProof',
  method: 'get',
  path: '/api/iot/detection-events/{id}/proof',
  access: 'cameras:read',
  tag: 'Evidence',
  summary: 'Proof that a detection and its clip are in the log, as they were recorded',
  description,
  input: { params, query },
  success,
  errors: ['STORAGE_FULL'],
})

/** Serves the proofs of single rows. */
export function proofRoutes(api: Api, proofs: Pick<Proofs, 'of'>): void {
  api.openapi(getEventProof, async (c) => {
    const { bundle } = await proofs.of('event', numericPath(c.req.valid('param').id), c.get('caller'))
    return answer(
      bundle,
      `event-${c.req.valid('param').id}`,
      wanted(c.req.valid('query').format, c.req.header('accept')),
    )
  })
  api.openapi(getDetectionProof, async (c) => {
    const { bundle } = await proofs.of('detection', numericPath(c.req.valid('param').id), c.get('caller'))
    return answer(
      bundle,
      `detection-${c.req.valid('param').id}`,
      wanted(c.req.valid('query').format, c.req.header('accept')),
    )
  })
}

function wanted(format: 'bundle' | 'tlog-proof' | undefined, accept = ''): 'bundle' | 'tlog-proof' {
  return format ?? (accept.toLowerCase().includes(tlogProofType) ? 'tlog-proof' : 'bundle')
}

function answer(bundle: ProofBundle, name: string, form: 'bundle' | 'tlog-proof') {
  const isBundle = form === 'bundle'
  return rawAnswer(
    new Response(isBundle ? `${JSON.stringify(bundle, undefined, 2)}\n` : bundle.tlogProof, {
      headers: {
        'Content-Type': isBundle ? 'application/json' : `${tlogProofType}; charset=utf-8`,
        'Content-Disposition': `attachment; filename="${name}.${isBundle ? 'proof.json' : 'tlog-proof'}"`,
        Vary: 'Accept',
      },
    }),
  )
}
