import { createHmac } from 'node:crypto'
import { people } from '../../support/gateway.ts'
import type { Received } from '../../support/receiver.ts'
import { SimulatedDelivery } from '../../support/simulated-delivery.ts'
import { WebhookYard } from '../../support/webhook-yard.ts'
import type { Row } from './row.ts'
import { photoUrl, secret, type World } from './world.ts'

const { olga, sven } = people
const minute = 60_000

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Json = any

/** Returns the nth notification of this type after the act. */
async function delivered(at: World, type: string, act: () => Promise<unknown>, nth = 1): Promise<Received> {
  const webhook = await at.webhook([type])
  const path = new URL(webhook.url).pathname
  await act()
  const ofWebhook = (all: readonly Received[]) => all.filter((one) => one.path === path && one.type === type)
  return at.receiver.waitFor((one, all) => one === ofWebhook(all)[nth - 1])
}

/** The type, and the act that triggers it. */
const triggers: readonly (readonly [type: string, trigger: string, act: (at: World) => Promise<unknown>])[] = [
  ['event.created', 'any event created in the system', async (at) => at.event('PLACED', await at.slot(), at.pallet())],
  ['transport_unit.created', 'new transport unit registered', (at) => newUnit(at)],
  [
    'transport_unit.stage_changed',
    'unit progressed to the next workflow stage',
    async (at) => at.post(`/api/whms/transport-units/${(await newUnit(at)).id}/advance`, { operator: 'olga' }, olga),
  ],
  ['transport_unit.completed', 'unit completed all workflow stages', completeUnit],
  ['whms.placement', 'asset placed in a slot', async (at) => at.event('PLACED', await at.slot(), at.pallet())],
  ['whms.removal', 'asset removed from a slot', async (at) => at.event('REMOVED', await at.slot(), at.pallet())],
  ['whms.verification', 'placement verified by a supervisor', (at) => judged(at, 'VERIFIED')],
  ['whms.dispute', 'placement disputed by a supervisor', (at) => judged(at, 'DISPUTED')],
  ['incident.created', 'new incident reported', (at) => incident(at)],
  [
    'incident.resolved',
    'incident marked resolved',
    async (at) =>
      at.post(`/api/governance/incidents/${(await incident(at)).id}/resolve`, { resolution: 'counted again' }, sven),
  ],
  [
    'audit.report_generated',
    'compliance report generated',
    (at) => at.post('/api/governance/reports', { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }, sven),
  ],
  // The camera films somebody every few seconds.
  ['motion.detected', 'motion detected on a camera', async () => {}],
  [
    'scale.reading',
    'new scale reading recorded',
    (at) => at.post('/api/iot/scale-readings', { scaleId: 's1', weightKg: 4 }, olga),
  ],
]

function newUnit(at: World): Promise<Json> {
  return at.post('/api/whms/transport-units', { reference: 'SHIP', direction: 'inbound' }, olga)
}

async function completeUnit(at: World): Promise<void> {
  const { id } = await newUnit(at)
  const { stages } = await at.get('/api/whms/transport-units/workflow')
  for (let n = 1; n < stages.length; n += 1) {
    await at.post(`/api/whms/transport-units/${id}/advance`, { operator: 'olga' }, olga)
  }
}

async function judged(at: World, type: 'VERIFIED' | 'DISPUTED'): Promise<void> {
  const [slot, pallet] = [await at.slot(), at.pallet()]
  await at.event('PLACED', slot, pallet)
  await at.event(type, slot, pallet)
}

function incident(at: World): Promise<Json> {
  return at.post('/api/governance/incidents', { severity: 'low', category: 'other', evidenceReferences: [] }, olga)
}

