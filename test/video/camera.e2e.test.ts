import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { assetPath } from '../../src/platform/bundle.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { FrameSplitter, frameSize } from '../../src/video/index.ts'
import { Comparer } from '../../src/video/motion/cells.ts'
import { Scorer } from '../../src/video/motion/score.ts'
import { footage } from '../support/footage.ts'
import { needs } from '../support/needs.ts'
import { type RtspServer, startRtspServer } from '../support/rtsp/server.ts'
import { CameraBench } from './camera-bench.ts'

const [crossing, empty, light, passer, hevc] = await Promise.all([
  footage('crossing'),
  footage('empty'),
  footage('light'),
  footage('passer'),
  footage('crossing-hevc'),
])
const motion = { sensitivity: 0.3, cooldownSeconds: 1, preRecordSeconds: 2, postRecordSeconds: 1, masks: [], zones: [] }
const system = locateFfmpeg().path

async function server(t: Test, options: Parameters<typeof startRtspServer>[0]): Promise<RtspServer> {
  const camera = await startRtspServer(options)
  t.teardown(() => camera.stop())
  return camera
}

async function open(t: Test, options: Parameters<typeof CameraBench.open>[0] = {}): Promise<CameraBench> {
  const opened = await CameraBench.open(options)
  t.teardown(() => opened.close())
  return opened
}

/** Seconds from the start of a clip, as a player shows it, to the first motion in it. */
function firstMotion(clip: string): number {
  const filter = `fps=5,scale=${frameSize.width}:${frameSize.height}:flags=area`
  const args = [
    '-nostdin',
    '-loglevel',
    'error',
    '-i',
    clip,
    '-vf',
    filter,
    '-pix_fmt',
    'rgba',
    '-f',
    'rawvideo',
    'pipe:1',
  ]
  const raw = execFileSync(system, args, { maxBuffer: 64 << 20 })
  const comparer = new Comparer(frameSize)
  const scorer = new Scorer()
  const scores = new FrameSplitter().push(raw, 0).map(({ pixels }) => scorer.push(comparer.push(pixels)).raw)
  return scores.findIndex((score) => score > 0.3) / 5
}

const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

/** Command lines of all processes of this machine. */
function commandLines(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return ''
      }
    })
    .join('\n')
}

// Most of the time of these tests is a camera's; they wait side by side.
t.jobs = 8

for (const [name, program, needed] of [
  ['the ffmpeg of this machine', system, needs('ffmpeg')],
  ['the ffmpeg that comes along', assetPath('ffmpeg'), {}],
] as const) {
  t.test(`${name}: somebody crosses the hall, and there is a clip that begins before`, needed, async (t) => {
    const cam = await server(t, { streams: { hall: crossing } })
    const b = await open(t, { ffmpeg: program })
    b.camera(1, cam.url('hall'))
    await b.state(1, 'live')
    // Three seconds before the person comes in: more than the pre-roll.
    cam.seek('hall', 5000)
    await b.until(() => b.of('clipClosed').length > 0, 'a clip is closed')
    const [fired] = b.of('motionFired')
    const [clip] = b.of('clipClosed')
    t.match(fired, { cameraId: 1, detectionId: 1, clip: true, sceneChange: false })
    t.ok(fired && fired.score > 0.3 && fired.score <= 1)
    t.match(clip, {
      detectionId: 1,
      motionAt: fired?.motionAt,
      closedBy: 'post-roll',
      file: '1.mp4',
      original: true,
    })
    // The picture that was to be seen two seconds before the motion was taken up to a picture's length earlier.
    t.ok(clip && clip.preRollSeconds >= 2 && clip.preRollSeconds <= 2.1, `${clip?.preRollSeconds} s`)
    if (!clip) return
    const file = join(b.folder, 'clips', clip.file)
    t.equal(clip.sha256, sha256(file))
    t.equal(clip.snapshot?.sha256, sha256(join(b.folder, 'clips', '1.png')))
    t.ok(Math.abs(firstMotion(file) - clip.preRollSeconds) <= 0.6, `motion is seen after ${firstMotion(file)} s`)
    // Before and after the motion; of the motion itself a busy machine may see only a part.
    t.ok(clip.durationSeconds >= 3 && clip.durationSeconds <= 9, `${clip.durationSeconds} s`)
    t.ok(Math.abs(clip.endedAt - clip.startedAt - clip.durationSeconds * 1000) <= 1)
    t.equal(cam.clients('hall').mostAtOnce, 1)
    t.match(b.of('status', 1).at(-1), { restarts: 0, keyFrameSeconds: 1 })
    t.ok(Math.max(...b.of('status', 1).map(({ fps }) => fps)) > 3)
  })
}

