import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile, executor } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { holdsOn } from '../../src/log/index.ts'
import { furnish, heldPhoto, type Person, people, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'

const path = '/api/governance/incidents'

const report = (gateway: TestGateway, body: Record<string, unknown>, by: Person = people.olga) =>
  gateway.ask('POST', path, { by, body: { severity: 'high', category: 'damage', ...body } })

const act = (gateway: TestGateway, id: number, action: string, body: unknown = {}, by: Person = people.sven) =>
  gateway.ask('POST', `${path}/${id}/${action}`, { by, body })

function database(gateway: TestGateway) {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  db.pragma('foreign_keys = ON')
  return db
}

/** Returns the holds on a file, as the code that removes media reads them. */
function holders(gateway: TestGateway, sha256: string): string[] {
  const db = database(gateway)
  try {
    return holdsOn(executor(db), sha256).map(({ reason, ref }) => `${reason} ${ref}`)
  } finally {
    db.close()
  }
}

function rows<Row>(gateway: TestGateway, sql: string): Row[] {
  const db = database(gateway)
  try {
    return db.prepare(sql).all() as Row[]
  } finally {
    db.close()
  }
}

const notified = (gateway: TestGateway) =>
  rows<{ type: string; body: Buffer }>(gateway, 'SELECT type, body FROM outbox ORDER BY seq').map(({ type, body }) => ({
    type,
    ...JSON.parse(body.toString('utf8')),
  }))

/** A slot in warehouse 2. */
async function hiddenSlot(gateway: TestGateway, slot_id: string): Promise<void> {
  const by = people.ada
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Vault', timezone: 'Europe/Berlin' } })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'V', zone_type: 'storage', warehouseId: 2 } })
  const corners = [0, 0, 1, 0, 1, 1]
  const floor_plan_polygon = [0, 2, 4].map((n) => ({ x: corners[n], y: corners[n + 1] }))
  const body = { slot_id, zone: 'V', zoneId: 2, floor_plan_polygon }
  const made = await gateway.ask('POST', '/api/whms/slots', { by, body })
  if (made.status !== 201) throw new Error(made.text)
}

/** An incident from its report to its resolution, a minute between the steps. */
async function resolvedIncident(t: { teardown(end: () => void): void }) {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const reported = await report(gateway, { title: 'Fallen pallet', description: 'Olga heard it fall' })
  gateway.clock.advance(60_000)
  const investigated = await act(gateway, 1, 'investigate')
  gateway.clock.advance(60_000)
  const resolution = 'The rack was repaired'
  const resolved = await act(gateway, 1, 'resolve', { resolution })
  return { gateway, reported, investigated, resolved, resolution }
}

t.test('an incident that is reported is open, in the name of who reported it', async (t) => {
  const { reported } = await resolvedIncident(t)
  t.match(reported, {
    status: 201,
    body: {
      success: true,
      id: 1,
      status: 'open',
      severity: 'high',
      category: 'damage',
      title: 'Fallen pallet',
      description: 'Olga heard it fall',
      warehouseId: 1,
      evidenceReferences: { length: 0 },
      reportedBy: 'olga',
      createdAt: '2026-03-02T08:00:00.000Z',
      resolvedAt: null,
      resolution: null,
    },
  })
  t.equal(reported.headers.get('location'), `${path}/1`)
})

t.test('an incident is looked into and resolved, and its history says when and by whom', async (t) => {
  const { gateway, investigated, resolved, resolution } = await resolvedIncident(t)
  t.match(investigated, { status: 200, body: { status: 'investigating', resolvedBy: null } })
  t.match(resolved, {
    status: 200,
    body: {
      id: 1,
      status: 'resolved',
      severity: 'high',
      title: 'Fallen pallet',
      resolvedBy: 'sven',
      resolvedAt: '2026-03-02T08:02:00.000Z',
      updatedAt: '2026-03-02T08:02:00.000Z',
      resolution,
      history: [
        { status: 'open', actor: 'olga', timestamp: '2026-03-02T08:00:00.000Z', seq: 1 },
        { status: 'investigating', actor: 'sven', timestamp: '2026-03-02T08:01:00.000Z', seq: 2 },
        { status: 'resolved', actor: 'sven', timestamp: '2026-03-02T08:02:00.000Z', seq: 3 },
      ],
    },
  })
  t.strictSame((await gateway.ask('GET', `${path}/1`, { by: people.olga })).body, resolved.body)
})

t.test('that an incident came up and was resolved is told to the receivers, and every step to the trail', async (t) => {
  const { gateway, resolved } = await resolvedIncident(t)
  const sent = notified(gateway)
  t.match(
    sent.map(({ type, data }) => [type, data.kind]),
    [
      ['incident.created', undefined],
      ['event.created', 'incident.created'],
      ['incident.resolved', undefined],
      ['event.created', 'incident.resolved'],
    ],
  )
  const { success: _, ...answered } = resolved.body
  t.strictSame(sent[2].data, answered, 'the resource as the API answers it')
  t.equal(sent[2].metadata.warehouseId, 1)
  const { body: trail } = await gateway.ask('GET', '/api/governance/audit?entity=incident', { by: people.sven })
  t.match(trail.data, [
    { action: 'incident.resolved', actor: 'sven', entityId: '1' },
    { action: 'incident.investigated', actor: 'sven', entityId: '1' },
    { action: 'incident.created', actor: 'olga', entityId: '1', changes: { severity: 'high' } },
  ])
})

t.test('every step of an incident can be proven, by leaves that tell neither names nor texts', async (t) => {
  const { gateway } = await resolvedIncident(t)
  const leaves = rows<{ bytes: Buffer }>(gateway, 'SELECT bytes FROM log_leaf ORDER BY seq').map((l) =>
    l.bytes.toString(),
  )
  t.equal(leaves.length, 3)
  for (const secret of ['olga', 'sven', 'Fallen', 'heard', 'repaired']) t.notMatch(leaves.join('\n'), secret)
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, incidentChanges: 3, mismatches: { length: 0 } })
})

