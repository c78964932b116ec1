/** Changes of the whole picture: of its light, of its view, or of the place of the camera. The pictures have no noise. */
import t from 'tap'
import { columns } from '../../src/video/motion/grid.ts'
import { type Change, isOneOf, seenAfter, seenOfWall, stripes, wallWith } from '../support/grey-wall.ts'

/** Draws so many cells of this letter, row by row of twelve, and others beside and below them. */
function drawn(count: number, letter: string, others = ' '): string[] {
  const rows = Array.from({ length: 8 }, (_, row) => letter.repeat(Math.min(Math.max(count - row * 12, 0), 12)))
  return rows.map((row) => row.padEnd(columns, others))
}

/** Brighter and darker by 40 in equal parts, so that the middle brightness stays; so many of a hundred pixels. */
const mixed =
  (ofHundred: number, by = 0): Change =>
  (x, y) =>
    by + (isOneOf(x, y, ofHundred) ? ((x >> 1) % 2 === 0 ? 40 : -40) : 0)

t.test('another view is 60 % of the cells of which over half has changed', async (t) => {
  const wholeOf = (count: number, ofHundred = 100) => seenOfWall(drawn(count, 'e'), { e: mixed(ofHundred) }).whole
  t.equal(wholeOf(80), null, '80 of 144')
  t.equal(wholeOf(93), 'view')
  t.equal(wholeOf(93, 60), 'view')
  t.equal(wholeOf(93, 42), null)
})

t.test('it is the light when half of these cells are explained by light', async (t) => {
  // Light and shade side by side, an edge of unchanged cells, and cells without light.
  const wholeOf = (lit: number) => {
    const row = (first: string) => `${first.repeat(8).slice(0, lit)} ${'e'.repeat(14 - lit)}`
    const drawing = Array.from({ length: 8 }, (_, i) => row(i % 2 === 0 ? 'cd' : 'dc'))
    return seenOfWall(drawing, { c: () => 20, d: () => -20, e: stripes(-40, 40) }).whole
  }
  t.equal(wholeOf(8), 'light', '64 of 112')
  t.equal(wholeOf(6), 'view', '48 of 112')
})

t.test('in other light it is another view when 40 % of the cells look different by a fifth', async (t) => {
  const wholeOf = (count: number, ofHundred = 100) =>
    seenOfWall(drawn(count, 'e', 'w'), { w: () => 25, e: mixed(ofHundred, 25) }).whole
  t.equal(wholeOf(50), 'light', '50 of 144')
  t.equal(wholeOf(66), 'view')
  t.equal(wholeOf(66, 24), 'view')
  t.equal(wholeOf(66, 16), 'light')
})

/** Moves a camera to the side that sees one bar, so high; returns how many cells have changed. */
function leftWhenMoved(by: number, high: number): number {
  const bar =
    (left: number): Change =>
    (x, y) =>
      x >= left && x < left + 24 && y >= 20 && y < 20 + high ? 60 : 0
  return seenAfter(wallWith(bar(60)), wallWith(bar(60 + by))).changed.filter((share) => share > 0).length
}

t.test(
  'a camera that moved by up to five pixels sees nothing move, once that changes 2 % of the picture',
  async (t) => {
    // Eight pixels of each row, of 14,400.
    t.equal(leftWhenMoved(4, 43), 0, '2.4 %')
    t.ok(leftWhenMoved(4, 30) > 0, '1.7 %')
    t.equal(leftWhenMoved(5, 50), 0)
    t.ok(leftWhenMoved(6, 50) > 0)
  },
)
