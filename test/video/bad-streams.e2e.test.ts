import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createWebServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DamageSigns } from '../../src/video/stream/stream.ts'
import { PicturePace } from '../../src/video/timing/picture-pace.ts'
import { footage } from '../support/footage.ts'
import { needs } from '../support/needs.ts'
import { accessUnits } from '../support/rtsp/annexb.ts'
import { h264 } from '../support/rtsp/rtp-h264.ts'
import { type RtspServerOptions, startRtspServer } from '../support/rtsp/server.ts'
import { CameraBench, usualMotion } from './camera-bench.ts'

t.setTimeout(240_000)
t.jobs = 4

const [empty, small, hevc] = await Promise.all([footage('empty'), footage('passer'), footage('passer-hevc')])
/** Streams that an H.264 camera sends instead, and the reported problem. */
const changes = [
  [hevc, null],
  [small, null],
] as const

/** Settings of a camera with history alone. */
const recorded = { detecting: false, history: { isOn: true, hours: 1, stream: 'main' } } as const

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

/** Answers as an RTSP server whose only stream has this codec. */
const describes = (codec: string) =>
  talking((asked, socket) => {
    const sdp = `v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 ${codec}/90000\r\n`
    const head = `RTSP/1.0 200 OK\r\nCSeq: ${/CSeq: (\d+)/i.exec(asked)?.[1]}\r\nSession: 1\r\n`
    const setup = `Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n`
    if (asked.startsWith('DESCRIBE'))
      socket.write(`${head}Content-Type: application/sdp\r\nContent-Length: ${sdp.length}\r\n\r\n${sdp}`)
    else socket.write(asked.startsWith('SETUP') ? head + setup : `${head}\r\n`)
  })

/** Answers OPTIONS, and nothing else. */
const greets = talking((asked, socket) => {
  if (asked.startsWith('OPTIONS')) socket.write(`RTSP/1.0 200 OK\r\nCSeq: ${/CSeq: (\d+)/i.exec(asked)?.[1]}\r\n\r\n`)
})

/** Noise without end. */
const babbles = talking((_, socket) => {
  const more = () => void (socket.writable && socket.write(randomBytes(65_536), more))
  more()
})

const refusesTcp = talking((asked, socket) => {
  socket.write(`RTSP/1.0 461 Unsupported transport\r\nCSeq: ${/CSeq: (\d+)/i.exec(asked)?.[1]}\r\n\r\n`)
})

type Case = readonly [Server, problem: string | RegExp, what: RegExp]

/** Checks that each of these servers is a camera that is not live, with this message. */
async function haveProblems(t: Test, cases: readonly Case[]): Promise<void> {
  const { bench } = await open(t)
  for (const [i, [server]] of cases.entries()) bench.camera(i + 1, await stranger(t, server))
  for (const [i, [, problem, what]] of cases.entries()) {
    t.match(await bench.state(i + 1, 'backing-off'), { problem, words: { what, hint: /./ } })
  }
}

t.test('what is no camera stream has a state and words for the admin', (t) =>
  haveProblems(t, [
    [createWebServer((_, response) => response.end('<html>')), 'not-a-stream', /does not speak RTSP/],
    [talking((_, socket) => socket.end(randomBytes(3000))), 'not-a-stream', /does not speak RTSP/],
    [refusesTcp, 'udp-only', /inside the RTSP connection/],
    // A busy machine is not through with the noise when the time of an attempt is over.
    [babbles, /^(not-a-stream|no-picture)$/, /does not speak RTSP|no picture came/],
  ]),
)

// The bundled ffmpeg blames the transport for an unknown codec, and gives up on a silent server before it says why.
t.test('an unknown codec and a camera that does not answer are told apart', needs('ffmpeg'), (t) =>
  haveProblems(t, [
    [describes('X-UNHEARD-OF'), 'no-video', /codec that ffmpeg does not know/],
    [talking(() => {}), 'unreachable', /^Nothing answers/],
    [greets, 'unreachable', /^Nothing answers/],
  ]),
)

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

t.test('another codec ends the stream and the clip, says so, and comes back in the new codec', async (t) => {
  const { bench, cam } = await open(t, { streams: { hall: small } })
  const motion = { ...usualMotion, postRecordSeconds: 60 }
  bench.camera(1, cam.url('hall'), { motion })
  const clips = () => bench.of('clipClosed', 1)
  for (const [i, [next, problem]] of changes.entries()) {
    await bench.until(() => bench.of('motionFired', 1).filter(({ clip }) => clip).length > i, `motion ${i}`)
    const states = bench.of('state', 1).length
    cam.switchTo('hall', next)
    await bench.until(() => clips().length > i, `clip ${i} is closed`)
    t.match(clips()[i], { closedBy: 'stream-ended', width: 320, height: 180 })
    await bench.until(
      () =>
        bench
          .of('state', 1)
          .slice(states)
          .some(({ state }) => state === 'live'),
      'it is back',
    )
    const since = bench.of('state', 1).slice(states)
    t.ok(
      since.some(({ words }) => words !== null),
      JSON.stringify(since),
    )
    t.equal(bench.of('state', 1).at(-1)?.problem, problem)
  }
  t.equal(cam.clients('hall').mostAtOnce, 1)
})

