import fc from 'fast-check'
import t from 'tap'
import { frameSize } from '../../src/video/index.ts'
import { Comparer, type FrameCells } from '../../src/video/motion/cells.ts'
import { cellCount, columns } from '../../src/video/motion/grid.ts'
import { openCells, type Polygon } from '../../src/video/motion/mask.ts'
import {
  type FrameScore,
  Scorer,
  scoreOf,
  WindowShares,
  windowColumns,
  windowCount,
} from '../../src/video/motion/score.ts'

type Box = { x: number; y: number; width: number; height: number; tone?: number }
type Options = { light?: number; left?: number; noise?: number; seed?: number }

/** A hall of squares in two greys with boxes of another grey in it; pixels. */
function picture(boxes: readonly Box[] = [], { light = 1, left = 0, noise = 0, seed = 0 }: Options = {}): Uint8Array {
  const frame = new Uint8Array(frameSize.bytes).fill(255)
  for (let i = 0; i < frameSize.width * frameSize.height; i += 1) {
    const [x, y] = [i % frameSize.width, Math.floor(i / frameSize.width)]
    const box = boxes.find((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height)
    const wall = 90 + 40 * ((Math.floor((x + left) / 7) + Math.floor(y / 9)) % 2)
    const grain = noise * Math.sin(i * 12.9898 + seed * 78.233)
    frame.fill(Math.round((box ? (box.tone ?? 190) : wall) * light + grain), 4 * i, 4 * i + 3)
  }
  return frame
}

type Area = { masks?: readonly Polygon[]; zones?: readonly Polygon[] }

function run(frames: readonly Uint8Array[], { masks = [], zones = [] }: Area = {}): FrameScore[] {
  const comparer = new Comparer(frameSize)
  const scorer = new Scorer({ masks, zones })
  return frames.map((frame) => scorer.push(comparer.push(frame)))
}
const still = (count: number, frame = picture()) => Array.from({ length: count }, () => frame)
const walk = (count: number, tone = 190) =>
  Array.from({ length: count }, (_, i) => picture([{ x: 20 + i * 6, y: 40, width: 12, height: 30, tone }]))
const most = (scores: readonly FrameScore[]) => Math.max(...scores.map(({ score }) => score))
const upright = (from: number, to: number): Polygon[] => [
  [
    { x: from, y: 0 },
    { x: to, y: 0 },
    { x: to, y: 1 },
    { x: from, y: 1 },
  ],
]

t.test('a picture that stays the same has no score', async (t) => {
  t.same(run(still(10)).at(-1), { score: 0, raw: 0, whole: null, view: null })
})

t.test('somebody who walks through is over the default sensitivity in the fourth frame that shows it', async (t) => {
  const scores = run([...still(5), ...walk(8), ...still(8)])
  t.ok((scores[5]?.raw ?? 0) > 0.3)
  t.ok((scores[7]?.score ?? 1) < 0.3, 'three frames are not enough: a lamp changes three')
  t.ok((scores[8]?.score ?? 0) > 0.3)
  t.equal(scores.at(-1)?.score, 0, 'an empty hall is quiet again')
})

t.test('one frame that differs, as a lost packet makes it, is no motion', async (t) => {
  const glitch = picture([{ x: 60, y: 30, width: 40, height: 40 }])
  t.equal(most(run([...still(5), glitch, ...still(10)])), 0)
})

t.test('something that is there from one frame to the next, as a lamp over a door, is no motion', async (t) => {
  const lamp = picture([{ x: 60, y: 30, width: 40, height: 40 }])
  t.equal(most(run([...still(5), ...still(10, lamp)])), 0)
})

t.test('an insect that is elsewhere in each frame is no motion', async (t) => {
  const places = [
    [4, 4],
    [70, 60],
    [140, 4],
    [10, 70],
  ] as const
  const flight = places.map(([x, y]) => picture([{ x, y, width: 14, height: 14 }]))
  t.equal(most(run([...still(5), ...flight, ...still(5)])), 0)
})

/** Cells of a frame in which so much of one place has changed: a window at the left, or one at the right. */
function cellsOf(share: number, side: 'left' | 'right' = 'left'): FrameCells {
  const changed = new Uint8Array(cellCount)
  const corner = side === 'left' ? 2 * columns + 3 : 5 * columns + 12
  for (const at of [0, 1, columns, columns + 1]) changed[corner + at] = Math.round(100 * share)
  return { changed, whole: null, view: 'normal' }
}

/** Insects: so many times a place at the right has changed in one frame, in two minutes and a half. */
const insects = (times: number) =>
  Array.from({ length: 750 }, (_, i) => cellsOf(i % 30 === 0 && i < 30 * times ? 0.4 : 0, 'right'))
const manyInsects = insects(25)
const shares = (...all: readonly number[]) => all.map((share) => cellsOf(share))

/** The scores of these frames, after others. */
function scoresAfter(before: readonly FrameCells[], frames: readonly FrameCells[], least = 0): number[] {
  const scorer = new Scorer()
  return [...before, ...frames].map((cells) => scorer.push(cells, least).score).slice(before.length)
}

t.test(
  'where insects are usual, those that meet near one place for five frames are no motion; who stays for six is',
  async (t) => {
    t.ok(Math.max(...scoresAfter(manyInsects, shares(0.4, 0, 0.4, 0.4, 0.4, 0, 0))) < 0.01)
    t.ok(Math.max(...scoresAfter(manyInsects, shares(0.4, 0.4, 0.4, 0.4, 0.4, 0, 0))) < 0.01)
    t.ok((scoresAfter(manyInsects, shares(0.4, 0.4, 0.4, 0.4, 0.4, 0.4)).at(-1) ?? 0) > 0.45)
    t.ok(
      (scoresAfter(manyInsects, shares(0.4, 0.4, 0, 0.4, 0.4, 0.4, 0.4)).at(-1) ?? 0) > 0.45,
      'a frame without change',
    )
  },
)

t.test(
  'where insects are usual, what lasts counts at most one and a quarter times as much as in the two frames before',
  async (t) => {
    const grown = (share: number) =>
      scoresAfter(manyInsects, shares(share, share, share, share, share, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4)).slice(8)
    const rounded = (score: number) => Math.round(100 * score) / 100
    t.same(grown(0.12).map(rounded), [0.15, 0.15, 0.4].map(scoreOf).map(rounded))
    t.ok(Math.max(...grown(0.11).slice(0, 2)) < 0.3)
  },
)

t.test(
  'where only a few insects fly, or they flew before the last three minutes, four frames are motion',
  async (t) => {
    const fourFrames = shares(0.4, 0.4, 0.4, 0.4)
    const after = (before: readonly FrameCells[]) => scoresAfter(before, fourFrames).at(-1) ?? 0
    t.ok(after(manyInsects) < 0.01)
    t.ok(after(insects(10)) > 0.45)
    const swarm = Array.from({ length: 750 }, (_, i) => cellsOf(i % 15 === 0 ? 0.4 : 0, 'right'))
    t.ok(after([...swarm, ...shares(...Array<number>(500).fill(0))]) < 0.01)
    t.ok(after([...swarm, ...shares(...Array<number>(900).fill(0))]) > 0.45)
  },
)

t.test('insects are usual in the first half minute if there are more than a few', async (t) => {
  const after = (times: number) => {
    const before = Array.from({ length: 125 }, (_, i) => cellsOf(i % 12 === 0 && i < 12 * times ? 0.9 : 0, 'right'))
    return scoresAfter(before, shares(0.4, 0.4, 0.4, 0.4)).at(-1) ?? 0
  }
  t.ok(after(3) > 0.4)
  t.ok(after(10) < 0.01)
})

t.test('where people pass beside the insects, four frames are motion', async (t) => {
  const quiet = (count: number) => shares(...Array<number>(count).fill(0))
  const passing = [...quiet(300), ...shares(...Array<number>(12).fill(0.6)), ...quiet(100)]
  const scores = scoresAfter([...passing, ...manyInsects], shares(0.4, 0.4, 0.4, 0.4))
  t.ok((scores.at(-1) ?? 0) > 0.35)
})

t.test('where insects are usual, who is close to the camera, and soon gone, is motion in four frames', async (t) => {
  t.ok((scoresAfter(manyInsects, shares(0.95, 0.95, 0.95, 0.95)).at(-1) ?? 1) < 0.01, 'less than four cells')
  t.ok((scoresAfter(manyInsects, shares(1, 1, 1, 1)).at(-1) ?? 0) > 0.9)
})

t.test('after hours without pictures it is not known that insects were usual', async (t) => {
  const scorer = new Scorer()
  for (const cells of manyInsects) scorer.push(cells)
  scorer.forget()
  for (const cells of shares(...Array<number>(50).fill(0))) scorer.push(cells)
  t.ok(
    (shares(0.4, 0.4, 0.4, 0.4)
      .map((cells) => scorer.push(cells).score)
      .at(-1) ?? 0) > 0.4,
  )
})

t.test('who leaves out low scores gets the same high ones, and learns the same of insects and people', async (t) => {
  const quiet = shares(...Array<number>(20).fill(0))
  const high = (before: readonly FrameCells[], least: number) =>
    scoresAfter([], [...before, ...shares(0.9, 0.9, 0.9, 0.9), ...quiet], least).map((score) =>
      score > 0.6 ? score : 0,
    )
  // Half of a window is a score of 0.56.
  const people = [
    ...Array.from({ length: 15 }, () => quiet).flat(),
    ...shares(...Array<number>(12).fill(0.5)),
    ...quiet,
  ]
  t.equal(Math.max(...high(manyInsects, 0)), 0)
  t.same(high(manyInsects, 0.6), high(manyInsects, 0))
  t.ok(Math.max(...high([...people, ...manyInsects], 0)) > 0.8)
  t.same(high([...people, ...manyInsects], 0.6), high([...people, ...manyInsects], 0))
})

t.test('the light is a change of the whole picture, not motion', async (t) => {
  const scores = run([...still(5), ...still(8, picture([], { light: 0.5 }))])
  t.equal(most(scores), 0)
  const expected = [5, 6, 7].reduce((flags, i) => flags.with(i, 'light'), Array<string | null>(13).fill(null))
  t.same(
    scores.map(({ whole }) => whole),
    expected,
    'for as long as the reference is from before',
  )
})

t.test('another view is a change of the whole picture, and not of its light', async (t) => {
  const other = picture([{ x: 0, y: 20, width: 90, height: 60, tone: 20 }], { left: 7 })
  t.equal(run([...still(5), other]).at(-1)?.whole, 'view')
})

t.test('a camera that trembles by two pixels sees nothing move', async (t) => {
  const frames = Array.from({ length: 20 }, (_, i) => picture([], { left: [0, 2, -2, 1, -1][i % 5] ?? 0 }))
  t.equal(most(run([...still(5), ...frames])), 0)
})

t.test('a little more or less light, as lamps flicker, changes nothing', async (t) => {
  const frames = Array.from({ length: 20 }, (_, i) => picture([], { light: [1, 1.06, 0.95, 1.1, 0.9][i % 5] ?? 1 }))
  t.equal(most(run([...still(5), ...frames])), 0)
})

t.test(
  'in a quiet picture somebody is found who differs by a few steps of brightness, in a noisy one not',
  async (t) => {
    const plain = (i: number, noise: number) => {
      const boxes = [{ x: 0, y: 0, width: 160, height: 90, tone: 100 }]
      const person = { x: 20 + i * 3, y: 30, width: 12, height: 30, tone: 108 }
      return picture(i < 0 ? boxes : [person, ...boxes], { noise, seed: i })
    }
    const scene = (noise: number) => Array.from({ length: 40 }, (_, i) => plain(i - 25, noise))
    t.ok(most(run(scene(1))) > 0.3)
    t.ok(most(run(scene(12))) < 0.3)
  },
)

t.test('motion under a mask does not count, beside it all the same', async (t) => {
  const frames = [...still(5), ...walk(8)]
  t.equal(most(run(frames, { masks: upright(0, 0.75) })), 0)
  t.equal(most(run(frames, { masks: upright(0.75, 1) })), most(run(frames)))
  t.equal(most(run(frames, { masks: upright(0, 1) })), 0, 'a mask over everything is silent')
})

t.test('with zones, only motion inside counts, and a mask wins over a zone', async (t) => {
  const frames = [...still(5), ...walk(8)]
  t.equal(most(run(frames, { zones: upright(0.75, 1) })), 0)
  t.equal(most(run(frames, { zones: upright(0, 0.75) })), most(run(frames)))
  t.equal(most(run(frames, { zones: upright(0, 0.75), masks: upright(0, 0.75) })), 0)
})

/** Once around a box, and then once more. */
const twice = (polygons: Polygon[]): Polygon[] => polygons.map((polygon) => [...polygon, ...polygon])
const star: Polygon = [0, 2, 4, 1, 3].map((i) => ({
  x: 0.5 + 0.5 * Math.sin((i * 2 * Math.PI) / 5),
  y: 0.5 - 0.5 * Math.cos((i * 2 * Math.PI) / 5),
}))

t.test('what a mask or a zone goes around is inside, also when it does so twice or crosses itself', async (t) => {
  const frames = [...still(5), ...walk(8)]
  t.equal(most(run(frames, { masks: twice(upright(0, 1)) })), 0)
  t.equal(most(run(frames, { zones: twice(upright(0, 0.75)) })), most(run(frames)))
  const middle = (area: Area) => openCells({ masks: [], zones: [], ...area })[4 * columns + columns / 2]
  t.equal(middle({ masks: [star] }), 0, 'the middle of a star')
  t.equal(middle({ zones: [star] }), 1)
})

t.test('a sliver beside a mask is not more sensitive than a whole window', async (t) => {
  const open = new Float64Array(cellCount)
  const changed = new Uint8Array(cellCount)
  const shares = new Float64Array(windowCount)
  open[17] = 0.04
  changed[17] = 100
  new WindowShares(open).fill(shares, changed)
  t.equal(shares[0], 0.04)
})

t.test('a window is the mean of two by two cells', async (t) => {
  const changed = new Uint8Array(cellCount)
  const shares = new Float64Array(windowCount)
  changed[columns + 1] = 80
  changed[2 * columns + 2] = 20
  new WindowShares(new Float64Array(cellCount).fill(1)).fill(shares, changed)
  t.equal(shares[windowColumns + 1], 0.25)
  t.equal(shares[0], 0.2)
  t.equal(shares[windowColumns + 2], 0.05)
})

t.test('the default sensitivity is 15 % of a window, and more is more from 0 to 1', async (t) => {
  t.same([0, 0.075, 0.15, 1].map(scoreOf), [0, 0.15, 0.3, 1])
  const shares = Array.from({ length: 101 }, (_, i) => scoreOf(i / 100))
  t.ok(shares.every((score, i) => i === 0 || score > (shares[i - 1] ?? 0)))
})

t.test('another connection is not compared with the one before', async (t) => {
  const comparer = new Comparer(frameSize)
  const scorer = new Scorer()
  for (const frame of still(5)) scorer.push(comparer.push(frame))
  comparer.reset()
  scorer.reset()
  const other = still(6, picture([{ x: 0, y: 0, width: 60, height: 60 }]))
  const scores = other.map((frame) => scorer.push(comparer.push(frame)))
  t.ok(scores.every(({ raw, whole }) => raw === 0 && whole === null))
})

t.test('stored cells give the same scores again', async (t) => {
  const comparer = new Comparer(frameSize)
  const cells = [...still(5), ...walk(8), ...still(8)].map((frame) => comparer.push(frame))
  const stored = cells.map(({ changed, ...rest }) => ({ changed: Uint8Array.from(changed), ...rest }))
  const [first, again] = [new Scorer(), new Scorer()]
  t.same(
    stored.map((one) => again.push(one)),
    cells.map((one) => first.push(one)),
  )
})

t.test('every score is from 0 to 1 and never more than what the frame alone says', async () => {
  const box = fc.record({
    x: fc.nat(150),
    y: fc.nat(80),
    width: fc.integer({ min: 1, max: 160 }),
    height: fc.integer({ min: 1, max: 90 }),
  })
  fc.assert(
    fc.property(fc.array(fc.array(box, { maxLength: 3 }), { minLength: 4, maxLength: 8 }), (scenes) =>
      run(scenes.map((boxes) => picture(boxes))).every(
        ({ score, raw, whole }) => score >= 0 && score <= raw && raw <= 1 && !(whole && raw > 0),
      ),
    ),
    { numRuns: 20 },
  )
})
