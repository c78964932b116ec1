import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { addCosignature } from '../../src/log/index.ts'
import { openCheckpoint } from '../support/evidence/checkpoint.ts'
import { parseVkey } from '../support/evidence/note.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { runOf } from '../support/plain-sql.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { WebhookYard } from '../support/webhook-yard.ts'

/** A gateway whose removals go to a receiver. */
async function warehouse(t: Test) {
  const secret = 'a secret that both know'
  const receiver = await startReceiver({ secret })
  t.teardown(() => receiver.stop())
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-checkpoint-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const caFile = join(folder, 'receiver.pem')
  writeFileSync(caFile, receiver.caPem)
  const gateway = await testGateway({ config: { webhooks: { allowNetworks: ['127.0.0.0/8'], caFile } } })
  t.teardown(async () => {
    await gateway.webhooks.worker.stop()
    gateway.end()
  })
  await furnish(gateway, ['A-01'])
  const hook = { url: receiver.url, events: ['whms.removal'], secret, checkpoint: true }
  const { id } = (await gateway.ask('POST', '/api/webhooks', { by: people.ada, body: hook })).body
  gateway.webhooks.worker.start()
  return { gateway, receiver, received: receiver.received, id, secret }
}

async function until(gateway: TestGateway, received: readonly Received[], count: number): Promise<void> {
  for (let turn = 0; received.length < count; turn += 1) {
    if (turn > 1_000_000) throw new Error(`${received.length} of ${count} came`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await gateway.webhooks.worker.settled()
}

t.test('a receiver that wants to be a witness gets the newest checkpoint, the same one each time', async (t) => {
  const { gateway, received, id } = await warehouse(t)
  const remove = async (n: number) => {
    const body = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: `P-${n}` }
    await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
    await until(gateway, received, n)
  }
  await remove(1)
  t.notOk('checkpoint' in (received[0]?.event.metadata ?? {}), 'before the first checkpoint there is none')
  const made = await gateway.checkpoints.make()
  await remove(2)
  const { checkpoint = {} } = (received[1]?.event.metadata ?? {}) as { checkpoint?: Record<string, string> }
  const { logId } = gateway.logIdentity
  t.match(checkpoint, { logId, size: 1, root: made.root.toString('hex') })
  const { logKey, logKeyPostQuantum } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  const note = openCheckpoint(checkpoint.note ?? '', [parseVkey(logKey), parseVkey(logKeyPostQuantum)])
  t.match(note, { origin: `gatehouse/test-site/${logId}`, size: 1 })
  t.equal(note.root.toString('hex'), checkpoint.root)
  t.equal(note.signed.length, 2, 'both keys of the box have signed it')
  await gateway.checkpoints.make()
  await remove(3)
  t.match(received[2]?.event.metadata, { checkpoint: { size: 2 } })
  await gateway.ask('POST', `/api/webhooks/${id}/deliveries/${received[1]?.deliveryId}/redeliver`, { by: people.ada })
  await until(gateway, received, 4)
  t.same(received[3]?.body, received[1]?.body, 'a repeated delivery has the bytes of the first')
})

t.test('a notification carries the cosignatures that its checkpoint has by then', async (t) => {
  const { gateway, received } = await warehouse(t)
  const { number } = gateway.logIdentity
  const { size } = await gateway.checkpoints.make()
  const line = '\u2014 witness.example/w1 c2lnbmF0dXJl\n'
  for (const n of [1, 2]) {
    const body = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: `P-${n}` }
    await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
    await until(gateway, received, n)
    const times = { cosigned_at_ms: 0, received_at_ms: 0 }
    if (n === 1)
      await gateway.work.write((tx) =>
        addCosignature(tx, { log_id: number, size, name: 'witness.example/w1', line, ...times }),
      )
  }
  const [before, after] = received.map(
    ({ event }) => (event.metadata as unknown as { checkpoint: { note: string } }).checkpoint.note,
  )
  t.equal(after, `${before}${line}`)
})

const metadataOf = ({ event }: Received) => event.metadata as { checkpoint?: { size: number } }

t.test('a receiver that did not ask for it gets the three fields of the document, beside one that did', async (t) => {
  const { gateway, receiver, received, secret } = await warehouse(t)
  const record = (asset_barcode: string) => {
    const body = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode }
    return gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
  }
  await record('P-1')
  await until(gateway, received, 1)
  await gateway.checkpoints.make()
  const plain = { url: `${receiver.url}?plain`, events: ['whms.removal'], secret }
  const { id } = (await gateway.ask('POST', '/api/webhooks', { by: people.ada, body: plain })).body
  await record('P-2')
  await until(gateway, received, 3)
  const atPlain = (one: Received) => one.path.endsWith('plain')
  const mine = received.find(atPlain)
  const other = received.slice(1).find((one) => !atPlain(one))
  t.strictSame(mine?.event.metadata, { warehouseId: 1, siteId: 'test-site', version: '1.0' })
  const { warehouseId, siteId, version, ...more } = (other?.event.metadata ?? {}) as Record<string, unknown>
  t.strictSame({ warehouseId, siteId, version }, mine?.event.metadata)
  t.strictSame(Object.keys(more), ['checkpoint'])
  t.equal(mine?.event.id, other?.event.id, 'one event')
  t.ok(received.every(({ signatureValid }) => signatureValid))

  await gateway.ask('PATCH', `/api/webhooks/${id}`, { by: people.ada, body: { checkpoint: true } })
  await gateway.ask('POST', `/api/webhooks/${id}/deliveries/${mine?.deliveryId}/redeliver`, { by: people.ada })
  await until(gateway, received, 4)
  t.same(received[3]?.body, mine?.body, 'the choice is for what is published afterwards')
  await record('P-3')
  await until(gateway, received, 6)
  t.match(received.slice(4).map(metadataOf), [{ checkpoint: { size: 1 } }, { checkpoint: { size: 1 } }])
  const test = (await gateway.ask('POST', `/api/webhooks/${id}/test`, { by: people.ada })).body
  t.match(test, { delivered: true })
  t.match(metadataOf(received[6] as Received), { checkpoint: { size: 1 } }, 'a test looks like a delivery')
})

