import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import type { ClipClosed, FilmOrder, FromCameras, ToCameras } from '../../src/video/index.ts'
import { people, type TestGateway, testGateway } from '../support/gateway.ts'

type Hall = { gateway: TestGateway; readonly orders: FilmOrder[] }

const config = {
  cameras: [{ id: 7, url: 'rtsp://192.0.2.7/main', slots: ['A'], viewers: ['olga'], history: { hours: 2 } }],
}

/** A gateway whose cameras thread is ready, and what films it was ordered to make. */
async function hall(t: Test, camera: object | undefined = config.cameras[0]): Promise<Hall> {
  const gateway = await testGateway({ config: { cameras: [camera] } })
  const made: Hall = { gateway, orders: [] }
  t.teardown(() => made.gateway.end())
  const polygon = [0, 1, 2].map((x) => ({ x, y: x * x }))
  const post = (path: string, body: object) => gateway.ask('POST', `/api/whms/${path}`, { by: people.ada, body })
  await post('warehouses', { name: 'Hall', timezone: 'UTC', location: { lat: 0, lng: 0 } })
  await post('zones', { name: 'A', zone_type: 'storage', color: '#112233', warehouseId: 1 })
  for (const slot_id of ['A', 'B']) await post('slots', { slot_id, zone: 'A', floor_plan_polygon: polygon })
  await begin(made)
  return made
}

/** The thread has begun, and has nothing of the time before. */
async function begin({ gateway, orders }: Hall): Promise<void> {
  gateway.camerasThread.send = (message: ToCameras) => {
    if (message.type === 'film') orders.push(message)
  }
  gateway.cameras.threadStarted()
  await hear(gateway, { type: 'leftoversDone', count: 0, kept: [] })
}

async function hear(gateway: TestGateway, ...messages: FromCameras[]): Promise<void> {
  for (const message of messages) gateway.cameras.heard(message)
  // Everything that they led to is committed when the next write is.
  for (let i = 0; i < 3; i += 1) await gateway.audit('test.settled', {})
}

async function remove({ gateway }: Hall, slot: string, agoMs = 0): Promise<number> {
  const timestamp = agoMs === 0 ? {} : { timestamp: new Date(gateway.clock.now() - agoMs).toISOString() }
  const body = { event_type: 'REMOVED', slot_code: slot, asset_barcode: 'P-1', ...timestamp }
  const answer = await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  return answer.body.id
}

const footage = async ({ gateway }: Hall, id: number) =>
  (await gateway.ask('GET', `/api/whms/events/${id}/footage`, { by: people.olga })).body

function closed({ detectionId, cameraId, momentAt, fromAt, toAt }: FilmOrder): ClipClosed {
  return {
    ...{ type: 'clipClosed', detectionId, cameraId, motionAt: momentAt, score: 0, sceneChange: false },
    ...{ file: `${detectionId}.mp4`, sha256: String(detectionId % 10).repeat(64), sizeBytes: 1000 },
    ...{ startedAt: fromAt, endedAt: toAt, preRollSeconds: 10, askedPreRollSeconds: 10 },
    ...{ durationSeconds: (toAt - fromAt) / 1000, pictures: 300, longestGapSeconds: 0.07, original: true },
    ...{ width: 640, height: 360, peakScore: null, snapshot: null, closedBy: 'post-roll' },
  }
}

function inTheFile<T>({ gateway }: Hall, sql: string): T[] {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const rows = db.prepare(sql).pluck().all() as T[]
  db.close()
  return rows
}

const newest = (orders: readonly FilmOrder[]) => [...new Map(orders.map((one) => [one.detectionId, one])).values()]

t.test('a hundred events a minute in one slot share their films', async (t) => {
  const made = await hall(t)
  const ids: number[] = []
  for (let i = 0; i < 100; i += 1) {
    ids.push(await remove(made, 'A'))
    made.gateway.clock.advance(600)
  }
  const films = newest(made.orders)
  t.ok(films.length <= 3, `${films.length} films`)
  t.ok(films.every(({ fromAt, toAt }) => toAt - fromAt <= 60_000))
  t.match(await footage(made, ids[50] ?? 0), { cameras: [7], clips: { length: 0 }, reason: 'pending' })
  await hear(made.gateway, ...films.map(closed))
  for (const id of ids) t.match(await footage(made, id), { reason: null, clips: [{ cctvId: 7 }] })
  t.equal(
    inTheFile(made, 'SELECT event_ids FROM detection_event').flatMap((text) => JSON.parse(text as string)).length,
    100,
  )
  t.equal(
    inTheFile<string>(made, 'SELECT body FROM outbox').filter((body) => `${body}`.includes('motion.detected')).length,
    0,
  )
})