t.test('an illegal move is refused and leaves nothing, and nobody resolves an incident twice', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  await report(gateway, {})
  t.equal((await act(gateway, 1, 'resolve', { resolution: 'straight from open' })).status, 200)
  for (const action of ['resolve', 'investigate']) {
    const refused = await act(gateway, 1, action, { resolution: 'again' })
    t.match(refused, { status: 400, body: { error: { code: 'INVALID_TRANSITION', details: /resolved/ } } }, action)
  }
  await report(gateway, {})
  await act(gateway, 2, 'investigate')
  const refused = await act(gateway, 2, 'investigate')
  t.match(refused, { status: 400, body: { error: { code: 'INVALID_TRANSITION', details: /resolve$/ } } })
  t.match(await act(gateway, 2, 'resolve'), { status: 400, body: { error: { fields: [{ path: 'resolution' }] } } })
  t.match(await act(gateway, 3, 'investigate'), { status: 404 })
  t.match(await act(gateway, 2, 'resolve', { resolution: 'x' }, people.olga), { status: 403 }, 'not by an operator')
  t.equal(rows(gateway, 'SELECT * FROM log_leaf').length, 4)
  t.equal((await gateway.ask('GET', `${path}/1`, { by: people.sven })).body.resolution, 'straight from open')
})

t.test('the same request sent twice under one key is one incident', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const body = { severity: 'low', category: 'noise' }
  const headers = { 'Idempotency-Key': 'k-1' }
  const first = await gateway.ask('POST', path, { by: people.olga, body, headers })
  const second = await gateway.ask('POST', path, { by: people.olga, body, headers })
  t.match([first.status, second.status], [201, 201])
  t.strictSame(second.body, first.body)
  t.equal(second.headers.get('idempotency-replayed'), 'true')
  const resolving = { by: people.sven, body: { resolution: 'quiet' }, headers }
  t.equal((await gateway.ask('POST', `${path}/1/resolve`, resolving)).status, 200)
  t.equal((await gateway.ask('POST', `${path}/1/resolve`, resolving)).status, 200, 'an answer that got lost')
  t.equal(rows(gateway, 'SELECT * FROM incident_change').length, 2)
})

