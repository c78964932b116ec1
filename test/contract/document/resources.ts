import { people } from '../../support/gateway.ts'
import type { Row } from './row.ts'
import { photoUrl, square } from './world.ts'

const { ada, olga, sven } = people
const zoneTypes = ['storage', 'staging', 'receiving', 'shipping', 'cold', 'hazmat']
const assetTypes = ['pallet', 'container', 'box', 'drum', 'equipment']

/** "What the service does", and its design rules. */
export const overview: readonly Row[] = [
  {
    says: 'All paths are relative to {base_url}.',
    holds: async (t, at) => {
      const { paths } = await at.get('/api/openapi')
      t.same(
        Object.keys(paths).filter((path) => !path.startsWith('/api/')),
        [],
      )
    },
  },
  {
    says: 'All request and response bodies are JSON unless stated otherwise.',
    holds: async (t, at) => {
      const reply = await at.ask('GET', '/api/whms/warehouses')
      t.match(reply.headers.get('content-type'), /^application\/json/)
      const wrong = await at.ask('POST', '/api/whms/warehouses', {
        headers: { 'Content-Type': 'text/plain' },
        body: {},
      })
      t.equal(wrong.status, 415)
    },
  },
  {
    says: 'Manages warehouses made of zones, and zones made of slots (physical storage locations with a polygon on a floor plan).',
    holds: async (t, at) => {
      const slot = await at.slot()
      t.match(await at.get('/api/whms/warehouses/1'), { zones: [{ id: 1, name: 'A' }] })
      const { data } = await at.get('/api/whms/zones/1/slots')
      t.match(
        data.find(({ id }: { id: number }) => id === slot.id),
        { slot_id: slot.slot_id, floor_plan_polygon: square },
      )
    },
  },
  {
    says: 'Assets (pallets, containers and so on) are placed into and removed from slots.',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      await at.event('PLACED', slot, pallet)
      t.match(await at.get(`/api/whms/slots/${slot.id}`), { isOccupied: true, assetBarcode: pallet })
      await at.event('REMOVED', slot, pallet)
      t.match(await at.get(`/api/whms/slots/${slot.id}`), { isOccupied: false, assetBarcode: null })
    },
  },
  {
    says: 'Slot occupancy, verification status and asset location are never stored directly. They are computed from the ledger.',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      const placed = await at.event('PLACED', slot, pallet)
      await at.event('REMOVED', slot, pallet)
      const then = `?at=${placed.timestamp}`
      t.match(await at.get(`/api/whms/slots/${slot.id}${then}`), { isOccupied: true, assetBarcode: pallet })
      t.match(await at.get(`/api/whms/assets/${pallet}/location${then}`), { slot: { id: slot.id } })
      const change = await at.ask('PUT', `/api/whms/slots/${slot.id}`, { body: { isOccupied: true } })
      t.equal(change.status, 200)
      t.match(await at.get(`/api/whms/slots/${slot.id}`), { isOccupied: false }, 'a PUT does not change it')
    },
  },
  {
    says: 'Offers governance routes: an audit trail query and incident reporting.',
    request: 'GET /api/governance/audit',
    status: 200,
    answer: { success: true, data: Array },
  },
  {
    says: 'Rows are never updated and never deleted.',
    holds: async (t, at) => {
      const event = await at.event('PLACED', await at.slot(), at.pallet())
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        const reply = await at.ask(method, `/api/whms/events/${event.id}`, method === 'DELETE' ? {} : { body: {} })
        t.equal(reply.body.success, false, method)
        t.equal(reply.body.error.code, 'LEDGER_IMMUTABLE', method)
      }
      t.match(await at.get(`/api/whms/events/${event.id}`), { evidence_hash: event.evidence_hash })
    },
  },
  {
    says: 'Every placement, removal and verification is a new row.',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      for (const type of ['PLACED', 'VERIFIED', 'REMOVED']) await at.event(type, slot, pallet)
      const { data } = await at.get(`/api/whms/events?slot_id=${slot.id}`)
      t.same(
        data.map((event: { event_type: string }) => event.event_type),
        ['REMOVED', 'VERIFIED', 'PLACED'],
      )
    },
  },
  {
    says: 'Positions are warehouse-local floor-plan coordinates (x, y), not GPS.',
    request: 'POST /api/whms/slots',
    body: { slot_id: 'FAR-1', zone: 'A', floor_plan_polygon: square.map(({ x, y }) => ({ x: x + 4000, y: y + 9000 })) },
    status: 201,
    answer: { floor_plan_polygon: [{ x: 4000, y: 9000 }] },
  },
  {
    says: 'The stable `slot_id` is the primary reference for a slot.',
    holds: async (t, at) => {
      const slot = await at.slot()
      t.match(await at.get(`/api/whms/slots/${slot.slot_id}`), { id: slot.id })
      const renamed = await at.ask('PUT', `/api/whms/slots/${slot.id}`, { body: { slot_id: 'ELSEWHERE-1' } })
      t.equal(renamed.status, 400)
    },
  },
  {
    says: 'Every placement requires evidence: scan proof (barcode or QR of slot and asset) and photo proof (timestamped photo at placement).',
    holds: async (t, at) => {
      const body = { event_type: 'PLACED', slot_id: (await at.slot()).id, asset_barcode: at.pallet(), operator: 'olga' }
      const without = await at.ask('POST', '/api/whms/events', { by: olga, body })
      t.equal(without.status, 400)
      t.equal(without.body.error.code, 'EVIDENCE_REQUIRED')
      const { asset_barcode, ...unscanned } = { ...body, photo_url: photoUrl() }
      t.equal((await at.ask('POST', '/api/whms/events', { by: olga, body: unscanned })).status, 400, asset_barcode)
    },
  },
  {
    says: 'A camera clip link and scale weight data are optional.',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      t.match(await at.event('PLACED', slot, pallet), { cctv_clip_url: null, scale_weight_kg: null })
      const more = { cctv_clip_url: 'https://clips.example/1.mp4', scale_weight_kg: 412.5 }
      t.match(await at.event('PLACED', await at.slot(), at.pallet(), more), more)
    },
  },
]

