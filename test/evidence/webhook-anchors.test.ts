import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkBundle } from '../../src/proof/index.ts'
import { verifyBundle } from '../support/evidence/bundle.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

/** A gateway whose removals go to a receiver at an address with a secret path. */
async function warehouse(t: Test, { status = (_: number): number => 200, checkpoint = true } = {}) {
  const secret = 'a secret that both know'
  const receiver = await startReceiver({ secret, behave: (_, nth) => ({ status: status(nth) }) })
  t.teardown(() => receiver.stop())
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-anchors-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const caFile = join(folder, 'receiver.pem')
  writeFileSync(caFile, receiver.caPem)
  const gateway = await testGateway({ config: { webhooks: { allowNetworks: ['127.0.0.0/8'], caFile } } })
  t.teardown(async () => {
    await gateway.webhooks.worker.stop()
    gateway.end()
  })
  await furnish(gateway, ['A'])
  const url = `${receiver.url}?token=hush`
  const { id } = (
    await gateway.ask('POST', '/api/webhooks', {
      by: people.ada,
      body: { url, events: ['whms.removal'], secret, checkpoint },
    })
  ).body
  gateway.webhooks.worker.start()
  const choose = (wanted: boolean) =>
    gateway.ask('PATCH', `/api/webhooks/${id}`, { by: people.ada, body: { checkpoint: wanted } })
  const test = () => gateway.ask('POST', `/api/webhooks/${id}/test`, { by: people.ada })
  return { gateway, receiver, host: new URL(url).hostname, choose, test }
}

const removal = (n: number) => ({ event_type: 'REMOVED', slot_code: 'A', asset_barcode: `P-${n}` })

async function remove(gateway: TestGateway, received: readonly Received[], n: number): Promise<void> {
  await gateway.ask('POST', '/api/whms/events', { by: people.ada, body: removal(n) })
  while (received.length < n) await new Promise((resolve) => setImmediate(resolve))
  await gateway.webhooks.worker.settled()
  gateway.clock.advance(1100)
}

const proofOf = (gateway: TestGateway, id: number) =>
  gateway.ask('GET', `/api/whms/events/${id}/proof`, { by: people.vera })

t.test(
  'a proof names the receivers that have seen a checkpoint over the row, and nothing of their address',
  async (t) => {
    const { gateway, receiver, host } = await warehouse(t)
    const { received } = receiver
    await remove(gateway, received, 1)
    await gateway.checkpoints.make()
    t.strictSame((await proofOf(gateway, 1)).body.anchors, [], 'the first notification carried no checkpoint')
    await remove(gateway, received, 2)
    const at = new Date(gateway.clock.now() - 1100).toISOString()
    const { body, text } = await proofOf(gateway, 1)
    const deliveryId = received[1]?.deliveryId
    t.strictSame(body.anchors, [{ kind: 'webhook', deliveryId, host, statusCode: 200, at }])
    t.notMatch(text, /hush|token=/)
    t.match(received[1]?.event.metadata, { checkpoint: { size: 1 } }, 'what the receiver can be asked for')
    t.strictSame((await proofOf(gateway, 2)).body.anchors, [], 'its checkpoint was carried by no notification yet')
    await remove(gateway, received, 3)
    t.match((await proofOf(gateway, 2)).body.anchors, [{ deliveryId: received[2]?.deliveryId }])
    t.match((await proofOf(gateway, 1)).body.anchors, [{ deliveryId }], 'the first one stays')
    const { logKey } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
    t.match(verifyBundle(text, { keys: [logKey] }), { ok: true })
    const { ok, findings } = await checkBundle(crypto.subtle, text, { keys: [], file: () => undefined })
    t.equal(ok, true)
    t.match(
      findings.find(({ step }) => step === 'anchors'),
      {
        state: 'not checked',
        words: `not checkable here, ask the receiver: ${host} (delivery ${deliveryId}, answered 200 at ${at})`,
      },
    )
  },
)

t.test('a receiver that refused has seen nothing', async (t) => {
  const { gateway, receiver } = await warehouse(t, { status: (nth) => (nth === 1 ? 200 : 500) })
  await remove(gateway, receiver.received, 1)
  await gateway.checkpoints.make()
  await remove(gateway, receiver.received, 2)
  t.strictSame((await proofOf(gateway, 1)).body.anchors, [])
})

t.test('a receiver that gets no checkpoints is no anchor', async (t) => {
  const { gateway, receiver } = await warehouse(t, { checkpoint: false })
  await remove(gateway, receiver.received, 1)
  await gateway.checkpoints.make()
  await remove(gateway, receiver.received, 2)
  t.strictSame((await proofOf(gateway, 1)).body.anchors, [])
})

t.test('a receiver that switches checkpoints on later is a witness of all earlier events', async (t) => {
  const { gateway, receiver, choose } = await warehouse(t, { checkpoint: false })
  const { received } = receiver
  for (const n of [1, 2]) await remove(gateway, received, n)
  await gateway.checkpoints.make()
  await choose(true)
  await remove(gateway, received, 3)
  const witness = [{ kind: 'webhook', deliveryId: received[2]?.deliveryId }]
  t.match((await proofOf(gateway, 1)).body.anchors, witness)
  t.match((await proofOf(gateway, 2)).body.anchors, witness)
  t.match(received[2]?.event.metadata, { checkpoint: { size: 2 } })
})

t.test(
  'a receiver that missed its first checkpoints and switched them off for a time is a witness again',
  async (t) => {
    const { gateway, receiver, choose, test } = await warehouse(t, { status: (nth) => (nth === 2 ? 500 : 200) })
    const { received } = receiver
    await remove(gateway, received, 1)
    await gateway.checkpoints.make()
    await remove(gateway, received, 2)
    await choose(false)
    t.match((await test()).body, { delivered: true })
    t.strictSame((await proofOf(gateway, 1)).body.anchors, [], 'a test without a checkpoint is no witness')
    for (let n = 4; n < 220; n += 1) await gateway.ask('POST', '/api/whms/events', { by: people.ada, body: removal(n) })
    await remove(gateway, received, 220)
    t.strictSame((await proofOf(gateway, 1)).body.anchors, [], 'nor are deliveries without one')
    await choose(true)
    t.match((await test()).body, { delivered: true })
    await remove(gateway, received, 222)
    t.match((await proofOf(gateway, 1)).body.anchors, [{ deliveryId: received[221]?.deliveryId }])
  },
)

t.test('a test that carries a checkpoint is a witness of the events that it covers', async (t) => {
  const { gateway, receiver, test } = await warehouse(t, { status: (nth) => (nth === 2 ? 500 : 200) })
  const { received } = receiver
  await remove(gateway, received, 1)
  await gateway.checkpoints.make()
  await remove(gateway, received, 2)
  const { deliveryId } = (await test()).body
  t.match((await proofOf(gateway, 1)).body.anchors, [{ deliveryId }])
})
