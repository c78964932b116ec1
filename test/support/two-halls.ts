import { importer } from '../../src/app/control/import-command.ts'
import type { FromCameras } from '../../src/video/index.ts'
import { furnish, type Person, people, signedIn, siteUrl, type TestGateway, testGateway } from './gateway.ts'
import { jpeg } from './photo.ts'

/** Part of every text of the hidden hall, in this spelling. */
export const canary = 'kanarie'

export const rita: Person = { username: 'rita', role: 'supervisor' }

const polygon = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 1, y: 1 },
]

/** The contents of the hidden hall, by the name under which a request may refer to each. */
export type Hidden = Readonly<Record<HiddenKind, string>>
export type HiddenKind =
  | 'warehouse'
  | 'zone'
  | 'slot'
  | 'slotLabel'
  | 'barcode'
  | 'event'
  | 'photo'
  | 'photoUrl'
  | 'unit'
  | 'sscc'
  | 'scaleReading'
  | 'scale'
  | 'openingList'
  | 'count'
  | 'printJob'
  | 'detection'
  | 'camera'
  | 'incident'
  | 'report'
  | 'word'

/**
 * A gateway with two halls: the first for everyone, the second hidden from all but rita and admins. In the second is
 * one of everything, with a canary in each of its texts. The slots of the first one are empty, and P-1
 * is in A-00.
 */
