/** Continuous video and the films of events, with a real camera: what they show is read back picture by picture. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { type Clock, systemClock } from '../../src/platform/index.ts'
import type { CameraSettings } from '../../src/video/index.ts'
import { countersIn } from '../support/footage/counter.ts'
import { type Footage, footage } from '../support/footage.ts'
import { type RtspServer, startRtspServer } from '../support/rtsp/server.ts'
import { eventually, waitUntil } from '../support/waiting.ts'
import { CameraBench, type MessageOf } from './camera-bench.ts'

/** Far from the ids of motion. */
const filmId = 1000
const ffmpeg = locateFfmpeg().path
const hall = await footage('counted-uneven')
const reordered = await footage('counted-reordered')
/** A ring that has forgotten what is some seconds old. */
const short = { sensitivity: 0.3, cooldownSeconds: 1, preRecordSeconds: 0, postRecordSeconds: 1, masks: [], zones: [] }
const kept = { detecting: false, history: { isOn: true, hours: 1, stream: 'main' } } as const

type Hall = { readonly cam: RtspServer; readonly b: CameraBench; readonly clip: Footage; readonly liveAt: number }

async function watch(
  t: Test,
  more: Partial<CameraSettings>,
  clip = hall,
  { program = ffmpeg, clock = systemClock }: { program?: string; clock?: Clock } = {},
): Promise<Hall> {
  const cam = await startRtspServer({ streams: { hall: clip } })
  t.teardown(() => cam.stop())
  const b = await CameraBench.open({ ffmpeg: program, clock })
  t.teardown(() => b.close())
  b.camera(1, cam.url('hall'), more)
  await b.state(1, 'live')
  return { cam, b, clip, liveAt: Date.now() }
}

/** The result of a film that shows a second before and after a moment. */
async function film(
  { b }: Hall,
  momentAt: number,
  { seconds = 1, clockSetMs = 0 } = {},
): Promise<MessageOf<'clipClosed' | 'clipLost'>> {
  b.film({
    detectionId: filmId,
    cameraId: 1,
    momentAt,
    fromAt: momentAt - seconds * 1000,
    toAt: momentAt + seconds * 1000,
    clockSetMs,
  })
  const results = () => [...b.of('clipClosed'), ...b.of('clipLost')].filter((one) => one.detectionId === filmId)
  await b.until(() => results().length > 0, 'the film is made or lost')
  return results()[0] as MessageOf<'clipClosed' | 'clipLost'>
}

/** Compares the numbers in the pictures with what the camera sent at that time. */
async function compare(t: Test, { cam, b, clip }: Hall, made: MessageOf<'clipClosed' | 'clipLost'>, momentAt: number) {
  if (made.type !== 'clipClosed') return t.fail(JSON.stringify(made))
  const shown = await countersIn(join(b.folder, 'clips', made.file), ffmpeg)
  t.equal(made.pictures, shown.length)
  t.ok(made.startedAt <= momentAt - 990 && made.endedAt > momentAt, `${made.startedAt} to ${made.endedAt}`)
  const times = [...clip.timesMs].sort((x, y) => x - y)
  t.same(
    shown,
    shown.map((_, i) => ((shown[0] ?? 0) + i) % times.length),
    'all pictures are there, in order',
  )
  const offMs = cam.takenAt('hall', times[shown.at(-1) ?? 0] ?? -1).map((ms) => Math.abs(made.endedAt - ms))
  // Some milliseconds on an idle machine; a busy one sees pictures late.
  t.ok(Math.min(...offMs) <= 3000, `its end is off by ${Math.min(...offMs)} ms`)
}

const until = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(ms - Date.now(), 0)))

// Most of the time of these tests is a camera's; they wait side by side.
t.jobs = 6

t.test('the film of an event that happens now is made of what the camera shows, from before it on', async (t) => {
  const seen = await watch(t, { detecting: false, streaming: true, filmSeconds: 10 })
  await until(seen.liveAt + 2500)
  const momentAt = Date.now()
  await compare(t, seen, await film(seen, momentAt), momentAt)
})

