import t from 'tap'
import { tileIndexOf, tilesOf } from '../../src/console/page/hall/tile-index.ts'

const scale = 60
/** Slots of 1.2 m by 0.8 m side by side, in rows. */
const slots = Array.from({ length: 1000 }, (_, n) => {
  return { x: (n % 40) * 1.3, y: Math.floor(n / 40) * 0.9, width: 1.2, height: 0.8 }
})
const [corner] = slots

t.test('a tile has the slots that reach into it, in their order', (t) => {
  const at = tileIndexOf(slots, scale)
  // Tiles have 192 pixels: 3.2 m here; strokes and marks reach 12 pixels farther, 0.2 m.
  const expected = slots.flatMap(({ x, y }, n) => (x - 0.2 < 3.2 && y - 0.2 < 3.2 ? [n] : []))
  t.same(at(0, 0), expected)
  t.same(at(-1, -1), [0], 'the stroke of the first one alone')
  t.same(at(-2, 0), [])
  t.same([...(corner ? (tilesOf(corner, scale) ?? []) : [])], ['-1 -1', '-1 0', '0 -1', '0 0'])
  t.end()
})

t.test('a slot whose outline was drawn in another unit is in every tile that it covers, found at once', (t) => {
  const wrong = { x: 0, y: 0, width: 12_000, height: 8000 }
  const begun = performance.now()
  const at = tileIndexOf([wrong, ...slots, wrong], scale)
  t.equal(at(0, 0).at(0), 0, 'below the others')
  t.equal(at(0, 0).at(-1), 1001, 'and above them, as the order of the slots has it')
  t.same(at(3000, 2400), [0, 1001])
  t.same(at(-2, 0), [])
  t.same(at(3751, 0), [])
  t.ok(tilesOf(wrong, scale) === undefined, 'too many to name')
  t.ok(performance.now() - begun < 1000, `${Math.round(performance.now() - begun)} ms`)
  t.end()
})
