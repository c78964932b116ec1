/** A few short scenes of known truth, of odd seeds. `npm run bench -- --only detection` reports on many even ones. */
import t from 'tap'
import { Chance } from '../support/scenes/chance.ts'
import { judgeScene } from '../support/scenes/judge.ts'
import { type KindName, makeScene } from '../support/scenes/kinds.ts'
import { type Mover, type Painter, person } from '../support/scenes/movers.ts'

const minute = 60_000

function judged(kind: KindName, seed: number, minutes: number) {
  return judgeScene(makeScene(kind, seed, minutes * minute))
}

t.test('people of a percent of the picture, low contrast and vehicles are found', async (t) => {
  for (const kind of ['person 1 %', 'person, low contrast', 'forklift'] as const) {
    const { events, found, falseEvents } = judged(kind, 7, 1.6)
    t.ok(events >= 2, kind)
    t.equal(found, events, kind)
    t.same(falseEvents, [], kind)
  }
})

t.test('somebody in front of a fan is found', async (t) => {
  const { events, found } = judged('person before a fan', 7, 1.5)
  t.ok(events >= 2)
  t.equal(found, events)
})

t.test('who comes after a place of work was quiet for as long as somebody worked there is found', async (t) => {
  const look = { percent: 1.5, contrast: 30 }
  for (const [seed, seconds] of [
    [7, 60],
    [11, 90],
    [11, 120],
  ] as const) {
    const scene = makeScene('busy aisle', seed, minute)
    const walk = (fromMs: number) => person(new Chance(seed), scene.hall, fromMs, look)
    const workers: Mover[] = []
    let atMs = 10_000
    for (const endMs = atMs + seconds * 1000; atMs < endMs; atMs = (workers.at(-1)?.toMs ?? endMs) + 300)
      workers.push(walk(atMs))
    const last = walk(atMs + seconds * 1000)
    const under: Painter = (canvas, ms) => {
      for (const { paint } of workers) paint(canvas, ms)
    }
    const durationMs = last.toMs + 800
    t.equal(judgeScene({ ...scene, disturbance: { under }, durationMs, movers: [last] }).found, 1, `${seconds} s`)
  }
})

t.test('noise, flicker, rain, insects, a light that is switched and a shaking mast are no motion', async (t) => {
  for (const kind of ['noise', 'flicker', 'rain', 'insects', 'switch', 'shake'] as const) {
    t.same(judged(kind, 5, 1).falseEvents, [], kind)
  }
})

/** Permanent motion is learned in three minutes. */
const afterLearning = (falseEvents: readonly number[]) => falseEvents.filter((ms) => ms > 3 * minute)

t.test('a conveyor is no motion after it was learned', async (t) => {
  t.same(afterLearning(judged('conveyor', 5, 4).falseEvents), [])
})

t.test('a conveyor that already moves when the camera connects is no motion', async (t) => {
  for (const seed of [1, 3, 5]) {
    const scene = makeScene('conveyor', seed, minute)
    t.same(judgeScene({ ...scene, durationMs: 12_000, countFromMs: 0 }).falseEvents, [], `seed ${seed}`)
  }
})

t.test('headlights that sweep over the floor, with the shadow of a post in them, are no motion', async (t) => {
  t.same(judged('headlights', 5, 1.5).falseEvents, [])
})

/** Judges the first seconds of ten minutes. */
function judgedStart(kind: KindName, seed: number, seconds: number, movers: readonly Mover[] = []) {
  return judgeScene({ ...makeScene(kind, seed, 10 * minute), durationMs: seconds * 1000, movers })
}

t.test('insects that meet near one place, where many fly, are no motion', async (t) => {
  t.same(judgedStart('insects', 113, 88).falseEvents, [])
  t.same(judgedStart('insects', 75, 95).falseEvents, [])
})

t.test('somebody who walks among insects for the first time in a minute is found', async (t) => {
  const { hall } = makeScene('insects', 113, 10 * minute)
  const somebody = person(new Chance(3), hall, 88_000, { percent: 1.5, contrast: 50 })
  const { found, falseEvents } = judgedStart('insects', 113, 93, [somebody])
  t.same({ found, falseEvents }, { found: 1, falseEvents: [] })
})

t.test('a crowd of boxes on a conveyor, after few, is no motion', async (t) => {
  t.same(afterLearning(judgedStart('conveyor', 5, 405).falseEvents), [])
})

t.test('weak headlights, which the noise of a camera at night hides in single pixels, are no motion', async (t) => {
  t.same(judgedStart('headlights', 113, 120).falseEvents, [])
})

t.test('somebody who walks while weak headlights sweep by is found', async (t) => {
  const { hall } = makeScene('headlights', 143, 10 * minute)
  const somebody = person(new Chance(3), hall, 60_000, { percent: 1.5, contrast: 50 })
  const { events, found, falseEvents } = judgedStart('headlights', 143, 70, [somebody])
  t.equal(events, 1)
  t.equal(found, 1)
  t.same(falseEvents, [])
})

/** Judges somebody who walks close to a camera at night, before a floor without a pattern. */
function judgedClose(seed: number, percent: number, contrast: number) {
  const scene = makeScene('person at night', 13, minute)
  const somebody = person(new Chance(seed), scene.hall, 10_000, { percent, contrast })
  const { found, falseEvents } = judgeScene({ ...scene, durationMs: 16_000, movers: [somebody] })
  return { found, falseEvents }
}

t.test('somebody close to the camera at night, of low contrast before a plain floor, is found', async (t) => {
  for (const seed of [1, 7, 9]) t.same(judgedClose(seed, 14, 24), { found: 1, falseEvents: [] }, `seed ${seed}`)
})

t.test('somebody close to the camera at night, a little darker than a plain floor, is found', async (t) => {
  for (const seed of [3, 9]) t.same(judgedClose(seed, 9, 12), { found: 1, falseEvents: [] }, `seed ${seed}`)
})

t.test('clouds that pass before the sun, and light one half of the picture alone, are no motion', async (t) => {
  t.same(judgedStart('clouds', 19, 8).falseEvents, [], 'a large part becomes darker')
  t.same(judgedStart('clouds', 7, 24).falseEvents, [], 'over half becomes brighter, and the rest stays as it is')
})

t.test('somebody who walks while a cloud passes is found', async (t) => {
  for (const [seed, seconds] of [
    [19, 8],
    [7, 24],
  ] as const) {
    const { hall } = makeScene('clouds', seed, 10 * minute)
    const somebody = person(new Chance(3), hall, seconds * 1000 - 4000, { percent: 1.5, contrast: 50 })
    const { found, falseEvents } = judgedStart('clouds', seed, seconds, [somebody])
    t.same({ found, falseEvents }, { found: 1, falseEvents: [] }, `seed ${seed}`)
  }
})
