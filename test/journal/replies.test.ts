import t from 'tap'
import { furnish, heldPhoto, people, testGateway } from '../support/gateway.ts'

t.test('a repeat tells nobody again what is hidden from them by now, and does not happen twice', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const body = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url: await heldPhoto(gateway) }
  const post = (by = people.olga) =>
    gateway.ask('POST', '/api/whms/events', { by, body, headers: { 'Idempotency-Key': 'scan-1' } })
  t.equal((await post()).status, 201)
  const open = gateway.live.config
  gateway.live.config = { ...open, warehouses: [{ id: 1, viewers: ['vera'] }] }
  const refused = await post()
  t.match(refused, { status: 403, body: { error: { code: 'PERMISSION_DENIED', message: /hidden from you now/ } } })
  t.notMatch(refused.text, 'P-1')
  gateway.live.config = { ...open, warehouses: [{ id: 1, viewers: ['olga'] }] }
  const replayed = await post()
  t.match(replayed, { status: 201, body: { id: 1 } })
  t.equal(replayed.headers.get('idempotency-replayed'), 'true')
  const { body: events } = await gateway.ask('GET', '/api/whms/events', { by: people.ada })
  t.equal(events.data.length, 1)
})

t.test('a hall that is new and hidden does not spoil the repeats of before', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 2, viewers: ['vera'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
  const post = () =>
    gateway.ask('POST', '/api/whms/events', { by: people.olga, body, headers: { 'Idempotency-Key': 'scan-1' } })
  t.equal((await post()).status, 201)
  const hall = { name: 'Hall 2', timezone: 'Europe/Berlin' }
  t.match(await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: hall }), { body: { id: 2 } })
  t.equal((await post()).headers.get('idempotency-replayed'), 'true')
})
