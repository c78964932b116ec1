import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { verifyLedger } from '../../src/evidence/index.ts'
import { furnish, heldPhoto, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'

const path = '/api/whms/transport-units'

async function yard(t: Test, config: Record<string, unknown> = {}) {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01'])
  const post = (where: string, body: unknown = {}, by: Person = people.olga, headers: Record<string, string> = {}) =>
    gateway.ask('POST', `${path}${where}`, { by, body, headers })
  const get = (where = '', by: Person = people.vera) => gateway.ask('GET', `${path}${where}`, { by })
  const create = async (more: object = {}) =>
    (await post('', { reference: 'PO-77', direction: 'inbound', ...more })).body.id as string
  return { gateway, post, get, create }
}

function published(gateway: TestGateway) {
  const db = new Database(join(gateway.folder, 'state/gatehouse.db'), { readonly: true })
  const rows = db.prepare<[], { type: string; body: Buffer }>('SELECT type, body FROM outbox ORDER BY seq').all()
  db.close()
  return rows.map(({ type, body }) => ({ type, data: JSON.parse(body.toString()).data }))
}

const outbound = {
  reference: 'PO-77',
  sscc: '(00)340123450000000017',
  direction: 'outbound',
  carrier: 'Spedition Süd',
  vehicle: 'B-XY 123',
}

/** A unit whose first step brings photos, a weight, a note and somebody else's name; and its way to the end. */
async function journey(t: Test) {
  const { gateway, post, get } = await yard(t)
  const photo = await heldPhoto(gateway)
  const { id } = (await post('', outbound)).body
  gateway.clock.advance(60_000)
  const evidence = { photo_urls: [photo, 'https://elsewhere.example/2.jpg'], scale_weight_kg: 412.5 }
  const moved = await post(`/${id}/advance`, { operator: 'piet', note: 'Folie gerissen', evidence })
  const goOn = async () => {
    for (const stage of ['inspecting', 'storing', 'staging', 'loading', 'departed']) {
      t.match(await post(`/${id}/advance`, { toStage: stage }), { status: 200, body: { stage } })
    }
  }
  const weighAgain = () => post(`/${id}/evidence`, { scale_weight_kg: 410 })
  return { gateway, post, get, id, moved, goOn, weighAgain }
}

t.test('a unit is registered with all that is said of it, and knows its next stage', async (t) => {
  const { post } = await yard(t)
  const made = await post('', outbound)
  t.match(made, {
    status: 201,
    body: {
      sscc: '340123450000000017',
      stage: 'registered',
      status: 'active',
      nextStage: 'receiving',
      warehouseId: 1,
      evidence: { photos: 0, scaleReading: null, items: { length: 0 } },
      history: [{ action: 'created', fromStage: null, toStage: 'registered', operator: 'olga' }],
    },
  })
  t.equal(made.headers.get('location'), `${path}/${made.body.id}`)
})

t.test('a step of a unit keeps its evidence, its note, and who did it for whom', async (t) => {
  const { moved } = await journey(t)
  t.match(moved, {
    status: 200,
    body: {
      stage: 'receiving',
      evidence: {
        photos: 2,
        scaleReading: 412.5,
        items: [
          { kind: 'photo', photoEvidence: 'held' },
          { photoEvidence: 'claimed' },
          { kind: 'weight', weightKg: 412.5 },
        ],
      },
    },
  })
  t.match(moved.body.history[1], { operator: 'piet', actor: 'olga', note: 'Folie gerissen', fromStage: 'registered' })
})

t.test('a unit goes through the whole workflow to its end, and after it takes evidence but no step', async (t) => {
  const { post, get, id, goOn, weighAgain } = await journey(t)
  await goOn()
  const { body: done } = await get(`/${id}`)
  t.match(done, { status: 'completed', nextStage: null, completedAt: /Z$/ })
  t.equal(done.history.length, 7)
  t.match(await post(`/${id}/advance`), { status: 400, body: { error: { code: 'INVALID_TRANSITION' } } })
  t.match(await weighAgain(), { status: 200, body: { evidence: { scaleReading: 410 } } })
})

t.test('every step of a unit is a notification, word for word as documented', async (t) => {
  const { gateway, id, goOn, weighAgain } = await journey(t)
  await goOn()
  await weighAgain()
  const sent = published(gateway).filter(({ type }) => type.startsWith('transport_unit.'))
  const changed = Array(6).fill('transport_unit.stage_changed')
  t.strictSame(
    sent.map(({ type }) => type),
    ['transport_unit.created', ...changed, 'transport_unit.completed'],
  )
  t.strictSame(sent[1]?.data, {
    transportUnitId: id,
    fromStage: 'registered',
    toStage: 'receiving',
    operator: 'piet',
    evidence: { photos: 2, scaleReading: 412.5 },
  })
  const created = published(gateway).filter(
    ({ type, data }) => type === 'event.created' && data.kind.startsWith('transport_unit.'),
  )
  t.equal(created.length, 9, 'each is an event.created as well, and so is the evidence that came later')
})

t.test('every step of a unit is a leaf of the log, and no leaf tells a name or a note', async (t) => {
  const { gateway, goOn, weighAgain } = await journey(t)
  await goOn()
  await weighAgain()
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, unitSteps: 8, mismatches: { length: 0 } })
  const db = new Database(join(gateway.folder, 'state/gatehouse.db'), { readonly: true })
  t.teardown(() => db.close())
  const leaves = db.prepare<[], { bytes: Buffer }>(`SELECT bytes FROM log_leaf WHERE kind = 'unit-history'`).all()
  for (const secret of ['olga', 'piet', 'Folie', 'B-XY']) {
    t.notOk(
      leaves.some(({ bytes }) => bytes.includes(secret)),
      `${secret} stands in no leaf`,
    )
  }
})

