import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { notifications } from '../../src/app/notifications.ts'
import { motionDetected } from '../../src/cameras/detections/events.ts'
import { databaseFile, openReader, type Tx } from '../../src/database/index.ts'
import { type Envelope, eventTypes, inspector, mismatchOf, Outbox, withCheckpoint } from '../../src/journal/index.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { differs, inline, type Schema } from '../support/json-schema.ts'
import { WebhookYard } from '../support/webhook-yard.ts'

t.test('every type of notification has a schema', async (t) => {
  t.strictSame(
    eventTypes.filter((type) => !notifications[type]),
    [],
  )
})

/** A pallet comes, is verified, is disputed and goes. */
async function aPalletsDay(gateway: TestGateway): Promise<void> {
  await furnish(gateway, ['A-01'])
  const photo_url = await heldPhoto(gateway)
  for (const event_type of ['PLACED', 'VERIFIED', 'DISPUTED', 'REMOVED']) {
    const body = {
      event_type,
      slot_code: 'A-01',
      asset_barcode: 'PAL-1',
      ...(event_type === 'PLACED' && { photo_url }),
    }
    const reply = await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
    if (reply.status !== 201) throw new Error(reply.text)
  }
}

/** Something went wrong, was put right, and is in the report of the day. */
async function whatCameOfIt(gateway: TestGateway): Promise<void> {
  const post = async (path: string, body: object) => {
    const reply = await gateway.ask('POST', `/api/governance/${path}`, { by: people.ada, body })
    if (reply.status >= 300) throw new Error(reply.text)
  }
  const evidenceReferences = ['event:1', 'ask at the gate']
  await post('incidents', { severity: 'high', category: 'damage', title: 'Fallen', evidenceReferences })
  await post('incidents/1/resolve', { resolution: 'picked up' })
  await post('reports', { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' })
}

/** Returns everything published, as the receivers get it. */
function published(gateway: TestGateway): Envelope[] {
  const reader = openReader(databaseFile(join(gateway.folder, 'state')))
  const rows = reader.prepare<[], { body: Buffer }>('SELECT body FROM outbox ORDER BY seq').all()
  reader.close()
  return rows.map(({ body }) => JSON.parse(body.toString('utf8')) as Envelope)
}

type Described = {
  post: { parameters: { name: string }[]; requestBody: { content: Record<string, { schema: Schema }> } }
}

t.test('what is sent is what the description says, for every type', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const { body: description } = await gateway.ask('GET', '/api/openapi', { by: people.vera })
  const webhooks = description.webhooks as Record<string, Described>
  t.strictSame(Object.keys(webhooks), [...eventTypes])
  const headers = ['X-Service-Event', 'X-Service-Delivery', 'X-Service-Timestamp', 'X-Service-Signature']
  for (const [type, { post }] of Object.entries(webhooks)) {
    const named = post.parameters.map(({ name }) => name)
    t.strictSame(named, [...headers, 'webhook-id', 'webhook-timestamp', 'webhook-signature'], type)
  }
  await aPalletsDay(gateway)
  await whatCameOfIt(gateway)
  const sent = published(gateway)
  t.strictSame(
    sent.map(({ type }) => type),
    [
      ...['whms.placement', 'whms.verification', 'whms.dispute', 'whms.removal'],
      ...['incident.created', 'incident.resolved', 'audit.report_generated'],
    ].flatMap((what) => [what, 'event.created']),
  )
  for (const envelope of sent) {
    const raw = webhooks[envelope.type]?.post.requestBody.content['application/json']?.schema ?? {}
    const schema = inline(raw, description.components.schemas)
    t.equal(differs(envelope, schema), undefined, envelope.type)
    t.ok(differs({ ...envelope, data: { ...envelope.data, id: 'seven', kind: 'nothing' } }, schema), 'and nothing else')
  }
})

t.test('motion.detected is as documented, with a clip and without', async (t) => {
  const fired = {
    ...{ id: 7, event_id: 'e', cctv_id: 1, fired_at_ms: 0, score: 0.4, scene_change: 0 },
    ...{ triggered_by: null, kinds: null },
  }
  const schema = notifications['motion.detected']
  for (const clip of ['https://box.example/api/iot/detection-events/7/clip', null]) {
    const { data } = motionDetected(fired, clip, 0, 1)
    t.equal(schema && mismatchOf(schema, data), undefined)
  }
})

t.test('a notification that differs from its schema is told of, field by field', async (t) => {
  const differences: string[] = []
  const inspect = inspector(notifications, (type, problem) => differences.push(`${type}: ${problem}`))
  inspect('webhook.test', { webhookId: 'w', message: 'm' })
  inspect('webhook.test', { webhookId: 'w', message: 'm', absent: undefined })
  t.strictSame(differences, [])
  inspect('webhook.test', { webhookId: 'w', message: 7 })
  inspect('webhook.test', { webhookId: 'w', message: 'm', more: null })
  inspect('event.created', { kind: 'webhook.test', event: {} })
  t.match(differences, [
    /^webhook.test: message: .*string/,
    'webhook.test: more: not in the schema',
    /^event.created: kind: /,
  ])
})

t.test('the first hundred notifications of a type are all compared, and then one in 64', async (t) => {
  let differences = 0
  const inspect = inspector(notifications, () => {
    differences += 1
  })
  const wrong = { webhookId: 'w', message: 7 }
  for (let n = 0; n < 100; n += 1) inspect('webhook.test', wrong)
  t.equal(differences, 100)
  for (let n = 0; n < 640; n += 1) inspect('webhook.test', wrong)
  t.equal(differences, 110)
  inspect('event.created', { kind: 'webhook.test', event: {} })
  t.equal(differences, 111, 'each type is counted by itself')
})

t.test('it goes out all the same: no fact is refused because it was described wrongly', async (t) => {
  const differences: string[] = []
  const yard = new WebhookYard({ inspect: inspector(notifications, (type) => differences.push(type)) })
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  const receiver = await yard.receiver()
  await yard.register(receiver)
  await yard.publish()
  await yard.attempted(1)
  t.strictSame(differences, ['whms.placement', 'event.created'])
  t.match(receiver.received, [{ type: 'whms.placement', event: { data: { n: 1 } } }])
})

t.test(
  'what is stored of an event and of its repetition is the JSON of their envelopes, and takes a checkpoint',
  async (t) => {
    const kept: Buffer[] = []
    const tx = {
      run: (_: unknown, { body }: { body: Buffer }) => {
        kept.push(body)
        return { changes: 1, lastId: kept.length }
      },
    } as unknown as Tx
    const site = { siteId: 'dc-7 "north"', warehouseId: 3 }
    const outbox = new Outbox({ ...site, makeId: () => 'e', isOwed: () => true })
    const note = fc.record({ logId: fc.uuid(), size: fc.nat(), root: fc.string(), note: fc.string({ unit: 'binary' }) })
    const sent = fc.record({
      data: fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.jsonValue(), fc.constant(undefined))),
      timestampMs: fc.integer({ min: 0, max: 4_102_444_800_000 }),
      warehouseId: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      newest: note,
    })
    fc.assert(
      fc.property(fc.array(sent, { maxLength: 5 }), (events) => {
        for (const { data, timestampMs, warehouseId, newest } of events) {
          kept.length = 0
          outbox.publish(tx, { type: 'whms.placement', eventId: 'p', timestampMs, data, warehouseId })
          const created = { kind: 'whms.placement', event: data }
          const envelopes = [
            outbox.envelope('whms.placement', 'p', timestampMs, data, warehouseId),
            outbox.envelope('event.created', 'e', timestampMs, created, warehouseId),
          ]
          t.same(
            kept.map((body) => body.toString('utf8')),
            envelopes.map((envelope) => Buffer.from(JSON.stringify(envelope), 'utf8').toString('utf8')),
          )
          const [first = Buffer.alloc(0)] = kept
          const carried = withCheckpoint(first, JSON.stringify(newest))
          t.same(JSON.parse(carried.toString('utf8')).metadata, {
            ...{ warehouseId: warehouseId ?? 3, siteId: site.siteId, version: '1.0' },
            checkpoint: JSON.parse(JSON.stringify(newest)),
          })
          t.same(withCheckpoint(carried, JSON.stringify(newest)), carried, 'stored with its checkpoint: as it is')
        }
      }),
    )
  },
)
