import fc from 'fast-check'
import t from 'tap'
import { type Point, polygonFault } from '../../src/warehouse/plans/polygon.ts'
import { furnish, people, testGateway } from '../support/gateway.ts'

const points = (...pairs: [number, number][]): Point[] => pairs.map(([x, y]) => ({ x, y }))

t.test('a slot of any simple shape is a place, and what is no place is told why', async (t) => {
  for (const [what, shape] of Object.entries({
    'a triangle': points([0, 0], [1, 0], [0, 1]),
    'a square the other way round': points([0, 0], [0, 1], [1, 1], [1, 0]),
    'an L': points([0, 0], [4, 0], [4, 1], [1, 1], [1, 4], [0, 4]),
    'a point in the middle of an edge': points([0, 0], [1, 0], [2, 0], [2, 2]),
    'a very large one': points([-1e308, -1e308], [1e308, -1e308], [1e308, 1e308]),
    'a very small one': points([0, 0], [1e-300, 0], [0, 1e-300]),
    'one far away': points([4e6, 5e6], [4e6 + 0.01, 5e6], [4e6, 5e6 + 0.01]),
  })) {
    t.equal(polygonFault(shape), undefined, what)
  }
  for (const [shape, says] of [
    [points([0, 0], [2, 2], [2, 0], [0, 2]), /crosses itself: edge 0 and edge 2 meet/],
    [points([0, 0], [1, 1], [2, 2]), /no area/],
    [points([5, 5], [5, 5], [5, 5]), /point 1 repeats point 0/],
    [points([0, 0], [1, 0], [1, 1], [0, 0]), /point 3 repeats point 0/],
    [points([0, 0], [4, 0], [2, 0], [2, 3]), /edge 0 and edge 1 lie on each other/],
    [points([0, 0], [3, 0], [3, 3], [0, 3], [0, 5]), /edge 2 and edge 4 meet/],
    [points([0, 0], [4, 0], [4, 4], [2, 0], [0, 4]), /crosses itself/],
    [points([0, 0], [-0, 0], [1, 1]), /repeats/],
  ] as const) {
    t.match(polygonFault(shape) ?? 'none', says, JSON.stringify(shape))
  }
})

const coordinate = fc.integer({ min: -1000, max: 1000 })

t.test(
  'points in the order of their direction from a middle fence in a place, wherever and however large',
  async () => {
    // Edges of a star around its middle cannot meet: each lies in its own sector, narrower than half a turn.
    const star = fc.integer({ min: 3, max: 40 }).chain((n) =>
      fc.record({
        radii: fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: n, maxLength: n }),
        x: coordinate,
        y: coordinate,
        scale: fc.constantFrom(1e-120, 1e-3, 1, 1e6, 1e150),
      }),
    )
    fc.assert(
      fc.property(star, ({ radii, x, y, scale }) => {
        const shape = radii.map((radius, i) => {
          const angle = (2 * Math.PI * i) / radii.length
          return { x: (x + radius * Math.cos(angle)) * scale, y: (y + radius * Math.sin(angle)) * scale }
        })
        return polygonFault(shape) === undefined
      }),
    )
  },
)

t.test('where two sides that are no neighbours cross, there is no place', async () => {
  const tie = fc.record({ x: coordinate, y: coordinate, w: fc.integer({ min: 1, max: 99 }), more: fc.boolean() })
  fc.assert(
    fc.property(tie, ({ x, y, w, more }) => {
      const extra = more ? points([x + w, y + 3 * w]) : []
      return polygonFault([...points([x, y], [x + 2 * w, y + w], [x + 2 * w, y], [x, y + w]), ...extra]) !== undefined
    }),
  )
})

