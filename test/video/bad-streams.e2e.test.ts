import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createWebServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { PicturePace } from '../../src/video/picture-pace.ts'
import { footage } from '../support/footage.ts'
import { type RtspServerOptions, startRtspServer } from '../support/rtsp/server.ts'
import { CameraBench } from './camera-bench.ts'

t.setTimeout(240_000)
t.jobs = 4

const [empty, small] = await Promise.all([footage('empty'), footage('passer')])

async function open(t: Test, options?: RtspServerOptions) {
  const bench = await CameraBench.open()
  t.teardown(() => bench.close())
  const cam = await startRtspServer(options ?? { streams: { hall: empty } })
  t.teardown(() => cam.stop())
  return { bench, cam }
}

/** Something that listens where a camera should be. */
async function stranger(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `rtsp://127.0.0.1:${(server.address() as AddressInfo).port}/main`
}

const talking = (answer: (asked: string, socket: Socket) => void) =>
  createServer((socket) => socket.on('error', () => {}).on('data', (bytes) => answer(String(bytes), socket)))

const refusesTcp = talking((asked, socket) => {
  socket.write(`RTSP/1.0 461 Unsupported transport\r\nCSeq: ${/CSeq: (\d+)/i.exec(asked)?.[1]}\r\n\r\n`)
})

t.test('what is no camera stream has a state and words for the admin', async (t) => {
  const { bench } = await open(t)
  const cases = [
    [createWebServer((_, response) => response.end('<html>')), 'not-a-stream', /does not speak RTSP/],
    [talking((_, socket) => socket.end(randomBytes(3000))), 'not-a-stream', /does not speak RTSP/],
    [refusesTcp, 'udp-only', /inside the RTSP connection/],
  ] as const
  for (const [i, [server]] of cases.entries()) bench.camera(i + 1, await stranger(t, server))
  for (const [i, [, problem, what]] of cases.entries()) {
    t.match(await bench.state(i + 1, 'backing-off'), { problem, words: { what, hint: /./ } })
  }
})

t.test('a picture that changes its size ends the stream, says so, and comes back in the new size', async (t) => {
  const { bench, cam } = await open(t)
  bench.camera(1, cam.url('hall'))
  await bench.state(1, 'live')
  cam.switchTo('hall', small)
  const changed = () => bench.of('state', 1).find(({ problem }) => problem === 'size-changed')
  // The pictures go on where no one notices.
  const seen = () => bench.of('status', 1).at(-1)?.frameCount ?? 0
  const before = seen()
  await bench.until(() => changed() !== undefined || seen() > before + 50)
  t.ok(changed(), 'the change is a problem')
  t.match(changed()?.words, { what: 'The camera changed the size of its picture.' })
  t.match(await bench.state(1, 'live'), { problem: null })
  t.equal(cam.clients('hall').mostAtOnce, 1)
})

t.test('25 pictures a second that become 2 are live with a remark, which ends with them', async (t) => {
  const { bench, cam } = await open(t)
  bench.camera(1, cam.url('hall'))
  await bench.state(1, 'live')
  const [pid] = bench.pids(1)
  cam.switchTo('hall', {
    ...empty,
    fps: 2,
    timesMs: empty.timesMs.map((_, i) => i * 500),
    durationMs: empty.timesMs.length * 500,
  })
  const newest = () => bench.of('state', 1).at(-1)
  await bench.until(() => newest()?.problem === 'few-pictures', 'few pictures are a remark')
  t.match(newest(), { state: 'live', words: { what: /fewer than 3 pictures a second/ } })
  const impaired = () => bench.of('status', 1).at(-1)?.impairment?.why
  await bench.until(() => impaired() === 'few_pictures', 'motion is not found any more')
  cam.switchTo('hall', empty)
  await bench.until(() => newest()?.problem === null, 'the remark ends')
  await bench.until(() => impaired() === null, 'motion is found again')
  t.same(bench.pids(1), [pid], 'the stream went on')
})

t.test('video without a key frame is named, and the camera is live once one comes', async (t) => {
  const { bench, cam } = await open(t, { streams: { hall: empty }, join: 'anywhere' })
  cam.fault('keyless')
  bench.camera(1, cam.url('hall'))
  const newest = () => bench.of('state', 1).at(-1)
  await bench.until(() => newest()?.problem === 'no-key-frame', 'the missing key frame is named')
  t.match(newest(), { state: 'live', words: { hint: /key frame interval/ } })
  cam.fault(undefined)
  await bench.until(() => newest()?.problem === null && newest()?.state === 'live', 'the remark ends')
})

t.test('a stream is slow below 3 pictures a second, and well again from 4 on', async (t) => {
  const pace = new PicturePace()
  t.equal(pace.isSlow(1, 2000), false, 'too early to say')
  t.equal(pace.isSlow(2, 5000), true)
  t.equal(pace.isSlow(3.5, 5000), true, 'not yet well')
  t.equal(pace.isSlow(4, 5000), false)
  t.equal(pace.isSlow(3.5, 5000), false, 'not yet slow')
})
