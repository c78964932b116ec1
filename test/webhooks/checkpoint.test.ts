import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { addCosignature } from '../../src/log/index.ts'
import { openCheckpoint } from '../support/evidence/checkpoint.ts'
import { parseVkey } from '../support/evidence/note.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

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
  const hook = { url: receiver.url, events: ['whms.removal'], secret }
  const { id } = (await gateway.ask('POST', '/api/webhooks', { by: people.ada, body: hook })).body
  gateway.webhooks.worker.start()
  return { gateway, received: receiver.received, id }
}

async function until(gateway: TestGateway, received: readonly Received[], count: number): Promise<void> {
  for (let turn = 0; received.length < count; turn += 1) {
    if (turn > 1_000_000) throw new Error(`${received.length} of ${count} came`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await gateway.webhooks.worker.settled()
}

t.test(
  'every receiver is a witness: a notification carries the newest checkpoint, the same one each time',
  async (t) => {
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
  },
)

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
