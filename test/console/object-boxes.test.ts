import t from 'tap'
import { type Answer, boxesOf, fitInto, restMs } from '../../src/console/page/cameras/objects/boxes.ts'

const picture = { width: 1280, height: 720 }
const input = { width: 640, height: 640 }
const limits = { confidenceThreshold: 0.5, maxDetections: 20 }
const columns = { ...input, layout: 'columns', labels: ['person', 'forklift'] } as const
const rows = { ...input, layout: 'rows', labels: ['person', 'forklift'] } as const

/** [1, 4 + classes, n]: each box is centre x, centre y, width, height, then its shares. */
function inColumns(...boxes: readonly (readonly number[])[]): Answer {
  const fields = boxes[0]?.length ?? 6
  const values = Array.from({ length: fields }, (_, field) => boxes.map((box) => box[field] ?? 0)).flat()
  return { sizes: [1, fields, boxes.length], values: Float32Array.from(values) }
}
const inRows = (...boxes: readonly (readonly number[])[]): Answer => ({
  sizes: [1, boxes.length, 6],
  values: Float32Array.from(boxes.flat()),
})
const labels = (found: readonly { label: string; share: number }[]) =>
  found.map(({ label, share }) => `${label} ${share.toFixed(2)}`)

t.test('a picture goes into the model undistorted, in the middle', async (t) => {
  t.strictSame(fitInto(picture, input), { scale: 0.5, left: 0, top: 140 })
  t.strictSame(fitInto({ width: 720, height: 1280 }, input), { scale: 0.5, left: 140, top: 0 })
  t.strictSame(fitInto({ width: 320, height: 320 }, input), { scale: 2, left: 0, top: 0 })
})

t.test('both layouts give the same places, in shares of the picture', async (t) => {
  // 64 px right of the left edge, 40 px below the edge of the picture in the model's input, 128 x 80.
  const expected = [{ x: 0.1, y: 40 / 360, width: 0.2, height: 80 / 360, label: 'forklift', share: 0.75 }]
  const near = (found: readonly object[]) =>
    found.map((box) =>
      Object.fromEntries(Object.entries(box).map(([k, v]) => [k, typeof v === 'number' ? Math.round(v * 1e4) : v])),
    )
  t.strictSame(near(boxesOf(inColumns([128, 220, 128, 80, 0.25, 0.75]), columns, picture, limits)), near(expected))
  t.strictSame(near(boxesOf(inRows([64, 180, 192, 260, 0.75, 1]), rows, picture, limits)), near(expected))
})

t.test('what is less sure than the threshold is not shown, and of the rest the surest', async (t) => {
  const many = inRows(...Array.from({ length: 50 }, (_, i) => [10 * i, 200, 10 * i + 8, 240, (i + 1) / 50, 0]))
  const found = boxesOf(many, rows, picture, limits)
  t.equal(found.length, 20)
  t.equal(found[0]?.share, 1)
  t.strictSame(
    labels(boxesOf(inRows([0, 200, 9, 240, 0.5, 0], [20, 200, 29, 240, 0.49, 0]), rows, picture, limits)),
    ['person 0.50'],
    'just as sure is enough',
  )
  const three = { confidenceThreshold: 0.9, maxDetections: 3 }
  t.strictSame(labels(boxesOf(many, rows, picture, three)), ['person 1.00', 'person 0.98', 'person 0.96'])
  t.strictSame(boxesOf(inRows([0, 200, 9, 240, Number.NaN, 0]), rows, picture, limits), [], 'no number is not sure')
})

t.test('a thing that a model names twice is one box; two kinds at one place are two', async (t) => {
  const twice = inColumns([100, 300, 80, 80, 0.9, 0], [104, 302, 80, 80, 0.8, 0], [300, 300, 80, 80, 0.7, 0])
  t.strictSame(labels(boxesOf(twice, columns, picture, limits)), ['person 0.90', 'person 0.70'])
  const kinds = inColumns([100, 300, 80, 80, 0.9, 0], [104, 302, 80, 80, 0, 0.8])
  t.strictSame(labels(boxesOf(kinds, columns, picture, limits)), ['person 0.90', 'forklift 0.80'])
})

t.test('what lies beside the picture is cut off, and a kind without a name has its number', async (t) => {
  const [box] = boxesOf(inRows([-40, 100, 64, 860, 0.9, 7]), rows, picture, limits)
  t.strictSame(box, { x: 0, y: 0, width: 0.1, height: 1, label: '#7', share: box?.share })
  t.strictSame(boxesOf(inRows([0, 10, 600, 130, 0.9, 0]), rows, picture, limits), [], 'in the margin is nothing')
})

t.test('an answer of another shape is refused', async (t) => {
  t.throws(() => boxesOf(inRows([0, 0, 1, 1, 1, 0]), { ...columns, layout: 'columns' }, picture, limits), RangeError)
  t.throws(() => boxesOf({ sizes: [1, 2, 5], values: new Float32Array(10) }, rows, picture, limits), RangeError)
  t.throws(() => boxesOf({ sizes: [1, 84], values: new Float32Array(84) }, columns, picture, limits), RangeError)
})

t.test('no more pictures a second are looked at than the config says', async (t) => {
  t.equal(restMs(5, 1000, 1050), 150)
  t.equal(restMs(5, 1000, 1400), 0, 'a slow device looks as often as it can')
  t.equal(restMs(30, 0, 0), 1000 / 30)
})
