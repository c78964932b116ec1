/** A camera of which only continuous video is kept. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { CameraSet, type FromCameras } from '../../src/video/index.ts'
import { footage } from '../support/footage.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { tapeOf } from '../support/taped-camera.ts'
import { waitUntil } from '../support/waiting.ts'

t.test('a camera that is only recorded does not say every second that nothing has changed', async (t) => {
  const folder = t.testdir()
  const { tables, units } = tapeOf(await footage('passer'))
  writeFileSync(join(folder, 'video.ts'), Buffer.concat([tables, ...units.map(({ bytes }) => bytes)]))
  // In place of ffmpeg: some seconds of video at once, and then nothing.
  const program = join(folder, 'ffmpeg')
  writeFileSync(program, `#!/bin/sh\ncat '${folder}/video.ts'\nexec tail -f /dev/null\n`, { mode: 0o755 })
  const clock = new SimulatedClock()
  const messages: FromCameras[] = []
  const states = () => messages.flatMap((one) => (one.type === 'state' ? [one.problem ?? one.state] : []))
  const statuses = () => messages.filter(({ type }) => type === 'status').length
  const thread = new CameraSet({
    ...{ clock, random: systemRandom, log: silentLogger(), readSecret: () => '', freeBytes: () => Infinity },
    ffmpeg: { path: program, dialect: { listOptions: true, setsTimes: true } },
    clipsFolder: join(folder, 'clips'),
    historyFolder: join(folder, 'history'),
    cellsFolder: join(folder, 'scores'),
    post: (message: FromCameras) => messages.push(message),
  })
  const motion = {
    ...{ sensitivity: 0.3, cooldownSeconds: 1, preRecordSeconds: 2, postRecordSeconds: 1 },
    ...{ masks: [], zones: [] },
  }
  thread.receive({
    type: 'camera',
    settings: {
      ...{ cameraId: 1, url: 'rtsp://127.0.0.1:1/', detectUrl: null, username: null, passwordFile: null },
      ...{ detecting: false, streaming: false, motion, filmSeconds: 0 },
      history: { isOn: true, hours: 1, stream: 'main' },
    },
  })
  await waitUntil('it is live', () => states().includes('live'))
  await waitUntil('its key frames are known', () => {
    const known = thread.camera(1)?.ring.groupMs
    return known !== undefined
  })
  for (let second = 0; second < 4; second += 1) clock.advance(1000)
  t.equal(statuses(), 1, 'that it is live')
  clock.advance(3000)
  t.ok(states().includes('frozen'), 'and what changes is told at once')
  t.ok(statuses() > 1)
  thread.receive({ type: 'stop' })
  await waitUntil('it has stopped', () => messages.some(({ type }) => type === 'stopped'))
})
