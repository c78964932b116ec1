import fc from 'fast-check'
import t from 'tap'
import { Comparer } from '../../src/video/cells.ts'
import { cellCount, columns } from '../../src/video/grid.ts'
import { frameSize } from '../../src/video/index.ts'
import type { Polygon } from '../../src/video/mask.ts'
import { type FrameScore, Scorer, scoreOf, WindowShares, windowColumns, windowCount } from '../../src/video/score.ts'

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
  t.same(run(still(10)).at(-1), { score: 0, raw: 0, whole: null })
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

t.test('the default sensitivity is a fifth of a window, and more is more from 0 to 1', async (t) => {
  t.same([0, 0.1, 0.2, 1].map(scoreOf), [0, 0.15, 0.3, 1])
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
  const stored = cells.map(({ changed, whole }) => ({ changed: Uint8Array.from(changed), whole }))
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
