/** Ids, times and bodies that no camera has: each is refused in words, and changes nothing. */
import t, { type Test } from 'tap'
import { type Answer, people, type TestGateway, testGateway } from '../support/gateway.ts'

const cameras = [{ id: 7, name: 'Dock', url: 'rtsp://192.0.2.7/main', owner: 'vera' }]
const by = people.vera
const ids = [
  '0',
  '-1',
  '1.5',
  '7.0',
  '1e3',
  '٧',
  '9007199254740993',
  '1'.repeat(400),
  'x',
  '%00',
  '%F0%9F',
  "7'--",
  '7%2F..',
]
const times = [
  '',
  'yesterday',
  '2026-02-30T08:00:00Z',
  '2026-03-02T25:00:00Z',
  '2026-03-02',
  '1772438400000',
  '+999999-01-01T00:00:00Z',
  'Infinity',
]
const action = '/api/iot/detection/motion-stream'
const now = '2026-03-02T08:00:00Z'

async function open(t: Test): Promise<TestGateway> {
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  gateway.cameras.threadStarted()
  return gateway
}

/** The documented shape of an error, with words. */
function refused(t: Test, answer: Answer, statuses: readonly number[], what: string): void {
  t.ok(statuses.includes(answer.status), `${what}: ${answer.status}`)
  t.match(answer.body, { success: false, error: { code: /^[A-Z_]+$/, message: /\w \w/ } }, what)
}

t.test('an id that is none is not found, wherever a camera or a detection is named', async (t) => {
  const gateway = await open(t)
  const paths = (id: string) => [
    ...['gaps', `watched?from=${now}&to=${now}`, `scores?from=${now}&to=${now}`, 'live', 'snapshot'].map(
      (rest) => `cctv/${id}/${rest}`,
    ),
    ...['', '/clip', '/snapshot', '/redactions'].map((rest) => `detection-events/${id}${rest}`),
  ]
  for (const path of ids.flatMap(paths))
    refused(t, await gateway.ask('GET', `/api/iot/${path}`, { by }), [400, 404], path)
  for (const id of ids) {
    const body = { from: now, to: now }
    refused(t, await gateway.ask('POST', `/api/iot/cctv/${id}/what-if`, { by, body }), [400, 404], `what-if of ${id}`)
    const query = `cctvId=${id}`
    refused(t, await gateway.ask('GET', `${action}?${query}`, { by }), [400, 404], `status, ${query}`)
    refused(
      t,
      await gateway.ask('GET', `/api/iot/detection-events?${query}`, { by }),
      [400, 404],
      `detections, ${query}`,
    )
  }
})

t.test('a time that is none is refused, and so are times in the wrong order', async (t) => {
  const gateway = await open(t)
  gateway.clock.advance(3_600_000)
  for (const time of times.map(encodeURIComponent))
    for (const query of [`from=${time}&to=${now}`, `from=${now}&to=${time}`])
      for (const path of ['cctv/7/gaps', 'cctv/7/watched', 'cctv/7/scores', 'detection-events'])
        refused(t, await gateway.ask('GET', `/api/iot/${path}?${query}`, { by }), [400], `${path}?${query}`)
  const late = `from=2026-03-02T08:30:00Z&to=${now}`
  for (const path of ['watched', 'scores'])
    refused(
      t,
      await gateway.ask('GET', `/api/iot/cctv/7/${path}?${late}`, { by }),
      [400],
      `${path}: ends before it begins`,
    )
  const long = { from: now, to: '2026-03-03T10:00:00Z' }
  refused(t, await gateway.ask('POST', '/api/iot/cctv/7/what-if', { by, body: long }), [400], 'longer than 25 hours')
})

const start = { cctvId: 7, action: 'start' }
const bodies: readonly unknown[] = [
  ...[null, [], 'start', 7, {}, { cctvId: 7 }, { action: 'start' }, [start]],
  ...['Start', '', null, 1, 'x'.repeat(10_000)].map((action) => ({ cctvId: 7, action })),
  ...[0, -7, 7.5, '7', null, [7], 1e300, 2 ** 53].map((cctvId) => ({ cctvId, action: 'start' })),
  ...[-0.01, 1.01, '0.3', [0.3], 1e308].map((sensitivity) => ({ ...start, sensitivity })),
  ...[-1, 3601, '5'].map((cooldownSeconds) => ({ ...start, cooldownSeconds })),
  ...[-1, 60.5, 61, true].map((preRecordSeconds) => ({ ...start, preRecordSeconds })),
  ...[-1, 301, {}].map((postRecordSeconds) => ({ ...start, postRecordSeconds })),
  ...[1, 'true', 'false'].map((uploadToStorage) => ({ ...start, uploadToStorage })),
]

