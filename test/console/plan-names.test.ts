import t from 'tap'
import { type Cover, coverOf, namesIn } from '../../src/console/page/hall/names.ts'
import { onScreen, type View } from '../../src/console/page/hall/view.ts'

const size = { width: 800, height: 600 }
const view = { x: 0, y: 40, scale: 1 }
const zone = (name: string, x: number, y: number, width = 400, height = 200) => ({ name, box: { x, y, width, height } })
const nothing: Cover = () => undefined
const shown = (...zones: readonly ReturnType<typeof zone>[]) =>
  namesIn(zones, view, size, nothing).map(({ name }) => name)

t.test('no name of a zone lies over another one', (t) => {
  t.strictSame(shown(zone('Rack A', 0, 0), zone('Rack B', 20, 0, 60, 6)), ['Rack A'], 'without room beside it')
  t.strictSame(shown(zone('Rack A', 0, 0), zone('Rack B', 420, 0)), ['Rack A', 'Rack B'], 'beside it')
  t.strictSame(shown(zone('Rack A', 0, 0), zone('Rack B', 0, 25)), ['Rack A', 'Rack B'], 'below it')
  t.strictSame(
    shown(zone('A zone of which the name is very long indeed', 0, 0, 600), zone('Rack B', 330, 0, 80, 10)),
    ['A zone of which the name is very long indeed'],
    'a name that is longer than a cell of the grid',
  )
  t.end()
})

t.test('a name stands beside the one that is in its place, where its zone has room', (t) => {
  const [nw, aisle] = namesIn([zone('NW', 0, 0, 40, 40), zone('Aisles 1', 0, 0, 300, 400)], view, size, nothing)
  t.match([nw, aisle], [{ name: 'NW' }, { name: 'Aisles 1' }])
  t.ok(nw && aisle && aisle.x >= nw.x + nw.width)
  t.end()
})

t.test('names that have gone above the plan share its upper edge without lying over each other', (t) => {
  const moved = { x: 0, y: -90, scale: 1 }
  const names = namesIn(
    [zone('Rack A', 0, 0), zone('Rack B', 10, 20, 90, 95), zone('Rack C', 420, 0)],
    moved,
    size,
    nothing,
  )
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

/** Racks below each other, each a zone of rows of slots; `aisle` between racks and rows, in metres as wide as a slot is. */
function racks(aisle: number) {
  const zones = Array.from({ length: 6 }, (_, n) => {
    const top = n * (3 + 3 * aisle)
    const slots = [0, 1, 2].flatMap((row) =>
      Array.from({ length: 40 }, (_, column) => ({ x: column, y: top + row * (1 + aisle), width: 0.9, height: 1 })),
    )
    return { name: `Rack ${n}`, box: { x: 0, y: top, width: 40, height: 3 + 2 * aisle }, slots }
  })
  return { zones, slots: zones.flatMap(({ slots }) => slots) }
}

const overlaps = (a: ReturnType<typeof onScreen>, b: typeof a) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

t.test(
  'no name of a zone lies over a slot, of its zone or of another one, at any zoom and wherever the plan is',
  (t) => {
    for (const aisle of [0, 0.3, 1, 3]) {
      const { zones, slots } = racks(aisle)
      const cover = coverOf(slots, 0.9)
      let shown = 0
      for (let scale = 5; scale < 180; scale *= 1.13)
        for (const at of [0, -0.4, -0.77]) {
          const seen: View = { x: at * 40 * scale + 14, y: at * 30 * scale + 30, scale }
          const names = namesIn(zones, seen, size, cover)
          shown += names.length
          for (const name of names)
            for (const slot of slots)
              if (overlaps(name, onScreen(slot, seen))) t.fail(`${name.name} at ${scale}, aisles of ${aisle}`)
        }
      if (aisle > 0) t.ok(shown > 40, `${shown} names between the slots, aisles of ${aisle}`)
    }
    t.end()
  },
)

t.test(
  'a zone right below another one has its name in its own aisle, and in small letters where that is narrow',
  (t) => {
    const { slots, zones } = racks(1)
    const closed = zones.map((zone) => ({ ...zone, box: { ...zone.box } }))
    const wall = closed.slice(0, 2).map(({ box }) => ({ ...box, y: box.y + box.height, height: 1 }))
    const cover = coverOf([...slots, ...wall], 0.9)
    const namesAt = (scale: number) => namesIn(closed, { x: 14, y: 30, scale }, size, cover)
    const second = namesAt(22).find(({ name }) => name === 'Rack 1')
    t.ok(second && second.y >= 30 + 7 * 22 - 1 && second.y + second.height <= 30 + 8 * 22 + 1, 'between its rows')
    t.equal(second?.height, 20)
    t.equal(namesAt(17).find(({ name }) => name === 'Rack 1')?.height, 15)
    t.end()
  },
)

t.test('a slot whose outline was drawn in another unit hides no name, and the plan is searched at once', (t) => {
  const { slots, zones } = racks(1)
  const [corner] = slots
  const wrong = { x: -6100, y: -4100, width: 6000, height: 4000 }
  const begun = performance.now()
  const cover = coverOf([...slots, wrong], 0.9)
  t.same(cover({ x: -3000, y: -2000, width: 1, height: 1 }), wrong, 'one that lies in it')
  t.same(cover({ x: -7000, y: -5000, width: 900, height: 900 }), undefined, 'a wide one beside it')
  t.same(cover({ x: -90, y: -5000, width: 6000, height: 8000 }), corner, 'a wide one over the others')
  t.equal(namesIn(zones, { x: 14, y: 30, scale: 22 }, size, cover).length > 2, true, 'names where they were')
  t.ok(performance.now() - begun < 1000, `${Math.round(performance.now() - begun)} ms`)
  t.end()
})