t.test('an HEVC camera is watched and recorded as well', async (t) => {
  const cam = await server(t, { streams: { hall: hevc } })
  const b = await open(t)
  b.camera(1, cam.url('hall'), { motion: { ...motion, preRecordSeconds: 1, postRecordSeconds: 0 } })
  await b.state(1, 'live')
  cam.seek('hall', 6000)
  await b.until(() => b.of('clipClosed').length > 0, 'a clip is closed')
  t.ok((b.of('clipClosed')[0]?.durationSeconds ?? 0) > 1)
})

t.test('an empty hall, and a light that is switched, are no events', async (t) => {
  const cam = await server(t, { streams: { empty, light } })
  const b = await open(t)
  b.camera(1, cam.url('empty'))
  b.camera(2, cam.url('light'))
  await Promise.all([b.state(1, 'live'), b.state(2, 'live')])
  cam.seek('light', 1000)
  await b.until(() => (b.of('status', 2).at(-1)?.suppressedSceneChanges ?? 0) >= 2, 'both switches are counted')
  await b.until(() => (b.of('status', 1).at(-1)?.frameCount ?? 0) > 30, 'the empty hall was looked at')
  t.same(b.of('motionFired'), [])
  t.equal(b.of('status', 1).at(-1)?.motionFrames.count, 0)
  t.equal(b.of('status', 1).at(-1)?.stillSeconds, 0, 'a live camera is never quite still')
})

t.test('an ffmpeg that is killed is back at the first attempt, and there is never a second one', async (t) => {
  const cam = await server(t, { streams: { hall: empty } })
  const b = await open(t)
  b.camera(1, cam.url('hall'))
  await b.state(1, 'live')
  const [first] = b.pids(1)
  t.equal(b.pids(1).length, 1)
  process.kill(first ?? 0, 'SIGKILL')
  t.match(await b.state(1, 'backing-off'), { problem: 'program-failed', words: { what: /ffmpeg/ } })
  t.match(await b.state(1, 'live'), { problem: null, words: null })
  t.equal(b.pids(1).length, 1)
  t.not(b.pids(1)[0], first)
  await b.until(() => b.of('status', 1).at(-1)?.restarts === 1, 'one restart is counted')
  t.match(cam.clients('hall'), { total: 2, mostAtOnce: 1 })
})

t.test('a camera whose cable is pulled while somebody walks leaves a clip, and comes back', async (t) => {
  const cam = await server(t, { streams: { door: passer } })
  const b = await open(t)
  b.camera(1, cam.url('door'), { motion: { ...motion, postRecordSeconds: 60 } })
  await b.until(() => b.of('motionFired').length > 0, 'motion')
  await cam.unplug()
  await b.until(() => b.of('clipClosed').length > 0, 'a clip is closed')
  t.match(b.of('clipClosed')[0], { closedBy: 'stream-ended', detectionId: 1 })
  await b.until(() => b.of('state', 1).at(-1)?.problem === 'unreachable', 'unreachable')
  t.match(b.of('state', 1).at(-1)?.words, { what: 'Nothing answers at the address of the camera.' })
  await cam.plugIn()
  await b.state(1, 'live')
  t.equal(cam.clients('door').mostAtOnce, 1)
})

