import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { furnish, heldPhoto, type Person, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

const path = '/api/whms/slots'
const { ada, sven } = people
const polygon = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 1, y: 1 },
]

/** Two halls of 150 slots in all, in turns; the second one is hidden from everyone but admins. */
async function twoHalls(t: Test) {
  const gateway = await testGateway({ config: { warehouses: [{ id: 2, viewers: ['ada'] }] } })
  t.teardown(() => gateway.end())
  const send = async (method: string, at: string, body: object) => {
    const { status, text } = await gateway.ask(method, at, { by: ada, body })
    if (status >= 300) throw new Error(`${method} ${at}: ${status} ${text}`)
  }
  await furnish(gateway, ['A-1'])
  await send('POST', '/api/whms/warehouses', { name: 'Hall 2', timezone: 'Europe/Berlin' })
  await send('POST', '/api/whms/zones', { name: 'H', zone_type: 'storage', warehouseId: 2 })
  for (let n = 2; n <= 150; n += 1) {
    const place =
      n % 2 === 0 ? { slot_id: `H-${n}`, zone: 'H', zoneId: 2 } : { slot_id: `A-${n}`, zone: 'S', zoneId: 1 }
    await send('POST', path, { ...place, floor_plan_polygon: polygon })
  }
  const photo_url = await heldPhoto(gateway)
  const record = (event_type: string, slot_id: number, asset_barcode: string) =>
    send('POST', '/api/whms/events', { event_type, slot_id, asset_barcode, photo_url })
  return { gateway, send, record }
}

/** Holds the packed list against the one that is put together anew, to the letter, and returns both. */
async function packedAndPlain(t: Test, gateway: TestGateway, by: Person, what: string) {
  const ask = (more: Record<string, string>) => gateway.api.request(path, { headers: { ...signedIn(by), ...more } })
  const packed = await ask({ 'Accept-Encoding': 'gzip' })
  t.match([packed.status, packed.headers.get('content-encoding')], [200, 'gzip'])
  t.match(packed.headers.get('vary'), /accept-encoding/i)
  const bytes = Buffer.from(await packed.arrayBuffer())
  const plain = await (await ask({})).text()
  t.equal(gunzipSync(bytes).toString(), plain, `${what}: as ${by.username} sees it`)
  return { bytes, plain }
}

t.test('the packed list of all slots is the list, to the letter, after each change and for each caller', async (t) => {
  const { gateway, send, record } = await twoHalls(t)
  const changes: [string, () => Promise<unknown>][] = [
    ['nothing has happened', async () => {}],
    ['a pallet is placed', () => record('PLACED', 3, 'PALLET-"1"')],
    ['it is verified', () => record('VERIFIED', 3, 'PALLET-"1"')],
    ['it is disputed', () => record('DISPUTED', 3, 'PALLET-"1"')],
    ['another one stands over it', () => record('PLACED', 3, '架-2')],
    ['it is removed', () => record('REMOVED', 3, '架-2')],
    ['a pallet is placed in the hidden hall', () => record('PLACED', 4, 'SECRET-7')],
    ['a slot has another outline', () => send('PUT', `${path}/65`, { constraints: { max_weight: 800 } })],
    ['a slot retires', () => send('PUT', `${path}/64`, { retired: true })],
    ['a zone has another type', () => send('PUT', '/api/whms/zones/1', { zone_type: 'receiving' })],
    ['a zone has another name', () => send('PUT', '/api/whms/zones/2', { name: 'H "2"' })],
    ['a slot is added', () => send('POST', path, { slot_id: 'A-151', zone: 'none', floor_plan_polygon: polygon })],
  ]
  for (const [what, change] of changes) {
    await packedAndPlain(t, gateway, ada, `before ${what}`)
    await change()
    for (const by of [sven, ada, sven]) await packedAndPlain(t, gateway, by, what)
  }
  const seen = await packedAndPlain(t, gateway, sven, 'at the end')
  t.notMatch(seen.plain, /SECRET-7|"H-/)
  t.equal(JSON.parse(seen.plain).pagination.total, 76)
})

t.test('what an admin has asked for is not shown to a supervisor who asks next, or at the same time', async (t) => {
  const { gateway, record } = await twoHalls(t)
  await record('PLACED', 4, 'SECRET-7')
  const all = await packedAndPlain(t, gateway, ada, 'an admin first')
  const few = await packedAndPlain(t, gateway, sven, 'then a supervisor')
  const [again, fewAgain] = await Promise.all([ada, sven].map((by) => packedAndPlain(t, gateway, by, 'both at once')))
  t.match(all.plain, /SECRET-7/)
  t.notMatch(few.plain, /SECRET-7/)
  t.same([again?.bytes, fewAgain?.bytes], [all.bytes, few.bytes], 'the same bytes while nothing changes')
})
