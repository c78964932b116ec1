/** An ffmpeg that was there at the start, and cannot be started any more. */
import { execFile } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { CameraSet, type FromCameras } from '../../src/video/index.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { leaveSpool } from '../support/taped-camera.ts'
import { waitUntil } from '../support/waiting.ts'
import { usualMotion } from './camera-bench.ts'

t.setTimeout(120_000)

/** How a program cannot be started: Node says the first later, and throws the second at once, as it does without memory. */
const ways: readonly [string, (path: string) => void][] = [
  ['is gone', () => {}],
  ['leads to itself', (path) => symlinkSync(path, path)],
]

for (const [what, spoil] of ways)
  t.test(`an ffmpeg that ${what} is a problem in words, and ends no other work`, async (t) => {
    const folder = t.testdir({ clips: {} })
    const program = join(folder, 'ffmpeg')
    spoil(program)
    await leaveSpool(join(folder, 'clips'), 9)
    const clock = new SimulatedClock()
    const messages: FromCameras[] = []
    const of = <T extends FromCameras['type']>(type: T) =>
      messages.filter((one): one is Extract<FromCameras, { type: T }> => one.type === type)
    const thread = new CameraSet({
      ...{ clock, random: systemRandom, log: silentLogger(), readSecret: () => '', freeBytes: () => Infinity },
      ffmpeg: { path: program, dialect: { listOptions: true, setsTimes: true } },
      ...{ clipsFolder: join(folder, 'clips'), historyFolder: join(folder, 'history') },
      cellsFolder: join(folder, 'scores'),
      post: (message: FromCameras) => messages.push(message),
    })
    const none = { history: { isOn: false, hours: 0, stream: 'main' }, filmSeconds: 0, streaming: false } as const
    const settings = { cameraId: 1, url: 'rtsp://127.0.0.1:1/', detectUrl: null, username: null, passwordFile: null }
    thread.receive({ type: 'camera', settings: { ...settings, ...none, detecting: true, motion: usualMotion } })
    const failures = () =>
      of('state').filter(({ problem, state }) => problem === 'no-program' && state === 'backing-off')
    await waitUntil('the camera says it', () => failures().length > 0)
    t.match(failures()[0], { words: { what: /cannot be started/, hint: /Install it/ } })
    await waitUntil('the clip waits', () => of('clipWaits').length > 0)
    t.match(of('clipWaits')[0], { detectionId: 9, words: /ffmpeg could not be run/ }, 'its picture needs one')
    clock.advance(1300)
    await waitUntil('it was tried again', () => of('state').filter(({ state }) => state === 'connecting').length > 1)
    await waitUntil('in vain', () => failures().length > 1)
    rmSync(program, { force: true })
    symlinkSync(locateFfmpeg().path, program)
    clock.advance(15_000)
    await waitUntil('the clip is made', () => of('clipClosed').length > 0)
    t.match(of('clipClosed')[0], { detectionId: 9, snapshot: { file: '9.png' } })
    thread.receive({ type: 'stop' })
    await waitUntil('it has stopped', () => of('stopped').length > 0)
  })

t.test('a box without free files ends no thread, and leaves no stream waiting for ever', async (t) => {
  const script = join(import.meta.dirname, 'few-files.ts')
  const run = promisify(execFile)('/bin/sh', ['-c', 'ulimit -n 200; exec "$@"', 'sh', process.execPath, script])
  t.match(await run, { stdout: '', stderr: '' })
})
