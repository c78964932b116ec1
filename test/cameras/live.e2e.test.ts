import { spawnSync } from 'node:child_process'
import { PNG } from 'pngjs'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { headers, liveYard, TestViewer } from '../support/live-yard.ts'
import { eventually } from '../support/waiting.ts'

t.setTimeout(240_000)

const yard = await liveYard(t)
const { daemon, rtsp, wsUrl } = yard

const live = (id: number, query: string, name = 'ada', more: Record<string, string> = {}) =>
  new TestViewer(`${wsUrl}/api/iot/cctv/${id}/live?${query}`, { headers: { ...headers(name), ...more } })

/** Codec and size of the pictures in a stream, by ffmpeg; it must have nothing to complain about. */
function seen(stream: Buffer): string {
  const args = ['-hide_banner', '-f', 'mpegts', '-i', 'pipe:0', '-f', 'null', '-']
  const { stderr } = spawnSync(locateFfmpeg().path, args, { input: stream, encoding: 'utf8', maxBuffer: 64 << 20 })
  const [, codec, size] = /Video: (\w+).*?\b(\d{2,5}x\d{2,5})\b/.exec(stderr) ?? []
  return /non-existing|error while decoding|corrupt/i.test(stderr) ? stderr : `${codec} ${size}`
}

const state = async (id: number) => {
  const answer = await fetch(`${daemon.url}/api/iot/detection/motion-stream?cctvId=${id}`, { headers: headers('ada') })
  return ((await answer.json()) as { state: string }).state
}

t.test('the stream of the camera arrives unchanged, from its newest key frame on', async (t) => {
  await eventually(
    () => state(1),
    (is) => is === 'live',
  )
  const viewer = live(1, 'format=mpegts', 'owen')
  const stream = await viewer.received(20)
  await viewer.close()
  t.ok(
    viewer.messages.every(({ length }) => length % 188 === 0),
    'whole packets',
  )
  t.equal((viewer.messages[0]?.readUInt16BE(1) ?? 0) & 0x1fff, 0, 'program tables come first')
  t.equal(seen(stream), 'h264 320x180')
})

t.test('two viewers of one camera cost one connection to it, and one more format costs none', async (t) => {
  const first = live(4, 'format=mpegts')
  await first.received(3)
  const [second, third] = [live(4, 'format=mpegts'), live(4, 'format=mpeg1')]
  t.equal(seen(await second.received(20)), 'h264 320x180')
  t.equal(seen(await third.received(20)), 'mpeg1video 320x180')
  t.equal(rtsp.clients('yard').mostAtOnce, 1)
  await Promise.all([first, second, third].map((viewer) => viewer.close()))
})

t.test('H.265 is handed through to who plays it, and others are told what to ask for', async (t) => {
  const [plays, cannot] = [live(2, 'format=mpegts&codecs=h264,h265'), live(2, 'format=mpegts&codecs=h264')]
  t.equal(seen(await plays.received(20)), 'hevc 320x180')
  const words = 'The camera sends H.265, which this viewer cannot play. Ask with format=mpeg1.'
  t.same(await cannot.end(), { code: 4503, reason: words })
  const converted = live(2, 'format=mpeg1')
  t.equal(seen(await converted.received(20)), 'mpeg1video 320x180')
  await converted.close()
  await plays.close()
})

t.test('Motion JPEG is converted, and not handed through', async (t) => {
  const [converted, handed] = [live(3, 'format=mpeg1'), live(3, 'format=mpegts')]
  t.match(await handed.end(), { code: 4503, reason: /Motion JPEG.*format=mpeg1/ })
  t.equal(seen(await converted.received(20)), 'mpeg1video 640x360')
  await converted.close()
})

t.test('the handshake says by its close code why there are no pictures', async (t) => {
  const strange = new TestViewer(`${wsUrl}/api/iot/cctv/1/live?format=mpegts`)
  t.match(await strange.end(), { code: 4401 }, 'nobody signed in')
  const wrong = new TestViewer(`${wsUrl}/api/iot/cctv/1/live`, {
    headers: { ...headers('ada'), Authorization: 'Bearer wrong' },
  })
  t.match(await wrong.end(), { code: 4401 }, 'a wrong secret')
  const [hidden, absent] = [await live(1, 'format=mpegts', 'vic').end(), await live(77, 'format=mpegts', 'vic').end()]
  t.same(hidden, { code: 4404, reason: 'Camera not found' }, 'of somebody else')
  t.same(absent, hidden, 'a camera that is not there looks the same')
  t.same(await live(6, '').end(), { code: 4503, reason: 'The camera is switched off in the config' })
  t.match(await live(5, '').end(), { code: 4503, reason: /Nothing answers at the address/ }, 'a camera that is away')
  t.match(await live(1, 'format=gif').end(), { code: 4400 })
  const elsewhere = new TestViewer(`${wsUrl}/api/ping`)
  t.match(await elsewhere.end(), { code: 4400, reason: 'There is no WebSocket at this address' })
})

