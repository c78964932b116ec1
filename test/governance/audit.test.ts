import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { furnish, type Person, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

const auditPath = '/api/governance/audit'

const audit = (gateway: TestGateway, query = '', by: Person = people.sven) =>
  gateway.ask('GET', `${auditPath}${query}`, { by })

/** Everybody has asked for something before, so that their first requests are the first four entries. */
async function greeted() {
  const gateway = await testGateway()
  for (const by of Object.values(people)) await gateway.ask('GET', '/api/whms/zones', { by })
  return gateway
}

async function removal(gateway: TestGateway, slot_code: string, more: Record<string, unknown> = {}) {
  const body = { event_type: 'REMOVED', slot_code, asset_barcode: 'P-1', ...more }
  return gateway.ask('POST', '/api/whms/events', { by: people.olga, body, headers: { 'X-Request-Id': 'scan-0001' } })
}

t.test('the trail says who did what, on whose word, from where and how it was known who it was', async (t) => {
  const gateway = await greeted()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  await removal(gateway, 'A', { operator: 'otto' })
  const { status, body } = await audit(gateway)
  t.equal(status, 200)
  t.match(body.data[0], {
    id: 8,
    timestamp: '2026-03-02T08:00:00.000Z',
    operator: 'otto',
    actor: 'olga',
    action: 'removal.recorded',
    entity: 'event',
    entityId: '1',
    requestId: 'scan-0001',
    authMode: 'local',
  })
  t.match(body.data[1], { operator: 'ada', actor: 'ada', action: 'slot.created', entity: 'slot', entityId: '1' })
  t.strictSame(
    body.data.map((entry: { id: number }) => entry.id),
    [8, 7, 6, 5, 4, 3, 2, 1],
    'newest first',
  )
  t.strictSame(body.pagination, { limit: 50, offset: 0, total: 8, hasMore: false, nextCursor: null })
  for (const by of [people.vera, people.olga]) t.equal((await audit(gateway, '', by)).status, 403, by.role)
})

t.test('the trail leaves as a file that a spreadsheet shows and does not run', async (t) => {
  const gateway = await greeted()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  await removal(gateway, 'A', { operator: '=HYPERLINK("http://evil.example","pay")' })
  const { status, text, headers } = await gateway.ask('GET', `${auditPath}/export?entity=event&bom=true`, {
    by: people.sven,
  })
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
  t.equal(headers.get('content-disposition'), 'attachment; filename="audit.csv"')
  t.strictSame(text.split('\r\n'), [
    '\ufeffid,timestamp,operator,actor,instance,action,entity,entityId,changes,requestId,address,authMode',
    `8,2026-03-02T08:00:00.000Z,"'=HYPERLINK(""http://evil.example"",""pay"")",olga,http://127.0.0.1:8480,removal.recorded,event,1,,scan-0001,unknown,local`,
    '',
  ])
  const all = await gateway.ask('GET', `${auditPath}/export`, { by: people.sven })
  t.strictSame(
    all.text
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => Number.parseInt(line, 10)),
    [8, 7, 6, 5, 4, 3, 2, 1],
    'newest first',
  )
  const { text: none } = await gateway.ask('GET', `${auditPath}/export?operator=nobody`, { by: people.sven })
  t.equal(none.trim().split('\r\n').length, 1, 'the columns alone')
  t.equal((await gateway.ask('GET', `${auditPath}/export`, { by: people.vera })).status, 403)
  const whole = await gateway.ask('GET', `${auditPath}/export?limit=1`, { by: people.sven })
  t.ok(whole.text.trim().split('\r\n').length > 2, 'a parameter of other lists is ignored')
})

