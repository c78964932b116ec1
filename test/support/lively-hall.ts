import type { Place } from './browser.ts'
import { place, record } from './browser.ts'
import { heldPhoto, people } from './gateway.ts'
import { build, halls, labelAt } from './halls.ts'

type Test = { teardown(work: () => unknown): void }

const cameras = [
  { id: 1, name: 'Dock door 1', url: 'rtsp://127.0.0.1:9/main' },
  { id: 2, name: 'Aisle 3', url: 'rtsp://127.0.0.1:9/main', enabled: false },
]

/** Walls, columns, an office and dock doors around the slots; a meter is 100 units, and the slots begin at 200, 200. */
const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1600 1500" font-family="sans-serif" font-size="44">
  <rect width="1600" height="1500" fill="#f4f1ea"/>
  <path d="M40 40H1560V1460H40Z" fill="none" stroke="#555" stroke-width="24"/>
  ${[200, 600, 1000, 1400].map((x) => `<path d="M${x} 1448h200v24h-200z" fill="#fff" stroke="#555" stroke-width="6"/>`).join('')}
  ${[170, 1430].flatMap((x) => [170, 700, 1230].map((y) => `<rect x="${x - 18}" y="${y - 18}" width="36" height="36" fill="#777"/>`)).join('')}
  <path d="M1440 52V420H1548" fill="none" stroke="#777" stroke-width="10"/>
</svg>`
const dock = [
  { x: 0, y: 10.3 },
  { x: 12, y: 10.3 },
  { x: 12, y: 12.2 },
  { x: 0, y: 12.2 },
]

/**
 * A hall with something in every view: pallets in each state, units, a count, an incident, webhooks, devices, cameras. Its photos
 * show `picture`, a PNG.
 */
export async function livelyHall(t: Test, picture?: Uint8Array): Promise<Place> {
  const made = await place(t, { cameras, rateLimit: { requestsPerMinute: 100_000 } })
  const { gateway } = made
  const [hall] = halls
  if (hall) await build(gateway, hall)
  const send = async (path: string, body: object, by: (typeof people)[keyof typeof people] = people.ada) => {
    const answer = await gateway.ask('POST', `/api/${path}`, { by, body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
    return answer.body
  }
  await send('whms/zones', {
    ...{ name: 'Dock', zone_type: 'shipping', warehouseId: 1, color: '#b83280', floor_plan_polygon: dock },
  })
  await gateway.ask('PUT', '/api/whms/warehouses/1/floor-plan-image', { by: people.ada, bytes: drawing })
  const floorPlanImage = { place: { x: -2, y: -2, width: 16, opacity: 0.8 } }
  await gateway.ask('PUT', '/api/whms/warehouses/1', { by: people.ada, body: { floorPlanImage } })
  for (const column of [2, 4, 5, 7]) {
    const label = labelAt(column, 2)
    const photo_url = await heldPhoto(gateway, picture && column, picture)
    await record(gateway, { event_type: 'PLACED', slot_code: label, asset_barcode: `P-${column}`, photo_url })
    if (column < 5)
      await record(gateway, { event_type: 'VERIFIED', slot_code: label, asset_barcode: `P-${column}` }, people.sven)
  }
  const wrong = { slot_code: labelAt(5, 2), asset_barcode: 'P-5', verification_notes: 'The label is torn.' }
  await record(gateway, { event_type: 'DISPUTED', ...wrong }, people.sven)
  const photo = await heldPhoto(gateway, 0, picture)
  for (const [reference, direction] of [
    ['LKW-4711', 'inbound'],
    ['LKW-4712', 'outbound'],
    ['LKW-4713', 'inbound'],
  ]) {
    const unit = await send('whms/transport-units', { reference, direction, evidence: { photo_urls: [photo] } })
    if (reference !== 'LKW-4713') await send(`whms/transport-units/${unit.id}/advance`, {})
  }
  await send('whms/counts', { warehouseId: 1 }, people.sven)
  await send('governance/incidents', { severity: 'high', category: 'damage', evidenceReferences: [] })
  for (const active of [true, false])
    await send('webhooks', {
      ...{ url: 'https://erp.example.com/hooks', secret: 'a secret of sixteen or more', active },
      events: ['whms.placement', 'whms.removal'],
    })
  return made
}