t.test('a step of a unit cannot be changed, and where somebody did it all the same, it is found', async (t) => {
  const { gateway } = await journey(t)
  const db = new Database(join(gateway.folder, 'state/gatehouse.db'))
  t.teardown(() => db.close())
  t.throws(() => db.exec(`UPDATE unit_history SET stage = 'registered'`), /append-only/)
  t.throws(() => db.exec('DELETE FROM unit_history'), /append-only/)
  db.exec('DROP TRIGGER unit_history_no_update')
  db.exec(`UPDATE unit_history SET stage = 'registered' WHERE row = 2`)
  const { ok, mismatches } = verifyLedger(gateway.live.config.dataDir)
  t.notOk(ok)
  t.match(JSON.stringify(mismatches), /step 2 .*toStage/, 'a changed step is found, and named')
})

t.test('whoever asks for everything is told that a unit is held, goes on, gets evidence or is cancelled', async (t) => {
  const { gateway, post, create } = await yard(t)
  const id = await create()
  await post(`/${id}/hold`, { reason: 'customs', operator: 'piet' })
  await post(`/${id}/resume`)
  await post(`/${id}/evidence`, { scale_weight_kg: 400 })
  await post(`/${id}/cancel`, { note: 'sent back' }, people.sven)
  t.equal((await post(`/${id}/hold`)).status, 400, 'a step that is refused is told to nobody')
  const sent = published(gateway)
    .filter(({ type, data }) => type === 'event.created' && data.kind !== 'transport_unit.created')
    .map(({ data: { kind, event } }) => ({ kind, id: event.id, status: event.status, newest: event.history.at(-1) }))
  t.match(sent, [
    {
      kind: 'transport_unit.held',
      id,
      status: 'on_hold',
      newest: { action: 'held', operator: 'piet', reason: 'customs' },
    },
    { kind: 'transport_unit.resumed', id, status: 'active', newest: { action: 'resumed', operator: 'olga' } },
    { kind: 'transport_unit.evidence_added', id, status: 'active', newest: { action: 'evidence', scaleReading: 400 } },
    { kind: 'transport_unit.cancelled', id, status: 'cancelled', newest: { action: 'cancelled', note: 'sent back' } },
  ])
  t.equal(sent.length, 4)
  const types = published(gateway).map(({ type }) => type)
  t.notOk(types.includes('transport_unit.held'), 'the document has no such type')
})