t.test('a clip that is newer than a restored database keeps its id, and the next film gets another', async (t) => {
  const made = await hall(t)
  const momentAt = made.gateway.clock.now()
  const found = {
    type: 'film',
    detectionId: 1,
    cameraId: 7,
    momentAt,
    fromAt: momentAt - 1000,
    toAt: momentAt,
  } as const
  await hear(made.gateway, closed(found), closed({ ...found, detectionId: 3 }))
  const id = await remove(made, 'A')
  t.equal(id, 1, 'the event is recorded')
  t.match(newest(made.orders), [{ detectionId: 4, cameraId: 7 }])
  t.strictSame(inTheFile(made, 'SELECT id FROM detection_event ORDER BY id'), [1, 3])
})

t.test('a camera whose config writes the label of a slot in another case looks at that slot', async (t) => {
  const made = await hall(t, { ...config.cameras[0], slots: ['A-e\u0301'] })
  const polygon = [0, 1, 2].map((x) => ({ x, y: x * x }))
  const body = { slot_id: 'a-\u00c9', zone: 'A', floor_plan_polygon: polygon }
  t.match(await made.gateway.ask('POST', '/api/whms/slots', { by: people.ada, body }), { status: 201 })
  const id = await remove(made, 'a-\u00c9')
  t.match(await footage(made, id), { cameras: [7], reason: 'pending', pending: [{ cctvId: 7 }] })
  const incident = { severity: 'high', category: 'damage', evidenceReferences: [{ type: 'event', id }] }
  t.equal(
    (await made.gateway.ask('POST', '/api/governance/incidents', { by: people.olga, body: incident })).status,
    201,
  )
  await hear(made.gateway, ...newest(made.orders).map(closed))
  t.match(await footage(made, id), { reason: null, clips: [{ cctvId: 7 }] })
  const held = inTheFile(made, "SELECT count(*) FROM media_hold WHERE reason = 'incident'")
  t.match(held, [1], 'and its film is held by the incident')
})

t.test(
  'a film is ordered by the clock of its event, also when that was set back an hour before the order',
  async (t) => {
    const made = await hall(t)
    made.gateway.cameras.threadEnded()
    const id = await remove(made, 'A')
    made.gateway.clock.advance(2000)
    const momentAt = made.gateway.clock.now() - 2000
    made.gateway.clock.setWall(made.gateway.clock.now() - 3_600_000)
    await begin(made)
    t.match(made.orders, [{ momentAt, clockSetMs: -3_600_000 }])
    made.gateway.clock.setWall(momentAt + 1000)
    await remove(made, 'A')
    t.equal(newest(made.orders).length, 2, 'an event of the same time, by the clock that was set, has another film')
    await hear(made.gateway, ...newest(made.orders).slice(0, 1).map(closed))
    t.match(await footage(made, id), { reason: null, clips: [{ cctvId: 7 }] })
  },
)

t.test('a slot that no camera watches costs no film', async (t) => {
  const made = await hall(t)
  t.match(await footage(made, await remove(made, 'B')), { cameras: { length: 0 }, reason: 'no_camera' })
  t.strictSame(made.orders, [])
})

t.test(
  'films of the past are made two at a time, the oldest first; what no history reaches is not tried',
  async (t) => {
    const made = await hall(t)
    const minute = 60_000
    for (const ago of [40, 90, 60, 300, 50]) await remove(made, 'A', ago * minute)
    const agoOf = ({ momentAt }: FilmOrder) => Math.round((made.gateway.clock.now() - momentAt) / minute)
    t.strictSame(made.orders.map(agoOf).slice(0, 2).length, 2)
    for (let i = 0; i < 4; i += 1) await hear(made.gateway, closed(made.orders[i] as FilmOrder))
    t.strictSame(made.orders.map(agoOf), [40, 90, 60, 50], 'what came first was ordered at once')
  },
)

t.test('films are ordered while clips that an earlier run left are still being made', async (t) => {
  const made = await hall(t)
  await remove(made, 'A')
  const [order] = made.orders.splice(0)
  made.gateway = await made.gateway.restart()
  made.gateway.camerasThread.send = (message: ToCameras) => {
    if (message.type === 'film') made.orders.push(message)
  }
  await hear(made.gateway)
  t.strictSame(made.orders, [], 'no thread runs')
  made.gateway.cameras.threadStarted()
  await hear(made.gateway)
  t.strictSame(made.orders, [order], 'leftoversDone has not come')
})