for (const [name, clip] of [
  ['a camera', hall],
  ['a camera with B-frames', reordered],
] as const) {
  t.test(`${name}: the film of a late event is made of continuous video, without detection`, async (t) => {
    const seen = await watch(t, { ...kept, motion: short }, clip)
    // On a busy machine the first seconds of a stream come late and at once.
    await until(seen.liveAt + 14_000)
    const momentAt = seen.liveAt + 8000
    await compare(t, seen, await film(seen, momentAt), momentAt)
    t.equal(seen.cam.clients('hall').mostAtOnce, 1, 'one connection')
  })
}

t.test(
  'video that is read once a second is shown by a film as it was sent, and its end is known as exactly',
  async (t) => {
    const seen = await watch(t, { ...kept, motion: short })
    // In its first ten seconds a stream does not wait to be read.
    await until(seen.liveAt + 16_000)
    const momentAt = seen.liveAt + 13_000
    await compare(t, seen, await film(seen, momentAt), momentAt)
    seen.cam.fault('freeze')
    const frozenAt = performance.now()
    const stalled = await seen.b.state(1, 'stalled')
    const afterMs = performance.now() - frozenAt
    t.match(stalled, { problem: 'frozen' })
    // The last one may have come up to a second before, of a busy machine, which also sees the silence later.
    t.ok(afterMs > 3900, `seen after ${Math.round(afterMs)} ms`)
    const agoMs = stalled.pictureAgoMs ?? 0
    t.ok(agoMs > 4900 && agoMs < afterMs + 1100, `the last picture came ${Math.round(agoMs)} ms ago`)
  },
)

t.test('the stop of a camera costs neither its continuous video nor a film the last second', async (t) => {
  const seen = await watch(t, { ...kept, motion: short, filmSeconds: 10 })
  const { b, cam, clip } = seen
  await until(seen.liveAt + 16_000)
  const momentAt = Date.now()
  const order = { detectionId: filmId, cameraId: 1, momentAt, fromAt: momentAt - 1000, toAt: momentAt + 30_000 }
  b.film(order)
  const before = b.readUntil(1)
  await waitUntil('it is read', () => b.readUntil(1) > before + 500)
  const readUntil = b.readUntil(1)
  await until(Date.now() + 800)
  b.remove(1)
  await b.until(() => b.of('clipClosed').length > 0, 'the film is made')
  // On an idle machine nearly 800 ms more; on a busy one at least a picture.
  const lastMs = readUntil
  const filmEnd = b.of('clipClosed')[0]?.endedAt ?? 0
  t.ok(filmEnd > lastMs, `the film ends ${filmEnd - readUntil} ms after what was read`)
  const folder = join(b.folder, 'history')
  const file = join(folder, readdirSync(folder)[0] ?? '')
  const times = [...clip.timesMs].sort((x, y) => x - y)
  const newest = (shown: number[]) => Math.max(...cam.takenAt('hall', times[shown.at(-1) ?? 0] ?? -1))
  await eventually(
    () => countersIn(file, ffmpeg).then(newest),
    (ms) => ms > lastMs,
    { withinMs: 10_000 },
  )
})

/** The clock of a box that is set while a camera runs. */
function clockToSet() {
  let setMs = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + setMs }
  return { clock, set: (byMs: number) => (setMs += byMs) }
}
const hourMs = 3_600_000

for (const isKept of [false, true]) {
  const of = isKept ? 'continuous video' : 'what the camera shows'
  t.test(`a clock that is set back by an hour before the order costs no film made of ${of}`, async (t) => {
    const { clock, set } = clockToSet()
    const seen = await watch(t, isKept ? { ...kept, motion: short } : { streaming: true, filmSeconds: 10 }, hall, {
      clock,
    })
    await until(seen.liveAt + (isKept ? 6000 : 3000))
    const momentAt = isKept ? seen.liveAt + 3000 : Date.now()
    set(-hourMs)
    await compare(t, seen, await film(seen, momentAt, { clockSetMs: -hourMs }), momentAt)
  })
}

