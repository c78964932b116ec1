import { people } from '../../support/gateway.ts'
import type { Row } from './row.ts'
import type { World } from './world.ts'

const hour = 3_600_000

/** Times before now, so that a row decides by them and not by the order of arrival. */
const ago = (hours: number): string => new Date(Date.now() - hours * hour).toISOString()

async function stateOf(at: World, slot: { id: number }) {
  return at.get(`/api/whms/slots/${slot.id}`)
}

/** "Slot state derived from the ledger". */
export const states: readonly Row[] = [
  {
    says: 'The latest event of type PLACED or REMOVED for the slot (by timestamp, newest first) decides occupancy.',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      await at.event('REMOVED', slot, pallet, { timestamp: ago(1) })
      await at.event('PLACED', slot, pallet, { timestamp: ago(2) })
      t.match(await stateOf(at, slot), { isOccupied: false, assetBarcode: null })
    },
  },
  {
    says: 'Unoccupied: slot has no PLACED or REMOVED event: `isOccupied` false, `assetBarcode` null',
    holds: async (t, at) => {
      const state = await stateOf(at, await at.slot())
      t.match(state, { isOccupied: false, assetBarcode: null })
    },
  },
  {
    says: "any state, PLACED event appended that is the latest: Occupied, `assetBarcode` is that event's `asset_barcode`",
    holds: async (t, at) => {
      const [slot, first, second] = [await at.slot(), at.pallet(), at.pallet()]
      await at.event('PLACED', slot, first)
      t.match(await stateOf(at, slot), { isOccupied: true, assetBarcode: first })
      await at.event('PLACED', slot, second)
      t.match(await stateOf(at, slot), { isOccupied: true, assetBarcode: second }, 'from occupied')
    },
  },
  {
    says: 'Occupied, REMOVED event appended that is the latest: Unoccupied, `isOccupied` false, `assetBarcode` null',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      await at.event('PLACED', slot, pallet)
      await at.event('REMOVED', slot, at.pallet())
      t.match(await stateOf(at, slot), { isOccupied: false, assetBarcode: null }, 'whatever barcode was removed')
    },
  },
  {
    says: 'Occupied, unverified, VERIFIED event appended with a timestamp later than the latest placement: `isVerified` true',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      await at.event('PLACED', slot, pallet, { timestamp: ago(2) })
      await at.event('VERIFIED', slot, pallet, { timestamp: ago(1) })
      t.match(await stateOf(at, slot), { isVerified: true })
    },
  },
  {
    says: '`isVerified` is true only if a VERIFIED event exists with a timestamp later than the latest placement event.',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      await at.event('PLACED', slot, pallet, { timestamp: ago(3) })
      await at.event('VERIFIED', slot, pallet, { timestamp: ago(4) })
      t.match(await stateOf(at, slot), { isVerified: false }, 'a verification before the placement')
      await at.event('VERIFIED', slot, pallet, { timestamp: ago(2) })
      await at.event('PLACED', slot, pallet, { timestamp: ago(1) })
      t.match(await stateOf(at, slot), { isVerified: false }, 'placed again since')
    },
  },
  {
    says: 'When the slot is unoccupied, the status carries no verification flag.',
    holds: async (t, at) => {
      t.notOk('isVerified' in (await stateOf(at, await at.slot())))
    },
  },
  {
    says: "An asset's location is the slot of its latest placement state, derived the same way.",
    holds: async (t, at) => {
      const [slot, pallet, other] = [await at.slot(), at.pallet(), at.pallet()]
      await at.event('PLACED', slot, pallet)
      t.match(await at.get(`/api/whms/assets/${pallet}/location`), { slot: { id: slot.id } })
      await at.event('PLACED', slot, other)
      t.equal((await at.get(`/api/whms/assets/${pallet}/location`)).slot, null, 'the slot denies it')
      await at.event('REMOVED', slot, other)
      t.equal((await at.get(`/api/whms/assets/${other}/location`)).slot, null, 'removed')
    },
  },
]

const page = (query: string) => `/api/whms/events?${query}`

