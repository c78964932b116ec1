import t from 'tap'
import { holdsOn } from '../../src/log/index.ts'
import { type Person, people, type TestGateway } from '../support/gateway.ts'
import { detection, gatewayWithClip, reading, sha256 } from '../support/recorded-clip.ts'

const fourEyes = { privacy: { fourEyesForExport: true } }
const request = { reason: 'Police report 4711/26', recipient: 'Police station 12', cameraClockOffsetMs: -90_000 }
const post = (gateway: TestGateway, by: Person, path: string, body: object = {}) =>
  gateway.ask('POST', path, { by, body })
const pathOf = (url: string) => url.replace(/^https?:\/\/[^/]+/, '')

t.test('an export says what left, to whom, why, by whom and how the clocks stood, and is in the trail', async (t) => {
  const { gateway, clip } = await gatewayWithClip(t)
  const made = await post(gateway, people.sven, `${detection}/export`, request)
  t.match(made, {
    status: 201,
    body: {
      ...{ id: 1, detectionId: 1, cctvId: 7, redactionId: null, sha256: sha256(clip), state: 'granted' },
      ...{ who: 'sven', why: request.reason, recipient: request.recipient, decidedBy: null },
      clock: { trusted: true, cameraOffsetMs: -90_000 },
      createdAt: new Date(gateway.clock.now()).toISOString(),
    },
  })
  const file = await gateway.api.request(pathOf(made.body.url))
  t.equal(sha256(Buffer.from(await file.arrayBuffer())), sha256(clip), 'the signed address gives the bytes')
  const listed = await gateway.ask('GET', '/api/iot/exports', { by: people.sven })
  t.match(listed.body, { data: [{ id: 1, who: 'sven' }], pagination: { total: 1 } })
  const { body } = await gateway.ask('GET', '/api/governance/audit?entity=detection_event', { by: people.ada })
  t.strictSame(
    body.data.map((one: { action: string; actor: string }) => [one.action, one.actor]),
    [
      ['clip.export_downloaded', 'sven'],
      ['clip.export_requested', 'sven'],
    ],
  )
  t.notMatch(JSON.stringify(body.data), /Police/, 'the trail has no free text')
  gateway.clock.advance(25 * 60 * 60 * 1000)
  const over = await gateway.ask('GET', '/api/iot/exports/1/file', { by: people.sven })
  t.match(over, { status: 404, body: { error: { message: 'The export is ended' } } })
})

t.test(
  'whatever form a Range has, bytes of an export are a row of the trail, and an answer without bytes is none',
  async (t) => {
    const { gateway, clip } = await gatewayWithClip(t)
    const made = await post(gateway, people.sven, `${detection}/export`, request)
    const rows = async () => {
      const found = await gateway.ask('GET', '/api/governance/audit?action=clip.export_downloaded', { by: people.ada })
      return found.body.pagination.total
    }
    const size = clip.length
    let expected = 0
    for (const range of [
      'bytes=-999999999',
      'bytes=00-',
      'Bytes=0-',
      'bytes=1-',
      `bytes=-${size - 1}`,
      'items=0-',
      'bytes=0-1,2-',
      'bytes=5-2',
      'bytes=7-7',
    ]) {
      const { status, bytes } = await gateway.ask('GET', pathOf(made.body.url), { headers: { Range: range } })
      t.ok((status === 200 || status === 206) && bytes.length > 0, range)
      expected += 1
      t.equal(await rows(), expected, range)
    }
    const known = await gateway.ask('GET', pathOf(made.body.url), { headers: { 'If-None-Match': `"${sha256(clip)}"` } })
    t.equal(known.status, 304)
    t.equal((await gateway.ask('HEAD', pathOf(made.body.url))).status, 200)
    t.equal(await rows(), expected)
  },
)

t.test('an export that has ended stays ended when the clock goes back', async (t) => {
  const { gateway } = await gatewayWithClip(t, fourEyes)
  const startMs = gateway.clock.now()
  const ask = () => post(gateway, people.sven, `${detection}/export`, request)
  await ask()
  await post(gateway, people.ada, '/api/iot/exports/1/approve')
  await ask()
  const file = () => gateway.ask('GET', '/api/iot/exports/1/file', { by: people.sven })
  t.equal((await file()).status, 200)
  gateway.clock.advance(8 * 24 * 60 * 60 * 1000)
  await gateway.clipExports.endHolds()
  gateway.clock.setWall(startMs)
  t.match(await file(), { status: 404, body: { error: { message: 'The export is ended' } } })
  t.match(await post(gateway, people.ada, '/api/iot/exports/2/approve'), {
    status: 400,
    body: { error: { code: 'INVALID_TRANSITION' } },
  })
  const { body } = await gateway.ask('GET', '/api/iot/exports', { by: people.sven })
  t.match(body.data, [
    { id: 2, state: 'ended', url: null },
    { id: 1, state: 'ended', url: null },
  ])
})

