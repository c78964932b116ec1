import t from 'tap'
import type { FromCameras } from '../../src/video/index.ts'
import { furnish, heldPhoto, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'

const photo_url = 'https://photos.example/1.jpg'

async function yard(t: { teardown(end: () => void): void }, config = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B', '7'])
  return gateway
}

/** A second after the one before. */
async function book(gateway: TestGateway, event_type: string, slot_code: string, asset_barcode: string, more = {}) {
  gateway.clock.advance(1000)
  const body = { event_type, slot_code, asset_barcode, ...(event_type === 'PLACED' && { photo_url }), ...more }
  const answer = await gateway.ask('POST', '/api/whms/events', { by: people.sven, body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}

const get = (gateway: TestGateway, path: string, by: Person = people.vera) =>
  gateway.ask('GET', `/api/whms/${path}`, { by })
const at = (seconds: number) => new Date(Date.UTC(2026, 2, 2, 8, 0, seconds)).toISOString()

t.test('the history of a slot: who stood there, from when to when, and what ended it', async (t) => {
  const gateway = await yard(t)
  await book(gateway, 'PLACED', 'A', 'P-1')
  await book(gateway, 'VERIFIED', 'A', 'P-1')
  await book(gateway, 'REMOVED', 'A', 'P-1')
  await book(gateway, 'PLACED', 'A', 'P-2')
  await book(gateway, 'PLACED', 'A', 'P-3')
  await book(gateway, 'PLACED', 'A', 'P-3')
  await book(gateway, 'REMOVED', 'A', 'P-1')
  await book(gateway, 'PLACED', 'A', 'P-4')
  await book(gateway, 'DISPUTED', 'A', 'P-4')
  const { body } = await get(gateway, 'slots/A/history')
  t.match(body, {
    success: true,
    data: [
      {
        asset_barcode: 'P-4',
        from: at(8),
        to: null,
        seconds: null,
        ended: null,
        endedBy: null,
        isDisputed: true,
        judgements: [{ id: 9, event_type: 'DISPUTED' }],
      },
      { asset_barcode: 'P-3', from: at(6), to: at(7), ended: { id: 7 }, endedBy: 'other_asset_removed' },
      { asset_barcode: 'P-3', from: at(5), to: at(6), ended: { id: 6 }, endedBy: 'placed_again' },
      { asset_barcode: 'P-2', from: at(4), to: at(5), ended: { id: 5 }, endedBy: 'replaced' },
      {
        asset_barcode: 'P-1',
        slot: { id: 1, slot_id: 'A', zone: 'S', zoneId: 1, warehouseId: 1 },
        from: at(1),
        to: at(3),
        seconds: 2,
        placed: { id: 1, event_type: 'PLACED' },
        ended: { id: 3, event_type: 'REMOVED' },
        endedBy: 'removed',
        isVerified: true,
        isDisputed: false,
        judgements: [{ id: 2, event_type: 'VERIFIED' }],
      },
    ],
    pagination: { limit: 50, offset: 0, total: 5, hasMore: false, nextCursor: null },
  })
  t.match((await get(gateway, 'slots/7/history?by=slot_id')).body, { data: { length: 0 }, pagination: { total: 0 } })
  t.equal((await get(gateway, 'slots/3/history?by=slot_id')).status, 404, 'a label that is not there')
  t.equal((await get(gateway, 'slots/nope/history')).status, 404)
})

t.test('the history of a pallet: where it stood, and when another was booked over it', async (t) => {
  const gateway = await yard(t)
  await book(gateway, 'PLACED', 'A', 'P-1')
  await book(gateway, 'PLACED', 'A', 'P-2')
  await book(gateway, 'PLACED', 'B', 'P-1')
  await book(gateway, 'PLACED', 'B', 'P-1')
  await book(gateway, 'REMOVED', 'A', 'P-1')
  await book(gateway, 'PLACED', '7', 'P-1')
  await book(gateway, 'REMOVED', '7', 'P-1')
  const { body } = await get(gateway, 'assets/P-1/history')
  const stays = body.data.map((stay: Record<string, Record<string, unknown>>) => [
    stay['slot']?.['slot_id'],
    stay['from'],
    stay['to'],
    stay['endedBy'],
  ])
  t.same(stays, [
    ['7', at(6), at(7), 'removed'],
    ['B', at(4), at(6), 'moved'],
    ['B', at(3), at(4), 'placed_again'],
    ['A', at(1), at(2), 'replaced'],
  ])
  await gateway.ask('POST', '/api/whms/assets', { by: people.ada, body: { asset_id: 'NEW', type: 'box' } })
  t.match(
    (await get(gateway, 'assets/NEW/history')).body,
    { data: { length: 0 }, pagination: { total: 0 } },
    'registered only',
  )
  for (const path of ['history', 'story']) t.equal((await get(gateway, `assets/unknown/${path}`)).status, 404)
})

t.test('histories are paged by cursor, and told of the past, as known now and as known then', async (t) => {
  const gateway = await yard(t)
  for (let i = 0; i < 5; i += 1) await book(gateway, 'PLACED', i % 2 ? 'A' : 'B', 'P-1')
  gateway.clock.advance(60_000)
  await book(gateway, 'REMOVED', 'B', 'P-1', { timestamp: at(3.5) })
  for (const path of ['assets/P-1/history', 'assets/P-1/story']) {
    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body }: { body: { data: Record<string, { id: number }>[]; pagination: { nextCursor: string | null } } } =
        await get(gateway, `${path}?limit=2${cursor && `&cursor=${cursor}`}`)
      seen.push(...body.data.map((one) => (one['placed'] ?? one['event'])?.id ?? 0))
      cursor = body.pagination.nextCursor
    }
    t.same(seen, path.endsWith('/story') ? [1, 2, 3, 6, 4, 5] : [5, 4, 3, 2, 1], path)
    t.match((await get(gateway, `${path}?limit=1&offset=1`)).body.pagination, { offset: 1, hasMore: true })
    for (const wrong of ['limit=-1', 'cursor=zzz', 'at=x', 'limit=1.5'])
      t.equal((await get(gateway, `${path}?${wrong}`)).status, 400, wrong)
  }
  const stays = async (query: string) =>
    (await get(gateway, `assets/P-1/history?${query}`)).body.data.map((s: { from: string; to: string }) => [
      s.from,
      s.to,
    ])
  t.same((await stays(''))[2], [at(3), at(3.5)], 'the late removal ended it')
  t.same((await stays(`known_at=${at(59)}`))[2], [at(3), at(4)], 'nobody knew of it then')
  t.same(await stays(`at=${at(2)}`), [
    [at(2), null],
    [at(1), at(2)],
  ])
  t.equal((await get(gateway, `assets/P-1/history?at=${at(0)}`)).status, 404, 'not seen by then')
})

t.test('the story of a pallet shows each move with all that proves it', async (t) => {
  const gateway = await yard(t)
  const held = await heldPhoto(gateway)
  const evidence = { scale_weight_kg: 401.5, photo_taken_at: at(1), cctv_clip_url: 'https://cctv.example/1' }
  const first = await book(gateway, 'PLACED', 'A', 'P-1', { photo_url: held, operator: 'olga', ...evidence })
  await book(gateway, 'DISPUTED', 'A', 'P-1')
  await book(gateway, 'VERIFIED', 'A', 'P-1')
  await book(gateway, 'PLACED', 'B', 'P-1')
  gateway.clock.advance(1000)
  const body = { slot_code: 'A', reason: 'wrong label' }
  await gateway.ask('POST', '/api/whms/events/4/correct', { by: people.olga, body })
  const { data, pagination } = (await get(gateway, 'assets/P-1/story')).body
  t.match(data[0], {
    event: { id: 1, evidence_hash: first.evidence_hash },
    slot: { slot_id: 'A' },
    until: at(4),
    photo: { evidence: 'held', url: held, sha256: /^[0-9a-f]{64}$/, takenAt: at(1) },
    weightKg: 401.5,
    operator: 'olga',
    actor: 'sven',
    verification: 'verified',
    judgements: [{ event_type: 'DISPUTED' }, { event_type: 'VERIFIED' }],
    corrects: null,
    correctedBy: { length: 0 },
    footage: { cctv_clip_url: 'https://cctv.example/1', cameras: { length: 0 }, reason: 'no_camera' },
  })
  t.match(data[1], { event: { id: 4 }, photo: { evidence: 'claimed' }, verification: 'none', correctedBy: [5, 6] })
  t.match(data[2], { event: { id: 5, event_type: 'REMOVED' }, verification: null, corrects: 4, photo: { url: null } })
  t.match(data[3], { event: { id: 6, event_type: 'PLACED', slot_code: 'A' }, corrects: 4, until: null })
  t.equal(pagination.total, 4)
  const then = (await get(gateway, `assets/P-1/story?known_at=${at(4)}`)).body
  t.same(then.data[1].correctedBy, [], 'nobody had corrected it then')
})

t.test(
  'a pallet that went into a hidden warehouse still stands where it was seen last, for those who see no more',
  async (t) => {
    const gateway = await yard(t, { warehouses: [{ id: 2, viewers: ['sven'] }], ledger: { assets: 'registered' } })
    const by = people.ada
    await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Annex', timezone: 'UTC' } })
    const floor_plan_polygon = [
      { x: 0, y: 0 },
      { x: 1, y: 0 },
      { x: 1, y: 1 },
    ]
    await gateway.ask('POST', '/api/whms/slots', {
      by,
      body: { slot_id: 'X', zone: 'X', warehouseId: 2, floor_plan_polygon },
    })
    await book(gateway, 'PLACED', 'A', 'P-1')
    await book(gateway, 'PLACED', 'X', 'P-1')
    const mine = (await get(gateway, 'assets/P-1/history')).body
    const here = { slot: { slot_id: 'A' }, to: null, ended: null, endedBy: null }
    t.match(mine, { data: [here], pagination: { total: 1 } }, 'neither that it went, nor when')
    t.match((await get(gateway, 'assets/P-1/location')).body, { slot: { slot_id: 'A' } })
    t.match((await get(gateway, 'assets/P-1/location', people.sven)).body, { slot: { slot_id: 'X' } })
    const contradictions = (await get(gateway, 'discrepancies')).body.data
    t.match(contradictions, [{ kind: 'unregistered_asset', slot: { slot_id: 'A' }, eventIds: { length: 1 } }])
    t.equal(contradictions.length, 1, 'nor by another contradiction')
    t.equal((await get(gateway, 'assets/P-1/story')).body.data.length, 1)
    t.equal((await get(gateway, 'assets/P-1/history', people.sven)).body.data.length, 2)
    t.equal((await get(gateway, 'slots/X/history')).status, 404)
    t.equal((await get(gateway, 'events/2/footage')).status, 404)
  },
)

t.test('a removal booked in another hall takes away no pallet that stands elsewhere', async (t) => {
  const gateway = await yard(t)
  const by = people.ada
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Annex', timezone: 'UTC' } })
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  const slot = { slot_id: 'X', zone: 'X', warehouseId: 2, floor_plan_polygon }
  await gateway.ask('POST', '/api/whms/slots', { by, body: slot })
  await book(gateway, 'PLACED', 'X', 'P-1')
  await book(gateway, 'REMOVED', 'A', 'P-1')
  t.match((await get(gateway, 'assets/P-1/location')).body, { slot: { slot_id: 'X' } })
  t.match((await get(gateway, 'assets/P-1/history')).body.data, [{ slot: { slot_id: 'X' }, to: null, endedBy: null }])
  await book(gateway, 'REMOVED', 'X', 'P-9')
  t.match((await get(gateway, 'assets/P-1/location')).body, {
    slot: null,
    since: at(3),
    lastSlot: { slot_id: 'X', warehouseId: 2 },
    endedBy: 3,
  })
  t.match((await get(gateway, 'assets/P-1/history')).body.data, [
    { slot: { slot_id: 'X' }, to: at(3), ended: { id: 3, asset_barcode: 'P-9' }, endedBy: 'other_asset_removed' },
  ])
  t.match((await get(gateway, 'assets/P-1/story')).body.data[0], { event: { id: 1 }, until: at(3) })
})

const cameras = [
  { id: 7, name: 'Aisle A', url: 'rtsp://192.0.2.7/main', owner: 'vera', slots: ['A'] },
  { id: 8, url: 'rtsp://192.0.2.8/main', owner: 'olga', slots: ['B'] },
]
const startMs = Date.UTC(2026, 2, 2, 8)

async function hear(gateway: TestGateway, ...messages: FromCameras[]): Promise<void> {
  for (const message of messages) gateway.cameras.heard(message)
  await gateway.audit('test.settled', {})
}

/** A clip of a camera from one second of the story to another. */
function clip(detectionId: number, from: number, to: number): FromCameras {
  return {
    type: 'clipClosed',
    detectionId,
    cameraId: 7,
    motionAt: startMs + from * 1000,
    score: 0.4,
    sceneChange: false,
    file: `${detectionId}.mp4`,
    sha256: String(detectionId).repeat(64),
    sizeBytes: 1000,
    startedAt: startMs + from * 1000,
    endedAt: startMs + to * 1000,
    preRollSeconds: 3,
    durationSeconds: to - from,
    width: 640,
    height: 360,
    peakScore: 0.8,
    snapshot: null,
    closedBy: 'post-roll',
    askedPreRollSeconds: 3,
    pictures: 45,
    longestGapSeconds: 0.07,
    original: true,
  }
}

t.test('the footage of an event: the clips of its slot around its time, nearest first', async (t) => {
  const gateway = await yard(t, { cameras })
  for (let i = 0; i < 100; i += 1) gateway.clock.advance(1000)
  await hear(gateway, clip(1, 10, 20), clip(2, 95, 110), clip(3, 130, 140), clip(4, 400, 410))
  const { id } = await book(gateway, 'PLACED', 'A', 'P-1')
  const { status, body } = await get(gateway, `events/${id}/footage`)
  t.match(
    { status, body },
    {
      status: 200,
      body: {
        success: true,
        eventId: id,
        timestamp: at(101),
        slot_code: 'A',
        windowSeconds: 60,
        reason: null,
        cameras: [7],
        clips: [
          {
            detectionId: 2,
            cctvId: 7,
            from: at(95),
            to: at(110),
            url: /\/2\/clip$/,
            sha256: '2'.repeat(64),
            cameraClock: null,
          },
        ],
        gaps: { length: 0 },
        watching: [
          {
            cctvId: 7,
            name: 'Aisle A',
            reason: null,
            clips: [
              { offsetSeconds: 6, detection: { id: 2, clipUrls: { playback: /\/2\/clip$/ } } },
              { offsetSeconds: null, detection: { id: 3 } },
            ],
          },
        ],
      },
    },
  )
  t.equal(body.clips.length, 1, 'only what shows the moment is its film')
  t.equal(body.watching[0].clips.length, 2)
  const wide = (await get(gateway, `events/${id}/footage?seconds=600`)).body
  t.same(
    wide.watching[0].clips.map((c: { detection: { id: number } }) => c.detection.id),
    [2, 3, 1, 4],
  )
  t.match((await get(gateway, `events/${id}/footage?seconds=0`)).body.watching[0].clips, [{ detection: { id: 2 } }])
  for (const seconds of ['601', '-1', 'x'])
    t.equal((await get(gateway, `events/${id}/footage?seconds=${seconds}`)).status, 400)
  for (const unknown of ['99', 'x']) t.equal((await get(gateway, `events/${unknown}/footage`)).status, 404)
  const story = (await get(gateway, 'assets/P-1/story')).body.data
  t.match(story[0].footage, { reason: null, cameras: [{ cctvId: 7, clips: [{ detection: { id: 2 } }, {}] }] })
})

t.test('why there is no footage is said', async (t) => {
  const gateway = await yard(t, { cameras })
  const inA = await book(gateway, 'PLACED', 'A', 'P-1')
  const inB = await book(gateway, 'PLACED', 'B', 'P-2')
  const nowhere = await book(gateway, 'PLACED', '7', 'P-3')
  const footage = async (event: { id: number }, by: Person = people.vera) =>
    (await get(gateway, `events/${event.id}/footage`, by)).body
  t.match(await footage(nowhere), { cameras: { length: 0 }, reason: 'no_camera' })
  t.match(await footage(inB), { cameras: { length: 0 }, reason: 'camera_not_visible' }, 'and nothing of whose it is')
  t.match(await footage(inB, people.olga), { cameras: [8], watching: [{ reason: 'gap' }], reason: 'gap' })
  const fired = (detectionId: number, withClip: boolean): FromCameras => {
    const { motionAt, score, sceneChange } = clip(detectionId, 1, 2) as Extract<FromCameras, { type: 'clipClosed' }>
    return { type: 'motionFired', cameraId: 7, detectionId, motionAt, score, sceneChange, clip: withClip }
  }
  await hear(gateway, fired(1, false))
  t.match(await footage(inA), {
    reason: 'gap',
    watching: [{ reason: 'cooldown', clips: [{ detection: { clipStatus: 'cooldown' } }] }],
  })
  await hear(gateway, fired(2, true))
  t.match(await footage(inA), { reason: 'pending' })
  await hear(gateway, {
    ...(fired(2, true) as Extract<FromCameras, { type: 'motionFired' }>),
    type: 'clipLost',
    reason: 'disk-full',
    words: 'The disk was full.',
  } as FromCameras)
  t.match(await footage(inA), { reason: 'gap', watching: [{ reason: 'lost' }] })
  await hear(gateway, clip(3, 0, 5))
  t.match(await footage(inA), { reason: null })
})
