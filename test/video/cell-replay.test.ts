import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { CellRecorder } from '../../src/video/history/cell-recorder.ts'
import { replayCells } from '../../src/video/history/cell-replay.ts'
import { compareMotion } from '../../src/video/history/what-if.ts'
import { frameSize } from '../../src/video/index.ts'
import { Comparer, type FrameCells } from '../../src/video/motion/cells.ts'
import { cellCount, columns, framesBack } from '../../src/video/motion/grid.ts'
import { coarseTimes, type JudgeOutcome, MotionJudge } from '../../src/video/motion/motion-judge.ts'
import { Chance } from '../support/scenes/chance.ts'
import { type KindName, makeScene } from '../support/scenes/kinds.ts'
import { play } from '../support/scenes/play.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { busyCells, cellStore, quietCells } from '../support/stored-cells.ts'

const startMs = Date.UTC(2026, 2, 2, 8)
const area = { masks: [], zones: [] }
const settings = { sensitivity: 0.3, cooldownMs: 2000, preRecordMs: 2000, postRecordMs: 3000 }

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-replay-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const cellsOf = (kind: KindName, seed: number) => {
  const comparer = new Comparer(frameSize)
  return [...play(makeScene(kind, seed, 60_000))].map((frame) => comparer.push(frame))
}
const scenes = [...cellsOf('busy aisle', 3), ...cellsOf('switch', 3), ...cellsOf('person before a fan', 3)]

/** Trouble between two frames: a late frame, a pause, or another connection. */
const troubles = fc.record({
  at: fc.nat(scenes.length - 1),
  pauseMs: fc.constantFrom(0, 300, 1900, 2100, 4000, 20_000, 40_000),
  lateMs: fc.integer({ min: 0, max: 3000 }),
  what: fc.constantFrom('late', 'reconnected', 'ended', 'stopped'),
})

/** Judges the scenes as a camera does, stores them, and lists the motion by wall clock. */
type Trouble = { at: number; pauseMs: number; lateMs: number; what: string }

async function live(folder: string, drawn: readonly Trouble[], frames = scenes) {
  const clock = new SimulatedClock(startMs)
  const store = cellStore(folder, clock)
  const recorder = new CellRecorder({ cameraId: 1, shelf: store, clock })
  const judge = new MotionJudge(area)
  const motions: { motionMs: number; score: number; hasClip: boolean; endMs: number }[] = []
  const note = (outcomes: readonly JudgeOutcome[]) => {
    for (const one of outcomes) {
      const open = motions.findLast(({ hasClip }) => hasClip)
      if (one.kind === 'closed' && open) Object.assign(open, { score: one.peakScore, endMs: startMs + one.endMs })
      if (one.kind !== 'fired') continue
      const motionMs = startMs + one.motionMs
      motions.push({ motionMs, score: one.score, hasClip: one.clipFromMs !== null, endMs: motionMs })
    }
  }
  for (const [i, cells] of frames.entries()) {
    clock.advance(200)
    const trouble = drawn.find(({ at }) => at === i)
    if (trouble && (trouble.what === 'ended' || trouble.what === 'stopped')) {
      const why = trouble.what === 'ended' ? 'stream-ended' : 'stopped'
      const interruption = { why, endMs: clock.monotonic() - 300, nowMs: clock.monotonic() } as const
      note(judge.interrupt(why, interruption.endMs, interruption.nowMs, settings))
      recorder.interrupted(interruption)
    }
    clock.advance(trouble?.pauseMs ?? 0)
    if (trouble?.what === 'reconnected') {
      judge.reconnect()
      recorder.reconnected()
    }
    const times = coarseTimes({ takenMs: clock.monotonic(), arrivedMs: clock.monotonic() + (trouble?.lateMs ?? 120) })
    note(judge.frame(cells, times, settings).outcomes)
    recorder.frame(cells, times)
  }
  recorder.flush()
  await store.stop()
  return { motions, endMs: clock.now() }
}

