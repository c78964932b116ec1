import t from 'tap'
import { furnish, heldPhoto, people, testGateway } from '../support/gateway.ts'

t.test('the list of a whole hall says of each slot what its page says, to the letter', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const by = people.ada
  const send = async (status: number, method: string, path: string, body: object) =>
    t.equal((await gateway.ask(method, path, { by, body })).status, status, `${method} ${path}`)
  await furnish(gateway, ['A-1', 'Gate "S" \\ 2', '架-3', 'leaves'], {
    constraints: { max_weight: 800, allowed_types: ['pallet'] },
  })
  const { floor_plan_polygon } = (await gateway.ask('GET', '/api/whms/slots/1', { by })).body
  await send(201, 'POST', '/api/whms/slots', { slot_id: 'bare', zone: 'no "such" zone', floor_plan_polygon })
  await send(200, 'PUT', '/api/whms/slots/4', { retired: true })
  const photo_url = await heldPhoto(gateway)
  await send(201, 'POST', '/api/whms/events', {
    ...{ event_type: 'PLACED', slot_id: 2, asset_barcode: 'PALLET-"1"', photo_url },
  })
  const [listed, page] = await Promise.all(
    ['', '?limit=100'].map((query) => gateway.ask('GET', `/api/whms/slots${query}`, { by })),
  )
  const rowsOf = (text = '') => text.slice(0, text.indexOf('],"pagination"'))
  t.equal(rowsOf(listed?.text), rowsOf(page?.text))
  t.match(listed?.body.data, [
    { slot_id: 'A-1', constraints: { max_weight: 800 }, zone_type: 'storage', isOccupied: false },
    { slot_id: 'Gate "S" \\ 2', isOccupied: true, assetBarcode: 'PALLET-"1"' },
    { slot_id: '架-3' },
    { slot_id: 'leaves', retiredAt: String },
    { slot_id: 'bare', zone: 'no "such" zone', zoneId: null, zone_type: null, constraints: null, retiredAt: null },
  ])
})