t.test('the same corners from another first one, or the other way round, are the same place', async () => {
  const shape = fc.array(fc.record({ x: fc.integer({ min: 0, max: 6 }), y: fc.integer({ min: 0, max: 6 }) }), {
    minLength: 3,
    maxLength: 7,
  })
  fc.assert(
    fc.property(shape, fc.nat(6), (corners, by) => {
      const turned = corners.map((_, i) => corners[(i + by) % corners.length] as Point)
      const fault = polygonFault(corners) === undefined
      return (
        (polygonFault(turned) === undefined) === fault && (polygonFault(turned.toReversed()) === undefined) === fault
      )
    }),
    { numRuns: 2000 },
  )
})

t.test('whatever a client sends as a polygon is refused with its field, and stores nothing', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, [])
  const post = (polygon: string) =>
    gateway.ask('POST', '/api/whms/slots', {
      by: people.ada,
      bytes: `{"slot_id":"A","zone":"S","floor_plan_polygon":${polygon}}`,
      headers: { 'Content-Type': 'application/json' },
    })
  const circle = (n: number) =>
    JSON.stringify(Array.from({ length: n }, (_, i) => ({ x: Math.cos((6.28 * i) / n), y: Math.sin((6.28 * i) / n) })))
  for (const polygon of [
    '[]',
    'null',
    '{}',
    '"0,0 1,1"',
    '[[0,0],[1,0],[0,1]]',
    circle(2),
    circle(257),
    '[{"x":1e400,"y":0},{"x":1,"y":0},{"x":0,"y":1}]',
    '[{"x":"1","y":0},{"x":1,"y":0},{"x":0,"y":1}]',
    '[{"x":null,"y":0},{"x":1,"y":0},{"x":0,"y":1}]',
    '[{"x":0,"y":0},{"x":2,"y":2},{"x":2,"y":0},{"x":0,"y":2}]',
    '[{"x":0,"y":0},{"x":1,"y":0},{"x":2,"y":0}]',
  ]) {
    const answer = await post(polygon)
    t.match(answer, { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }, polygon.slice(0, 40))
    t.match(answer.body.error.fields[0].path, /^floor_plan_polygon/)
  }
  const crossed = `[${Array.from({ length: 3000 }, (_, i) => `{"x":${i % 2},"y":${i}}`).join(',')}]`
  const tooMany = await post(crossed)
  t.equal(tooMany.status, 400)
  t.equal(tooMany.body.error.fields.length, 1, 'too many are not looked at one by one')
  t.match(await post('[{"x":NaN,"y":0}]'), { status: 400, body: { error: { code: 'MALFORMED_JSON' } } })
  t.match(await post(`[${'{"x":0,"y":0},'.repeat(1_000_000)}]`), { status: 413 })
  t.equal((await gateway.ask('GET', '/api/whms/slots', { by: people.ada })).body.data.length, 0)
  t.equal((await post(circle(256))).status, 201, 'the most that there may be')
})

t.test('a ring that ends where it began, as drawing programs write it, is the same place', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, [])
  const open = points([0, 0], [1, 0], [1, 1])
  const create = (slot_id: string, floor_plan_polygon: Point[]) =>
    gateway.ask('POST', '/api/whms/slots', { by: people.ada, body: { slot_id, zone: 'S', floor_plan_polygon } })
  t.match(await create('A', [...open, ...points([0, 0])]), { status: 201, body: { floor_plan_polygon: open } })
  t.same((await create('B', [...open, ...points([0, 0])])).body.floor_plan_polygon, open)
  const circle = Array.from({ length: 256 }, (_, i): [number, number] => [Math.cos(i / 41), Math.sin(i / 41)])
  t.equal((await create('C', points(...circle, [1, 0]))).status, 201, 'the repeat counts for none')
  t.match(await create('D', points([0, 0], [1, 0], [0, 0])), { status: 400 }, 'two points are no place')
  const change = { floor_plan_polygon: [...open, ...points([0, 0])] }
  const changed = await gateway.ask('PUT', '/api/whms/slots/A', { by: people.ada, body: change })
  t.match(changed, { status: 200, body: { version: 1 } }, 'and so it is no change')
})