t.test('a film whose result waits for the disk is not ordered of the next thread', async (t) => {
  const made = await hall(t)
  const { gateway } = made
  const id = await remove(made, 'A')
  const order = made.orders.splice(0)[0] as FilmOrder
  const { write } = gateway.work
  gateway.work.write = async () => {
    throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' })
  }
  gateway.cameras.heard(closed(order))
  gateway.work.write = write
  gateway.cameras.threadEnded()
  gateway.cameras.threadStarted()
  await hear(gateway)
  t.strictSame(made.orders, [], 'its clip may be on the disk under its name')
  gateway.clock.advance(10_000)
  await hear(gateway)
  t.match(await footage(made, id), { clips: [{ detectionId: order.detectionId }] })
  t.strictSame(made.orders, [], 'nothing is wanted any more')
  await remove(made, 'A')
  t.equal(made.orders.length, 1, 'the next one is ordered')
})

t.test('a handheld that sends after the recording hours gets the film of what was recorded within them', async (t) => {
  const made = await hall(t, { ...config.cameras[0], recordingHours: ['Mo-Su 08:00-10:00'] })
  made.gateway.cameras.start()
  for (let minute = 0; minute < 150; minute += 1) made.gateway.clock.advance(60_000)
  const { body } = await made.gateway.ask('GET', '/api/iot/cctv', { by: people.olga })
  t.match(body.data, [{ state: 'off', problem: /outside the recording hours/ }])
  const within = await remove(made, 'A', 60 * 60_000)
  t.match(newest(made.orders), [{ cameraId: 7, momentAt: made.gateway.clock.now() - 60 * 60_000 }])
  await hear(made.gateway, ...newest(made.orders).map(closed))
  t.match(await footage(made, within), { reason: null, clips: [{ cctvId: 7 }] })
  const after = await remove(made, 'A', 20 * 60_000)
  t.equal(newest(made.orders).length, 1, 'outside the hours nothing was recorded')
  t.match(await footage(made, after), { reason: 'gap', gaps: [{ cause: 'outside_hours' }], pending: { length: 0 } })
})

t.test('an event from before the first camera of its slot says so, because no gap can', async (t) => {
  const made = await hall(t)
  const since = new Date(made.gateway.clock.now()).toISOString()
  const early = await remove(made, 'A', 5 * 86_400_000)
  const detail = `At that time the gateway had no camera that looks at this slot: Camera 7 is in its config since ${since}.`
  t.match(await footage(made, early), { reason: 'gap', gaps: { length: 0 }, clips: { length: 0 }, detail })
  made.gateway.clock.advance(5 * 3_600_000)
  const late = await footage(made, await remove(made, 'A', 4 * 3_600_000))
  t.not(late.reason, null)
  t.notMatch(late.detail ?? '', /no camera that looks/, 'a camera that is there is not called absent')
})

t.test('films of the past that could not be made yet take no turn of the others', async (t) => {
  const made = await hall(t)
  for (const ago of [90, 80, 70, 60]) await remove(made, 'A', ago * 60_000)
  t.equal(made.orders.length, 2)
  const [first, second] = made.orders.map(({ detectionId }) => detectionId)
  const why = { type: 'clipWaits', words: 'ffmpeg is not there.', sizeBytes: 1, facts: null } as const
  await hear(made.gateway, { ...why, detectionId: first ?? 0 }, { ...why, detectionId: second ?? 0 })
  t.equal(made.orders.length, 4, 'the next two are made')
  await hear(made.gateway, closed(made.orders[0] as FilmOrder))
  t.equal(made.orders.length, 4, 'each is ordered once')
})

t.test('films of the past whose row the database refuses take no turn of the others', async (t) => {
  const made = await hall(t)
  for (const ago of [90, 80, 70]) await remove(made, 'A', ago * 60_000)
  const [first, second] = made.orders.splice(0) as [FilmOrder, FilmOrder]
  const db = new BetterSqlite3(databaseFile(made.gateway.live.config.dataDir))
  db.exec(`CREATE TRIGGER refused BEFORE INSERT ON detection_event WHEN NEW.id = ${first.detectionId}
    BEGIN SELECT RAISE(ABORT, 'this row is refused'); END`)
  db.close()
  await hear(made.gateway, closed(first))
  for (let i = 0; i < 4; i += 1) {
    t.strictSame(made.orders, [], 'it may have been a moment')
    made.gateway.clock.advance(10_000)
    await hear(made.gateway)
  }
  t.equal(made.orders.length, 1, 'the next one is made')
  await hear(made.gateway, closed(second))
  t.equal(made.orders.length, 1, 'the refused one is not ordered again')
})

t.test('a film that was wanted when the gateway ended is ordered again', async (t) => {
  const made = await hall(t)
  const id = await remove(made, 'A')
  const [order] = made.orders.splice(0)
  made.gateway = await made.gateway.restart()
  t.match(await footage(made, id), { reason: 'pending' })
  const early = await made.gateway.ask('GET', `/api/iot/detection-events/${order?.detectionId}/clip`, {
    by: people.olga,
  })
  t.match(early, { status: 503, body: { error: { code: 'CLIP_PENDING' } } })
  await begin(made)
  t.strictSame(made.orders, [order])
  await hear(made.gateway, closed(order as FilmOrder))
  t.match(await footage(made, id), { reason: null, clips: [{ detectionId: order?.detectionId }] })
})