t.test(
  'what the clock left behind is made of the video of that time, or lost: an hour later the times come again',
  async (t) => {
    const { clock, set } = clockToSet()
    const seen = await watch(t, { ...kept, motion: short, filmSeconds: 10 }, hall, { clock })
    await until(seen.liveAt + 6000)
    set(-hourMs)
    // As after a restart: by how much it was set is not known.
    const momentAt = seen.liveAt + 3000
    await compare(t, seen, await film(seen, momentAt), momentAt)
    seen.b.camera(2, seen.cam.url('hall'), { streaming: true, filmSeconds: 10 })
    await seen.b.state(2, 'live')
    seen.b.film({
      detectionId: 2000,
      cameraId: 2,
      momentAt: Date.now(),
      fromAt: Date.now() - 1000,
      toAt: Date.now() + 1000,
    })
    const lost = () => seen.b.of('clipLost').find(({ detectionId }) => detectionId === 2000)
    await seen.b.until(() => lost() !== undefined, 'it is lost')
    t.match(lost(), { reason: 'clock-set-back', words: /the clock was set back since/ })
  },
)

t.test('a moment of which nothing was kept has no film, and that is said', async (t) => {
  const seen = await watch(t, { detecting: true })
  t.match(await film(seen, seen.liveAt - 60_000), {
    type: 'clipLost',
    reason: 'nothing-kept',
    words: /Nothing was kept/,
  })
})

t.test('an event in the middle of motion gets no second clip: the one of the motion shows it', async (t) => {
  const seen = await watch(t, { detecting: true, filmSeconds: 10 })
  seen.cam.seek('hall', 0)
  await seen.b.until(() => seen.b.of('motionFired').some(({ clip }) => clip), 'motion')
  const [fired] = seen.b.of('motionFired').filter(({ clip }) => clip)
  const momentAt = (fired?.motionAt ?? 0) + 700
  const order = { detectionId: filmId, cameraId: 1, momentAt, fromAt: momentAt - 1000, toAt: momentAt + 300 }
  seen.b.film(order)
  await seen.b.until(() => seen.b.of('filmCovered').length > 0, 'the film is there')
  t.match(seen.b.of('filmCovered'), [{ detectionId: filmId, by: fired?.detectionId }])
  const clips = readdirSync(join(seen.b.folder, 'clips')).filter((name) => name.startsWith(String(filmId)))
  t.same(clips, [], 'nothing of it is left on the disk')
})

t.test('the film of an event in the middle of motion does not wait for a clip that cannot be cut', async (t) => {
  const program = join(t.testdir(), 'ffmpeg')
  // Neither the ffmpeg of one picture nor the one that stays for many; only the one that decodes for motion detection.
  const lines = `case "$*" in *rawvideo*) ;; */1.png.part | *ivf*) kill -TERM $$;; esac`
  writeFileSync(program, `#!/bin/sh\n${lines}\nexec '${ffmpeg}' "$@"\n`, { mode: 0o755 })
  const seen = await watch(t, { detecting: true, filmSeconds: 10 }, hall, { program })
  seen.cam.seek('hall', 0)
  await seen.b.until(() => seen.b.of('motionFired').some(({ clip }) => clip), 'motion')
  const [fired] = seen.b.of('motionFired').filter(({ clip }) => clip)
  t.equal(fired?.detectionId, 1)
  t.match(await film(seen, (fired?.motionAt ?? 0) + 700), { type: 'clipClosed', detectionId: filmId })
  t.match(
    seen.b.of('clipWaits').find(({ detectionId }) => detectionId === 1),
    { words: /ffmpeg could not be run/ },
    'which is tried again',
  )
})