/** "Webhooks", "Event types", "Registration rules", "Delivery payload" and "Delivery headers". */
export const notifications: readonly Row[] = [
  {
    says: 'POST /api/webhooks: webhook registration (`url`, `events`, `secret`, `active`): registered webhook',
    request: 'POST /api/webhooks',
    body: { url: 'https://wms.example/x', events: ['whms.removal'], secret: 'long enough to be one', active: true },
    status: 201,
    answer: { id: String, url: 'https://wms.example/x', events: ['whms.removal'], active: true },
  },
  {
    says: 'POST /api/webhooks/:id/test: sends a `webhook.test` event to the registered URL without affecting production data',
    holds: async (t, at) => {
      const webhook = await at.webhook(['whms.placement'])
      const total = async () => (await at.get('/api/whms/events?limit=1')).pagination.total
      const before = await total()
      t.match(await at.post(`/api/webhooks/${webhook.id}/test`, {}), { delivered: true })
      const path = new URL(webhook.url).pathname
      const request = await at.receiver.waitFor((one) => one.path === path)
      t.equal(request.type, 'webhook.test')
      t.equal(await total(), before)
    },
  },
  ...triggers.map(
    ([type, trigger, act]): Row => ({
      says: `${type}: ${trigger}`,
      holds: async (t, at) => {
        const request = await delivered(at, type, () => act(at))
        t.match(request.event, { type })
        t.ok(request.signatureValid)
      },
    }),
  ),
  {
    says: 'There is also a ledger event stream inside the service; that is not delivered as a notification.',
    holds: async (t, at) => {
      const { data } = await at.get('/api/webhooks/event-types')
      const documented = [...triggers.map(([type]) => type), 'webhook.test']
      t.same(data.map(({ type }: { type: string }) => type).toSorted(), documented.toSorted())
      const stream = await fetch(`${at.url}/api/stream`, { headers: at.signedIn() })
      t.match(stream.headers.get('content-type'), 'event-stream')
      await stream.body?.cancel()
    },
  },
  {
    says: 'A detected motion corresponds to `motion.detected`, and also produces a detection event in the ledger.',
    holds: async (t, at) => {
      const { event } = await delivered(at, 'motion.detected', async () => {})
      t.match(event.data, { cctvId: 1 })
    },
  },
  {
    says: '`url` must be HTTPS; plain HTTP endpoints are rejected.',
    request: 'POST /api/webhooks',
    body: { url: 'http://wms.example/hook', events: ['whms.placement'], secret: 'long enough to be one' },
    status: 400,
    answer: { error: { code: 'WEBHOOK_URL_NOT_HTTPS' } },
  },
  {
    says: '`events` lists the subscribed types',
    holds: async (t, at) => {
      const webhook = await at.webhook(['whms.removal'])
      const path = new URL(webhook.url).pathname
      const [slot, pallet] = [await at.slot(), at.pallet()]
      await at.event('PLACED', slot, pallet)
      await at.event('REMOVED', slot, pallet)
      const first = await at.receiver.waitFor((one) => one.path === path)
      t.equal(first.type, 'whms.removal')
    },
  },
  {
    says: '`active` false disables delivery.',
    holds: async (t, at) => {
      const silent = await at.webhook(['whms.placement'], { active: false })
      await delivered(at, 'whms.placement', async () => at.event('PLACED', await at.slot(), at.pallet()))
      const path = new URL(silent.url).pathname
      t.notOk(at.receiver.received.some((one) => one.path === path))
      t.same((await at.get(`/api/webhooks/${silent.id}/deliveries`)).data, [])
    },
  },
  {
    says: 'Delivery payload: id, type, timestamp, data, metadata: `warehouseId` (integer), `siteId` (string), `version` (string)',
    holds: async (t, at) => {
      const { event } = await delivered(at, 'whms.placement', async () =>
        at.event('PLACED', await at.slot(), at.pallet()),
      )
      t.same(Object.keys(event).toSorted(), ['data', 'id', 'metadata', 'timestamp', 'type'])
      t.match(event, { id: String, type: 'whms.placement', timestamp: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, data: Object })
      t.same(Object.keys(event.metadata).toSorted(), ['siteId', 'version', 'warehouseId'])
      t.match(event.metadata, { warehouseId: 1, siteId: 'dc-7', version: String })
    },
  },
  {
    says: '`transport_unit.stage_changed`: `data` holds `transportUnitId`, `fromStage`, `toStage`, `operator` and `evidence` (`photos` as a count, `scaleReading` as a number)',
    holds: async (t, at) => {
      const { id } = await newUnit(at)
      const evidence = { photo_urls: [photoUrl(), photoUrl()], scale_weight_kg: 77.5 }
      const { event } = await delivered(at, 'transport_unit.stage_changed', () =>
        at.post(`/api/whms/transport-units/${id}/advance`, { operator: 'olga', evidence }, olga),
      )
      t.match(event.data, {
        ...{ transportUnitId: id, fromStage: 'registered', toStage: 'receiving', operator: 'olga' },
        evidence: { photos: 2, scaleReading: 77.5 },
      })
    },
  },
  {
    says: 'X-Service-Event: event type. X-Service-Delivery: unique delivery id. X-Service-Timestamp: ISO 8601 timestamp of the event. X-Service-Signature: `sha256=<hmac_hex>`',
    holds: async (t, at) => {
      const { headers, event } = await delivered(at, 'whms.placement', async () =>
        at.event('PLACED', await at.slot(), at.pallet()),
      )
      t.equal(headers['x-service-event'], 'whms.placement')
      t.match(headers['x-service-delivery'], /^.+$/)
      t.equal(headers['x-service-timestamp'], event.timestamp)
      t.match(headers['x-service-signature'], /^sha256=[0-9a-f]{64}$/)
      const ids = at.receiver.received.map((one) => one.deliveryId)
      t.equal(new Set(ids).size, ids.length, 'no two deliveries share an id')
    },
  },
  {
    says: "`<hmac_hex>` is the lowercase hex of HMAC-SHA256 over the payload text (UTF-8), keyed with the webhook's `secret`.",
    holds: async (t, at) => {
      const { headers, body } = await delivered(at, 'incident.created', () =>
        at.post('/api/governance/incidents', { severity: 'low', category: 'Übergröße', evidenceReferences: [] }, olga),
      )
      const hmac = createHmac('sha256', secret).update(body).digest('hex')
      t.equal(headers['x-service-signature'], `sha256=${hmac}`)
    },
  },
  {
    says: 'A delivery fails when the endpoint returns a non-2xx status',
    holds: async (t, at) => {
      at.receiver.behave(() => ({ status: 302, headers: { Location: 'https://elsewhere.example/' } }))
      const webhook = await at.webhook(['whms.placement'])
      const test = await at.post(`/api/webhooks/${webhook.id}/test`, {})
      at.receiver.behave(() => ({ status: 204 }))
      t.match(test, { delivered: false, statusCode: 302 })
    },
  },
  {
    says: 'or when the endpoint is unreachable',
    holds: async (t, at) => {
      const body = { url: 'https://127.0.0.1:9/nobody', events: ['whms.placement'], secret }
      const { id } = await at.post('/api/webhooks', body)
      t.match(await at.post(`/api/webhooks/${id}/test`, {}), { delivered: false, statusCode: null })
    },
  },
]