t.test('the trail is narrowed by thing, person, act and time, each alone and together', async (t) => {
  const gateway = await greeted()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  gateway.clock.advance(60_000)
  await removal(gateway, 'A')
  gateway.clock.advance(60_000)
  await removal(gateway, 'B', { operator: 'otto' })
  const ids = async (query: string) => {
    const { status, body } = await audit(gateway, `?${query}`)
    t.equal(status, 200, query)
    t.equal(body.pagination.total, body.data.length, `${query}: total`)
    return body.data.map((entry: { id: number }) => entry.id - 4)
  }
  t.strictSame(await ids('entity=slot'), [4, 3])
  t.strictSame(await ids('entity=slot&entity_id=1'), [3])
  t.strictSame(await ids('entity_id=2'), [6, 4], 'of any kind')
  t.strictSame(await ids('entity=event'), [6, 5])
  t.strictSame(await ids('operator=otto'), [6], 'on whose word')
  t.strictSame(await ids('operator=olga&entity=event'), [6, 5], 'whose hand')
  t.strictSame(await ids('operator=nobody'), [])
  t.strictSame(await ids('action=slot.created'), [4, 3])
  t.strictSame(await ids('action=removal.recorded'), [6, 5])
  t.strictSame(await ids('action=removal.recorded&operator=otto'), [6])
  t.strictSame(await ids('operator=olga&entity=slot'), [])
  t.strictSame(await ids('from=2026-03-02T08:01:00Z&to=2026-03-02T08:02:00Z'), [5], 'from is in, to is out')
  t.strictSame(await ids('from=2026-03-02T09:01:00%2B01:00'), [6, 5])
  t.strictSame(await ids('after_seq=8'), [5, 6], 'in their order')
  t.strictSame(await ids('after_seq=7&entity=event&limit=500'), [5, 6])
  for (const query of ['entity=pallet', 'from=yesterday', 'limit=-1', 'cursor=nonsense', 'after_seq=x']) {
    t.match(await audit(gateway, `?${query}`), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }, query)
  }
})

t.test('pages follow each other without gap or repeat, by offset and by cursor, also among equal times', async (t) => {
  const gateway = await greeted()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B', 'C', 'D', 'E'])
  for (const query of ['', '&entity=slot', '&operator=ada', '&action=slot.created']) {
    const whole = (await audit(gateway, `?limit=500${query}`)).body.data
    t.ok(whole.length >= 5)
    const byCursor: unknown[] = []
    let cursor: string | null = ''
    for (let page = 0; cursor !== null && page < 10; page += 1) {
      const { body } = await audit(gateway, `?limit=2${query}${cursor === '' ? '' : `&cursor=${cursor}`}`)
      byCursor.push(...body.data)
      t.equal(body.pagination.total, whole.length)
      t.equal(body.pagination.hasMore, byCursor.length < whole.length)
      cursor = body.pagination.nextCursor
    }
    t.strictSame(byCursor, whole, query)
    t.strictSame((await audit(gateway, `?limit=2&offset=3${query}`)).body.data, whole.slice(3, 5), query)
  }
})

t.test('a trail of more than ten thousand entries has no total, but every page', async (t) => {
  const gateway = await greeted()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  const insert = db.prepare(
    `INSERT INTO audit_entry (id, timestamp_ms, action, entity, entity_id) VALUES (?, 1000, 'removal.recorded', 'event', '1')`,
  )
  db.transaction(() => {
    for (let id = 8; id <= 10_404; id += 1) insert.run(id)
  })()
  db.close()
  const { body } = await audit(gateway, '?entity=event&limit=3&offset=10000')
  t.match(body.pagination, { total: null, hasMore: true })
  t.strictSame(
    body.data.map((entry: { id: number }) => entry.id),
    [404, 403, 402],
  )
  t.match(await audit(gateway, '?limit=1', people.ada), {
    body: { pagination: { total: 10_404, hasMore: true } },
  })
  t.match(await audit(gateway, '?entity=slot'), { body: { data: [{ id: 7 }], pagination: { total: 1 } } })
})

t.test('guesses at secrets stand in the trail with their count and without the secret', async (t) => {
  const gateway = await greeted()
  t.teardown(() => gateway.end())
  const signIn = (secret: string) => gateway.ask('POST', '/api/session', { body: { username: 'olga', secret } })
  for (let n = 0; n < 4; n += 1) t.equal((await signIn(`guess-${n}`)).status, 401)
  gateway.clock.advance(10 * 60_000)
  const { body, text } = await audit(gateway, '?action=caller.refused')
  t.match(body.data, [
    { operator: 'olga', actor: null, changes: { code: 'INVALID_CREDENTIALS', count: 4, first: String, last: String } },
  ])
  t.notMatch(text, /guess-/)
})