t.test(
  'what an open incident refers to is held until it is resolved, and longer if another one needs it',
  async (t) => {
    const gateway = await testGateway()
    t.teardown(() => gateway.end())
    await furnish(gateway, ['A'])
    const photo_url = await heldPhoto(gateway)
    const photo = photo_url.split('/').at(-1) ?? ''
    const event = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url }
    t.equal((await gateway.ask('POST', '/api/whms/events', { by: people.olga, body: event })).status, 201)
    t.strictSame(holders(gateway, photo), [])
    const { body } = await report(gateway, { evidenceReferences: [{ type: 'event', id: 1 }] })
    t.strictSame(body.evidenceReferences, [{ type: 'event', id: '1' }])
    t.strictSame(holders(gateway, photo), ['incident 1'], 'the photo of the event')
    for (const reference of [photo, photo_url, { type: 'photo', id: photo }, `photo:${photo}`]) {
      const { body: other } = await report(gateway, { evidenceReferences: [reference] })
      t.strictSame(other.evidenceReferences, [{ type: 'photo', id: photo }], JSON.stringify(reference))
      await act(gateway, other.id, 'resolve', { resolution: 'done' })
    }
    t.strictSame(holders(gateway, photo), ['incident 1'], 'those that are resolved hold nothing')
    await report(gateway, { evidenceReferences: [photo] })
    await act(gateway, 1, 'investigate')
    t.strictSame(holders(gateway, photo), ['incident 1', 'incident 6'])
    await act(gateway, 1, 'resolve', { resolution: 'done' })
    t.strictSame(holders(gateway, photo), ['incident 6'])
  },
)

/** References as people write them, and the resolved ones of an incident. */
const references: [unknown, { type: string; id: string }][] = [
  ['event:1', { type: 'event', id: '1' }],
  [`${siteUrl}/api/whms/events/1`, { type: 'event', id: '1' }],
  [
    { type: 'slot', id: 'A-1' },
    { type: 'slot', id: '1' },
  ],
  [
    { type: 'slot', id: 1 },
    { type: 'slot', id: '1' },
  ],
  [
    { type: 'zone', id: 1 },
    { type: 'zone', id: '1' },
  ],
  [
    { type: 'warehouse', id: 1 },
    { type: 'warehouse', id: '1' },
  ],
  [
    { type: 'asset', id: ']C100340123450000000017' },
    { type: 'asset', id: '00340123450000000017' },
  ],
  [
    { type: 'camera', id: 7 },
    { type: 'camera', id: '7' },
  ],
  [
    { type: 'event', id: 99 },
    { type: 'external', id: 'event:99' },
  ],
  [
    { type: 'camera', id: 8 },
    { type: 'external', id: 'camera:8' },
  ],
  [
    { type: 'police_report', id: 'B-17' },
    { type: 'external', id: 'police_report:B-17' },
  ],
  ['ask at the gate', { type: 'external', id: 'ask at the gate' }],
  [
    'https://elsewhere.example/api/whms/events/1',
    { type: 'external', id: 'https://elsewhere.example/api/whms/events/1' },
  ],
  ['a'.repeat(64), { type: 'external', id: 'a'.repeat(64) }],
  [
    { type: 'transport_unit', id: 'u-1' },
    { type: 'external', id: 'transport_unit:u-1' },
  ],
]

t.test(
  'things of the warehouse are found by the names that people use for them; the rest is kept as external',
  async (t) => {
    const gateway = await testGateway({ config: { cameras: [{ id: 7, url: 'rtsp://192.0.2.7/main', owner: 'olga' }] } })
    t.teardown(() => gateway.end())
    await furnish(gateway, ['A-1'])
    const asset = { asset_id: '00340123450000000017', type: 'pallet' }
    await gateway.ask('POST', '/api/whms/assets', { by: people.ada, body: asset })
    const removal = { event_type: 'REMOVED', slot_code: 'A-1', asset_barcode: 'P-1' }
    await gateway.ask('POST', '/api/whms/events', { by: people.olga, body: removal })
    const { status, body } = await report(gateway, { evidenceReferences: references.map(([reference]) => reference) })
    t.equal(status, 201)
    const wanted = [...new Set(references.map(([, shown]) => JSON.stringify(shown)))].map((shown) => JSON.parse(shown))
    t.strictSame(body.evidenceReferences, wanted, 'each once')
    const [leaf] = rows<{ bytes: Buffer }>(gateway, `SELECT bytes FROM log_leaf WHERE kind = 'incident-change'`)
    t.notMatch(leaf?.bytes.toString(), 'gate', 'a free text stands in the log as a commitment')
  },
)