t.test('a scan that comes too late for its film, of a camera that watched, says that nothing was kept', async (t) => {
  const made = await hall(t, { ...config.cameras[0], history: { hours: 0 } })
  const { gateway } = made
  const live = { type: 'state', cameraId: 7, state: 'live', problem: null, words: null, pictureAgoMs: 0 } as const
  await hear(gateway, { ...live, at: gateway.clock.now() })
  gateway.clock.advance(300_000)
  const id = await remove(made, 'A', 60_000)
  t.strictSame(made.orders, [])
  const notKept = { clips: [], pending: [], gaps: [], reason: 'not_kept', watching: [{ reason: 'no_motion' }] }
  t.match(await footage(made, id), { ...notKept, detail: /^The event was recorded 60 s after its moment, .*history/ })
  const early = await remove(made, 'A', 305_000)
  t.match(
    await footage(made, early),
    { reason: 'gap', detail: /had no camera/, watching: [{ reason: 'gap' }] },
    'the camera was not there yet',
  )
})

t.test('a film that could not be made says why, and its row is in the log', async (t) => {
  const made = await hall(t)
  const id = await remove(made, 'A')
  const [order] = made.orders as [FilmOrder]
  const { detectionId, cameraId, momentAt } = order
  const facts = { detectionId, cameraId, motionAt: momentAt, score: 0, sceneChange: false }
  await hear(made.gateway, { ...facts, type: 'clipLost', reason: 'no-video', words: 'The camera sent no video.' })
  t.match(await footage(made, id), { clips: { length: 0 }, reason: 'gap', detail: 'The camera sent no video.' })
  const row = await made.gateway.ask('GET', `/api/iot/detection-events/${detectionId}`, { by: people.olga })
  t.match(row.body, { trigger: 'event', clipStatus: 'lost', seq: Number })
})

t.test('the list has motion; films of floor events come when they are asked for', async (t) => {
  const made = await hall(t)
  await remove(made, 'A')
  const [film] = made.orders as [FilmOrder]
  await hear(made.gateway, closed(film), { ...closed({ ...film, detectionId: 90 }), score: 0.5 })
  const ask = (query: string) => made.gateway.ask('GET', `/api/iot/detection-events${query}`, { by: people.olga })
  const expected = { motion: [90], event: [film.detectionId], all: [film.detectionId, 90] }
  for (const [trigger, ids] of Object.entries({ '': expected.motion, ...expected })) {
    const asked = trigger === '' ? '' : `trigger=${trigger}`
    for (const more of ['', 'cctvId=7', 'after_seq=0', 'cctvId=7&after_seq=0', 'from=2020-01-01T00:00:00Z']) {
      const query = `?${[asked, more].filter((one) => one !== '').join('&')}`
      const { body } = await ask(query)
      const found: number[] = body.data.map(({ id }: { id: number }) => id)
      t.same(
        found.toSorted((a, b) => a - b),
        ids.toSorted((a, b) => a - b),
        query,
      )
      t.equal(body.pagination.total, ids.length, `the total of ${query}`)
      t.equal(body.pagination.hasMore, false, query)
    }
  }
  t.match(await ask('?trigger=films'), { status: 400, body: { error: { fields: [{ path: 'trigger' }] } } })
})

t.test('an incident on an event holds its film, also while that is to come', async (t) => {
  const made = await hall(t)
  const id = await remove(made, 'A')
  made.gateway.clock.advance(120_000)
  const other = await remove(made, 'A')
  const [film, covered] = newest(made.orders) as [FilmOrder, FilmOrder]
  const body = {
    severity: 'high',
    category: 'damage',
    evidenceReferences: [id, other].map((one) => ({ type: 'event', id: one })),
  }
  t.equal((await made.gateway.ask('POST', '/api/governance/incidents', { by: people.sven, body })).status, 201)
  const motion = { ...closed({ ...covered, detectionId: 90 }), score: 0.5 }
  await hear(made.gateway, closed(film), motion, { type: 'filmCovered', detectionId: covered.detectionId, by: 90 })
  t.strictSame(inTheFile(made, `SELECT sha256 FROM media_hold WHERE reason = 'incident' ORDER BY sha256`), [
    '0'.repeat(64),
    String(film.detectionId % 10).repeat(64),
  ])
  t.match(await footage(made, other), { reason: null, clips: [{ detectionId: 90 }] }, 'the clip of motion shows it')
  const alias = await made.gateway.ask('GET', `/api/iot/detection-events/${covered.detectionId}`, { by: people.olga })
  t.match(
    alias,
    { status: 200, body: { id: 90, trigger: 'motion' } },
    'under the address that was given to the film too',
  )
})