t.test(
  'with the settings of the camera, a replay gives the motion that was recorded, whatever befell the stream',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(troubles, { maxLength: 12 }), async (drawn) => {
        const folder = newFolder(t)
        const { motions, endMs } = await live(folder, drawn)
        const spec = { folder, cameraId: 1, fromMs: startMs, toMs: endMs, settings, area, wants: 'events' } as const
        const again = (await replayCells(spec)).motions
        const closed = ({ endMs: end }: { endMs: number }) => end < endMs - 5000
        t.same(
          again.filter(closed).toSorted((a, b) => a.motionMs - b.motionMs),
          motions.filter(closed),
        )
        rmSync(folder, { recursive: true })
      }),
      { numRuns: 25 },
    )
  },
)

t.test('three frames before a new connection and three after it are no motion, in a replay too', async (t) => {
  const folder = newFolder(t)
  const frames = [...Array(20).fill(quietCells), ...Array(6).fill(busyCells()), ...Array(20).fill(quietCells)]
  const replayed = async (drawn: readonly Trouble[]) => {
    const { motions, endMs } = await live(folder, drawn, frames)
    const spec = { folder, cameraId: 1, fromMs: startMs, toMs: endMs, settings, area, wants: 'events' } as const
    return [motions.length, (await replayCells(spec)).motions.length]
  }
  t.same(await replayed([{ at: 23, pauseMs: 0, lateMs: 120, what: 'reconnected' }]), [0, 0])
  t.same(await replayed([]), [1, 1], 'six frames of one connection are')
})

t.test('what a day says does not depend on where the question begins', async (t) => {
  const folder = newFolder(t)
  const { motions, endMs } = await live(folder, [])
  const fromMs = startMs + 90_000
  const spec = { folder, cameraId: 1, fromMs, toMs: endMs, settings, area, wants: 'events' } as const
  const { motions: later } = await replayCells(spec)
  const inside = <M extends { motionMs: number }>(some: readonly M[]) =>
    some.filter(({ motionMs }) => motionMs >= fromMs)
  t.ok(inside(motions).length > 0)
  t.same(
    inside(later).map(({ motionMs }) => motionMs),
    inside(motions).map(({ motionMs }) => motionMs),
  )
})

/**
 * Forty minutes of a screen: pages every six seconds, sometimes a film after a pause of minutes, and people beside it. Its windows
 * change so much that only the learned level decides whether it is motion.
 */
function screenAndPeople(): FrameCells[] {
  const chance = new Chance(3)
  let [page, untilFrame, pageFrames] = [0, 0, 30]
  return Array.from({ length: 40 * 60 * 5 }, (_, i) => {
    if (i >= untilFrame) {
      pageFrames = pageFrames === 30 && chance.happens(0.7) ? 2 : 30
      untilFrame = i + (pageFrames === 2 ? 20 + chance.below(60) : 50 + chance.below(600))
    }
    if (i % pageFrames === 0) page = i
    const changed = new Uint8Array(cellCount)
    if (i - page < framesBack) for (const at of [0, 1, columns]) changed[2 * columns + 3 + at] = 50
    if (i % 700 < 10) for (const at of [0, 1, columns]) changed[5 * columns + 10 + at] = 70
    return { changed, whole: null, view: 'normal' }
  })
}

/**
 * Forty minutes of a conveyor. Crowds of boxes come after few, sometimes after a pause of some seconds. Insects beside it meet now
 * and then. The last three minutes decide which of it is motion.
 */