t.test('a retry and a delivery that a crash has cut short send the bytes of the first attempt', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  const receiver = await yard.receiver({ behave: (_, nth) => (nth < 3 ? { status: 503 } : 'hang') })
  const id = await yard.register(receiver, ['whms.placement'], { checkpoint: true })
  const checkpointOf = (size: number) => ({ logId: 'a-log', size, root: 'ab'.repeat(32), note: `note over ${size}` })
  yard.checkpoint = checkpointOf(1)
  await yard.publish()
  await yard.attempted(1)
  yard.checkpoint = checkpointOf(2)
  await yard.pass(65_000)
  await yard.call('PATCH', `/api/webhooks/${id}`, { checkpoint: false })
  yard.clock.advance(320_000)
  await receiver.waitFor((_, all) => all.length === 3)
  yard.crash()
  receiver.release()
  yard.webhooks.worker.start()
  await receiver.waitFor((_, all) => all.length === 4)
  const { received } = receiver
  t.equal(new Set(received.map(({ body }) => body.toString('utf8'))).size, 1)
  t.equal(new Set(received.map(({ headers }) => headers['x-service-signature'])).size, 1)
  t.match(metadataOf(received[3] as Received), { checkpoint: checkpointOf(1) })
  receiver.release()
})

t.test('checkpoints that no notification carries any more are removed', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  const receiver = await yard.receiver()
  await yard.register(receiver, ['whms.placement'], { checkpoint: true })
  for (let size = 1; size <= 5; size += 1) {
    yard.checkpoint = { logId: 'a-log', size, root: 'ab'.repeat(32), note: `note over ${size}` }
    await yard.publish()
    await yard.attempted(size)
  }
  t.equal(yard.count('webhook_checkpoint'), 5)
  await yard.passMonth()
  await yard.publish()
  await yard.attempted(6)
  await yard.pass(60 * 60_000)
  t.equal(yard.count('webhook_checkpoint'), 1)
  t.match(metadataOf(receiver.received[5] as Received), { checkpoint: { size: 5 } })
})

t.test('a notification that an earlier version stored carries the checkpoint of its delivery', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  const receiver = await yard.receiver()
  await yard.register(receiver, ['whms.removal'], { checkpoint: true })
  const checkpoint = { logId: 'a-log', size: 1, root: 'ab'.repeat(32), note: 'note over 1' }
  yard.checkpoint = checkpoint
  const before = { warehouseId: 1, siteId: 'dc-7', version: '0.9' }
  const stored = [before, { ...before, version: '1.0', checkpoint: { ...checkpoint, size: 7 } }]
  await yard.work.write((tx) => {
    for (const [n, metadata] of stored.entries()) {
      const sent = { eventId: `e-${n}`, type: 'whms.removal', timestampMs: yard.clock.now() } as const
      const envelope = { id: sent.eventId, type: sent.type, timestamp: '2026-05-01T08:00:00.000Z', data: {}, metadata }
      yard.outbox.keep(tx, { ...sent, body: Buffer.from(JSON.stringify(envelope)) })
    }
  })
  await yard.attempted(2)
  const sentOf = (id: string) => receiver.received.find(({ event }) => event.id === id)?.event.metadata
  t.strictSame(sentOf('e-0'), { ...before, checkpoint }, 'whatever its version')
  t.strictSame(sentOf('e-1'), stored[1], 'one that was stored with its checkpoint keeps that one')
})

t.test('many checkpoints are removed in several commits, hourly and with their webhook', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  const receiver = await yard.receiver()
  const id = await yard.register(receiver, ['whms.placement'], { checkpoint: true })
  await yard.publish()
  await yard.attempted(1)
  await yard.passMonth()
  await yard.publish()
  await yard.attempted(2)
  const add = (from: number) =>
    yard.work.write((tx) =>
      runOf(
        tx,
        `INSERT INTO webhook_checkpoint (webhook_id, from_seq, log_id, size, checkpoint)
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
          SELECT '${id}', ${from} + i, 'a-log', i, '{}' FROM n`,
      ),
    )
  const removed: number[] = []
  let left = 0
  yard.work.onCommit(() => {
    const now = yard.count('webhook_checkpoint')
    if (now < left) removed.push(left - now)
    left = now
  })
  await add(-2000)
  await yard.pass(60 * 60_000)
  t.strictSame(removed, [500, 500, 199], 'the newest one still counts')
  removed.length = 0
  await add(1000)
  t.equal((await yard.call('DELETE', `/api/webhooks/${id}`)).status, 204)
  t.strictSame(removed, [500, 500, 201])
})
