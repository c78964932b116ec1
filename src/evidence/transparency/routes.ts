import { z } from '@hono/zod-openapi'
import { AppError } from '../../errors/index.ts'
import {
  type Api,
  demand,
  historyLimit,
  historyQuery,
  operation,
  queryInteger,
  rawAnswer,
  resource,
  sendResource,
  timeOut,
} from '../../http/index.ts'
import { isoTime } from '../../platform/index.ts'
import { HandOverProof } from '../bundle/schema.ts'
import type { PublishedLog } from './published-log.ts'
import { readTilePath } from './tile-path.ts'

const tag = 'Evidence'
const base64 = z.string().openapi({ format: 'byte' })
const bytes = z.string().openapi({ format: 'binary' })
const octets = 'application/octet-stream'
const forEver = 'private, max-age=31536000, immutable'

const getCheckpoint = operation({
  id: 'getLogCheckpoint',
  method: 'get',
  path: '/api/log/checkpoint',
  access: 'caller',
  tag,
  summary: 'The newest signed checkpoint of the log',
  description:
    'A signed note (c2sp.org/tlog-checkpoint): origin, number of leaves, root, then the signatures of this gateway (Ed25519 and ML-DSA-44) and of the witnesses that cosigned. Keep it outside of the gateway: a later checkpoint must be consistent with it.',
  input: {},
  success: { 200: { description: 'A signed note', schema: z.string(), mediaType: 'text/plain' } },
})

const listCheckpoints = operation({
  id: 'listLogCheckpoints',
  method: 'get',
  path: '/api/log/checkpoints',
  access: 'caller',
  tag,
  summary: 'Signed checkpoints of the log, the newest first',
  description: 'For the next page send the smallest size of this one as `before`.',
  input: {
    query: z.object({
      limit: historyQuery.limit,
      before: queryInteger({ min: 0 })
        .optional()
        .openapi({ description: 'Only checkpoints over fewer leaves than this.' }),
    }),
  },
  success: {
    200: {
      description: 'One page',
      schema: z.object({
        success: z.literal(true),
        data: z.array(
          z.object({
            size: z.int().openapi({ description: 'Number of leaves' }),
            rootHash: base64.openapi({ description: 'RFC 6962 root over them' }),
            timestamp: timeOut(),
            note: z.string().openapi({ description: 'The signed note, with the cosignatures that it has' }),
          }),
        ),
      }),
    },
  },
})

const tileText =
  'c2sp.org/tlog-tiles. `tile` is the number in groups of three digits, such as `x001/x234/067`, and for a partial tile its width, such as `067.p/112`. Slashes may be sent as they are. Nothing beyond the newest checkpoint is served.'

const tile = z.string().openapi({ description: 'Number, with the width of a partial tile', example: '067.p/112' })

const getTile = operation({
  id: 'getLogTile',
  method: 'get',
  path: '/api/log/tile/{level}/{tile}',
  access: 'caller',
  tag,
  summary: 'Hashes of the log: up to 256, one behind the other',
  description: tileText,
  input: { params: z.object({ level: z.string().openapi({ description: '0 for hashes of leaves, to 63' }), tile }) },
  success: { 200: { description: '32 bytes for each hash', schema: bytes, mediaType: octets } },
})

const getEntries = operation({
  id: 'getLogEntries',
  method: 'get',
  path: '/api/log/tile/entries/{tile}',
  access: 'evidence:read',
  tag,
  summary: 'Leaves of the log: up to 256, each behind its length',
  description: `${tileText} For callers who may see every warehouse.`,
  input: { params: z.object({ tile }) },
  success: { 200: { description: 'Big-endian uint16 length, then the leaf', schema: bytes, mediaType: octets } },
})

const getConsistency = operation({
  id: 'getLogConsistency',
  method: 'get',
  path: '/api/log/consistency',
  access: 'caller',
  tag,
  summary: 'Proof that a later tree of the log continues an earlier one',
  description: 'RFC 6962, section 2.1.2. Sizes are numbers of leaves, up to that of the newest checkpoint.',
  input: {
    query: z.object({
      from: queryInteger({ min: 0 }).openapi({ description: 'Number of leaves of the earlier tree' }),
      to: queryInteger({ min: 0 }).openapi({ description: 'Number of leaves of the later tree' }),
    }),
  },
  success: {
    200: {
      description: 'The proof',
      schema: resource({ from: z.int(), to: z.int(), proof: z.array(base64) }),
    },
  },
})

const getKeys = operation({
  id: 'getLogKeys',
  method: 'get',
  path: '/api/log/keys',
  access: 'caller',
  tag,
  summary: 'Verifier keys of the log, and the proofs of the rotations that led to them',
  description:
    'Each hand-over is a proof bundle of a `log-key` leaf. The checkpoint in it is signed by the keys before the rotation and by those after it, so a reader who kept an earlier key can follow to the present one.',
  input: {},
  success: {
    200: {
      description: 'Keys and hand-overs',
      schema: resource({
        keys: z.array(z.string()).openapi({ description: 'Ed25519, then ML-DSA-44' }),
        handOvers: z.array(HandOverProof).openapi({ description: 'Oldest first' }),
      }),
    },
  },
  errors: ['STORAGE_FULL'],
})

/** Serves the log under /api/log, where any program that reads tiled logs can read it. */
export function transparencyRoutes(api: Api, log: PublishedLog): void {
  api.openapi(getCheckpoint, (c) => {
    c.header('Cache-Control', 'no-cache')
    return rawAnswer(c.text(log.checkpoint()) as Response)
  })
  api.openapi(listCheckpoints, (c) => {
    const { limit = historyLimit, before } = c.req.valid('query')
    const data = log.checkpoints({ limit, before }).map(({ checkpoint, note }) => ({
      size: checkpoint.size,
      rootHash: checkpoint.root.toString('base64'),
      timestamp: isoTime(checkpoint.signed_at_ms),
      note,
    }))
    return c.json({ success: true as const, data }, 200)
  })
  const sent = (body: Buffer) =>
    rawAnswer(new Response(new Uint8Array(body), { headers: { 'Content-Type': octets, 'Cache-Control': forEver } }))
  const entries = (path: string, caller: Parameters<PublishedLog['entries']>[1]) => {
    const place = readTilePath(path)
    if (!place) throw AppError.notFound('Entry bundle')
    return sent(log.entries(place, caller))
  }
  const hashes = (levelText: string, path: string) => {
    const place = readTilePath(path)
    if (!place || !/^(0|[1-9]\d?)$/.test(levelText) || Number(levelText) > 63) throw AppError.notFound('Tile')
    return sent(log.tile(Number(levelText), place))
  }
  api.openapi(getEntries, (c) => entries(c.req.valid('param').tile, c.get('caller')))
  api.get('/api/log/tile/entries/:tile{.+}', (c) => {
    demand(c.get('caller'), 'evidence:read')
    return entries(c.req.param('tile'), c.get('caller'))
  })
  api.openapi(getTile, (c) => hashes(c.req.valid('param').level, c.req.valid('param').tile))
  api.get('/api/log/tile/:level/:tile{.+}', (c) => hashes(c.req.param('level'), c.req.param('tile')))
  api.openapi(getKeys, (c) => {
    const { keys, handOvers } = log.keys()
    return sendResource(c, { keys: [...keys], handOvers: handOvers as z.input<typeof HandOverProof>[] })
  })
  api.openapi(getConsistency, (c) => {
    const { from, to } = c.req.valid('query')
    const proof = log.consistency(from, to).map((hash) => hash.toString('base64'))
    return sendResource(c, { from, to, proof })
  })
}
