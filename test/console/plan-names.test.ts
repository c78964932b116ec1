import t from 'tap'
import { namesIn } from '../../src/console/page/plan-names.ts'

const size = { width: 800, height: 600 }
const view = { x: 0, y: 40, scale: 1 }
const zone = (name: string, x: number, y: number, width = 400, height = 200) => ({ name, box: { x, y, width, height } })
const shown = (...zones: readonly ReturnType<typeof zone>[]) => namesIn(zones, view, size).map(({ name }) => name)

t.test('no name of a zone lies over another one', (t) => {
  t.strictSame(shown(zone('Rack A', 0, 0), zone('Rack B', 20, 6, 90)), ['Rack A'], 'without room beside it')
  t.strictSame(shown(zone('Rack A', 0, 0), zone('Rack B', 420, 0)), ['Rack A', 'Rack B'], 'beside it')
  t.strictSame(shown(zone('Rack A', 0, 0), zone('Rack B', 0, 25)), ['Rack A', 'Rack B'], 'below it')
  t.strictSame(
    shown(zone('A zone of which the name is very long indeed', 0, 0, 600), zone('Rack B', 330, 0, 80)),
    ['A zone of which the name is very long indeed'],
    'a name that is longer than a cell of the grid',
  )
  t.end()
})

t.test('a name stands beside the one that is in its place, where its zone has room', (t) => {
  const [nw, aisle] = namesIn([zone('NW', 0, 0, 40, 40), zone('Aisles 1', 0, 0, 300, 400)], view, size)
  t.match([nw, aisle], [{ name: 'NW' }, { name: 'Aisles 1' }])
  t.ok(nw && aisle && aisle.x >= nw.x + nw.width)
  t.end()
})

t.test('names that have gone above the plan share its upper edge without lying over each other', (t) => {
  const moved = { x: 0, y: -90, scale: 1 }
  const names = namesIn([zone('Rack A', 0, 0), zone('Rack B', 10, 20, 90), zone('Rack C', 420, 0)], moved, size)
  t.strictSame(
    names.map(({ name }) => name),
    ['Rack A', 'Rack C'],
  )
  t.end()
})

t.test('a zone without room for its name, and one that is not in view, have none', (t) => {
  t.strictSame(shown(zone('Rack A', 0, 0, 30)), [])
  t.strictSame(shown(zone('Rack A', 900, 0), zone('Rack B', 0, 700), zone('Rack C', -500, 0)), [])
  t.end()
})
