import { z } from '@hono/zod-openapi'
import type { Tally } from '../../auth/index.ts'
import { AppError } from '../../errors/index.ts'
import { type Api, identityOf, numericPath, openSocket, operation, originOf, rawAnswer } from '../../http/index.ts'
import type { Codec } from '../../video/index.ts'
import type { Snapshots } from './snapshots.ts'
import { type LiveViews, mostViews } from './views.ts'

const tag = 'Cameras'
const idParam = z.object({ id: z.string() })

/** Paths whose rate is counted apart from other requests. */
export const livePaths = /^\/api\/iot\/cctv\/[^/]+\/(live|snapshot)$/

const codecNames: Readonly<Record<string, Codec>> = { h264: 'h264', h265: 'hevc', hevc: 'hevc' }

const watchLive = operation({
  id: 'watchCamera',
  method: 'get',
  path: '/api/iot/cctv/{id}/live',
  access: 'cameras:read',
  tag,
  summary: 'Live pictures of a camera, over a WebSocket',
  description:
    'Sends binary messages only; what a client sends is dropped. The sign-in is the session cookie (from pages of this ' +
    'gateway), a signed address, or the usual headers. `mpegts`: the video of the camera, unchanged, as an MPEG transport ' +
    'stream from the newest key frame on; each message has whole packets, and each key frame comes after program tables. ' +
    '`mpeg1`: converted to MPEG-1, 960 pixels wide at most, for browsers that cannot play the other. A viewer who is too ' +
    'slow misses pictures up to a later key frame. Close codes: 4401 not signed in, or signed out; 4404 no such camera for ' +
    'this caller; 4408 too slow: connect again; 4429 too many views ' +
    `(${mostViews.ofOneCaller} of one caller, ${mostViews.ofAll} in all) or requests; 4503 no pictures, with the reason in ` +
    'words: connect again; 1001 the gateway stops. Other refusals of the handshake close with 4000 + HTTP status. Whether ' +
    'the caller may still watch is checked every 3 s; a view by a signed address ends when the address expires. The audit ' +
    'trail has a row `camera.view_began` at once, and a row `camera.viewed` with the span when the view has ended.',
  input: {
    params: idParam,
    query: z.object({
      format: z
        .enum(['mpegts', 'mpeg1'])
        .default('mpegts')
        .openapi({ description: "mpegts: the camera's own stream; mpeg1: converted" }),
      codecs: z.string().max(64).default('h264,h265').openapi({
        description:
          'codecs of mpegts that the viewer plays: h264, h265 or both, with a comma between; another stream is closed with 4503, which names format=mpeg1',
      }),
    }),
  },
  success: { 101: { description: 'The WebSocket is open' } },
  errors: ['NOT_FOUND', 'UPGRADE_REQUIRED', 'NO_PICTURE'],
})

const takeSnapshot = operation({
  id: 'getCameraSnapshot',
  method: 'get',
  path: '/api/iot/cctv/{id}/snapshot',
  access: 'cameras:read',
  tag,
  summary: 'The newest picture of a camera, in its full size',
  description:
    'At most 2 s old; `Last-Modified` says when it was taken. A camera whose detection is off is connected for it, which ' +
    'takes some seconds. Without a picture the answer is 503 with the code NO_PICTURE, and `details` has the fault ' +
    'with the camera. The audit trail has the first one of a caller within ten minutes at once, and counts the others, as ' +
    '`camera.snapshot_taken`.',
  input: { params: idParam },
  success: {
    200: { description: 'PNG', schema: z.string().openapi({ format: 'binary' }), mediaType: 'image/png' },
  },
  errors: ['NOT_FOUND', 'NO_PICTURE'],
})

type Live = { readonly liveViews: LiveViews; readonly snapshots: Snapshots; readonly tally: Tally }

export function liveRoutes(api: Api, { liveViews, snapshots, tally }: Live): void {
  api.openapi(watchLive, (c) => {
    const { format, codecs: named } = c.req.valid('query')
    const [by, callerNow] = [originOf(c), c.get('callerNow')]
    const cctvId = numericPath(c.req.valid('param').id) ?? 0
    liveViews.demand({ cctvId, by })
    const codecs = codecsOf(named)
    return openSocket(c, (socket) => liveViews.open(socket, { cctvId, format, codecs, by, callerNow }))
  })
  api.openapi(takeSnapshot, async (c) => {
    const by = originOf(c)
    const { id } = liveViews.demandCamera({ cctvId: numericPath(c.req.valid('param').id) ?? 0, by })
    const { png, takenAt } = await snapshots.of(id)
    const taken = { action: 'camera.snapshot_taken', entity: 'camera', entityId: id } as const
    tally.noteAtOnce([identityOf(by.caller), id], by, taken)
    const headers = { 'Content-Type': 'image/png', 'Last-Modified': new Date(takenAt).toUTCString() }
    return rawAnswer(c.newResponse(png, 200, headers))
  })
}

function codecsOf(named: string): Codec[] {
  return named.split(',').map((name) => {
    const codec = codecNames[name.trim().toLowerCase()]
    if (!codec) throw AppError.field('codecs', 'expected h264, h265 or both, with a comma between')
    return codec
  })
}