t.test('with four eyes the bytes wait for another person than the one who asked', async (t) => {
  const { gateway } = await gatewayWithClip(t, fourEyes)
  const { body: waiting } = await post(gateway, people.sven, `${detection}/export`, request)
  t.match(waiting, { state: 'waiting', url: null, endsAt: null, isOwn: true })
  const file = () => gateway.ask('GET', '/api/iot/exports/1/file', { by: people.sven })
  const needed = { status: 403, body: { error: { code: 'SECOND_PERSON_NEEDED' } } }
  t.match(await file(), needed)
  t.match(await post(gateway, people.sven, '/api/iot/exports/1/approve'), needed, 'not by who asked')
  t.match(await post(gateway, people.vera, '/api/iot/exports/1/approve'), { status: 403 }, 'not by the owner')
  const approved = await post(gateway, people.ada, '/api/iot/exports/1/approve', { note: 'seen' })
  t.match(approved, {
    status: 200,
    body: { state: 'granted', isOwn: false, decidedBy: 'ada', decisionNote: 'seen', url: null },
  })
  t.match(await file(), { status: 200 })
  t.match(
    await gateway.ask('GET', '/api/iot/exports/1/file', { by: people.ada }),
    { status: 404 },
    'who approved did not ask',
  )
  t.match(await post(gateway, people.ada, '/api/iot/exports/1/refuse'), {
    status: 400,
    body: { error: { code: 'INVALID_TRANSITION' } },
  })
})

t.test('with four eyes clips are played by those who may export, and by no one else', async (t) => {
  const { gateway } = await gatewayWithClip(t, fourEyes)
  const clip = (by: Person) => gateway.ask('GET', `${detection}/clip`, { by })
  t.match(
    [await clip(people.sven), await clip(people.vera), await clip(people.ada)],
    [{ status: 200 }, { status: 200 }, { status: 200 }],
  )
  t.match(await clip(people.olga), { status: 403, body: { error: { code: 'SECOND_PERSON_NEEDED' } } })
  const signed = await post(gateway, people.olga, '/api/signed-urls', { path: `${detection}/clip` })
  t.equal((await gateway.api.request(signed.body.url)).status, 403, 'nor by a signed address')
  const player = await post(gateway, people.sven, '/api/signed-urls', { path: `${detection}/clip` })
  t.equal((await gateway.api.request(player.body.url)).status, 200, 'the player of a supervisor works')
})

t.test('who may not export is refused, and exports of a camera of others are not there', async (t) => {
  const { gateway } = await gatewayWithClip(t)
  t.match(await post(gateway, people.olga, `${detection}/export`, request), { status: 403 })
  t.match(await post(gateway, people.sven, `${detection}/export`, { reason: '' }), { status: 400 })
  t.match(await post(gateway, people.sven, `${detection}/export`, { ...request, redactionId: 5 }), {
    status: 400,
    body: { error: { code: 'REFERENCE_NOT_FOUND', fields: [{ path: 'redactionId' }] } },
  })
  t.equal((await post(gateway, people.vera, `${detection}/export`, request)).status, 201, 'the owner may')
  t.match(await gateway.ask('GET', '/api/iot/exports/1', { by: people.sven }), { body: { who: 'vera', url: null } })
  t.match(await gateway.ask('GET', '/api/iot/exports/1', { by: people.olga }), { status: 404 })
})

t.test('a file is held while its export waits or can be downloaded', async (t) => {
  const { gateway, clip } = await gatewayWithClip(t, fourEyes)
  const held = () => reading(gateway, (tx) => holdsOn(tx, sha256(clip)).map(({ reason, ref }) => `${reason} ${ref}`))
  await post(gateway, people.sven, `${detection}/export`, request)
  await post(gateway, people.sven, `${detection}/export`, request)
  t.strictSame(held(), ['export 1', 'export 2'])
  await post(gateway, people.sven, '/api/iot/exports/1/refuse', { note: 'a mistake' })
  await post(gateway, people.ada, '/api/iot/exports/2/approve')
  await gateway.clipExports.endHolds()
  t.strictSame(held(), ['export 2'])
  gateway.clock.advance(25 * 60 * 60 * 1000)
  await gateway.clipExports.endHolds()
  t.strictSame(held(), [])
})
