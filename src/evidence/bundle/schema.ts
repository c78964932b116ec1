import { z } from '@hono/zod-openapi'
import { bundleFormat } from '../../proof/index.ts'

const base64 = z.string().openapi({ format: 'byte' })

/** A proof bundle without the hand-overs of keys. */
const BareBundle = z.object({
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
        commitment: z.string().openapi({ description: 'Value in the leaf: SHA-256(salt, text), hex' }),
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

/** The proof of a log-key leaf, under the checkpoint that the keys before and after it have signed. */
export const HandOverProof = BareBundle.openapi('HandOverProof')

export const Bundle = BareBundle.extend({
  handOvers: z.array(HandOverProof).optional().openapi({
    description:
      'After a rotation of the keys of the log: the proof of each log-key leaf, oldest first. Its checkpoint is signed by the keys before and after it (`previousKeys` and `keys` of the leaf), so an earlier key leads to the present one',
  }),
}).openapi('ProofBundle')
