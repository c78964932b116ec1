/** Compares a clip, read back picture by picture, with the camera's pictures and the gateway's facts. */
import t from 'tap'
import { assetPath } from '../../src/platform/bundle.ts'
import { footage } from '../support/footage.ts'
import { needs } from '../support/needs.ts'
import { compare, firstClip, system, timesSeen, watch } from './numbered-hall.ts'

// Made one after the other: a test that needs one of them then finds it.
for (const name of ['counted-8mbit', 'counted-uneven', 'counted-reordered', 'counted-mjpeg', 'passer'] as const) {
  await footage(name)
}
const programs = [
  ['system', system, needs('ffmpeg')],
  ['bundled', assetPath('ffmpeg'), {}],
] as const

// Most of the time of these tests is a camera's; they wait side by side.
t.jobs = 6

// One after the other: two would keep a small machine from decoding them as fast as they come.
t.test('a camera of 8 Mb/s has its pre-roll in the clip', async (t) => {
  for (const [name, program, needed] of programs) {
    await t.test(name, needed, async (t) => {
      // A longer pre-roll might reach into a clip of the earlier round, whose end is seen late on a busy machine.
      const hall = await watch(t, 'counted-8mbit', { ffmpeg: program })
      const closed = await firstClip(hall)
      const shown = await compare(t, hall, closed)
      t.ok(closed.preRollSeconds >= 2 && closed.preRollSeconds <= 2.1, `${closed.preRollSeconds} s`)
      // The last pictures of a busy machine come after its clip has ended.
      t.match(closed, { askedPreRollSeconds: 2, closedBy: /^(post-roll|stream-ended)$/, original: true })
      const appears = hall.clip.motion[0]?.fromMs ?? 0
      const firstMs = timesSeen(hall.clip)[shown[0] ?? 0] ?? 0
      t.ok(appears - firstMs > 0, `the person appears ${appears - firstMs} ms after the beginning`)
    })
  }
})

t.test('a rate that changes: the bounds are those of the pictures', async (t) => {
  const hall = await watch(t, 'counted-uneven')
  const closed = await firstClip(hall)
  await compare(t, hall, closed)
  t.ok(closed.preRollSeconds >= 2 && closed.preRollSeconds <= 2.5, `${closed.preRollSeconds} s`)
  t.ok(closed.longestGapSeconds >= 0.4 && closed.longestGapSeconds <= 0.5, `${closed.longestGapSeconds} s`)
})

for (const [name, program, needed] of programs) {
  t.test(
    `a camera with B-frames is recorded in the order in which its pictures are shown (${name})`,
    needed,
    async (t) => {
      const hall = await watch(t, 'counted-reordered', { ffmpeg: program })
      const closed = await firstClip(hall)
      await compare(t, hall, closed)
      t.match(closed, { original: true, closedBy: 'post-roll' })
      t.ok(closed.preRollSeconds >= 2 && closed.preRollSeconds <= 2.3, `${closed.preRollSeconds} s`)
      t.match(hall.b.of('state', 1).at(-1), { state: 'live', problem: null })
    },
  )

  t.test(`Motion JPEG is told when it comes, and its clip is encoded again (${name})`, needed, async (t) => {
    const hall = await watch(t, 'counted-mjpeg', { ffmpeg: program })
    const closed = await firstClip(hall)
    await compare(t, hall, closed)
    t.match(closed, { original: false, closedBy: 'post-roll', width: 640, height: 360 })
    t.ok(closed.preRollSeconds >= 2 && closed.preRollSeconds <= 2.3, `${closed.preRollSeconds} s`)
    const live = hall.b.of('state', 1).findLast(({ state }) => state === 'live')
    t.match(live, { problem: 'motion-jpeg', words: { what: /Motion JPEG/, hint: /H\.264/ } })
  })
}

t.test(
  'B-frames that cannot be recorded: motion is found, and what to do is said',
  needs('ffmpeg with setts'),
  async (t) => {
    const { b } = await watch(t, 'counted-reordered', { dialect: { setsTimes: false } })
    await b.until(() => b.of('clipLost').length > 0, 'motion without a clip')
    t.match(b.of('clipLost'), [{ reason: 'no-video' }])
    const live = b.of('state', 1).findLast(({ state }) => state === 'live')
    t.match(live, { problem: 'reordered', words: { hint: /Switch B-frames off in the camera/ } })
  },
)

for (const jumpMs of [3_600_000, -1_200_000]) {
  t.test(
    `a jump of ${jumpMs / 60_000} minutes inside the stream: said, the clip closed, the next one begun`,
    async (t) => {
      const { cam, b } = await watch(t, 'passer', { motion: { preRecordSeconds: 1, postRecordSeconds: 30 } })
      await b.until(() => b.of('motionFired').length > 0, 'motion')
      await b.until(() => b.of('status', 1).at(-1)?.frameCount !== b.of('status', 1).at(-2)?.frameCount)
      const before = b.of('status', 1).at(-1)?.frameCount ?? 0
      const jumpedAt = Date.now()
      cam.jump('hall', jumpMs)
      await b.until(() => b.of('state', 1).some(({ problem }) => problem === 'time-jump'), 'the jump is a problem')
      t.match(b.of('state', 1).find(({ problem }) => problem === 'time-jump')?.words, {
        what: /clock inside the stream/,
      })
      await b.until(() => b.of('clipClosed').length > 0, 'the clip is closed')
      const [cut] = b.of('clipClosed')
      t.equal(cut?.closedBy, 'stream-ended')
      t.ok(cut && cut.endedAt < jumpedAt + 500, 'it shows nothing from after the jump')
      await b.state(1, 'live')
      await b.until(
        () => b.of('motionFired').filter(({ clip }) => clip).length > 1,
        'motion is seen again, with a clip',
      )
      const after = b.of('status', 1).at(-1)?.frameCount ?? 0
      t.ok((after - before) / 5 < (Date.now() - jumpedAt) / 1000 + 30, `${after - before} frames were scored meanwhile`)
      t.match(cam.clients('hall'), { mostAtOnce: 1 })
    },
  )
}

t.test(
  'a stream that freezes in a clip: the clip says so, and the next begins while somebody still walks',
  async (t) => {
    const { cam, b } = await watch(t, 'passer', { motion: { preRecordSeconds: 1, postRecordSeconds: 2 } })
    await b.until(() => b.of('motionFired').length > 0, 'motion')
    cam.fault('freeze')
    const frozenAt = Date.now()
    await b.until(() => b.of('clipClosed').length > 0, 'the clip is closed')
    const [cut] = b.of('clipClosed')
    t.equal(cut?.closedBy, 'stream-ended')
    t.ok(cut && cut.endedAt < frozenAt + 500, 'it shows nothing from after the freeze')
    cam.fault(undefined)
    await b.until(() => b.of('motionFired').filter(({ clip }) => clip).length > 1, 'motion is seen again, with a clip')
  },
)
