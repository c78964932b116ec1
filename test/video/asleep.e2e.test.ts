/** A camera's decoder sleeps on key frames while nothing moves, and wakes without losing anything. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { footage } from '../support/footage.ts'
import { needs } from '../support/needs.ts'
import { type RtspServer, startRtspServer } from '../support/rtsp/server.ts'
import { CameraBench } from './camera-bench.ts'

const [crossing, hevc] = await Promise.all([footage('crossing'), footage('crossing-hevc')])
/** Somebody comes in 8 s after the beginning; up to then the hall is empty. */
const quietMs = 1000
const shortlyBeforeMs = 6000

async function asleep(t: Test, stream: typeof crossing): Promise<{ camera: RtspServer; bench: CameraBench }> {
  const camera = await startRtspServer({ streams: { hall: stream } })
  t.teardown(() => camera.stop())
  const bench = await CameraBench.open()
  t.teardown(() => bench.close())
  bench.camera(1, camera.url('hall'))
  await bench.state(1, 'live')
  // The hall stays empty.
  camera.seek('hall', quietMs)
  const stay = setInterval(() => camera.seek('hall', quietMs), 3000)
  const isAsleep = () => bench.of('status', 1).at(-1)?.decoder?.state === 'asleep'
  try {
    await bench.until(isAsleep, 'the decoder sleeps')
  } finally {
    clearInterval(stay)
  }
  return { camera, bench }
}

t.jobs = 3

for (const [name, stream] of [
  ['H.264', crossing],
  ['H.265', hevc],
] as const) {
  t.test(`${name}: it wakes when somebody comes in, and the clip begins before that`, needs('ffmpeg'), async (t) => {
    const { camera, bench } = await asleep(t, stream)
    t.match(bench.of('status', 1).at(-1), {
      state: 'live',
      decoder: { state: 'asleep', why: null },
      scene: { state: 'normal' },
    })
    t.same(bench.of('motionFired'), [])
    camera.seek('hall', shortlyBeforeMs)
    await bench.until(() => bench.of('clipClosed').length > 0, 'a clip is closed')
    const [clip] = bench.of('clipClosed')
    t.match(clip, { detectionId: 1, closedBy: 'post-roll', original: true })
    t.ok(clip && clip.preRollSeconds >= 2 && clip.preRollSeconds <= 2.3, `${clip?.preRollSeconds} s`)
    t.ok(bench.of('status', 1).some(({ decoder }) => decoder?.state === 'awake' && decoder.why === 'motion'))
    t.match(bench.of('status', 1).at(-1), { restarts: 0, impairment: { why: null } })
  })
}

t.test('a decoder that is killed costs no recording, and another one takes its place', needs('ffmpeg'), async (t) => {
  const camera = await startRtspServer({ streams: { hall: crossing } })
  t.teardown(() => camera.stop())
  const bench = await CameraBench.open()
  t.teardown(() => bench.close())
  bench.camera(1, camera.url('hall'))
  await bench.until(() => bench.decoderPid(1) !== undefined, 'it decodes')
  const first = bench.decoderPid(1) ?? 0
  process.kill(first, 'SIGKILL')
  await bench.until(() => (bench.decoderPid(1) ?? first) !== first, 'another one decodes')
  await bench.until(() => bench.of('clipClosed').length > 0, 'a clip is closed')
  t.match(bench.of('status', 1).at(-1), { restarts: 0, state: 'live' })
  t.equal(camera.clients('hall').total, 1, 'the camera kept its connection')
  t.match(bench.log, /the decoder of a camera has ended; recording goes on/)
})

t.test('an ffmpeg that cannot decode records all the same', needs('ffmpeg'), async (t) => {
  const camera = await startRtspServer({ streams: { hall: crossing } })
  t.teardown(() => camera.stop())
  const bench = await CameraBench.open()
  t.teardown(() => bench.close())
  const script = join(bench.folder, 'ffmpeg')
  writeScript(script)
  const halfBench = await CameraBench.open({ ffmpeg: script })
  t.teardown(() => halfBench.close())
  halfBench.camera(1, camera.url('hall'))
  await halfBench.state(1, 'live')
  await halfBench.until(() => (halfBench.of('status', 1).at(-1)?.heldSeconds ?? 0) > 4, 'video is in memory')
  await halfBench.until(() => halfBench.of('status', 1).at(-1)?.impairment?.why === 'too_busy', 'it is not judged')
  t.match(halfBench.of('status', 1).at(-1), { restarts: 0, state: 'live', frameCount: 0 })
  t.match(halfBench.of('state', 1).at(-1), { state: 'live', problem: 'program-failed' })
  t.equal(camera.clients('hall').total, 1)
})

/** An ffmpeg that records, and fails where it is to decode pictures of a ring. */
function writeScript(path: string): void {
  const lines = ['#!/bin/sh', 'case "$*" in *rawvideo*) exit 1;; esac', `exec '${locateFfmpeg().path}' "$@"`]
  writeFileSync(path, lines.join('\n'), { mode: 0o755 })
}