t.test('an incident without severity or category, or with references that are none, is refused', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1'])
  for (const evidenceReferences of [[''], [{ type: 'event' }], [{ id: 3 }], [7], 'event:1', Array(101).fill('x')]) {
    t.match(await report(gateway, { evidenceReferences }), {
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR' } },
    })
  }
  t.match(await report(gateway, { evidenceReferences: null, title: null }), { status: 201 }, 'null is absent')
  t.match(await report(gateway, { severity: 'urgent' }), { status: 400 })
  t.match(await report(gateway, { category: undefined }), { status: 400 })
  t.match(await report(gateway, { warehouseId: 9 }), {
    status: 400,
    body: { error: { code: 'REFERENCE_NOT_FOUND' } },
  })
})

t.test('nobody learns by reporting whether a camera or a warehouse that is not theirs is there', async (t) => {
  const gateway = await testGateway({
    config: {
      cameras: [{ id: 7, url: 'rtsp://192.0.2.7/main', owner: 'sven' }],
      warehouses: [{ id: 2, viewers: ['sven'] }],
    },
  })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const warehouse = { name: 'Vault', timezone: 'Europe/Berlin' }
  await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: warehouse })
  await detection(gateway, { id: 1, cctvId: 7, clip: 'c'.repeat(64) })
  const gets = async (by: Person, id: unknown) => {
    const evidenceReferences = [
      { type: 'camera', id },
      { type: 'detection_event', id },
      { type: 'warehouse', id },
    ]
    const { body } = await report(gateway, { evidenceReferences }, by)
    return { references: body.evidenceReferences, warehouseId: body.warehouseId }
  }
  const masked = (answer: { references: { type: string; id: string }[]; warehouseId: number }, id: number) => ({
    ...answer,
    references: answer.references.map((one) => ({ ...one, id: one.id.replace(String(id), 'N') })),
  })
  for (const id of [7, 1, 2]) {
    const seen = masked(await gets(people.sven, id), id)
    t.ok(
      seen.references.some(({ type }) => type !== 'external'),
      `sven sees one of ${id}`,
    )
  }
  // Olga may see only the warehouse of 1, and nothing of 2 and 7.
  t.strictSame(
    masked(await gets(people.olga, 7), 7),
    masked(await gets(people.olga, 999), 999),
    'as if it were not there',
  )
  t.strictSame(masked(await gets(people.olga, 2), 2), masked(await gets(people.olga, 999), 999))
  t.match((await gets(people.olga, 7)).references, [{ type: 'external' }, { type: 'external' }, { type: 'external' }])
  t.strictSame((await gets(people.olga, 1)).references, [
    { type: 'external', id: 'camera:1' },
    { type: 'external', id: 'detection_event:1' },
    { type: 'warehouse', id: '1' },
  ])
  for (const warehouseId of [2, 999]) {
    const { error } = (await report(gateway, { warehouseId })).body
    t.match(error, { code: 'REFERENCE_NOT_FOUND', details: `warehouseId: no warehouse ${warehouseId}` })
  }
  t.strictSame(holders(gateway, 'c'.repeat(64)), ['incident 2'], 'and she holds none of their clips')

  const { body: svens } = await report(gateway, { evidenceReferences: ['camera:7'] }, people.sven)
  const { body: olgas } = await gateway.ask('GET', `${path}/${svens.id}`, { by: people.olga })
  t.strictSame(olgas.evidenceReferences, [{ type: 'external', id: 'camera:7' }], 'nor by reading what others reported')
  const { body: inVault } = await report(gateway, { warehouseId: 2, category: 'vault' }, people.sven)
  t.equal((await gateway.ask('GET', `${path}/${inVault.id}`, { by: people.olga })).status, 404)
  const listed = (await gateway.ask('GET', `${path}?category=vault`, { by: people.olga })).body
  t.match(listed, { data: { length: 0 }, pagination: { total: 0 } })
  t.equal((await gateway.ask('GET', `${path}?category=vault`, { by: people.sven })).body.data.length, 1)
})