t.test('what is hidden from a supervisor is hidden in the trail too', async (t) => {
  const tess: Person = { username: 'tess', role: 'supervisor' }
  const gateway = await testGateway({
    people: [...Object.values(people), tess],
    config: {
      warehouses: [{ id: 2, viewers: ['sven', 'olga'] }],
      cameras: [{ id: 7, url: 'rtsp://192.0.2.7/main', owner: 'sven' }],
    },
  })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const by = people.ada
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Vault', timezone: 'Europe/Berlin' } })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'V', zone_type: 'storage', warehouseId: 2 } })
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  const slot = { slot_id: 'V-1', zone: 'V', zoneId: 2, floor_plan_polygon }
  t.equal((await gateway.ask('POST', '/api/whms/slots', { by, body: slot })).status, 201)
  await removal(gateway, 'A')
  t.equal((await removal(gateway, 'V-1')).status, 201)
  const incident = { severity: 'high', category: 'theft', warehouseId: 2 }
  t.equal((await gateway.ask('POST', '/api/governance/incidents', { by: people.sven, body: incident })).status, 201)
  const stop = { cctvId: 7, action: 'stop' }
  await gateway.ask('POST', '/api/iot/detection/motion-stream', { by: people.sven, body: stop })

  const seen = async (person: Person, query = '') =>
    (await audit(gateway, `?limit=100${query}`, person)).body.data.map(
      (entry: { entity: string; entityId: string }) => `${entry.entity} ${entry.entityId}`,
    )
  const hidden = ['warehouse 2', 'zone 2', 'slot 2', 'event 2', 'incident 1', 'camera 7']
  for (const person of [people.sven, people.ada]) {
    for (const thing of hidden) t.ok((await seen(person)).includes(thing), `${person.username}: ${thing}`)
  }
  const left = await seen(tess)
  for (const thing of hidden) t.notOk(left.includes(thing), `tess: ${thing}`)
  for (const thing of ['warehouse 1', 'slot 1', 'event 1']) t.ok(left.includes(thing), `tess: ${thing}`)
  t.strictSame(await seen(tess, '&entity=event&entity_id=2'), [], 'nor by asking for it')
  const { body } = await audit(gateway, '?entity=event', tess)
  t.equal(body.pagination.total, 1, 'nor in the total')
})

t.test('secrets that came to stand in an entry are not told', async (t) => {
  const gateway = await greeted()
  t.teardown(() => gateway.end())
  await gateway.ask('POST', '/api/webhooks', {
    by: people.ada,
    body: { url: 'https://receiver.example/hook', events: ['whms.placement'], secret: 'a-very-secret-word' },
  })
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  db.prepare(
    `INSERT INTO audit_entry (id, timestamp_ms, action, entity, changes) VALUES (6, 1000, 'x.y', 'config', ?)`,
  ).run(
    JSON.stringify({
      camera: { password: 'hunter2', url: 'rtsp://viewer:hunter2@10.0.0.1/main' },
      apiToken: ['hunter2'],
    }),
  )
  db.close()
  const { body, text } = await audit(gateway)
  const entry = (action: string) => body.data.find((e: { action: string }) => e.action === action)
  t.match(entry('webhook.registered'), { changes: { secret: 'given' } })
  t.strictSame(entry('x.y').changes, {
    camera: { password: '[redacted]', url: 'rtsp://[redacted]@10.0.0.1/main' },
    apiToken: '[redacted]',
  })
  t.notMatch(text, /hunter2|a-very-secret-word/)
})

t.test('whoever signed in by the console is told apart from whoever sent a header', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const begun = await gateway.ask('POST', '/api/session', { body: { username: 'ada', secret: 'ada-secret' } })
  const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
  const headers = { Cookie: cookie, 'X-CSRF-Token': begun.body.csrfToken }
  const body = { name: 'Hall', timezone: 'Europe/Berlin' }
  t.equal((await gateway.ask('POST', '/api/whms/warehouses', { headers, body })).status, 201)
  t.equal((await gateway.ask('DELETE', '/api/session', { headers })).status, 204)
  gateway.clock.advance(10 * 60_000)
  await gateway.audit('test.settled', {})
  t.match((await gateway.ask('GET', `${auditPath}?operator=ada`, { headers: signedIn(people.sven) })).body.data, [
    { action: 'caller.signed_out', actor: 'ada', authMode: 'session' },
    { action: 'caller.signed_in', actor: 'ada', authMode: 'session', changes: { count: 1 } },
    { action: 'warehouse.created', actor: 'ada', authMode: 'session' },
  ])
})

t.test('a count in a hidden warehouse is told to nobody who may not see it', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['olga'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const opened = await gateway.ask('POST', '/api/whms/counts', { by: people.ada, body: { slot_codes: ['A'] } })
  t.equal(opened.status, 201)
  t.equal((await audit(gateway, '?entity=count', people.ada)).body.data.length, 1)
  t.strictSame((await audit(gateway, '?entity=count')).body.data, [])
})