t.test('without a handshake the address says what it is', async (t) => {
  const ask = (id: number, name: string) => fetch(`${daemon.url}/api/iot/cctv/${id}/live`, { headers: headers(name) })
  const answer = await ask(1, 'owen')
  t.equal(answer.status, 426)
  t.equal(answer.headers.get('upgrade'), 'websocket')
  t.match(await answer.json(), { success: false, error: { code: 'UPGRADE_REQUIRED' } })
  t.equal((await ask(1, 'vic')).status, 404)
})

/** The cookie of a new session. */
async function signIn(name: string): Promise<{ cookie: string; csrfToken: string }> {
  const answer = await fetch(`${daemon.url}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: name, secret: `${name}-secret` }),
  })
  const { csrfToken } = (await answer.json()) as { csrfToken: string }
  return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '', csrfToken }
}

t.test('a session shows the camera to our own pages, until it is signed out', async (t) => {
  const { cookie, csrfToken } = await signIn('owen')
  const by = (origin: string) => new TestViewer(`${wsUrl}/api/iot/cctv/1/live`, { headers: { Cookie: cookie }, origin })
  t.match(await by('http://evil.example').end(), { code: 4401, reason: /its own pages only/ })
  const viewer = by(daemon.url)
  await viewer.received(5)
  const signedOut = await fetch(`${daemon.url}/api/session`, {
    method: 'DELETE',
    headers: { Cookie: cookie, 'X-CSRF-Token': csrfToken },
  })
  t.equal(signedOut.status, 204)
  t.match(await viewer.end(), { code: 4401, reason: 'Sign in again: the session has ended' })
})

t.test('a signed address shows the camera as long as it is valid', async (t) => {
  const answer = await fetch(`${daemon.url}/api/signed-urls`, {
    method: 'POST',
    headers: { ...headers('owen'), 'Content-Type': 'application/json' },
    body: JSON.stringify({ path: '/api/iot/cctv/1/live?format=mpegts', seconds: 5 }),
  })
  const { url } = (await answer.json()) as { url: string }
  const viewer = new TestViewer(`${wsUrl}${url.replace(/^https?:\/\/[^/]+/, '')}`)
  await viewer.received(5)
  t.match(await viewer.end(), { code: 4401 })
})

t.test('a snapshot is the newest picture of the camera in its full size', async (t) => {
  const take = (id: number, name = 'ada') =>
    fetch(`${daemon.url}/api/iot/cctv/${id}/snapshot`, { headers: headers(name) })
  for (const [id, width] of [
    [1, 320],
    [2, 320],
    [3, 640],
  ] as const) {
    const answer = await take(id)
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('content-type'), 'image/png')
    const ageMs = Date.parse(answer.headers.get('date') ?? '') - Date.parse(answer.headers.get('last-modified') ?? '')
    t.ok(ageMs <= 3000, `${ageMs} ms old, by headers of whole seconds`)
    const png = PNG.sync.read(Buffer.from(await answer.arrayBuffer()))
    t.equal(png.width, width)
    t.ok(new Set(png.data).size > 50, 'it shows something')
  }
  const away = await take(5)
  t.equal(away.status, 503)
  t.match(await away.json(), { error: { code: 'NO_PICTURE', details: /Nothing answers at the address/ } })
  t.equal((await take(1, 'vic')).status, 404)
})

t.test(
  'a viewer whom the config no longer names sees no more, nor does anybody of a camera that is gone',
  async (t) => {
    const [owner, removed] = [live(1, '', 'owen'), live(4, '')]
    await Promise.all([owner.received(3), removed.received(3)])
    yard.configure(
      yard.cameras.filter((line) => !line.includes('id: 4,')).map((line) => line.replace('owner: owen, ', '')),
    )
    daemon.child.kill('SIGHUP')
    t.same(await owner.end(), { code: 4404, reason: 'Camera not found' })
    t.same(await removed.end(), { code: 4404, reason: 'Camera not found' })
  },
)

t.test('the gateway stops while somebody watches, and the audit trail has the view', async (t) => {
  const viewer = live(1, '')
  await viewer.received(3)
  const code = await daemon.end('SIGTERM')
  t.same(await viewer.end(), { code: 1001, reason: 'The gateway stops' })
  t.equal(code, 0)
})
