import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { WorkWatch } from '../../src/app/threads/work-watch.ts'
import { createLogger } from '../../src/platform/index.ts'
import type { FromCameras } from '../../src/video/index.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const watchdogMs = 60_000

/** A watch that is fed by hand; `signs` counts the signs of life since it was last asked. */
function watch(t: Test) {
  const clock = new SimulatedClock()
  const lines: string[] = []
  let signs = 0
  let answer: 'writes' | 'refuses' | 'hangs' = 'writes'
  const alive = () => {
    signs += 1
  }
  const manager = { watchdogMs, ready() {}, reloading() {}, stopping() {}, alive }
  const work = {
    write: (): Promise<never> => {
      if (answer === 'hangs') return new Promise(() => {})
      return answer === 'writes' ? Promise.resolve(undefined as never) : Promise.reject(new Error('the disk is full'))
    },
  }
  const cameras = new Set([1, 2])
  const watched = new WorkWatch({
    ...{ manager, work, clock, isConfigured: (id: number) => cameras.has(id) },
    log: createLogger({ write: (line) => lines.push(line) }),
  })
  t.teardown(() => watched.stop())
  return {
    ...{ watched, cameras, lines },
    writer: (now: typeof answer) => {
      answer = now
    },
    /** Lets an interval pass in steps of a second, as the clock of a box does, and returns the signs of life in it. */
    interval: async (eachSecond = () => {}) => {
      signs = 0
      for (let second = 0; second < watchdogMs / 1000; second += 1) {
        clock.advance(1000)
        eachSecond()
        await nextTurn()
      }
      return signs
    },
  }
}

const status = (cameraId: number, state: string, pictureAgoMs: number) =>
  ({ type: 'status', cameraId, state, pictureAgoMs }) as FromCameras

t.test('a gateway whose writer works, or says why it cannot, gives signs of life', async (t) => {
  const box = watch(t)
  box.watched.start()
  t.equal(await box.interval(), 3)
  box.writer('refuses')
  t.equal(await box.interval(), 3, 'a restart mends no full disk')
})

t.test('a writer that hangs ends the signs of life, and the log says so once', async (t) => {
  const box = watch(t)
  box.watched.start()
  await box.interval()
  box.writer('hangs')
  await box.interval()
  t.equal(await box.interval(), 0)
  t.equal(box.lines.length, 1)
  t.match(JSON.parse(box.lines[0] ?? ''), { level: 'error', trouble: 'the database writer does not answer' })
})

t.test('a camera that is called live without pictures ends the signs of life; one that is away does not', async (t) => {
  const box = watch(t)
  box.watched.start()
  t.equal(await box.interval(() => box.watched.heard(status(1, 'live', 200))), 3, 'pictures come')
  t.equal(await box.interval(() => box.watched.heard(status(1, 'stalled', 90_000))), 3, 'it is known to be away')
  t.equal(await box.interval(() => box.watched.heard(status(1, 'live', 90_000))), 0, 'called live, without pictures')
  box.cameras.delete(1)
  t.equal(await box.interval(), 3, 'it was taken out of the config')
})

t.test('a cameras thread that falls silent ends the signs of life until a new one runs', async (t) => {
  const box = watch(t)
  box.watched.start()
  await box.interval(() => box.watched.heard(status(2, 'live', 200)))
  await box.interval()
  t.equal(await box.interval(), 0)
  t.match(box.lines, [/camera 2 is called live/])
  box.watched.threadStarted()
  t.equal(await box.interval(), 3)
  t.match(box.lines[1], /goes on again/)
})

t.test('no sign of life is given where systemd does not watch', async (t) => {
  const clock = new SimulatedClock()
  const work = { write: () => t.fail('the writer is asked for nothing') as never }
  new WorkWatch({ manager: undefined, work, clock, log: createLogger(), isConfigured: () => true }).start()
  t.equal(clock.waiting, 0)
})
