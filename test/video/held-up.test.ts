/** A thread that was held up, and a camera that gave pictures all the time. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { frameSize } from '../../src/video/decoding/frames.ts'
import { CameraSet, type FromCameras } from '../../src/video/index.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

t.test('a camera is not called frozen for what its thread did not see', async (t) => {
  const folder = t.testdir()
  // In place of ffmpeg: one frame, and then nothing.
  const program = join(folder, 'ffmpeg')
  writeFileSync(program, `#!/bin/sh\nhead -c ${frameSize.bytes} /dev/zero >&3\nexec tail -f /dev/null\n`)
  chmodSync(program, 0o755)
  const clock = new SimulatedClock()
  const messages: FromCameras[] = []
  const states = () => messages.flatMap((one) => (one.type === 'state' ? (one.problem ?? one.state) : []))
  let heard = () => {}
  const thread = new CameraSet({
    ...{ clock, random: systemRandom, log: silentLogger(), readSecret: () => '', freeBytes: () => Infinity },
    ffmpeg: { path: program, dialect: { listOptions: true, setsTimes: true } },
    clipsFolder: join(folder, 'clips'),
    historyFolder: join(folder, 'history'),
    cellsFolder: join(folder, 'scores'),
    post: (message: FromCameras) => {
      messages.push(message)
      heard()
    },
  })
  const until = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      heard = () => {
        if (condition()) resolve()
      }
      heard()
    })
  const motion = {
    ...{ sensitivity: 0.3, cooldownSeconds: 1, preRecordSeconds: 2, postRecordSeconds: 1 },
    ...{ masks: [], zones: [] },
  }
  thread.receive({
    type: 'camera',
    settings: {
      ...{ cameraId: 1, url: 'rtsp://127.0.0.1:1/', detectUrl: null, username: null, passwordFile: null },
      ...{ detecting: true, streaming: false, motion, filmSeconds: 0 },
      history: { isOn: false, hours: 0, stream: 'main' },
    },
  })
  await until(() => states().includes('live'))
  // Its watchdog is half a second late, and no one listened for five.
  clock.stall(5500)
  clock.advance(0)
  t.same(states(), ['connecting', 'live'])
  clock.advance(4999)
  t.same(states(), ['connecting', 'live'])
  clock.advance(1)
  t.same(states(), ['connecting', 'live', 'frozen'], 'now it is the camera')
  thread.receive({ type: 'stop' })
  await until(() => messages.some(({ type }) => type === 'stopped'))
})
