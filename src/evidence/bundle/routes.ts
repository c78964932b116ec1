import { z } from '@hono/zod-openapi'
import { type Api, numericPath, operation, rawAnswer } from '../../http/index.ts'
import type { ProofBundle } from './bundle.ts'
import type { Proofs } from './proofs.ts'
import { Bundle } from './schema.ts'

const tlogProofType = 'text/x.tlog.proof'

const description =
  'For callers who may see the row. `Accept: text/x.tlog.proof` or `format=tlog-proof` answers the c2sp.org/tlog-proof alone. `/help/recipe.sh` is a script that checks a bundle with openssl and jq. Answers 503 with Retry-After while no checkpoint covers the row; asking makes one, at most one a second.'

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
