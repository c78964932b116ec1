/** How light and somebody differ, in pictures without noise, cell by cell. The numbers are those of `src/video/motion/light.ts`. */
import t from 'tap'
import { columns, rows } from '../../src/video/motion/grid.ts'
import { type Changes, isOneOf, seenOfWall, stripes, wall } from '../support/grey-wall.ts'

const leftOf = (drawing: readonly string[], changes: Changes) => seenOfWall(drawing, changes).left
const six = ['www', 'www']

t.test('weak light may leave noise and 6 % of the change unexplained, and no more', async (t) => {
  const rough = (ofHundred: number) => ({
    w: (x: number, y: number) => 8 + ((x + y) % 2 === 0 ? 1 : -1) * (isOneOf(x, y, ofHundred) ? 3 : 2),
  })
  t.equal(leftOf(six, { w: () => 8 }), 0, 'one factor explains all')
  // In each pixel 4 + 5 × 0.62 = 7.1 are unexplained; 1.4 × 2.5 + 0.06 × (64 + 7.1) = 7.8 are allowed.
  t.equal(leftOf(six, rough(62)), 0)
  // 4 + 5 × 0.9 = 8.5 of 1.4 × 2.5 + 0.06 × (64 + 8.5) = 7.9.
  t.equal(leftOf(six, rough(90)), 6)
})

t.test('a change of less than four times the noise is too weak to be judged', async (t) => {
  const some = (ofHundred: number) => ({ w: (x: number, y: number) => (isOneOf(x, y, ofHundred) ? 4 : 2) })
  // 4 + 12 × 0.4 = 8.8 and 4 + 12 × 0.6 = 11.2 of 4 × 2.5.
  t.equal(leftOf(six, some(40)), 6)
  t.equal(leftOf(six, some(60)), 0)
})

t.test('five cells of weak light are a beam, and of weak shade 24 are a cloud', async (t) => {
  t.equal(leftOf(['ww', 'ww'], { w: () => 8 }), 4)
  t.equal(leftOf(six, { w: () => 8 }), 0)
  const shade = { w: () => -8 }
  t.equal(leftOf(Array(4).fill('wwwww'), shade), 20)
  t.equal(leftOf(Array(4).fill('wwwwwww'), shade), 0)
  t.equal(leftOf(Array(4).fill('wwwwwww'), { w: () => 8 }), 0)
  t.equal(leftOf([...Array(4).fill('wwwwwww'), 'e'], { ...shade, e: stripes(-40, 0) }), 29, 'somebody before a cloud')
})

t.test('a change of less than twelve steps is weak: one cell of it is not known to be light', async (t) => {
  t.equal(leftOf(['w'], { w: () => 11 }), 1)
  t.equal(leftOf(['w'], { w: () => 14 }), 0)
})

t.test('edges are steps of two fifths of the change, at four places of a cell', async (t) => {
  t.equal(leftOf(['w'], { w: stripes(20, 13) }), 0)
  t.equal(leftOf(['w'], { w: stripes(20, 10) }), 1)
  // The cell begins at 10, 10. A pixel differs from two before it and from two after it; those at the border are not compared.
  const inside = (x: number, y: number) => x === 14 && y === 14
  const atTheBorder = (x: number, y: number) => x === 19 && y === 12
  t.equal(leftOf(['w'], { w: (x, y) => (inside(x, y) ? 60 : 20) }), 0, 'three places')
  t.equal(leftOf(['w'], { w: (x, y) => (inside(x, y) || atTheBorder(x, y) ? 60 : 20) }), 1, 'four places')
})

t.test('a beam has three cells of clear light, and at most half of its shadows at its border', async (t) => {
  const beam = { c: () => 30, e: stripes(40, 0) }
  t.equal(leftOf(['cec'], beam), 1, 'two of clear light')
  t.equal(leftOf(['cccc', 'cecc', 'ccce'], beam), 0)
  t.equal(leftOf(['cccc', 'cece', 'ccce'], beam), 3)
  t.equal(leftOf(['ccc', 'ccc', 'eee'], beam), 3, 'a car that is as smooth as the road')
})

t.test('the picture may become brighter by 19 % without a change of its light', async (t) => {
  const by = (gain: number) => seenOfWall(Array(rows).fill('w'.repeat(columns)), { w: () => wall * (gain - 1) }).whole
  t.equal(by(1.15), null)
  t.equal(by(1.25), 'light')
})

t.test(
  'where over half of the picture becomes a little brighter, the rest has not changed, and somebody there has',
  async (t) => {
    const sunny = Array<string>(8).fill('w'.repeat(12))
    const changes = { w: () => 5, e: stripes(40, 0) }
    t.equal(leftOf(sunny, changes), 0)
    t.equal(leftOf(sunny.with(4, `${'w'.repeat(13)}ee`), changes), 2)
  },
)