function conveyorAndInsects(): FrameCells[] {
  const chance = new Chance(5)
  let [untilFrame, boxes, meetUntil] = [0, 0, 0]
  return Array.from({ length: 40 * 60 * 5 }, (_, i) => {
    if (i >= untilFrame) {
      boxes = chance.happens(0.2) ? 0 : chance.between(10, 70)
      untilFrame = i + 20 + chance.below(boxes === 0 ? 80 : 200)
    }
    const changed = new Uint8Array(cellCount)
    for (const at of [0, 1, 2, columns]) changed[2 * columns + 3 + at] = boxes === 0 ? 0 : boxes + chance.below(30)
    if (chance.happens(0.01)) meetUntil = i + 5
    const corner = i < meetUntil ? 5 * columns + 10 : chance.happens(0.1) ? 7 * columns + 1 : undefined
    if (corner !== undefined) for (const at of [0, 1, columns]) changed[corner + at] = 60
    return { changed, whole: null, view: 'normal' }
  })
}

t.test('a replay that begins 15 minutes before the question knows what moves all the time', async (t) => {
  for (const film of [screenAndPeople, conveyorAndInsects]) {
    const folder = newFolder(t)
    const { motions, endMs } = await live(folder, [], film())
    for (const minutes of [17, 20, 24, 27, 30, 34, 38]) {
      const fromMs = startMs + minutes * 60_000
      const spec = { folder, cameraId: 1, fromMs, toMs: endMs, settings, area, wants: 'events' } as const
      const inside = (some: typeof motions) =>
        some.filter((one) => one.motionMs >= fromMs).map(({ score, ...one }) => ({ ...one, score: score.toFixed(6) }))
      t.ok(inside(motions).length > 0, film.name)
      t.same(inside([...(await replayCells(spec)).motions]), inside(motions), `${film.name} from minute ${minutes} on`)
    }
  }
})

t.test(
  'what was usual before hours without pictures hides nobody after them, and a replay says the same',
  async (t) => {
    const folder = newFolder(t)
    const place = (percent: number): FrameCells => {
      const changed = new Uint8Array(cellCount)
      for (const at of [0, 1, columns, columns + 1]) changed[3 * columns + 4 + at] = percent
      return { changed, whole: null, view: 'normal' }
    }
    const work = Array.from({ length: 500 }, (_, i) => place(20 + ((i * 17) % 50)))
    const evening = [...Array(600).fill(quietCells), ...work]
    const morning = [...Array(25).fill(quietCells), ...Array(25).fill(place(45)), ...Array(100).fill(quietCells)]
    const night = { at: evening.length, pauseMs: 14 * 3_600_000, lateMs: 120, what: 'stopped' }
    const { motions, endMs } = await live(folder, [night], [...evening, ...morning])
    const fromMs = endMs - morning.length * 200
    const spec = { folder, cameraId: 1, fromMs, toMs: endMs, settings, area, wants: 'events' } as const
    const later = motions.filter(({ motionMs }) => motionMs >= fromMs)
    t.equal(later.length, 1)
    t.same((await replayCells(spec)).motions, later)
  },
)

t.test('each recorded detection is found again, gone, in the clip of another event, or not known', async (t) => {
  const at = (seconds: number) => startMs + seconds * 1000
  const motion = (from: number, to: number) => ({ motionMs: at(from), endMs: at(to), score: 0.5, hasClip: true })
  const was = (id: number, from: number, to: number) => ({ id, motionMs: at(from), endMs: at(to) })
  const recorded = [was(1, 10, 25), was(2, 60, 75), was(3, 100, 115), was(4, 120, 130), was(5, 300, 310)]
  const replayed = [motion(10.2, 25), motion(98, 140), motion(200, 210)]
  const seen = [{ fromMs: at(0), toMs: at(250) }]
  const { events, ...rest } = compareMotion(replayed, recorded, { fromMs: at(0), toMs: at(400) }, seen)
  t.same(
    events.map(({ detectionId }) => detectionId),
    [1, 3, undefined],
  )
  t.same(rest, { lost: [2], merged: [4], undecided: [5], added: 1 })
  const part = compareMotion(replayed, recorded, { fromMs: at(99), toMs: at(150) }, seen)
  t.same([part.events.length, part.lost, part.merged], [0, [], [4]], 'an event that began before is told of there')
})
