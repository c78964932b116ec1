import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { CamerasThread } from '../../src/app/cameras-thread.ts'
import { silentLogger, systemClock } from '../../src/platform/index.ts'
import type { FromCameras, ToCameras } from '../../src/video/index.ts'

t.test('a cameras thread that dies is started again, and told everything anew', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-cameras-'))
  const cameras = new CamerasThread({
    isWanted: () => true,
    historyFolder: join(folder, 'history'),
    cellsFolder: join(folder, 'scores'),
    clipsFolder: join(folder, 'clips'),
    ffmpeg: null,
    log: silentLogger(),
    clock: systemClock,
  })
  // The gateway's timers keep no process alive; here nothing else does.
  const awake = setInterval(() => {}, 1000)
  t.teardown(async () => {
    clearInterval(awake)
    await cameras.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  let starts = 0
  const waiting: (() => void)[] = []
  cameras.listen({
    threadStopping: () => {},
    threadEnded: () => {},
    threadStarted: () => {
      starts += 1
    },
    heard: (message: FromCameras) => {
      if (message.type === 'leftoversDone') waiting.shift()?.()
    },
  })
  const ready = () => new Promise<void>((resolve) => waiting.push(resolve))
  const first = ready()
  cameras.start()
  cameras.start()
  await first
  t.equal(starts, 1, 'one thread, however often it is started')
  const second = ready()
  cameras.send(undefined as unknown as ToCameras)
  await second
  t.equal(starts, 2)
  t.equal(cameras.restarts, 1)
})
