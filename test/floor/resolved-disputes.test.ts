import Database from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { furnish, heldPhoto, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'

type Opened = { readonly gateway: TestGateway; readonly id: string; readonly placed: number; readonly dispute: number }

const path = '/api/whms/discrepancies'

async function book(gateway: TestGateway, by: Person, event_type: string, more: object = {}) {
  gateway.clock.advance(1000)
  const body = { event_type, slot_code: 'A', asset_barcode: 'P-1', ...more }
  const answer = await gateway.ask('POST', '/api/whms/events', { by, body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}

/** A pallet with a held photo that a supervisor disputes, and an endpoint for notifications. */
async function disputed(t: { teardown(end: () => void): void }, config = {}): Promise<Opened> {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const photo_url = await heldPhoto(gateway)
  const placed = await book(gateway, people.olga, 'PLACED', { photo_url })
  const dispute = await book(gateway, people.sven, 'DISPUTED')
  return { gateway, id: `disputed-${placed.id}-${dispute.id}`, placed: placed.id, dispute: dispute.id }
}

const resolve = (
  gateway: TestGateway,
  id: string,
  body: unknown = { note: 'counted by hand' },
  by = people.sven as Person,
) => gateway.ask('POST', `${path}/${id}/resolve`, { by, body })

const listed = async (gateway: TestGateway, query = '') =>
  (await gateway.ask('GET', `${path}${query}`, { by: people.vera })).body.data

function rows<Row>(gateway: TestGateway, sql: string): Row[] {
  const db = new Database(databaseFile(gateway.live.config.dataDir))
  try {
    return db.prepare(sql).all() as Row[]
  } finally {
    db.close()
  }
}

const holds = (gateway: TestGateway) => rows(gateway, `SELECT ref FROM media_hold WHERE reason = 'dispute'`).length

t.test('a supervisor resolves a dispute with a note, which frees its evidence and stays readable', async (t) => {
  const { gateway, id, placed, dispute } = await disputed(t)
  t.equal(holds(gateway), 1)
  t.match(await listed(gateway), [{ id, kind: 'disputed', resolution: null }])
  gateway.clock.advance(60_000)
  const answer = await resolve(gateway, id)
  t.equal(answer.status, 200, answer.text)
  const resolution = {
    note: 'counted by hand',
    resolvedBy: 'sven',
    resolvedAt: new Date(gateway.clock.now()).toISOString(),
    eventId: /^[0-9a-f-]{36}$/,
    seq: Number,
    evidenceHash: /^[0-9a-f]{64}$/,
  }
  t.match(answer.body, { success: true, id, kind: 'disputed', eventIds: [placed, dispute], resolution })
  t.strictSame(await listed(gateway), [], 'it is no open discrepancy')
  t.equal(holds(gateway), 0)
  t.match(await listed(gateway, '?resolved=true'), [{ id, slot: { slot_id: 'A' }, assetBarcode: 'P-1', resolution }])
  t.strictSame(await listed(gateway, '?resolved=true&kind=overweight'), [])
  t.match(await listed(gateway, '?resolved=true&kind=disputed&warehouseId=1'), [{ id }])
  const trail = await gateway.ask('GET', '/api/governance/audit?action=dispute.resolved', { by: people.ada })
  t.match(trail.body.data, [{ action: 'dispute.resolved', entity: 'event', entityId: String(dispute), actor: 'sven' }])
  t.notMatch(trail.text, /counted by hand/)
  const bodies = rows<{ body: Buffer }>(gateway, `SELECT body FROM outbox WHERE type = 'event.created' ORDER BY seq`)
  const created = bodies.map(({ body }) => JSON.parse(String(body)).data)
  t.match(created.at(-1), { kind: 'dispute.resolved', event: { id, resolution: { note: 'counted by hand' } } })
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, mismatches: { length: 0 } })
})

t.test('only a supervisor resolves, only a dispute that is open, and only with a note', async (t) => {
  const { gateway, id, dispute } = await disputed(t)
  for (const by of [people.olga, people.vera]) t.match(await resolve(gateway, id, { note: 'n' }, by), { status: 403 })
  t.match(await resolve(gateway, id, {}), { status: 400, body: { error: { fields: [{ path: 'note' }] } } })
  t.match(await resolve(gateway, id, { note: '' }), { status: 400, body: { error: { fields: [{ path: 'note' }] } } })
  for (const other of [`disputed-1-${dispute + 1}`, `disputed-9-${dispute}`, `disputed-${dispute}`, 'nothing'])
    t.match(await resolve(gateway, other), { status: 404, body: { error: { code: 'NOT_FOUND' } } }, other)
  await book(gateway, people.olga, 'PLACED', { slot_code: 'B', asset_barcode: 'P-1', photo_url: 'https://p.example/1' })
  const [twice] = await listed(gateway, '?kind=asset_in_two_slots')
  t.match(await resolve(gateway, twice.id), {
    status: 400,
    body: { error: { code: 'INVALID_TRANSITION', details: /asset_in_two_slots/ } },
  })
  t.equal(holds(gateway), 1)
  t.equal((await resolve(gateway, id)).status, 200)
  t.match(await resolve(gateway, id), { status: 400, body: { error: { code: 'ALREADY_EXISTS' } } })
  t.equal(rows(gateway, 'SELECT id FROM dispute_resolution').length, 1)
})

t.test('a repeat with the same Idempotency-Key resolves once', async (t) => {
  const { gateway, id } = await disputed(t)
  const headers = { 'Idempotency-Key': 'r-1' }
  const ask = () => gateway.ask('POST', `${path}/${id}/resolve`, { by: people.sven, body: { note: 'n' }, headers })
  const [first, second] = [await ask(), await ask()]
  t.same([first.status, second.status, second.text], [200, 200, first.text])
})

t.test('a verified dispute cannot be resolved, and a resolved one leaves the next dispute open', async (t) => {
  const { gateway, id } = await disputed(t)
  await book(gateway, people.sven, 'VERIFIED')
  t.match(await resolve(gateway, id), { status: 400, body: { error: { code: 'INVALID_TRANSITION' } } })
  const second = await book(gateway, people.sven, 'DISPUTED')
  const open = `disputed-1-${second.id}`
  t.equal((await resolve(gateway, open)).status, 200)
  t.strictSame(await listed(gateway), [])
  const third = await book(gateway, people.sven, 'DISPUTED')
  t.match(await listed(gateway), [{ id: `disputed-1-${third.id}` }])
  t.equal(holds(gateway), 1)
})

t.test('the past shows a dispute as open until it was resolved', async (t) => {
  const { gateway, id } = await disputed(t)
  gateway.clock.advance(60_000)
  const before = new Date(gateway.clock.now()).toISOString()
  gateway.clock.advance(60_000)
  await resolve(gateway, id)
  for (const query of [`?at=${before}`, `?known_at=${before}`]) {
    t.match(await listed(gateway, query), [{ id, resolution: null }], query)
    t.strictSame(await listed(gateway, `${query}&resolved=true`), [], query)
  }
  const now = new Date(gateway.clock.now()).toISOString()
  for (const query of [`?at=${now}`, `?known_at=${now}`]) {
    t.strictSame(await listed(gateway, query), [], query)
    t.match(await listed(gateway, `${query}&resolved=true`), [{ id }], query)
  }
})

t.test('a dispute in a hidden warehouse is unknown, open or resolved', async (t) => {
  const { gateway, id } = await disputed(t, { warehouses: [{ id: 1, viewers: ['sven', 'olga', 'ada'] }] })
  const other: Person = { username: 'sara', role: 'supervisor' }
  const hidden = await testGateway({
    config: { warehouses: [{ id: 1, viewers: ['olga', 'sven'] }] },
    people: [...Object.values(people), other],
  })
  t.teardown(() => hidden.end())
  await furnish(hidden, ['A'])
  const placed = await book(hidden, people.olga, 'PLACED', { photo_url: 'https://p.example/1' })
  const dispute = await book(hidden, people.sven, 'DISPUTED')
  const theirs = `disputed-${placed.id}-${dispute.id}`
  t.match(await resolve(hidden, theirs, { note: 'n' }, other), { status: 404 })
  t.equal((await resolve(hidden, theirs)).status, 200)
  t.strictSame(await listed(hidden, '?resolved=true'), [], 'vera may not see it')
  t.equal((await resolve(gateway, id)).status, 200)
})

t.test('the row of a resolution cannot be changed or removed, and its note is erasable', async (t) => {
  const { gateway, id } = await disputed(t)
  await resolve(gateway, id)
  const db = new Database(databaseFile(gateway.live.config.dataDir))
  t.teardown(() => db.close())
  for (const sql of ['UPDATE dispute_resolution SET timestamp_ms = 1', 'DELETE FROM dispute_resolution'])
    t.throws(() => db.exec(sql), /append-only/)
  t.match(await gateway.erasePerson({ name: 'sven', texts: true }, 'root'), { outcome: 'erased' })
  t.match(await listed(gateway, '?resolved=true'), [{ id, resolution: { note: null, resolvedBy: 'erased' } }])
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, mismatches: { length: 0 } })
})
