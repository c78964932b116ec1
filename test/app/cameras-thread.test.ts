import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { CamerasThread } from '../../src/app/threads/cameras-thread.ts'
import { silentLogger, systemClock } from '../../src/platform/index.ts'
import type { FromCameras, ToCameras } from '../../src/video/index.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { waitUntil } from '../support/waiting.ts'

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

t.test('a cameras thread that dies again and again is back a second later each time', async (t) => {
  const clock = new SimulatedClock()
  const folder = t.testdir()
  const cameras = new CamerasThread({
    ...{ isWanted: () => true, log: silentLogger(), clock, ffmpeg: null },
    ...{
      historyFolder: join(folder, 'history'),
      cellsFolder: join(folder, 'scores'),
      clipsFolder: join(folder, 'clips'),
    },
  })
  t.teardown(() => cameras.stop())
  const counts = { starts: 0, ends: 0 }
  cameras.listen({ threadStarted: () => (counts.starts += 1), threadEnded: () => (counts.ends += 1), heard: () => {} })
  cameras.start()
  for (const nth of [1, 2, 3]) {
    await waitUntil('it has started', () => counts.starts === nth)
    cameras.send(undefined as unknown as ToCameras)
    await waitUntil('it has died', () => counts.ends === nth)
    t.equal(clock.nextInMs, 1000)
    clock.advance(1000)
  }
})

t.test('without ffmpeg it is looked for less and less often, and at once after a reload', async (t) => {
  const clock = new SimulatedClock()
  const folder = t.testdir()
  const log = silentLogger()
  const logged: unknown[] = []
  log.error = (facts: unknown) => void logged.push(facts)
  const cameras = new CamerasThread({
    ...{ isWanted: () => true, log, clock, ffmpeg: join(folder, 'no-ffmpeg') },
    ...{
      historyFolder: join(folder, 'history'),
      cellsFolder: join(folder, 'scores'),
      clipsFolder: join(folder, 'clips'),
    },
  })
  t.teardown(() => cameras.stop())
  let failures = 0
  const ends = new Set<string>()
  cameras.listen({
    threadEnded: (why) => {
      ends.add(why)
      failures += 1
    },
    heard: () => {},
  })
  const seconds: number[] = []
  /** How long the thread waits after its next failure. */
  const noteWait = async (act: () => void) => {
    const before = failures
    act()
    await waitUntil('it has failed', () => failures > before)
    seconds.push((clock.nextInMs ?? 0) / 1000)
  }
  await noteWait(() => cameras.start())
  for (let i = 0; i < 7; i += 1) await noteWait(() => clock.advance(clock.nextInMs ?? 0))
  t.same(seconds.splice(0), [1, 2, 4, 8, 16, 32, 60, 60])
  t.match(logged, [{ err: { code: 'FFMPEG_NOT_FOUND' } }])
  t.equal(logged.length, 1, 'it is logged once')
  t.same([...ends], ['no-ffmpeg'])
  clock.advance(20_000)
  await noteWait(() => cameras.onReload())
  await noteWait(() => clock.advance(clock.nextInMs ?? 0))
  t.same(seconds, [1, 2], 'a reload begins anew')
  t.equal(logged.length, 2, 'and is answered in the log')
  t.equal(clock.waiting, 1, 'one attempt at a time')
})