const timeout: Row = {
  says: 'or when the connection times out after 30 seconds',
  holds: async (t) => {
    const yard = new WebhookYard()
    try {
      const receiver = await yard.receiver({ behave: () => 'hang' })
      const id = await yard.register(receiver)
      yard.webhooks.worker.start()
      await yard.publish()
      await receiver.waitFor(() => true)
      yard.clock.advance(29_999)
      t.equal(yard.attempts.length, 0, 'after 29.999 s it waits')
      yard.clock.advance(1)
      await yard.attempted(1)
      t.match(await yard.deliveries(id), [{ attempts: [{ statusCode: null, durationMs: 30_000 }] }])
    } finally {
      await yard.end()
    }
  },
}

/** When each attempt of the first delivery began, in ms after the first one; the receiver fails all the time. */
async function attempts(
  days: number,
): Promise<{ atMs: number[]; statusAfter: string[]; alerts: Json[]; status: string }> {
  const delivery = new SimulatedDelivery({ settings: {}, latencyMs: () => 5, luck: () => false })
  try {
    const url = await delivery.register('sick')
    delivery.moods.set(url, 'down')
    await delivery.yard.publish(1)
    await delivery.pass(days * 24 * 60 * minute)
    const first = delivery.sent[0]?.deliveryId
    const own = delivery.sent.filter((one) => one.deliveryId === first)
    const { data } = (await delivery.yard.call('GET', '/api/webhooks')).body
    const alerts = (await delivery.yard.call('GET', '/api/alerts')).body.data
    return {
      atMs: own.map((one) => one.startedMs - (own[0]?.startedMs ?? 0)),
      statusAfter: own.map((one) => one.status),
      alerts,
      status: data[0].status,
    }
  } finally {
    await delivery.end()
  }
}