t.test('a clip and a film that new settings cut short say so, as the gap beside them does', async (t) => {
  const cam = await server(t, { streams: { door: passer, hall: empty } })
  const b = await open(t)
  b.camera(1, cam.url('door'), { motion: { ...motion, postRecordSeconds: 60 }, filmSeconds: 10 })
  await b.until(() => b.of('motionFired').length > 0, 'motion')
  const momentAt = (b.of('motionFired')[0]?.motionAt ?? 0) + 500
  b.film({ detectionId: 1000, cameraId: 1, momentAt, fromAt: momentAt - 500, toAt: momentAt + 15_000 })
  const before = b.readUntil(1)
  await b.until(() => b.readUntil(1) > before + 1000, 'something is recorded')
  b.camera(1, cam.url('hall'), { motion: { ...motion, postRecordSeconds: 60 }, filmSeconds: 10 })
  await b.until(() => b.of('clipClosed').length > 0, 'the clip is closed')
  t.match(b.of('clipClosed')[0], { closedBy: 'restarted', detectionId: 1 })
  await b.until(() => b.of('clipClosed').length > 1, 'the film ends')
  t.match(b.of('clipClosed')[1], { closedBy: 'restarted', detectionId: 1000 })
})

t.test('a stream that freezes is noticed after five seconds and opened anew', async (t) => {
  const cam = await server(t, { streams: { hall: empty } })
  const b = await open(t)
  b.camera(1, cam.url('hall'))
  await b.state(1, 'live')
  cam.fault('freeze')
  const frozen = performance.now()
  t.match(await b.state(1, 'stalled'), { problem: 'frozen', words: { what: /pictures have stopped/ } })
  t.ok(performance.now() - frozen > 4500)
  cam.fault(undefined)
  await b.state(1, 'live')
  t.equal(cam.clients('hall').mostAtOnce, 1)
})

t.test('a wrong password is tried three times and named, and is in no process list and no log line', async (t) => {
  const auth = { username: 'viewer', password: "ri ght:/@'%" }
  const cam = await server(t, { streams: { hall: empty }, auth })
  const b = await open(t, { secrets: { one: "wr ong:/@'%" } })
  b.camera(1, cam.url('hall'), { username: 'viewer', passwordFile: 'one' })
  const refused = () =>
    b.of('state', 1).filter(({ state, problem }) => state === 'backing-off' && problem === 'refused')
  await b.until(() => refused().length === 3, 'three tries')
  t.match(b.of('state', 1).at(-1), { problem: 'refused', words: { what: /refuses the user name or the password/ } })
  // Time is the subject: no fourth try comes, long after it would have been due.
  await pause(4000)
  t.equal(cam.clients('hall').refused, 3, 'cameras lock accounts')

  b.secrets['one'] = auth.password
  b.retry(1)
  await b.state(1, 'live')
  const seen = `${commandLines()}\n${b.log}`
  for (const secret of ['wr ong', 'wr%20ong', 'ri ght', 'ri%20ght']) t.notMatch(seen, secret)
  t.match(seen, 'concat', 'ffmpeg was among the processes looked at')
  t.match(b.log, '401 Unauthorized')
})

t.test('a corrected password ends the half hour of waiting, and a reload without one does not', async (t) => {
  const auth = { username: 'viewer', password: 'right' }
  const cam = await server(t, { streams: { hall: empty }, auth })
  const b = await open(t, { secrets: { one: 'wrong' } })
  b.camera(1, cam.url('hall'), { username: 'viewer', passwordFile: 'one' })
  await b.until(() => cam.clients('hall').refused >= 3 && b.pids(1).length === 0, 'three tries')
  const tries = cam.clients('hall').total
  const nextStatus = async () => {
    const seen = b.of('status', 1).length
    await b.until(() => b.of('status', 1).length > seen + 1)
  }
  b.reloadSecrets()
  await nextStatus()
  b.secrets['one'] = 'right'
  b.reloadSecrets()
  await b.state(1, 'live')
  t.equal(cam.clients('hall').total, tries + 1, 'the wrong password was not tried once more')
  const [pid] = b.pids(1)
  b.secrets['one'] = 'another'
  b.reloadSecrets()
  await nextStatus()
  t.same(b.pids(1), [pid], 'a stream that runs goes on')
})

