import { type Api, operation, originOf, rawAnswer } from '../http/index.ts'
import { mostStreams, mostWaitingBytes, type StreamHub } from './hub.ts'
import { StreamMessage, streamHeaders, streamQuery } from './schema.ts'

export const streamPath = '/api/stream'

const followStream = operation({
  id: 'followStream',
  method: 'get',
  path: streamPath,
  access: 'whms:read',
  tag: 'Stream',
  summary: 'Changes, as they happen (server-sent events)',
  description:
    'Each message has an `event`, an `id` and one line of JSON as `data`. Kinds: `hello` comes first; with `resumed: false`, then ' +
    'or later, something may have been left out: read everything again. `floor`: the slots that changed; with `layoutChanged` read ' +
    'slots and zones again. `event`: a ledger event as GET /api/whms/events/{id} answers it, without `evidence`. `camera`: state of ' +
    'a camera. `alert`: an alert that was raised or acknowledged, for callers with alerts:read. `unit`: a transport unit of which ' +
    'something was recorded, as it is after that. `incident`: an incident that was opened or changed, for callers with ' +
    'incidents:read. `health`: the checks of GET /api/health. Cameras, alerts and health are compared every second or less often. ' +
    'Each caller gets what it may read elsewhere. After an interruption send the last id as Last-Event-ID: the missed messages ' +
    'follow, if the gateway still has them. Ids are opaque, and valid until the gateway restarts. A message without `event` and ' +
    '`data` keeps the connection open, every 15 s. A client that leaves more than ' +
    `${mostWaitingBytes / 1024} KiB unread is disconnected. At most ${mostStreams.ofOneCaller} streams of one caller and ` +
    `${mostStreams.ofAll} in all; then 429. Whether the caller may still read is checked every 5 s.`,
  input: { query: streamQuery, headers: streamHeaders },
  success: {
    200: { description: 'The stream', schema: StreamMessage, mediaType: 'text/event-stream' },
  },
})

/** Connection that the listener passes along with a request; absent in tests without one. */
type Wire = { readonly outgoing?: { destroy(): void } }

export function streamRoutes(api: Api, hub: StreamHub): void {
  api.openapi(followStream, (c) => {
    const { follow, after } = c.req.valid('query')
    const by = originOf(c)
    hub.demand(by)
    const headers = {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    }
    if (c.req.method === 'HEAD') return rawAnswer(c.newResponse(null, 200, headers))
    const { outgoing } = (c.env ?? {}) as Wire
    const callerNow = c.get('callerNow')
    const lastId = c.req.valid('header')['last-event-id'] ?? after
    let forget = () => {}
    const body = new ReadableStream<Uint8Array>(
      {
        start(to) {
          const sink = {
            send: (bytes: Uint8Array) => {
              to.enqueue(bytes)
              return (to.desiredSize ?? 0) >= 0
            },
            end: () => to.close(),
            cut: () => {
              to.error(new Error('the client reads too slowly'))
              outgoing?.destroy()
            },
          }
          forget = hub.open({ by, callerNow, lastId, sink })
          if (follow === 'true') return
          forget()
          to.close()
        },
        cancel: () => forget(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: mostWaitingBytes }),
    )
    return rawAnswer(c.newResponse(body, 200, headers))
  })
}