/** "Resources and their fields". */
export const resources: readonly Row[] = [
  {
    says: 'Warehouse: name string, location object (`lat` number, `lng` number), timezone string (time-zone name)',
    request: 'POST /api/whms/warehouses',
    body: { name: 'Hall 2', location: { lat: 48.1, lng: 11.6 }, timezone: 'Europe/Vienna' },
    status: 201,
    answer: { id: Number, name: 'Hall 2', location: { lat: 48.1, lng: 11.6 }, timezone: 'Europe/Vienna' },
  },
  {
    says: 'timezone: a time-zone name, so no other text',
    request: 'POST /api/whms/warehouses',
    body: { name: 'Hall 3', timezone: 'Mars/Olympus' },
    status: 400,
    answer: { error: { code: 'VALIDATION_ERROR', details: /timezone/ } },
  },
  {
    says: 'The detail view returns warehouse metadata, a zone summary and utilization statistics.',
    request: 'GET /api/whms/warehouses/1',
    status: 200,
    answer: { name: 'Hall 1', zones: [{ name: 'A', zone_type: 'storage' }], utilization: { totalSlots: Number } },
  },
  ...zoneTypes.map(
    (zone_type): Row => ({
      says: `Zone: zone_type is one of storage, staging, receiving, shipping, cold, hazmat: ${zone_type}`,
      request: 'POST /api/whms/zones',
      body: { name: `Of ${zone_type}`, zone_type, color: '#1a2b3c', warehouseId: 1 },
      status: 201,
      answer: { zone_type, color: '#1a2b3c', warehouseId: 1 },
    }),
  ),
  {
    says: 'zone_type: one of six, so no other',
    request: 'POST /api/whms/zones',
    body: { name: 'Garden', zone_type: 'garden', color: '#1a2b3c', warehouseId: 1 },
    status: 400,
    answer: { error: { code: 'VALIDATION_ERROR', details: /zone_type/ } },
  },
  {
    says: 'color: hex colour, form `#rrggbb`',
    request: 'POST /api/whms/zones',
    body: { name: 'Red', zone_type: 'storage', color: 'red', warehouseId: 1 },
    status: 400,
    answer: { error: { code: 'VALIDATION_ERROR', details: /color/ } },
  },
  {
    says: 'warehouseId: owning warehouse',
    request: 'POST /api/whms/zones',
    body: { name: 'Lost', zone_type: 'storage', color: '#1a2b3c', warehouseId: 4711 },
    status: 400,
    answer: { error: { code: 'REFERENCE_NOT_FOUND' } },
  },
  {
    says: 'The zone list returns zones with slot counts and occupancy data.',
    holds: async (t, at) => {
      const read = async () => (await at.get('/api/whms/zones')).data.find(({ id }: { id: number }) => id === 1)
      const before = await read()
      await at.event('PLACED', await at.slot(), at.pallet())
      t.match(await read(), {
        slotCount: before.slotCount + 1,
        occupiedCount: before.occupiedCount + 1,
        utilizationPercent: Number,
      })
    },
  },
  {
    says: 'slot_id: text, unique identifier',
    holds: async (t, at) => {
      const { slot_id } = await at.slot()
      const again = await at.ask('POST', '/api/whms/slots', {
        body: { slot_id, zone: 'A', floor_plan_polygon: square },
      })
      t.equal(again.status, 400)
      t.equal(again.body.error.code, 'ALREADY_EXISTS')
    },
  },
  {
    says: 'zone: zone category such as A, B, C',
    holds: async (t, at) => {
      t.match(await at.slot(), { zone: 'A', zoneId: 1 })
      t.match(await at.slot({ zone: 'Z' }), { zone: 'Z', zoneId: null }, 'a category without a zone of its name')
    },
  },
  ...zoneTypes.map(
    (zone_type): Row => ({
      says: `Slot: zone_type is one of storage, staging, receiving, shipping, cold, hazmat: ${zone_type}`,
      request: 'POST /api/whms/slots',
      body: { slot_id: `OF-${zone_type}`, zone: 'A', zone_type, floor_plan_polygon: square },
      status: 201,
      answer: { zone_type },
    }),
  ),
  {
    says: 'floor_plan_polygon: array of points `{x: number, y: number}` that defines the geofence',
    request: 'POST /api/whms/slots',
    body: { slot_id: 'LINE-1', zone: 'A', floor_plan_polygon: [{ x: 0, y: 'one' }] },
    status: 400,
    answer: { error: { code: 'VALIDATION_ERROR', details: /floor_plan_polygon/ } },
  },
  {
    says: 'constraints: JSON with the keys `max_weight`, `max_height`, `allowed_types`',
    request: 'POST /api/whms/slots',
    body: {
      ...{ slot_id: 'BOUND-1', zone: 'A', floor_plan_polygon: square },
      constraints: { max_weight: 1200, max_height: 180, allowed_types: ['pallet'] },
    },
    status: 201,
    answer: { constraints: { max_weight: 1200, max_height: 180, allowed_types: ['pallet'] } },
  },
  {
    says: 'Computed slot status: `isOccupied` (boolean), `assetBarcode` (string or null), `isVerified` (boolean).',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      t.match(await at.get(`/api/whms/slots/${slot.id}`), { isOccupied: false, assetBarcode: null })
      await at.event('PLACED', slot, pallet)
      t.match(await at.get(`/api/whms/slots/${slot.id}`), { isOccupied: true, assetBarcode: pallet, isVerified: false })
    },
  },
  ...assetTypes.map(
    (type): Row => ({
      says: `Asset: type is one of pallet, container, box, drum, equipment: ${type}`,
      request: 'POST /api/whms/assets',
      body: { asset_id: `A-${type}`, type, weight_kg: 12.5, dimensions: { length: 120, width: 80, height: 144 } },
      status: 201,
      answer: { asset_id: `A-${type}`, type, weight_kg: 12.5, dimensions: { length: 120, width: 80, height: 144 } },
    }),
  ),
  {
    says: 'type: one of five, so no other',
    request: 'POST /api/whms/assets',
    body: { asset_id: 'A-elephant', type: 'elephant' },
    status: 400,
    answer: { error: { details: /type/ } },
  },
  {
    says: 'asset_id: unique identifier',
    request: 'POST /api/whms/assets',
    body: { asset_id: 'A-pallet', type: 'pallet' },
    status: 400,
    answer: { error: { code: 'ALREADY_EXISTS' } },
  },
  {
    says: 'asset_id is the barcode used in events',
    holds: async (t, at) => {
      await at.event('PLACED', await at.slot(), 'A-drum')
      t.match(await at.get('/api/whms/assets/A-drum/location'), { slot: { slot_id: String } })
    },
  },
  {
    says: "An asset's current location (a slot) is derived from the ledger.",
    holds: async (t, at) => {
      const [first, second, pallet] = [await at.slot(), await at.slot(), at.pallet()]
      await at.event('PLACED', first, pallet)
      await at.event('PLACED', second, pallet)
      t.match(await at.get(`/api/whms/assets/${pallet}/location`), { slot: { id: second.id, slot_id: second.slot_id } })
    },
  },
  {
    says: 'Placement event: event_type, slot_id, asset_barcode, operator, timestamp, photo_url, scale_weight_kg, evidence_hash, cctv_clip_url, work_order_ref, verification_notes',
    holds: async (t, at) => {
      const sent = {
        ...{ event_type: 'PLACED', slot_id: (await at.slot()).id, asset_barcode: at.pallet(), operator: 'olga' },
        ...{ timestamp: new Date().toISOString(), photo_url: photoUrl(), scale_weight_kg: 640 },
        ...{ cctv_clip_url: 'https://clips.example/2.mp4', work_order_ref: 'WO-9', verification_notes: 'seen' },
      }
      const reply = await at.ask('POST', '/api/whms/events', { by: olga, body: sent })
      t.equal(reply.status, 201)
      t.match(reply.body, { ...sent, evidence_hash: /^[0-9a-f]{64}$/ })
      t.same(reply.body.warnings, [], 'an ordinary event has no warning')
    },
  },
  {
    says: 'event_type: PLACED, REMOVED, VERIFIED, DISPUTED',
    request: 'POST /api/whms/events',
    by: sven,
    body: { event_type: 'MOVED', slot_id: 1, asset_barcode: 'X' },
    status: 400,
    answer: { error: { code: 'VALIDATION_ERROR', details: /event_type/ } },
  },
  {
    says: 'slot_id: integer in the create payload',
    request: 'POST /api/whms/events',
    by: olga,
    body: { event_type: 'REMOVED', slot_id: 'one', asset_barcode: 'X' },
    status: 400,
    answer: { error: { code: 'VALIDATION_ERROR', details: /slot_id/ } },
  },
  {
    says: 'PLACED is an asset placed in a slot. REMOVED is an asset removed from a slot.',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      t.match(await at.event('PLACED', slot, pallet), { event_type: 'PLACED', effect: 'applied' })
      t.match(await at.event('REMOVED', slot, pallet), { event_type: 'REMOVED', effect: 'applied' })
    },
  },
  {
    says: 'VERIFIED is a supervisor verifying a placement. DISPUTED is a supervisor disputing a placement.',
    holds: async (t, at) => {
      const [slot, pallet] = [await at.slot(), at.pallet()]
      await at.event('PLACED', slot, pallet)
      for (const event_type of ['VERIFIED', 'DISPUTED']) {
        const body = { event_type, slot_id: slot.id, asset_barcode: pallet, operator: 'olga' }
        t.equal(
          (await at.ask('POST', '/api/whms/events', { by: olga, body })).status,
          403,
          `${event_type} by an operator`,
        )
        t.equal(
          (await at.ask('POST', '/api/whms/events', { by: sven, body })).status,
          201,
          `${event_type} by a supervisor`,
        )
      }
    },
  },
  {
    says: 'Transport unit: a current stage and status, a workflow history and evidence. Evidence carries at least a photo count and a scale reading.',
    holds: async (t, at) => {
      const unit = await at.post('/api/whms/transport-units', { reference: 'SHIP-1', direction: 'inbound' }, olga)
      const evidence = { photo_urls: [photoUrl()], scale_weight_kg: 830 }
      await at.post(`/api/whms/transport-units/${unit.id}/advance`, { operator: 'olga', evidence }, olga)
      t.match(await at.get(`/api/whms/transport-units/${unit.id}`), {
        ...{ stage: 'receiving', status: 'active' },
        history: Array,
        evidence: { photos: 1, scaleReading: 830 },
      })
    },
  },
  {
    says: 'The list returns each unit with its current stage and status.',
    request: 'GET /api/whms/transport-units',
    status: 200,
    answer: { data: [{ id: String, stage: String, status: String }] },
  },
  {
    says: 'Audit entry: an audit trail entry, filterable by entity, operator and time range.',
    holds: async (t, at) => {
      const slot = await at.slot()
      const event = await at.event('PLACED', slot, at.pallet())
      const query = `entity=event&operator=olga&from=${event.received_at}`
      const { data } = await at.get(`/api/governance/audit?${query}`)
      t.ok(data.some(({ entityId }: { entityId: unknown }) => String(entityId) === String(event.id)))
      t.ok(data.every(({ entity }: { entity: string }) => entity === 'event'))
      t.same((await at.get(`/api/governance/audit?${query}&to=${event.received_at}`)).data, [], 'an empty time range')
    },
  },
  {
    says: 'Incident: a compliance incident carrying severity, category and evidence references.',
    request: 'POST /api/governance/incidents',
    by: olga,
    body: { severity: 'high', category: 'damage', evidenceReferences: ['photo 17'] },
    status: 201,
    answer: { severity: 'high', category: 'damage', evidenceReferences: Array },
  },
  {
    says: 'Health response: status string (`healthy` when healthy), timestamp ISO 8601, uptime number, version string',
    request: 'GET /api/health',
    by: null,
    status: 200,
    answer: {
      status: /^(healthy|degraded)$/,
      timestamp: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
      uptime: Number,
      version: '1.2.3',
    },
  },
  {
    says: 'checks: object keyed by component name (for instance `database`, `redis`), each `{status: string, responseTime: number}`',
    request: 'GET /api/health',
    by: null,
    status: 200,
    answer: { checks: { database: { status: 'healthy', responseTime: Number } } },
  },
  {
    says: '`totalSlots`, `occupiedSlots`, `utilizationPercent`, `pendingVerifications` (numbers), and `byZone`: array of `{zone: string, occupied: number, total: number}`.',
    holds: async (t, at) => {
      const seen = await at.get('/api/whms/dashboard/utilization')
      t.match(seen, {
        totalSlots: Number,
        occupiedSlots: Number,
        utilizationPercent: Number,
        pendingVerifications: Number,
      })
      t.match(seen.byZone[0], { zone: String, occupied: Number, total: Number })
      const total = seen.byZone.reduce((sum: number, row: { total: number }) => sum + row.total, 0)
      t.equal(total, seen.totalSlots)
    },
  },
  {
    says: 'Webhook registration: url (HTTPS endpoint), events string[], secret string, active boolean',
    request: 'POST /api/webhooks',
    by: ada,
    body: { url: 'https://wms.example/hook', events: ['whms.placement'], secret: 'one two three four', active: false },
    status: 201,
    answer: { url: 'https://wms.example/hook', events: ['whms.placement'], active: false },
  },
]