/** "Endpoints", of warehouses, ledger, assets and dashboard. */
export const endpoints: readonly Row[] = [
  { says: 'GET /api/health: no auth', request: 'GET /api/health', by: null, status: 200 },
  { says: 'GET /api/ping: no auth', request: 'GET /api/ping', by: null, status: 200 },
  {
    says: 'GET /api/metrics: admin only. Returns metrics in a text exposition format (not JSON).',
    holds: async (t, at) => {
      const reply = await at.ask('GET', '/api/metrics')
      t.equal(reply.status, 200)
      t.match(reply.headers.get('content-type'), /^(text\/plain|application\/openmetrics-text)/)
      t.match(reply.text, /^# TYPE \w+ (counter|gauge)/m)
      for (const by of [people.vera, people.olga, people.sven]) {
        t.equal((await at.ask('GET', '/api/metrics', { by })).status, 403, by.role)
      }
    },
  },
  {
    says: 'GET /api/openapi: returns the machine-readable OpenAPI description.',
    request: 'GET /api/openapi',
    status: 200,
    answer: { openapi: /^3\./, paths: { '/api/whms/events': { get: Object, post: Object } } },
  },
  {
    says: 'GET /api/whms/warehouses: all warehouses accessible to the caller',
    request: 'GET /api/whms/warehouses',
    by: people.vera,
    status: 200,
    answer: { data: [{ id: 1, name: 'Hall 1' }] },
  },
  {
    says: 'POST /api/whms/warehouses: warehouse create payload, created warehouse',
    request: 'POST /api/whms/warehouses',
    body: { name: 'Hall 9', location: { lat: 0, lng: 0 }, timezone: 'UTC' },
    status: 201,
    answer: { id: Number, name: 'Hall 9' },
  },
  {
    says: 'GET /api/whms/warehouses/:id: metadata, zone summary, utilization statistics',
    request: 'GET /api/whms/warehouses/1',
    by: people.vera,
    status: 200,
    answer: {
      id: 1,
      timezone: 'Europe/Berlin',
      zones: Array,
      utilization: { utilizationPercent: Number, byZone: Array },
    },
  },
  {
    says: 'GET /api/whms/zones: zones with slot counts and occupancy',
    request: 'GET /api/whms/zones',
    by: people.vera,
    status: 200,
    answer: { data: [{ slotCount: Number, occupiedCount: Number }] },
  },
  {
    says: 'POST /api/whms/zones: zone create payload, created zone',
    request: 'POST /api/whms/zones',
    body: { name: 'Dock', zone_type: 'shipping', color: '#0000ff', warehouseId: 1 },
    status: 201,
    answer: { id: Number, name: 'Dock' },
  },
  {
    says: 'GET /api/whms/zones/:id/slots: all slots of the zone with current occupancy status',
    holds: async (t, at) => {
      const slot = await at.slot()
      await at.event('PLACED', slot, at.pallet())
      const { data } = await at.get('/api/whms/zones/1/slots')
      t.match(
        data.find(({ id }: { id: number }) => id === slot.id),
        { isOccupied: true },
      )
      t.equal(data.length, (await at.get('/api/whms/zones/1')).slotCount, 'all of them')
    },
  },
  {
    says: 'GET /api/whms/slots: all slots with occupancy computed from the ledger',
    holds: async (t, at) => {
      for (let n = 0; n < 60; n += 1) await at.slot()
      const { data } = await at.get('/api/whms/slots')
      t.equal(data.length, (await at.get('/api/whms/dashboard/utilization')).totalSlots)
      t.ok(data.every((slot: { isOccupied: unknown }) => typeof slot.isOccupied === 'boolean'))
    },
  },
  {
    says: 'GET /api/whms/slots/:id: slot metadata plus `isOccupied`, `assetBarcode`, `isVerified`',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      await at.event('PLACED', slot, pallet)
      const state = { slot_id: slot.slot_id, zone: 'A', isOccupied: true, assetBarcode: pallet, isVerified: false }
      t.match(await stateOf(at, slot), state)
    },
  },
  {
    says: 'POST /api/whms/slots: `slot_id`, `zone`, `floor_plan_polygon`; `zone_type` and `constraints` are slot fields: created slot',
    holds: async (t, at) => {
      const body = { zone_type: 'cold', constraints: { max_weight: 900 } }
      t.match(await at.slot(body), body)
    },
  },
  {
    says: 'PUT /api/whms/slots/:id: slot metadata, updated slot',
    holds: async (t, at) => {
      const slot = await at.slot()
      const path = `/api/whms/slots/${slot.id}`
      const read = await at.get(path)
      const reply = await at.ask('PUT', path, { body: { ...read, constraints: { max_height: 210 } } })
      t.equal(reply.status, 200)
      t.match(await at.get(path), { constraints: { max_height: 210 }, zone: 'A' })
      t.equal((await at.ask('PUT', path, { body: await at.get(path) })).body.version, reply.body.version, 'unchanged')
    },
  },
  {
    says: 'GET /api/whms/transport-units: all units with current stage and status',
    request: 'GET /api/whms/transport-units',
    by: people.vera,
    status: 200,
    answer: { data: [{ stage: String, status: String }] },
  },
  {
    says: 'GET /api/whms/transport-units/:id: full record incl. workflow history and evidence',
    holds: async (t, at) => {
      const unit = await at.post(
        '/api/whms/transport-units',
        { reference: 'SHIP-2', direction: 'outbound' },
        people.olga,
      )
      t.match(await at.get(`/api/whms/transport-units/${unit.id}`, people.vera), {
        ...{ reference: 'SHIP-2', direction: 'outbound', stage: 'registered' },
        history: [{ toStage: 'registered' }],
        evidence: { photos: 0, scaleReading: null },
      })
    },
  },
  {
    says: 'GET /api/whms/events: query parameters `slot_id`, `asset_barcode`, `event_type` (filters)',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      const placed = await at.event('PLACED', slot, pallet)
      await at.event('REMOVED', slot, pallet)
      const ids = async (query: string) => (await at.get(page(query))).data.map(({ id }: { id: number }) => id)
      t.equal((await ids(`slot_id=${slot.id}`)).length, 2)
      t.equal((await ids(`asset_barcode=${pallet}`)).length, 2)
      t.same(await ids(`slot_id=${slot.id}&event_type=PLACED`), [placed.id])
    },
  },
  {
    says: 'GET /api/whms/events: `limit`, `offset` (pagination)',
    holds: async (t, at) => {
      const slot = await at.slot()
      for (const type of ['PLACED', 'VERIFIED', 'REMOVED']) await at.event(type, slot, 'PAGED-1')
      const types = async (query: string) =>
        (await at.get(page(`slot_id=${slot.id}&${query}`))).data.map(
          (event: { event_type: string }) => event.event_type,
        )
      t.same(await types('limit=1'), ['REMOVED'])
      t.same(await types('limit=1&offset=1'), ['VERIFIED'])
      t.same(await types('limit=5&offset=2'), ['PLACED'])
    },
  },
  {
    says: 'POST /api/whms/events: `event_type`, `slot_id` (integer), `asset_barcode`, `operator`, `photo_url`, `scale_weight_kg`: created event',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      t.match(await at.event('PLACED', slot, pallet, { scale_weight_kg: 12 }), {
        slot_id: slot.id,
        asset_barcode: pallet,
      })
    },
  },
  {
    says: 'There is no update or delete operation for events.',
    holds: async (t, at) => {
      const { paths } = await at.get('/api/openapi')
      for (const [path, item] of Object.entries<object>(paths)) {
        if (!path.startsWith('/api/whms/events')) continue
        t.notOk('put' in item || 'patch' in item || 'delete' in item, path)
      }
    },
  },
  {
    says: 'GET /api/whms/assets: all registered assets with type and metadata',
    holds: async (t, at) => {
      const asset_id = at.pallet()
      await at.post('/api/whms/assets', { asset_id, type: 'box', weight_kg: 3 })
      const { data } = await at.get('/api/whms/assets', people.vera)
      const isIt = (asset: { asset_id: string }) => asset.asset_id === asset_id
      t.match(data.find(isIt), { type: 'box', weight_kg: 3 })
    },
  },
  {
    says: 'GET /api/whms/assets/:barcode/location: current slot of the asset, derived from the ledger',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      await at.event('PLACED', slot, pallet)
      t.match(await at.get(`/api/whms/assets/${pallet}/location`, people.vera), { slot: { id: slot.id } })
      t.equal((await at.ask('GET', '/api/whms/assets/NEVER-SEEN/location')).status, 404)
    },
  },
  {
    says: 'GET /api/whms/dashboard/utilization: the utilization response',
    request: 'GET /api/whms/dashboard/utilization',
    by: people.vera,
    status: 200,
    answer: { totalSlots: Number, byZone: [{ zone: String, occupied: Number, total: Number }] },
  },
  {
    says: 'GET /api/governance/audit: filters by entity, operator, time range: audit trail entries',
    request: 'GET /api/governance/audit?entity=slot&operator=ada&from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z',
    by: people.sven,
    status: 200,
    answer: { data: [{ entity: 'slot', operator: 'ada', timestamp: String }] },
  },
  {
    says: 'POST /api/governance/incidents: severity, category, evidence references: created incident report',
    request: 'POST /api/governance/incidents',
    by: people.olga,
    body: { severity: 'low', category: 'other', evidenceReferences: [] },
    status: 201,
    answer: { id: Number, status: 'open' },
  },
]
