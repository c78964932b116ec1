import fc from 'fast-check'
import t from 'tap'
import { frameSize } from '../../src/video/index.ts'
import { countedPixels } from '../../src/video/mask.ts'
import { busiestWindow, type FrameScore, isSceneChange, Scorer } from '../../src/video/score.ts'

type Box = { x: number; y: number; width: number; height: number }

/** A grey hall with boxes of another grey in it; pixels. */
function picture(boxes: readonly Box[] = [], light = 1): Uint8Array {
  const frame = new Uint8Array(frameSize.bytes).fill(255)
  for (let i = 0; i < frameSize.width * frameSize.height; i += 1) {
    const [x, y] = [i % frameSize.width, Math.floor(i / frameSize.width)]
    const inside = boxes.some((box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height)
    frame.fill(Math.round((inside ? 190 : 90 + ((x * 7 + y * 13) % 9)) * light), 4 * i, 4 * i + 3)
  }
  return frame
}

const run = (frames: readonly Uint8Array[], masks: ConstructorParameters<typeof Scorer>[1] = []): FrameScore[] => {
  const scorer = new Scorer(frameSize, masks)
  return frames.map((frame) => scorer.push(frame))
}
const still = (count: number, frame = picture()) => Array.from({ length: count }, () => frame)
const walk = (count: number) =>
  Array.from({ length: count }, (_, i) => picture([{ x: 20 + i * 6, y: 40, width: 12, height: 30 }]))
const most = (scores: readonly FrameScore[]) => Math.max(...scores.map(({ score }) => score))

t.test('a picture that stays the same has no score', async (t) => {
  t.same(run(still(10)).at(-1), { score: 0, raw: 0, scene: false })
})

t.test(
  'somebody who walks through scores over the default sensitivity, in the second frame that shows it',
  async (t) => {
    const scores = run([...still(5), ...walk(8), ...still(8)])
    t.equal(scores[5]?.score, 0, 'one frame alone is not enough')
    t.ok((scores[5]?.raw ?? 0) > 0.3)
    t.ok((scores[6]?.score ?? 0) > 0.3)
    t.equal(scores.at(-1)?.score, 0, 'an empty hall is quiet again')
  },
)

t.test('one frame that differs, as a lost packet makes it, is no motion', async (t) => {
  const glitch = picture([{ x: 60, y: 30, width: 40, height: 40 }])
  // Compared with it three frames later, the next difference stands alone too.
  t.equal(most(run([...still(5), glitch, ...still(10)])), 0)
})

t.test('the light is a change of the scene, not motion', async (t) => {
  const scores = run([...still(5), ...still(8, picture([], 0.5))])
  t.equal(most(scores), 0)
  t.same(
    scores.map(({ scene }) => scene),
    [5, 6, 7].reduce((flags, i) => flags.with(i, true), Array<boolean>(13).fill(false)),
    'for as long as the reference is from before',
  )
})

t.test('motion under a mask does not count, beside it all the same', async (t) => {
  const mask = (from: number, to: number) => [
    [
      { x: from, y: 0 },
      { x: to, y: 0 },
      { x: to, y: 1 },
      { x: from, y: 1 },
    ],
  ]
  const frames = [...still(5), ...walk(8)]
  t.equal(most(run(frames, mask(0, 0.7))), 0)
  t.equal(most(run(frames, mask(0.7, 1))), most(run(frames)))
  t.equal(most(run(frames, mask(0, 1))), 0, 'a mask over everything is silent')
  t.equal(run([...still(5), picture([], 0.5)], mask(0, 0.7)).at(-1)?.scene, true, 'cells under a mask are not asked')
})

t.test('a sliver beside a mask is not more sensitive than a whole window', async (t) => {
  const counted = new Uint32Array(144).fill(100)
  const changed = new Uint32Array(144)
  for (const cell of [0, 1, 16, 17]) counted[cell] = cell === 17 ? 4 : 0
  changed[17] = 4
  t.equal(busiestWindow({ changed, counted }), 0.04)
})

t.test('more than 60 % of the cells, each over half changed, are the scene', async (t) => {
  const counted = new Uint32Array(144).fill(100)
  const cells = (count: number, share: number) => new Uint32Array(144).fill(share, 0, count)
  t.equal(isSceneChange({ changed: cells(86, 51), counted }), false)
  t.equal(isSceneChange({ changed: cells(87, 51), counted }), true)
  t.equal(isSceneChange({ changed: cells(144, 50), counted }), false)
})

t.test('another connection is not compared with the one before', async (t) => {
  const scorer = new Scorer(frameSize)
  for (const frame of still(5)) scorer.push(frame)
  scorer.reset()
  const scores = still(6, picture([{ x: 0, y: 0, width: 60, height: 60 }])).map((frame) => scorer.push(frame))
  t.ok(scores.every(({ raw, scene }) => raw === 0 && !scene))
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
        ({ score, raw, scene }) => score >= 0 && score <= raw && raw <= 1 && !(scene && raw > 0),
      ),
    ),
    { numRuns: 30 },
  )
})

t.test('a mask takes the pixels whose middle is inside', async (t) => {
  const triangle = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 0, y: 1 },
  ]
  t.same([...countedPixels(4, 2, [triangle])], [0, 0, 0, 1, 0, 1, 1, 1])
  t.same([...countedPixels(2, 1, [])], [1, 1])
})
