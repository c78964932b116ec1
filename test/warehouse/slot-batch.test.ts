import t, { type Test } from 'tap'
import {
  furnish,
  type Person,
  people,
  type TestGateway,
  type TestGatewayOptions,
  testGateway,
} from '../support/gateway.ts'

const by = people.ada
const triangle = (x: number) => [
  { x, y: 0 },
  { x: x + 1, y: 0 },
  { x, y: 1 },
]

/** A hall with the slots A, B and C, whose ids are 1, 2 and 3. */
async function hall(t: Test, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await testGateway(options)
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B', 'C'])
  return gateway
}

const change = (gateway: TestGateway, body: unknown, headers = {}, asked: Person = by) =>
  gateway.ask('POST', '/api/whms/slots/batch', { by: asked, body, headers })
const slot = async (gateway: TestGateway, id: number) =>
  (await gateway.ask('GET', `/api/whms/slots/${id}`, { by })).body
const trail = async (gateway: TestGateway, id: number) =>
  (await gateway.ask('GET', `/api/governance/audit?entity=slot&entity_id=${id}&action=slot.updated`, { by })).body.data

t.test(
  'slots are changed as a whole, each with its entry in the audit trail, and it counts as one request',
  async (t) => {
    const limited = { username: 'anna', role: 'admin' } as const
    const gateway = await hall(t, {
      people: [...Object.values(people), limited],
      config: { rateLimit: { requestsPerMinute: 1_000_000, users: { anna: 1 } } },
    })
    const changes = [
      { id: 1, version: 1, floor_plan_polygon: triangle(5) },
      { id: 2, retired: true },
      { id: 3, version: 1 },
    ]
    const { status, body } = await change(gateway, { changes }, {}, limited)
    t.equal(status, 200)
    t.match(body, {
      success: true,
      results: [
        { index: 0, status: 200, slot: { id: 1, slot_id: 'A', version: 2, floor_plan_polygon: triangle(5) } },
        { index: 1, status: 200, slot: { id: 2, version: 2, retiredAt: String, isOccupied: false } },
        { index: 2, status: 200, slot: { id: 3, version: 1 } },
      ],
    })
    t.match(await slot(gateway, 1), { version: 2, floor_plan_polygon: triangle(5) })
    t.match(await trail(gateway, 1), [{ actor: 'anna', changes: { polygon: 'changed' } }])
    t.match(await trail(gateway, 2), [{ changes: { retired: true } }])
    t.strictSame(await trail(gateway, 3), [], 'nothing is new in that')
    t.equal((await change(gateway, { changes }, {}, limited)).status, 429)
  },
)

t.test('when one change is refused no slot is changed, and every problem has its path', async (t) => {
  const gateway = await hall(t)
  const changes = [
    { id: 1, zone_type: 'cold' },
    { id: 2, version: 7, retired: true },
    { id: 99, retired: true },
    { id: 3, slot_id: 'D' },
    { id: 3, floor_plan_polygon: [] },
    { retired: true },
    'no change',
  ]
  const { status, body } = await change(gateway, { changes }, { 'Idempotency-Key': 'b1' })
  t.match({ status, body }, { status: 400, body: { error: { code: 'VALIDATION_ERROR', message: /6 of 7/ } } })
  t.same(
    body.error.fields.map((f: { path: string }) => f.path),
    ['changes.1', 'changes.2.id', 'changes.3.slot_id', 'changes.4.floor_plan_polygon', 'changes.5.id', 'changes.6'],
  )
  t.match(await slot(gateway, 1), { zone_type: 'storage', version: 1 })
  t.strictSame(await trail(gateway, 1), [])
  const outdated = await change(gateway, { mode: 'rollback', changes: changes.slice(0, 2) })
  t.match(outdated, {
    status: 412,
    body: {
      error: { code: 'VERSION_MISMATCH', fields: [{ path: 'changes.1', message: 'The slot has version 1 by now' }] },
    },
  })
  t.match(await slot(gateway, 1), { version: 1 })
  const good = await change(gateway, { changes: changes.slice(0, 1) }, { 'Idempotency-Key': 'b1' })
  t.match(good, { status: 200 }, 'the key of a refused batch is free')
})

t.test('proceed changes what can be, and tells of each slot what became of it', async (t) => {
  const gateway = await hall(t)
  const changes = [
    { id: 1, version: 1, retired: true },
    { id: 2, version: 7, retired: true },
    { id: 99, retired: true },
    { id: 1, version: 1, retired: false },
    { id: 3, zoneId: 77 },
    42,
    { id: 3, zone_type: 'cold' },
  ]
  const headers = { 'Idempotency-Key': 'evening' }
  const first = await change(gateway, { mode: 'proceed', changes }, headers)
  t.equal(first.status, 200)
  t.match(first.body.results, [
    { index: 0, status: 200, slot: { id: 1, version: 2 } },
    { index: 1, status: 412, error: { code: 'VERSION_MISMATCH' } },
    { index: 2, status: 400, error: { code: 'REFERENCE_NOT_FOUND', fields: [{ path: 'id' }] } },
    { index: 3, status: 412, error: { code: 'VERSION_MISMATCH' } },
    { index: 4, status: 400, error: { code: 'REFERENCE_NOT_FOUND', fields: [{ path: 'zoneId' }] } },
    { index: 5, status: 400, error: { code: 'VALIDATION_ERROR' } },
    { index: 6, status: 200, slot: { id: 3, zone_type: 'cold' } },
  ])
  t.match(await slot(gateway, 2), { retiredAt: null, version: 1 })
  t.match(await slot(gateway, 3), { zone_type: 'cold', version: 2 })
  const again = await change(gateway, { mode: 'proceed', changes }, headers)
  t.equal(again.text, first.text, 'the same key has the same answer, byte for byte')
  t.match(await slot(gateway, 3), { version: 2 })
})

t.test('a batch has at most 100 changes and 1 MiB, and is for admins alone', async (t) => {
  const gateway = await hall(t)
  const same = (count: number) => Array.from({ length: count }, () => ({ id: 1, retired: true }))
  t.match(await change(gateway, { changes: same(101) }), {
    status: 400,
    body: { error: { fields: [{ path: 'changes' }] } },
  })
  t.equal((await change(gateway, { changes: same(100) })).status, 200)
  for (const body of [{}, { changes: [] }, { mode: 'some', changes: same(1) }])
    t.equal((await change(gateway, body)).status, 400, JSON.stringify(body))
  const outline = Array.from({ length: 256 }, (_, n) => ({
    x: Math.cos((n * Math.PI) / 128),
    y: Math.sin((n * Math.PI) / 128),
  }))
  const round = (count: number) => Array.from({ length: count }, () => ({ id: 1, floor_plan_polygon: outline }))
  t.equal((await change(gateway, { changes: round(30) })).status, 200, 'over 256 KiB')
  t.equal((await change(gateway, { changes: round(100) })).status, 413)
  t.match(await change(gateway, { changes: same(1) }, {}, people.sven), {
    status: 403,
    body: { error: { code: 'PERMISSION_DENIED' } },
  })
})