/** The problem of a camera at this address once its first attempt has failed. */
async function problemOf(b: CameraBench, cameraId: number, url: string) {
  b.camera(cameraId, url)
  await b.until(() => b.of('state', cameraId).at(-1)?.state === 'backing-off', `camera ${cameraId} is backing off`)
  return b.of('state', cameraId).at(-1)?.problem
}

// The bundled ffmpeg blames the transport.
t.test('a stream that has sound and no video is told', needs('ffmpeg'), async (t) => {
  const cam = await server(t, { streams: { sound: empty }, sound: true })
  cam.fault('no-video', 'sound')
  t.equal(await problemOf(await open(t), 1, cam.url('sound')), 'no-video')
})

t.test('what is wrong with a camera is told in plain words', async (t) => {
  const cam = await server(t, { streams: { hall: empty, full: empty, noise: empty } })
  cam.fault('full', 'full')
  cam.fault('garbage', 'noise')
  const b = await open(t)
  const [path, full, nobody, name] = await Promise.all([
    problemOf(b, 1, `${cam.url('hall')}/wrong/path`.replace('/hall', '/nothing')),
    problemOf(b, 3, cam.url('full')),
    problemOf(b, 4, 'rtsp://127.0.0.1:1/hall'),
    problemOf(b, 5, 'rtsp://nowhere.invalid/hall'),
  ])
  t.same([path, full, nobody, name], ['wrong-path', 'busy', 'unreachable', 'name-unknown'])
  b.camera(6, cam.url('hall'), { username: 'viewer', passwordFile: 'missing' })
  t.match(await b.state(6, 'backing-off'), { problem: 'password-unreadable', words: { hint: /passwordFile/ } })
  b.camera(7, cam.url('noise'))
  await b.until(() => b.of('state', 7).some(({ problem }) => problem !== null), 'noise is a problem')
  cam.fault(undefined, 'noise')
  await b.state(7, 'live')
  t.equal(cam.clients('noise').mostAtOnce, 1)
})

t.test('a camera with a stream of its own for detection has one connection to each', async (t) => {
  const cam = await server(t, { streams: { main: crossing, sub: passer } })
  const b = await open(t)
  b.camera(1, cam.url('main'), { detectUrl: cam.url('sub') })
  await b.until(() => b.of('clipClosed').length > 0, 'a clip is closed')
  t.match(b.of('clipClosed')[0], { width: crossing.width, height: crossing.height })
  t.equal(b.pids(1).length, 2)
  t.equal(cam.clients('main').mostAtOnce, 1)
  t.equal(cam.clients('sub').mostAtOnce, 1)
})

t.test('stop ends the stream and closes the clip; start counts anew; a viewer keeps the stream', async (t) => {
  const cam = await server(t, { streams: { door: passer } })
  const b = await open(t)
  const long = { motion: { ...motion, postRecordSeconds: 60 } }
  b.camera(1, cam.url('door'), long)
  await b.until(() => b.of('motionFired').length > 0, 'motion')
  b.camera(1, cam.url('door'), { ...long, detecting: false })
  await b.state(1, 'offline')
  await b.until(() => b.of('clipClosed').length > 0, 'a clip is closed')
  t.match(b.of('clipClosed')[0], { closedBy: 'stopped' })
  await cam.waitFor(() => cam.clients('door').connected === 0)
  t.same(b.pids(1), [])

  b.camera(1, cam.url('door'), { ...long, detecting: false, streaming: true })
  await b.until(() => b.of('state', 1).at(-1)?.state === 'live', 'a viewer sees it')
  const counted = b.of('status', 1).at(-1)?.frameCount
  b.camera(1, cam.url('door'), long)
  t.ok((counted ?? 0) > 0)
  await b.until(() => (b.of('status', 1).at(-1)?.frameCount ?? 99) < (counted ?? 0), 'counters begin anew')
  t.equal(cam.clients('door').mostAtOnce, 1)
})