export async function twoHalls(): Promise<{ gateway: TestGateway; hidden: Hidden; device: Record<string, string> }> {
  const gateway = await testGateway({
    people: [...Object.values(people), rita],
    config: {
      warehouses: [{ id: 2, viewers: [rita.username] }],
      cameras: [
        { id: 6, name: 'Gate', url: 'rtsp://192.0.2.6/main', owner: 'vera', slots: ['A-00'] },
        { id: 7, name: `Gate ${canary}`, url: 'rtsp://192.0.2.7/main', owner: rita.username, slots: [`H-${canary}`] },
      ],
      printers: [{ name: 'dock', host: '127.0.0.1', port: 9 }],
    },
  })
  const ask = async (by: Person, method: string, path: string, body?: unknown) => {
    const answer = await gateway.ask(method, path, { by, ...(body !== undefined && { body }) })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }
  const { ada } = people
  await furnish(gateway, ['A-00', ...Array.from({ length: 40 }, (_, n) => `A-${String(n + 1).padStart(2, '0')}`)])
  const photo_url = 'https://photos.example/1.jpg'
  const placed = { event_type: 'PLACED', slot_code: 'A-00', asset_barcode: 'P-1', photo_url }
  await ask(people.olga, 'POST', '/api/whms/events', placed)
  const warehouse = await ask(ada, 'POST', '/api/whms/warehouses', { name: `Hall ${canary}`, timezone: 'UTC' })
  const zone = await ask(ada, 'POST', '/api/whms/zones', {
    name: `Zone ${canary}`,
    zone_type: 'cold',
    warehouseId: warehouse.id,
  })
  const slotOf = (slot_id: string) =>
    ask(ada, 'POST', '/api/whms/slots', { slot_id, zone: zone.name, zoneId: zone.id, floor_plan_polygon: polygon })
  const slot = await slotOf(`H-${canary}`)
  const stock = await slotOf(`S-${canary}`)
  const sent = await gateway.ask('POST', '/api/whms/evidence/photos', {
    by: rita,
    bytes: jpeg({ taken: '2026:03:02 08:00:00', width: 640, height: 480 }),
    headers: { 'Content-Type': 'image/jpeg' },
  })
  const photo = sent.body
  const barcode = `P-${canary}`
  const event = await ask(rita, 'POST', '/api/whms/events', {
    event_type: 'PLACED',
    slot_code: slot.slot_id,
    asset_barcode: barcode,
    operator: `piet ${canary}`,
    photo_url: photo.url,
    work_order_ref: `W-${canary}`,
    verification_notes: `note ${canary}`,
    client_event_id: `c-${canary}`,
    scan: { slot: slot.slot_id, asset: barcode },
  })
  await ask(rita, 'POST', '/api/whms/events', {
    event_type: 'DISPUTED',
    slot_code: slot.slot_id,
    asset_barcode: barcode,
    verification_notes: `torn ${canary}`,
  })
  const sscc = '340000000000000014'
  const unit = await ask(rita, 'POST', '/api/whms/transport-units', {
    reference: `U-${canary}`,
    sscc,
    direction: 'inbound',
    warehouseId: warehouse.id,
    carrier: `Carrier ${canary}`,
    vehicle: `V ${canary}`,
    note: `unit ${canary}`,
    evidence: { photo_urls: [photo.url] },
  })
  const reading = await ask(rita, 'POST', '/api/iot/scale-readings', {
    scaleId: `scale-${canary}`,
    weightKg: 417.25,
    slot_id: slot.id,
    asset_barcode: barcode,
  })
  const list = Buffer.from(`slot_id,asset_barcode\n${stock.slot_id},L-${canary}\n`)
  const imported = await importer(gateway)(
    list,
    { kind: 'opening-stock', dryRun: false, createZones: false } as never,
    'root',
  )
  if (!imported.ok) throw new Error(JSON.stringify(imported.problems))
  const count = await ask(rita, 'POST', '/api/whms/counts', {
    warehouseId: warehouse.id,
    slot_codes: [stock.slot_id],
    reference: `count ${canary}`,
  })
  await ask(rita, 'POST', `/api/whms/counts/${count.id}/scans`, { slot_code: stock.slot_id, barcodes: [`X-${canary}`] })
  const job = await ask(rita, 'POST', '/api/whms/labels/print', { printer: 'dock', slot_code: slot.slot_id })
  await ask(rita, 'POST', '/api/whms/labels/print', { printer: 'dock', asset_barcode: barcode })
  await detect(gateway)
  const incident = await ask(rita, 'POST', '/api/governance/incidents', {
    severity: 'high',
    category: `torn-${canary}`,
    title: `Torn ${canary}`,
    description: `text ${canary}`,
    warehouseId: warehouse.id,
    evidenceReferences: [{ type: 'event', id: String(event.id) }, `file ${canary}`],
  })
  const day = { from: '2026-03-01T00:00:00Z', to: '2026-03-03T00:00:00Z' }
  const report = await ask(ada, 'POST', '/api/governance/reports', day)
  return {
    gateway,
    device: await deviceOfFirstHall(gateway),
    hidden: {
      warehouse: String(warehouse.id),
      zone: String(zone.id),
      slot: String(slot.id),
      slotLabel: slot.slot_id,
      barcode,
      event: String(event.id),
      photo: photo.sha256,
      photoUrl: photo.url,
      unit: unit.id,
      sscc,
      scaleReading: String(reading.id),
      scale: `scale-${canary}`,
      openingList: imported.sha256,
      count: String(count.id),
      printJob: String(job.id),
      detection: '1',
      camera: '7',
      incident: String(incident.id),
      report: String(report.id),
      word: canary,
    },
  }
}

async function detect(gateway: TestGateway): Promise<void> {
  const motionAt = gateway.clock.now()
  const facts = { cameraId: 7, motionAt, score: 0.42, sceneChange: false }
  const fired: FromCameras = { ...facts, type: 'motionFired', detectionId: 1, clip: false }
  gateway.cameras.heard(fired)
  await gateway.audit('test.settled', {})
}

async function deviceOfFirstHall(gateway: TestGateway): Promise<Record<string, string>> {
  const device = { name: 'handheld-7', kind: 'handheld', role: 'supervisor', warehouseIds: [1] }
  const made = await gateway.ask('POST', '/api/devices', { by: people.ada, body: device })
  const { body } = await gateway.ask('POST', '/api/devices/enrol', { body: { code: made.body.enrolment.code } })
  return {
    Authorization: `Bearer ${body.secret}`,
    'X-Storage-Instance': siteUrl,
    'X-Storage-Username': 'handheld-7',
  }
}

/** Every caller from whom the second hall is hidden. */
export const outsiders = (device: Record<string, string>): Record<string, Record<string, string>> => ({
  viewer: signedIn(people.vera),
  operator: signedIn(people.olga),
  supervisor: signedIn(people.sven),
  'handheld of the first hall': device,
})
