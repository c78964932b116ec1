import { chanceOf } from '../../scripts/simulate/leaves.ts'
import { mutated } from './fuzz.ts'
import { furnish, people, type TestGateway, testGateway, tinyPng } from './gateway.ts'

export type HostileReport = {
  readonly requests: number
  /** Number of answers by their status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Answers of 500, with the request. */
  readonly faults: readonly string[]
}

type Base = { readonly method: string; readonly path: string; readonly body?: unknown; readonly type?: string }

const polygon = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 1, y: 1 },
]
const event = {
  event_type: 'PLACED',
  slot_code: 'A-1',
  asset_barcode: 'P-1',
  photo_url: 'https://photos.example/1.jpg',
}

/** Good requests, from which hostile ones are made. */
const bases: readonly Base[] = [
  {
    method: 'POST',
    path: '/api/whms/events',
    body: { ...event, client_event_id: 'c-1', notes: 'torn', operator: 'Dana' },
  },
  { method: 'POST', path: '/api/whms/events/batch', body: { events: [event, event] } },
  { method: 'GET', path: '/api/whms/events?limit=5&page=1&from=2026-03-02T00:00:00Z&slot_id=1' },
  { method: 'GET', path: '/api/whms/slots?as_of=2026-03-02T08:00:00Z' },
  { method: 'GET', path: '/api/whms/slots/1/history' },
  { method: 'POST', path: '/api/whms/slots', body: { slot_id: 'B-1', zone: 'S', floor_plan_polygon: polygon } },
  { method: 'PUT', path: '/api/whms/slots/1', body: { slot_id: 'A-1', zone: 'S', floor_plan_polygon: polygon } },
  { method: 'POST', path: '/api/whms/assets', body: { asset_id: '00340123451234567895', type: 'pallet' } },
  { method: 'GET', path: '/api/whms/assets?q=P&limit=10' },
  { method: 'GET', path: '/api/whms/scan/%5DC100340123451234567895' },
  {
    method: 'POST',
    path: '/api/whms/transport-units',
    body: { reference: 'T-1', direction: 'inbound', warehouseId: 1 },
  },
  { method: 'POST', path: '/api/whms/evidence/photos', body: tinyPng, type: 'image/png' },
  { method: 'POST', path: '/api/webhooks', body: { url: 'https://erp.example/hook', events: ['whms.placement'] } },
  { method: 'POST', path: '/api/governance/incidents', body: { severity: 'low', category: 'noise', title: 'x' } },
  {
    method: 'POST',
    path: '/api/governance/reports',
    body: { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' },
  },
  { method: 'GET', path: '/api/iot/detection-events?trigger=all&from=2026-03-01T00:00:00Z' },
  { method: 'GET', path: '/api/log/tile/0/000' },
  { method: 'GET', path: '/api/log/checkpoint' },
  {
    method: 'POST',
    path: '/api/session',
    body: { username: 'ada', secret: 'ada-secret', instance: 'http://127.0.0.1:8480' },
  },
  { method: 'GET', path: '/api/whms/events/1/proof' },
  { method: 'GET', path: '/api/whms/events/export?from=2026-03-01T00:00:00Z' },
  { method: 'GET', path: '/api/health' },
]

/** Sends hostile requests to a gateway in this process, as an admin and without a sign-in. */
export async function hostileRequests(count: number, seed: number): Promise<HostileReport> {
  const gateway = await testGateway({ onlyWhenOwed: true })
  const statuses: Record<string, number> = {}
  const faults: string[] = []
  try {
    await furnish(gateway, ['A-1', 'A-2'])
    for (let n = 0; n < count && faults.length < 5; n += 1) {
      const { status, text, request } = await sendOne(gateway, seed + n)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status === 500) faults.push(`seed ${seed + n}: ${JSON.stringify(request)}: ${text.slice(0, 200)}`)
    }
    return { requests: count, statuses, faults }
  } finally {
    gateway.end()
  }
}

async function sendOne(gateway: TestGateway, seed: number) {
  const chance = chanceOf(seed)
  const base = bases[Math.floor(chance() * bases.length)] ?? { method: 'GET', path: '/' }
  const { method, type = 'application/json' } = base
  const path = chance() < 0.4 ? pathOf(mutated([Buffer.from(base.path)], seed)) : base.path
  const good = bytesOf(base.body)
  const bytes = good && (chance() < 0.5 ? mutated([good], seed) : bytesOf(misshapen(base.body, chance)))
  const request = { method, path, body: bytes?.toString('base64') }
  const answer = await gateway.ask(method, path, {
    ...(chance() < 0.9 && { by: people.ada }),
    ...(bytes && { bytes, headers: { 'Content-Type': type } }),
  })
  return { status: answer.status, text: answer.text, request }
}

/** A URL class refuses some paths before they reach a gateway; a socket would not carry them. */
function pathOf(bytes: Buffer): string {
  const path = `/${bytes
    .toString('latin1')
    .replaceAll(/[\s#\0]/g, '')
    .replace(/^\/*/, '')}`
  return URL.canParse(path, 'http://gate') ? path : '/api/whms/slots'
}

const bytesOf = (body: unknown): Buffer | undefined =>
  body === undefined || Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))

const oddValues: readonly unknown[] = [
  ...[null, true, -1, 0, 1e308, 2 ** 53, 0.1, '', ' ', '\u0000', '\ud800', 'x'.repeat(5000)],
  ...[[], {}, [[]], { $ne: 1 }, '__proto__', '2026-02-30T00:00:00Z', '99999-01-01T00:00:00Z', "'; --"],
]

/** Returns the body with one value replaced by one of another kind. */
function misshapen(body: unknown, chance: () => number): unknown {
  const odd = () => oddValues[Math.floor(chance() * oddValues.length)]
  if (typeof body !== 'object' || body === null || Buffer.isBuffer(body)) return odd()
  const keys = Object.keys(body)
  const key = keys[Math.floor(chance() * keys.length)]
  if (key === undefined || chance() < 0.1) return odd()
  const inner = (body as Record<string, unknown>)[key]
  const isDeep = typeof inner === 'object' && inner !== null && chance() < 0.6
  const changed = isDeep ? misshapen(inner, chance) : odd()
  return Array.isArray(body) ? body.with(Number(key), changed) : { ...body, [key]: changed }
}