t.test('whoever may see a unit may see its photos, and nobody else', async (t) => {
  const { gateway, post, create } = await yard(t, { warehouses: [{ id: 2, viewers: ['sven'] }] })
  await gateway.ask('POST', '/api/whms/warehouses', {
    by: people.ada,
    body: { name: 'Cold', timezone: 'Europe/Berlin' },
  })
  const photo = await heldPhoto(gateway)
  const look = async (by: Person) => (await gateway.ask('GET', new URL(photo).pathname, { by })).status
  const hidden = (await post('', { reference: 'X', direction: 'inbound', warehouseId: 2 }, people.sven)).body.id
  await post(`/${hidden}/evidence`, { photo_urls: [photo] }, people.sven)
  t.strictSame([await look(people.vera), await look(people.sven)], [404, 200])
  const open = await create()
  const claimed = await post(`/${open}/evidence`, { photo_urls: [photo] })
  t.match(
    claimed.body.evidence.items.at(-1),
    { photoEvidence: 'claimed' },
    'naming what one may not see proves nothing',
  )
  t.equal(await look(people.vera), 404, 'and opens nothing')
  await post(`/${open}/evidence`, { photo_urls: [photo] }, people.sven)
  t.equal(await look(people.vera), 200, 'who may see it may show it')
})

t.test('skipping a stage and cancelling are a supervisor’s, and a skip needs its reason', async (t) => {
  const { post, create } = await yard(t)
  const id = await create()
  const skip = { toStage: 'storing' }
  t.match(await post(`/${id}/advance`, skip), { status: 403, body: { error: { code: 'PERMISSION_DENIED' } } })
  t.match(await post(`/${id}/advance`, skip, people.sven), {
    status: 400,
    body: { error: { fields: [{ path: 'reason' }] } },
  })
  const skipped = await post(`/${id}/advance`, { ...skip, reason: 'Prüfung entfällt' }, people.sven)
  t.match(skipped, { status: 200, body: { stage: 'storing' } })
  t.match(skipped.body.history[1], { action: 'skipped', reason: 'Prüfung entfällt' })
  const back = await post(`/${id}/advance`, { toStage: 'receiving', reason: 'x' }, people.sven)
  t.match(back, { status: 400, body: { error: { code: 'INVALID_TRANSITION', details: /advance to staging/ } } })
  t.match(await post(`/${id}/cancel`), { status: 403 })
  t.match(await post(`/${id}/cancel`, { reason: 'storniert' }, people.sven), {
    status: 200,
    body: { status: 'cancelled' },
  })
  t.match(await post(`/${id}/resume`), { status: 400, body: { error: { code: 'INVALID_TRANSITION' } } })
  t.match(await post(`/${id}/advance`, {}, people.vera), { status: 403 })
})

t.test('a unit on hold waits until it is resumed', async (t) => {
  const { post, create } = await yard(t)
  const id = await create()
  t.match(await post(`/${id}/hold`, { reason: 'Zoll' }), {
    status: 200,
    body: { status: 'on_hold', nextStage: 'receiving' },
  })
  t.match(await post(`/${id}/advance`), { status: 400, body: { error: { message: /on hold/, details: /resume/ } } })
  t.match(await post(`/${id}/hold`), { status: 400 })
  t.match(await post(`/${id}/resume`), { status: 200, body: { status: 'active' } })
  t.match(await post(`/${id}/advance`), { status: 200, body: { stage: 'receiving' } })
})

t.test('two scanners that both send a unit on move it once; what is sent again changes nothing', async (t) => {
  const { post, get, create } = await yard(t)
  const id = await create()
  const advance = { toStage: 'receiving' }
  const both = await Promise.all([post(`/${id}/advance`, advance), post(`/${id}/advance`, advance)])
  t.strictSame(both.map(({ status }) => status).toSorted(), [200, 400])
  const once = { 'Idempotency-Key': 'k-1' }
  const first = await post(`/${id}/advance`, {}, people.olga, once)
  const again = await post(`/${id}/advance`, {}, people.olga, once)
  t.match(again, { status: 200, text: first.text })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  const own = { client_event_id: 'c-1' }
  t.equal((await post(`/${id}/advance`, own)).body.history.length, 4)
  t.match(await post(`/${id}/advance`, own), { status: 200, body: { stage: 'storing' } })
  t.match(await post(`/${id}/hold`, own), { status: 400, body: { error: { fields: [{ path: 'client_event_id' }] } } })
  t.equal((await get(`/${id}`)).body.history.length, 4)
  const made = { reference: 'PO-8', direction: 'inbound', client_event_id: 'c-2' }
  const unit = await post('', made)
  t.match(await post('', made), { status: 200, body: { id: unit.body.id } })
})