/** A detection with a clip, or one that is still recorded, as the cameras thread reports it. */
async function detection(gateway: TestGateway, { id, cctvId, clip }: { id: number; cctvId: number; clip?: string }) {
  const at = gateway.clock.now()
  const facts = { detectionId: id, cameraId: cctvId, motionAt: at, score: 0.5, peakScore: 0.6, sceneChange: false }
  if (clip === undefined) gateway.cameras.heard({ type: 'motionFired', ...facts, clip: true } as never)
  else {
    gateway.cameras.heard({
      type: 'clipClosed',
      ...facts,
      sha256: clip,
      sizeBytes: 3,
      startedAt: at,
      endedAt: at + 1000,
      preRollSeconds: 0,
      durationSeconds: 1,
      closedBy: 'post-roll',
      askedPreRollSeconds: 0,
      pictures: 45,
      longestGapSeconds: 0.07,
      original: true,
      snapshot: null,
    } as never)
  }
  const written = `SELECT 1 FROM ${clip === undefined ? 'detection_reservation' : 'detection_event'} WHERE id = ${id}`
  for (let turn = 0; turn < 1000 && rows(gateway, written).length === 0; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

t.test('a clip that is still recorded is held as soon as it is there', async (t) => {
  const gateway = await testGateway({ config: { cameras: [{ id: 7, url: 'rtsp://192.0.2.7/main', owner: 'olga' }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const clip = 'c'.repeat(64)
  await detection(gateway, { id: 1, cctvId: 7 })
  const url = `${siteUrl}/api/iot/detection-events/1/clip`
  const { body } = await report(gateway, { evidenceReferences: [url] })
  t.strictSame(body.evidenceReferences, [{ type: 'detection_event', id: '1' }])
  await detection(gateway, { id: 1, cctvId: 7, clip })
  t.strictSame(holders(gateway, clip), ['incident 1'])
  await act(gateway, 1, 'resolve', { resolution: 'seen' })
  t.strictSame(holders(gateway, clip), [])
  t.strictSame(rows(gateway, 'SELECT * FROM media_hold'), [])

  const removal = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1', cctv_clip_url: url }
  await gateway.ask('POST', '/api/whms/events', { by: people.olga, body: removal })
  await report(gateway, { evidenceReferences: ['event:1'] })
  t.strictSame(holders(gateway, clip), ['incident 2'], 'the clip that an event names')
})

t.test('incidents are listed newest first, by state, severity, category and time', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  for (const [severity, category] of [
    ['low', 'damage'],
    ['high', 'theft'],
    ['high', 'damage'],
    ['critical', 'fire'],
  ]) {
    await report(gateway, { severity, category })
    gateway.clock.advance(60_000)
  }
  await act(gateway, 2, 'investigate')
  await act(gateway, 3, 'resolve', { resolution: 'x' })
  const ids = async (query: string) => {
    const { status, body } = await gateway.ask('GET', `${path}?${query}`, { by: people.olga })
    t.equal(status, 200, query)
    return {
      ids: body.data.map(({ id }: { id: number }) => id),
      total: body.pagination.total,
      next: body.pagination.nextCursor,
    }
  }
  t.strictSame(await ids(''), { ids: [4, 3, 2, 1], total: 4, next: null })
  t.strictSame(await ids('status=open'), { ids: [4, 1], total: 2, next: null })
  t.strictSame(await ids('status=investigating'), { ids: [2], total: 1, next: null })
  t.strictSame(await ids('severity=high&category=damage'), { ids: [3], total: 1, next: null })
  t.match(await ids('from=2026-03-02T08:01:00Z&to=2026-03-02T08:03:00Z'), { ids: [3, 2] })
  const first = await ids('limit=3')
  t.match(first, { ids: [4, 3, 2], total: 4, next: String })
  t.strictSame(await ids(`limit=3&cursor=${first.next}`), { ids: [1], total: 4, next: null })
  t.match(await ids('limit=2&offset=1'), { ids: [3, 2] })
  t.equal((await gateway.ask('GET', `${path}?status=closed`, { by: people.olga })).status, 400)
  t.equal((await gateway.ask('GET', path, { by: people.vera })).status, 403)
})

t.test('who reports a camera whose warehouse is hidden from them finds the incident again', async (t) => {
  const cameras = [{ id: 7, url: 'rtsp://192.0.2.7/main', warehouseId: 2, viewers: ['olga', 'sven'] }]
  const gateway = await testGateway({ config: { warehouses: [{ id: 2, viewers: ['sven'] }], cameras } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  await hiddenSlot(gateway, 'V-1')
  const evidenceReferences = [{ type: 'camera', id: '7' }]
  const made = await report(gateway, { evidenceReferences }, people.olga)
  t.match(made, { status: 201, body: { warehouseId: 1, evidenceReferences } })
  t.match(await gateway.ask('GET', `${path}/${made.body.id}`, { by: people.olga }), { status: 200, body: { id: 1 } })
  t.match(await report(gateway, { evidenceReferences }, people.sven), { status: 201, body: { warehouseId: 2 } })
})

t.test('the incidents of a pallet refer to it, to its events or its photos, as far as the caller sees', async (t) => {
  const tess: Person = { username: 'tess', role: 'supervisor' }
  const gateway = await testGateway({
    people: [...Object.values(people), tess],
    config: { warehouses: [{ id: 2, viewers: ['sven', 'olga'] }] },
  })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  await hiddenSlot(gateway, 'V-1')
  const photo_url = await heldPhoto(gateway, 1)
  const other_url = await heldPhoto(gateway, 2)
  const move = async (slot_code: string, asset_barcode: string) => {
    const body = {
      event_type: 'PLACED',
      slot_code,
      asset_barcode,
      photo_url: slot_code === 'V-1' ? photo_url : other_url,
    }
    return (await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })).body.id as number
  }
  const first = await move('A', 'P-1')
  const other = await move('A', 'P-2')
  const inVault = await move('V-1', 'P-1')
  const references = [
    [`event:${first}`],
    ['asset:P-1'],
    [`event:${other}`],
    [`event:${inVault}`],
    [photo_url],
    ['P-1 fell'],
  ]
  for (const evidenceReferences of references) {
    t.equal((await report(gateway, { evidenceReferences, warehouseId: 1 })).status, 201)
  }
  const of = async (query: string, by: Person) =>
    (await gateway.ask('GET', `${path}?${query}`, { by })).body.data.map(({ id }: { id: number }) => id)
  t.strictSame(await of('asset_barcode=P-1', people.sven), [5, 4, 2, 1])
  t.strictSame(await of('asset_barcode=P-1', people.ada), [5, 4, 2, 1])
  t.strictSame(await of('asset_barcode=P-1', tess), [2, 1], 'a number says nothing about a move in a hidden warehouse')
  t.strictSame(await of('asset_barcode=P-2&status=open', people.sven), [3], 'with another filter')
  t.strictSame(await of('asset_barcode=P-2&status=resolved', people.sven), [])
  t.strictSame(await of('asset_barcode=P-9', people.sven), [])
})

t.test('nobody who has the file changes what was reported', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  await report(gateway, {})
  await act(gateway, 1, 'resolve', { resolution: 'x' })
  const db = database(gateway)
  const again = (id: number, incident: number, status: string) =>
    `INSERT INTO incident_change SELECT ${id}, 'other', 1, (SELECT max(seq) FROM log_leaf), 2, ${incident}, '${status}', NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, actor_commitment, timestamp_ms, evidence_hash FROM incident_change WHERE id = 1`
  for (const [sql, says] of [
    [`UPDATE incident_change SET severity = 'low' WHERE id = 1`, /no UPDATE/],
    ['DELETE FROM incident_change', /no DELETE/],
    [`INSERT OR REPLACE INTO incident_change SELECT * FROM incident_change WHERE id = 1`, /next one|never back/],
    [again(3, 1, 'investigating'), /never back|leaf_seq/],
    [again(3, 5, 'investigating'), /open over investigating|leaf_seq/],
  ] as const) {
    t.throws(() => db.exec(sql), says, sql)
  }
  db.exec('DROP TRIGGER incident_change_no_update')
  db.exec(`UPDATE incident_change SET severity = 'low' WHERE id = 1`)
  db.close()
  const { ok, mismatches } = verifyLedger(gateway.live.config.dataDir)
  t.equal(ok, false)
  t.ok(
    mismatches.some(({ where, what }) => /^change 1 of incident 1 /.test(where) && /in severity/.test(what)),
    JSON.stringify(mismatches),
  )
})
