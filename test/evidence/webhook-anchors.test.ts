import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifyBundle as verifyOurs } from '../../src/evidence/index.ts'
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
  await gateway.ask('POST', '/api/webhooks', {
    by: people.ada,
    body: { url, events: ['whms.removal'], secret, checkpoint },
  })
  gateway.webhooks.worker.start()
  return { gateway, receiver, host: new URL(url).hostname }
}

async function remove(gateway: TestGateway, received: readonly Received[], n: number): Promise<void> {
  const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: `P-${n}` }
  await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
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
    const { ok, findings } = verifyOurs(text, { keys: [], file: () => undefined })
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