t.test('the list has what the query names, and hides what its warehouse hides', async (t) => {
  const { gateway, post, get, create } = await yard(t, { warehouses: [{ id: 2, viewers: ['sven'] }] })
  await gateway.ask('POST', '/api/whms/warehouses', {
    by: people.ada,
    body: { name: 'Cold', timezone: 'Europe/Berlin' },
  })
  const first = await create({ sscc: '340123450000000017' })
  const second = await create({ reference: 'PO-78', direction: 'outbound' })
  await post(`/${second}/advance`)
  const hidden = (await post('', { reference: 'X', direction: 'inbound', warehouseId: 2 }, people.sven)).body.id
  const ids = async (query: string, by: Person = people.vera) =>
    (await get(query, by)).body.data.map((u: { id: string }) => u.id)
  t.strictSame(await ids(''), [first, second])
  t.strictSame(await ids('', people.sven), [first, second, hidden])
  t.strictSame(await ids('?stage=receiving'), [second])
  t.strictSame(await ids('?direction=inbound'), [first])
  t.strictSame(await ids('?reference=PO-78'), [second])
  t.strictSame(await ids('?sscc=00340123450000000017'), [first])
  t.match((await get('?limit=1')).body.pagination, { limit: 1, total: 2, hasMore: true })
  t.match(await get(`/${hidden}`), { status: 404 })
  t.match(await post(`/${hidden}/advance`), { status: 404 })
  t.match(await post('', { reference: 'X', direction: 'inbound', warehouseId: 2 }), {
    status: 400,
    body: { error: { code: 'REFERENCE_NOT_FOUND' } },
  })
})

t.test('the workflow is the config’s, and a unit whose stage is gone goes on from the one before', async (t) => {
  const { gateway, post, get, create } = await yard(t)
  const id = await create()
  await post(`/${id}/advance`)
  const { config } = gateway.live
  gateway.live.config = { ...config, units: { stages: ['registered', 'checking', 'departed'] } }
  t.match((await get('/workflow')).body, { stages: ['registered', 'checking', 'departed'], finalStage: 'departed' })
  t.match((await get(`/${id}`)).body, { stage: 'receiving', nextStage: 'checking' })
  t.match(await post(`/${id}/advance`), { status: 200, body: { stage: 'checking' } })
})

t.test('what is wrong with a unit is said, and nothing of it is stored', async (t) => {
  const { post, get } = await yard(t)
  const good = { reference: 'PO-1', direction: 'inbound' }
  for (const [body, field] of [
    [{ direction: 'inbound' }, 'reference'],
    [{ ...good, direction: 'up' }, 'direction'],
    [{ ...good, sscc: '340123450000000018' }, 'sscc'],
    [{ ...good, reference: 'a\u0000' }, 'reference'],
    [{ ...good, evidence: { photo_urls: ['ftp://x'] } }, 'evidence.photo_urls.0'],
    [{ ...good, timestamp: 'yesterday' }, 'timestamp'],
  ] as const) {
    t.match(await post('', body), { status: 400, body: { error: { fields: [{ path: field }] } } }, field)
  }
  const future = { ...good, timestamp: '2099-01-01T00:00:00Z' }
  t.match(await post('', future), { status: 400, body: { error: { code: 'TIMESTAMP_IN_FUTURE' } } })
  t.equal((await get()).body.pagination.total, 0)
  t.match(await post('/nowhere/advance'), { status: 404 })
})

t.test('a scanned code finds the unit by its id, its SSCC however spelled, and its reference', async (t) => {
  const { gateway, create } = await yard(t)
  const id = await create({ sscc: '340123450000000017' })
  for (const code of [id, '340123450000000017', ']C100340123450000000017', 'PO-77']) {
    const { body } = await gateway.ask('GET', `/api/whms/scan/${encodeURIComponent(code)}`, { by: people.vera })
    t.match(body, { kind: 'transport_unit', matches: [{ id, resource: { stage: 'registered' } }] }, code)
  }
})
