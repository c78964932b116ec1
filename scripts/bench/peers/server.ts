/**
 * The program that a team would write in place of gatehouse: Fastify, and one transaction for each event. It keeps less: one outbox
 * row, no commitments of people, and no judgement of a scan. Started by the bench: `server.ts postgres SOCKET_FOLDER PORT` or
 * `server.ts sqlite FILE PORT`. Ends with SIGTERM.
 */
import { createHash, hash, randomUUID, timingSafeEqual } from 'node:crypto'
import Fastify from 'fastify'
import { secret } from '../site.ts'
import type { Sent } from './statements.ts'
import { onPostgres, onSqlite } from './stores.ts'

const bodyLimit = 262_144
const [kind, place = '', port] = process.argv.slice(2)
const store = kind === 'postgres' ? await onPostgres(place) : onSqlite(place)
const sha256 = (text: string) => createHash('sha256').update(text).digest()
const secretHash = sha256(secret)

const text = { type: 'string', maxLength: 400 }
const schema = {
  body: {
    type: 'object',
    required: ['event_type', 'slot_id', 'asset_barcode'],
    properties: {
      event_type: { enum: ['PLACED', 'REMOVED', 'VERIFIED', 'DISPUTED'] },
      slot_id: { type: 'integer', minimum: 1 },
      asset_barcode: { type: 'string', minLength: 1, maxLength: 200 },
      photo_url: text,
      scale_weight_kg: { type: 'number', minimum: 0 },
      scan: { type: 'object', properties: { slot: text, asset: text, symbology: text } },
    },
  },
}

const app = Fastify({ bodyLimit })

app.addHook('onRequest', async (request, reply) => {
  const sent = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  if (request.method === 'POST' && !timingSafeEqual(sha256(sent), secretHash))
    return reply.code(401).send({ success: false })
  return undefined
})

app.post<{ Body: Sent }>('/api/whms/events', { schema }, async (request, reply) => {
  const key = request.headers['idempotency-key']
  const { status, location, body } = await store({
    sent: request.body,
    who: 'ada',
    key: typeof key === 'string' ? key : undefined,
    requestSha: hash('sha256', JSON.stringify(request.body), 'hex'),
    requestId: request.id,
    address: request.ip,
  })
  return reply.code(status).headers({ location, 'x-request-id': randomUUID() }).type('application/json').send(body)
})

app.get('/api/ping', () => ({ ok: true }))

await app.listen({ host: '127.0.0.1', port: Number(port) })
