import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { readPhotoTime, takenAtMs } from '../../src/photos/photo-time.ts'
import { exifOf, readPicture } from '../../src/photos/picture.ts'
import { furnish, type Person, people, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'
import { jpeg, webp } from '../support/photo.ts'

const photosPath = '/api/whms/evidence/photos'
const upload = (gateway: TestGateway, bytes: Uint8Array, by: Person = people.olga) =>
  gateway.ask('POST', photosPath, { by, bytes })
const place = (gateway: TestGateway, slot_code: string, body: object, by: Person = people.olga) =>
  gateway.ask('POST', '/api/whms/events', {
    by,
    body: { event_type: 'PLACED', slot_code, asset_barcode: 'P-1', ...body },
  })

t.test(
  'a photo is seen by who brought it, by who may see an event with it, and unused by nobody from whom a hall is hidden',
  async (t) => {
    const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['olga', 'ada'] }] } })
    t.teardown(() => gateway.end())
    await furnish(gateway, ['A'])
    const { body } = await upload(gateway, tinyPng)
    const sees = async (by: Person) => (await gateway.ask('GET', `${photosPath}/${body.sha256}`, { by })).status === 200
    const seen = async () =>
      Object.fromEntries(await Promise.all(Object.values(people).map(async (one) => [one.username, await sees(one)])))
    t.strictSame(
      await seen(),
      { vera: false, olga: true, sven: false, ada: true },
      'unused: it may show a hall that is not theirs',
    )
    t.equal((await place(gateway, 'A', { photo_url: body.url })).status, 201)
    t.strictSame(await seen(), { vera: false, olga: true, sven: false, ada: true }, 'used in a hall that is not theirs')
    await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: { name: 'Open', timezone: 'UTC' } })
    const floor_plan_polygon = [
      { x: 0, y: 0 },
      { x: 1, y: 0 },
      { x: 1, y: 1 },
    ]
    const slot = { slot_id: 'O', zone: 'O', warehouseId: 2, floor_plan_polygon }
    await gateway.ask('POST', '/api/whms/slots', { by: people.ada, body: slot })
    t.equal((await place(gateway, 'O', { photo_url: body.url })).status, 201)
    t.strictSame(await seen(), { vera: true, olga: true, sven: true, ada: true }, 'used where everybody looks')
  },
)

t.test('who brings the same photo has it too, and nobody else', async (t) => {
  const oscar: Person = { username: 'oscar', role: 'operator' }
  const gateway = await testGateway({ people: [...Object.values(people), oscar] })
  t.teardown(() => gateway.end())
  const { body } = await upload(gateway, tinyPng)
  const status = async () => (await gateway.ask('GET', `${photosPath}/${body.sha256}`, { by: oscar })).status
  t.equal(await status(), 404)
  t.equal((await upload(gateway, tinyPng, oscar)).status, 201)
  t.equal(await status(), 200)
})

t.test('a photo tells its size and when it was taken, and is served as just what it is', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  for (const [bytes, says] of [
    [tinyPng, { mediaType: 'image/png', width: 1, height: 1, takenAt: null }],
    [
      jpeg({ taken: '2026:03:02 08:59:30', offset: '+01:00', width: 4000, height: 3000 }),
      { mediaType: 'image/jpeg', width: 4000, height: 3000, takenAt: '2026-03-02T08:59:30+01:00' },
    ],
    [jpeg({ taken: '2026:03:02 08:59:30' }), { takenAt: '2026-03-02T08:59:30' }],
    [jpeg({ taken: '2026:02:31 08:59:30' }), { takenAt: null }],
    [jpeg({ taken: '0000:00:00 00:00:00' }), { takenAt: null }],
    [jpeg({ taken: '    :  :     :  :  ' }), { takenAt: null }],
    [
      webp('2026:03:02 08:59:30', '-05:30'),
      { mediaType: 'image/webp', width: 4, height: 3, takenAt: '2026-03-02T08:59:30-05:30' },
    ],
  ] as const) {
    t.match(await upload(gateway, bytes), { status: 201, body: says }, JSON.stringify(says))
  }
  const polyglot = Buffer.concat([jpeg(), Buffer.from('<html><script>alert(1)</script>'), Buffer.of(0xff, 0xd9)])
  const { body } = await upload(gateway, polyglot)
  const shown = await gateway.ask('GET', `${photosPath}/${body.sha256}`, { by: people.olga })
  t.equal(shown.headers.get('content-type'), 'image/jpeg')
  t.equal(shown.headers.get('x-content-type-options'), 'nosniff')
  t.equal(shown.headers.get('content-security-policy'), "default-src 'none'; sandbox")
})