const spoilt = [
  ['garbage', small],
  ['corrupt', small],
  ['corrupt', hevc],
] as const
for (const [fault, clip] of spoilt)
  t.test(`${fault} in a running stream of ${clip.codec} is a state in words, and passes`, async (t) => {
    const { bench, cam } = await open(t, { streams: { hall: clip } })
    bench.camera(1, cam.url('hall'))
    await bench.state(1, 'live')
    cam.fault(fault)
    const newest = () => bench.of('state', 1).at(-1)
    await bench.until(() => newest()?.problem !== null, `${fault} is a problem`)
    t.match(newest()?.words, { what: /./, hint: /./ })
    if (fault === 'corrupt') t.match(newest(), { state: 'live', problem: 'damaged-pictures' })
    cam.fault(undefined)
    // Damaged ones are a problem for another minute.
    const isOver = () => newest()?.problem === null || fault === 'corrupt'
    await bench.until(() => newest()?.state === 'live' && isOver(), 'it is over')
    const fired = bench.of('motionFired', 1).length
    await bench.until(() => bench.of('motionFired', 1).length > fired, 'motion is found again')
  })

t.test('a stream for detection that arrives damaged is named as that one', async (t) => {
  const { bench, cam } = await open(t, { streams: { hall: small, sub: small } })
  bench.camera(1, cam.url('hall'), { detectUrl: cam.url('sub') })
  await bench.state(1, 'live')
  cam.fault('corrupt')
  const newest = () => bench.of('state', 1).at(-1)
  await bench.until(() => newest()?.problem === 'damaged-detection', 'the stream is named')
  t.match(newest(), { state: 'live', words: { what: /stream for detection/ } })
})

t.test('a stream is damaged from five bad seconds of ten on, until a minute is good', async (t) => {
  const signs = new DamageSigns()
  const complaint = '[h264 @ 0x55] error while decoding MB 4 7, bytestream 12\n'
  const hears = (...seconds: number[]) => {
    for (const second of seconds) for (const ms of [0, 300]) signs.heard(complaint, second * 1000 + ms)
  }
  hears(1, 2, 3, 4)
  t.equal(signs.isDamaged(4500), false, 'four')
  signs.heard('[h264 @ 0x55] SEI type 5 size 8 truncated at 4\n', 5000)
  t.equal(signs.isDamaged(5500), false, 'another word')
  hears(11)
  t.equal(signs.isDamaged(11_500), false, 'the first one is long ago')
  hears(12, 13, 14)
  t.equal(signs.isDamaged(14_500), false, 'four of ten')
  hears(15)
  t.equal(signs.isDamaged(15_500), true)
  t.equal(signs.isDamaged(74_900), true)
  t.equal(signs.isDamaged(75_000), false)
  hears(76)
  t.equal(signs.isDamaged(76_000), false, 'begins again')
})

t.test('a radio link that is bad for 6 s and well for 12 is one problem, not one each time', async (t) => {
  const signs = new DamageSigns()
  const seen: boolean[] = []
  for (let second = 0; second < 600; second += 1) {
    if (second % 18 < 6) signs.heard('[h264 @ 0x55] error while decoding MB 4 7, bytestream 12\n', second * 1000)
    const isDamaged = signs.isDamaged(second * 1000 + 999)
    if (isDamaged !== seen.at(-1)) seen.push(isDamaged)
  }
  t.same(seen, [false, true])
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

// The bundled ffmpeg shows nothing of such a stream before an attempt is over.
t.test(
  'a camera that sends a picture every three seconds is live in the end, says so, and stays so',
  needs('ffmpeg'),
  async (t) => {
    // Each of its pictures is a key frame.
    const pictures = accessUnits(readFileSync(empty.file), h264).filter(({ keyframe }) => keyframe)
    const start = Buffer.from([0, 0, 0, 1])
    const bytes = Buffer.concat(pictures.flatMap(({ nals }) => nals.flatMap((nal) => [start, nal])))
    const file = join(t.testdir({ 'slow.h264': bytes }), 'slow.h264')
    const timesMs = pictures.map((_, i) => i * 3000)
    const { bench, cam } = await open(t, {
      streams: { hall: { ...empty, file, fps: 1 / 3, timesMs, durationMs: timesMs.length * 3000 } },
    })
    for (const [id, more] of [{}, { detecting: false, streaming: true }, recorded].entries())
      bench.camera(id + 1, cam.url('hall'), more)
    const states = (id: number) => bench.of('state', id).map(({ state, problem }) => `${state} ${problem}`)
    const isSaid = () => [1, 2, 3].every((id) => states(id).at(-1) === 'live few-pictures')
    // A usual attempt of 20 s, and then nine pictures.
    await bench.until(() => bench.of('state').some(({ problem }) => problem === 'no-picture'), 'it is given time')
    await bench.until(isSaid, 'they are live, with few pictures')
    const before = [1, 2, 3].map((id) => states(id).length)
    const pids = [1, 2, 3].flatMap((id) => bench.pids(id))
    const taken = () => bench.of('status', 1).at(-1)?.frameCount ?? 0
    const from = taken()
    await bench.until(() => taken() > from + 5 * 3 * 5, 'five pictures more')
    t.same(
      [1, 2, 3].map((id) => states(id).length),
      before,
      'nothing else is said',
    )
    t.same(
      [1, 2, 3].flatMap((id) => bench.pids(id)),
      pids,
      'no stream was opened anew',
    )
  },
)

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