t.test('a body out of range starts and stops nothing', async (t) => {
  const gateway = await open(t)
  const status = async () => (await gateway.ask('GET', `${action}?cctvId=7`, { by })).body
  const before = await status()
  for (const body of bodies)
    refused(t, await gateway.ask('POST', action, { by, body }), [400], JSON.stringify(body).slice(0, 80))
  const texts = [
    '',
    '{',
    '{"cctvId":7,"action":"start"',
    '{"cctvId":NaN,"action":"start"}',
    '\u0000',
    `{"cctvId":7,"action":"start","sensitivity":1e999}`,
  ]
  for (const bytes of texts)
    refused(
      t,
      await gateway.ask('POST', action, { by, bytes, headers: { 'content-type': 'application/json' } }),
      [400],
      bytes,
    )
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const headers = { 'content-type': 'application/json' }
  refused(t, await gateway.ask('POST', action, { by, bytes: deep, headers }), [400], 'a deep body')
  t.same(await status(), before)
})

t.test('a time that ends before it begins is refused: an empty list would say that there was nothing', async (t) => {
  const gateway = await open(t)
  const [early, late] = ['2026-03-02T07:00:00Z', '2026-03-02T07:10:00Z']
  const lists = [
    'iot/cctv/7/gaps',
    'iot/detection-events',
    'whms/events',
    'governance/audit',
    'whms/transport-units',
    'iot/scale-readings',
  ]
  for (const path of ['iot/cctv/7/watched', 'iot/cctv/7/scores', ...lists]) {
    const answer = await gateway.ask('GET', `/api/${path}?from=${late}&to=${early}`, { by: people.ada })
    refused(t, answer, [400], path)
    t.match(answer.text, /"path":"to"/, path)
  }
  for (const path of lists) {
    t.equal((await gateway.ask('GET', `/api/${path}?from=${early}&to=${early}`, { by: people.ada })).status, 200, path)
  }
})

t.test('a start of a camera that is not to watch says why it does not', async (t) => {
  const config = {
    cameras: [
      { ...cameras[0], enabled: false },
      { ...cameras[0], id: 8, recordingHours: ['Sa 03:00-04:00'] },
    ],
  }
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  const act = async (cctvId: number, what: string) =>
    (await gateway.ask('POST', action, { by, body: { cctvId, action: what } })).body
  t.match(await act(7, 'start'), { running: false, reason: 'The camera is switched off in the config.' })
  t.match(await act(8, 'start'), { running: true, reason: /^It is outside the recording hours/ })
  t.match(await act(8, 'stop'), { running: false, reason: 'Detection was stopped through the API.' })
})

t.test('masks and zones out of range are refused', async (t) => {
  const gateway = await open(t)
  const corner = { x: 0, y: 0 }
  const wrong: readonly unknown[] = [
    ...[
      [[]],
      [[corner, corner]],
      [[corner, corner, { x: 1.1, y: 0 }]],
      [[corner, corner, { x: -0.1, y: 0 }]],
      [[corner, corner, { x: 1 }]],
    ],
    ...[
      [[corner, corner, { ...corner, z: 1 }]],
      [Array(257).fill(corner)],
      Array(33).fill([corner, corner, corner]),
      'all',
      null,
    ],
  ]
  for (const masks of wrong)
    for (const body of [{ masks }, { zones: masks }])
      refused(
        t,
        await gateway.ask('POST', '/api/iot/cctv/7/what-if', { by, body: { ...body, from: now, to: now } }),
        [400],
        JSON.stringify(body).slice(0, 60),
      )
})

t.test(
  'a what-if takes the zones that the config takes: none that is too small to tell motion from noise',
  async (t) => {
    const gateway = await open(t)
    const box = (side: number) => [
      { x: 0, y: 0 },
      { x: side, y: 0 },
      { x: side, y: side },
      { x: 0, y: side },
    ]
    const span = { from: '2026-03-02T07:00:00Z', to: '2026-03-02T07:10:00Z' }
    const tried = (zone: object[]) =>
      gateway.ask('POST', '/api/iot/cctv/7/what-if', { by, body: { zones: [box(0.5), zone], ...span } })
    for (const zone of [box(0.08), [...box(0.08), ...box(0.08)]]) {
      const answer = await tried(zone)
      refused(t, answer, [400], 'a small zone')
      t.match(answer.text, /zones.{0,4}1.*at least 0\.7 % of the picture/)
    }
    const { status, text } = await tried(box(0.09))
    t.not(status, 400, text)
  },
)