/** A server that is no camera, at a camera's address. */
async function stranger(t: Test, answer: (socket: Socket) => void): Promise<string> {
  const listener = createServer((socket) => {
    socket.on('error', () => {})
    answer(socket)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => listener.close())
  return `rtsp://127.0.0.1:${(listener.address() as AddressInfo).port}/hall`
}

const babbles = (socket: Socket) => {
  const noise = randomBytes(65_536)
  const more = () => void (socket.writable && socket.write(noise, more))
  more()
}

t.test('a dead, a frozen and a flooding camera end nothing of the others, and cost them no picture', async (t) => {
  const stepMs = 5
  const fast = { fps: 200, timesMs: empty.timesMs.map((_, i) => i * stepMs), durationMs: empty.timesMs.length * stepMs }
  const cam = await server(t, { streams: { hall: empty, frozen: empty, flood: empty, fast: { ...empty, ...fast } } })
  const b = await open(t)
  let connections = 0
  const startedAt = performance.now()
  b.camera(5, await stranger(t, babbles))
  const closing = await stranger(t, (socket) => {
    connections += 1
    socket.destroy()
  })
  b.camera(6, closing)
  b.camera(7, cam.url('fast'), { detecting: false, streaming: true })
  b.camera(1, cam.url('hall'))
  b.camera(2, 'rtsp://127.0.0.1:1/hall')
  b.camera(3, cam.url('frozen'))
  b.camera(4, cam.url('flood'))
  await Promise.all([b.state(1, 'live'), b.state(3, 'live'), b.state(4, 'live')])
  const [pid] = b.pids(1)
  cam.fault('freeze', 'frozen')
  cam.jump('flood', 3_600_000)
  const knows = (cameraId: number, problem: string) =>
    b.of('state', cameraId).some((state) => state.problem === problem)
  await b.until(() => knows(3, 'frozen') && knows(4, 'time-jump') && knows(2, 'unreachable'), 'all three are noticed')
  const isOff = (cameraId: number) => b.of('state', cameraId).some(({ state }) => state === 'backing-off')
  await b.until(() => isOff(5) && isOff(6), 'noise, and one that closes each connection')
  // Attempts, and a plain connection a second that asks whether anything answers.
  const seconds = (performance.now() - startedAt) / 1000
  t.ok(connections <= 2 * seconds + 5, `${connections} connections in ${Math.round(seconds)} s`)
  t.same(b.pids(1), [pid], 'the good one goes on')
  t.strictSame(
    b.of('state', 1).map(({ state }) => state),
    ['connecting', 'live'],
  )
  t.match(b.of('status', 1).at(-1), { restarts: 0 })
  t.same(b.of('picturesMissing', 1), [])
})

t.test('another password, address or codec needs no restart of anything else', async (t) => {
  const cam = await server(t, { streams: { one: empty, two: empty, hall: crossing } })
  const b = await open(t)
  b.camera(1, cam.url('one'))
  b.camera(2, cam.url('hall'))
  await Promise.all([b.state(1, 'live'), b.state(2, 'live')])
  const [other] = b.pids(2)
  b.camera(1, cam.url('two'))
  await cam.waitFor(() => cam.clients('two').playing === 1 && cam.clients('one').connected === 0)
  cam.switchTo('hall', hevc)
  await b.until(() => b.pids(2)[0] !== undefined && b.pids(2)[0] !== other, 'another codec is another process')
  await b.state(2, 'live')
  t.equal(cam.clients('hall').mostAtOnce, 1)
})