t.test('what no phone takes and no reader could unfold is refused', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const png = (width: number, height: number) => {
    const bytes = Buffer.from(tinyPng)
    bytes.writeUInt32BE(width, 16)
    bytes.writeUInt32BE(height, 20)
    bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29)
    return bytes
  }
  for (const huge of [png(16_385, 1), png(1, 0xffffffff), png(16_000, 16_000), jpeg({ width: 20_000 })]) {
    t.match(await upload(gateway, huge), {
      status: 413,
      body: { error: { code: 'BODY_TOO_LARGE', message: /pixels/ } },
    })
  }
  for (const empty of [png(0, 0), png(0, 8), png(8, 0)])
    t.match(await upload(gateway, empty), { status: 415, body: { error: { message: /no pixels/ } } })
  t.equal((await upload(gateway, png(16_384, 6000))).status, 201)
  const flipped = (at: number) => Buffer.from(tinyPng.map((byte, i) => (i === at ? byte ^ 1 : byte)))
  for (const at of [16, 20, 30, 45, 50])
    t.equal((await upload(gateway, flipped(at))).status, 415, `byte ${at} is another`)
})

t.test('whatever the bytes are, they are looked at and done with', async () => {
  const base = [tinyPng, jpeg({ taken: '2026:03:02 08:59:30', offset: '+01:00' }), webp('2026:03:02 08:59:30')]
  const change = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...base), change, fc.nat(400), async (bytes, changes, cut) => {
      const made = Buffer.from(bytes.subarray(0, Math.max(4, bytes.length - cut)))
      for (const [at, to] of changes) made[at % made.length] = to
      const file = { length: made.length, at: (offset: number, count: number) => made.subarray(offset, offset + count) }
      readPicture(file)
      for (const type of ['image/jpeg', 'image/png', 'image/webp']) await readPhotoTime(exifOf(file, type))
    }),
    { numRuns: 500 },
  )
})

t.test('the time in a photo is held against the event, on the clock of its hall', async (t) => {
  const gateway = await testGateway() // 2026-03-02T08:00Z; the hall is in Berlin
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B', 'C', 'D', 'E'])
  const recorded = async (slot: string, taken: string, offset?: string, more = {}) => {
    const { body } = await upload(gateway, jpeg({ taken, ...(offset !== undefined && { offset }) }))
    const event = await place(gateway, slot, { photo_url: body.url, timestamp: '2026-03-02T08:00:00Z', ...more })
    return {
      takenAt: event.body.photo_taken_at,
      mismatch: event.body.warnings.some(({ code }: { code: string }) => code === 'PHOTO_TIME_MISMATCH'),
    }
  }
  t.strictSame(await recorded('A', '2026:03:02 08:55:00'), { takenAt: '2026-03-02T07:55:00.000Z', mismatch: false })
  t.strictSame(await recorded('B', '2026:03:02 07:55:00'), { takenAt: '2026-03-02T06:55:00.000Z', mismatch: true })
  t.strictSame(await recorded('C', '2026:03:02 02:58:00', '-05:00'), {
    takenAt: '2026-03-02T07:58:00.000Z',
    mismatch: false,
  })
  t.strictSame(
    await recorded('D', '2025:12:24 18:00:00', undefined, { photo_taken_at: '2026-03-02T07:59:00Z' }),
    { takenAt: '2026-03-02T07:59:00.000Z', mismatch: true },
    'the client says today, the photo says Christmas',
  )
  const claimed = await place(gateway, 'E', { photo_url: 'https://p.example/1' })
  t.equal(claimed.body.photo_taken_at, null)
})

t.test('an hour that a clock shows twice is the one of the event', async (t) => {
  const at = (local: string, near: string, offsetMinutes: number | null = null) =>
    new Date(takenAtMs({ local, offsetMinutes }, 'Europe/Berlin', Date.parse(near))).toISOString()
  t.equal(at('2026-10-25T02:30:00', '2026-10-25T00:31:00Z'), '2026-10-25T00:30:00.000Z')
  t.equal(at('2026-10-25T02:30:00', '2026-10-25T01:31:00Z'), '2026-10-25T01:30:00.000Z')
  t.equal(at('2026-07-01T12:00:00', '2026-07-01T10:00:00Z'), '2026-07-01T10:00:00.000Z')
  t.equal(at('2026-10-25T12:00:00', '2026-10-25T10:00:00Z'), '2026-10-25T11:00:00.000Z')
  t.equal(at('2026-01-01T12:00:00', '2026-01-01T10:00:00Z', 540), '2026-01-01T03:00:00.000Z')
})