const delaysMs = [0, minute, 5 * minute, 30 * minute, 120 * minute, 720 * minute]

/** "Retry policy" and "Webhook delivery states", under a simulated clock. */
export const retries: readonly Row[] = [
  timeout,
  {
    says: 'Attempt 1 immediate, 2 after 1 minute, 3 after 5 minutes, 4 after 30 minutes, 5 after 2 hours, 6 after 12 hours',
    holds: async (t) => {
      const { atMs } = await attempts(1)
      t.equal(atMs.length, 6)
      for (const [index, atOnceMs] of atMs.entries()) {
        const gapMs = index === 0 ? 0 : atOnceMs - (atMs[index - 1] ?? 0)
        const delayMs = delaysMs[index] ?? 0
        t.ok(gapMs >= delayMs && gapMs <= delayMs * 1.06 + 1000, `attempt ${index + 1}: ${gapMs} ms`)
      }
    },
  },
  {
    says: 'After 6 failed attempts the webhook is marked failing and an alert goes to the admin dashboard.',
    holds: async (t) => {
      const { statusAfter, status, alerts } = await attempts(1)
      t.same([...new Set(statusAfter)], ['active'], 'until the sixth has failed')
      t.equal(status, 'failing')
      t.match(alerts, [{ kind: /webhook/ }])
    },
  },
  {
    says: 'Webhook attempts before marked failing: 6; applies to: a delivery',
    holds: async (t) => {
      const delivery = new SimulatedDelivery({ settings: {}, latencyMs: () => 5, luck: () => false })
      try {
        const url = await delivery.register('sick')
        delivery.moods.set(url, 'down')
        for (let n = 0; n < 6; n += 1) await delivery.yard.publish(1)
        await delivery.pass(30_000)
        t.equal(new Set(delivery.sent.map((one) => one.deliveryId)).size, 6, 'six deliveries failed once')
        t.equal((await delivery.yard.call('GET', '/api/webhooks')).body.data[0].status, 'active')
      } finally {
        await delivery.end()
      }
    },
  },
  {
    says: 'After 100 consecutive failures it is disabled automatically.',
    holds: async (t) => {
      const delivery = new SimulatedDelivery({ settings: {}, latencyMs: () => 5, luck: () => false })
      try {
        const url = await delivery.register('sick')
        delivery.moods.set(url, 'down')
        await delivery.yard.publish(200)
        const statusOf = async () => (await delivery.yard.call('GET', '/api/webhooks')).body.data[0].status
        const failed = () => delivery.sent.filter((one) => one.kind === 'failed' && one.type !== 'webhook.test').length
        for (let step = 0; step < 5000 && failed() < 99; step += 1) await delivery.pass(minute)
        t.not(await statusOf(), 'disabled', `after ${failed()} failures`)
        for (let step = 0; step < 5000 && failed() < 100; step += 1) await delivery.pass(minute)
        t.equal(await statusOf(), 'disabled', `after ${failed()} failures`)
      } finally {
        await delivery.end()
      }
    },
  },
]
