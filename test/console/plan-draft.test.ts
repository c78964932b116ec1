import t from 'tap'
import { importer } from '../../src/app/control/import-command.ts'
import {
  boxOf,
  changesOf,
  fitted,
  isRetired,
  type PlanSlot,
  unchanged,
  withoutSaved,
  withRetired,
} from '../../src/console/page/plan/draft.ts'
import { cellOf, csvOf } from '../../src/console/page/plan/make/csv.ts'
import { gridOf, listOfPlaces, zoneOfAisle } from '../../src/console/page/plan/make/grid.ts'
import { type Answer, people, testGateway } from '../support/gateway.ts'

const square = (x: number, y: number) => [
  { x, y },
  { x: x + 1, y },
  { x: x + 1, y: y + 1 },
  { x, y: y + 1 },
]
const slot = (id: number, x: number, y: number) =>
  ({ id, slot_id: `A-${id}`, floor_plan_polygon: square(x, y), retiredAt: null, version: 1 }) as unknown as PlanSlot
const slots = [slot(1, 0, 0), slot(2, 3, 1)]

t.test('a zone that is moved or stretched takes each of its slots along, in proportion', async (t) => {
  t.same(boxOf(slots, unchanged), { x: 0, y: 0, width: 4, height: 2 })
  const moved = fitted(unchanged, slots, { x: 10, y: 5.25, width: 4, height: 2 })
  t.same(moved.places.get(2), square(13, 6.25))
  const doubled = fitted(moved, slots, { x: 10, y: 5.25, width: 8, height: 2 })
  t.same(boxOf([slots[1] as PlanSlot], doubled), { x: 16, y: 6.25, width: 2, height: 1 })
  t.same(boxOf(slots, fitted(unchanged, slots, { x: 0, y: 0, width: -3, height: 2 })).width, 0.1, 'never inside out')
})

t.test('only what differs is asked for, and what was refused stays unsaved', async (t) => {
  const away = fitted(unchanged, slots, { x: 1, y: 0, width: 4, height: 2 })
  t.same(
    changesOf(away, slots).map(({ slot, body }) => [slot.id, Object.keys(body)]),
    [
      [1, ['floor_plan_polygon']],
      [2, ['floor_plan_polygon']],
    ],
  )
  t.same(changesOf(fitted(away, slots, { x: 0, y: 0, width: 4, height: 2 }), slots), [], 'back where it was')
  const first = slots[0] as PlanSlot
  const out = withRetired(away, first, true)
  t.ok(isRetired(first, out))
  t.same(changesOf(withRetired(withRetired(unchanged, first, true), first, false), slots), [])
  t.same(
    changesOf(withoutSaved(out, new Set([1])), slots).map(({ slot }) => slot.id),
    [2],
  )
})

t.test('the list that the plan gives out is one that the import finds nothing new in', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const post = (path: string, body: object) => gateway.ask('POST', `/api/whms/${path}`, { by: people.ada, body })
  await post('warehouses', { name: 'Hall', timezone: 'Europe/Berlin' })
  await post('zones', { name: 'Cold, "left"', zone_type: 'cold', warehouseId: 1 })
  const constraints = { max_weight: 412.5, allowed_types: ['pallet', 'box'] }
  await post('slots', { slot_id: 'A-01', zone: 'Cold, "left"', floor_plan_polygon: square(0.5, 1), constraints })
  await post('slots', { slot_id: 'A-02', zone: 'Cold, "left"', floor_plan_polygon: square(2, 1).slice(1) })
  await gateway.ask('PUT', '/api/whms/slots/2', { by: people.ada, body: { retired: true } })
  const [{ body }, zones] = await Promise.all(
    ['slots', 'zones'].map((path) => gateway.ask('GET', `/api/whms/${path}`, { by: people.ada })) as [
      Promise<Answer>,
      Promise<Answer>,
    ],
  )
  const options = { kind: 'slots', dryRun: true, createZones: false, warehouse: '1' } as const
  const list = Buffer.from(csvOf(body.data, zones.body.data))
  t.match(await importer(gateway)(list, options, 'ada'), { ok: true, rows: 2, created: 0, updated: 0, unchanged: 2 })
})

const order = {
  ...{ labels: 'A-01..A-03', levels: 2, x: 1, y: 5, width: 1.2, depth: 1, gap: 0.2, isDown: false },
  ...{ aisles: 1, step: 0 },
}

t.test('labels become a grid: bays to the right, the lowest level at the bottom', async (t) => {
  const made = gridOf(order)
  if (!('places' in made)) throw new Error(made.fault)
  t.same(
    made.places.map(({ slot_id, points }) => [slot_id, points[0], points[2]]),
    [
      ['A-01-1', { x: 1, y: 6.2 }, { x: 2.2, y: 7.2 }],
      ['A-01-2', { x: 1, y: 5 }, { x: 2.2, y: 6 }],
      ['A-02-1', { x: 2.4, y: 6.2 }, { x: 3.6, y: 7.2 }],
      ['A-02-2', { x: 2.4, y: 5 }, { x: 3.6, y: 6 }],
      ['A-03-1', { x: 3.8, y: 6.2 }, { x: 5, y: 7.2 }],
      ['A-03-2', { x: 3.8, y: 5 }, { x: 5, y: 6 }],
    ],
  )
  const down = gridOf({ ...order, labels: 'B8..10', levels: 1, isDown: true })
  t.match(down, { places: [{ slot_id: 'B8' }, { slot_id: 'B9', points: [{ x: 1, y: 6.2 }] }, { slot_id: 'B10' }] })
  const wrong = {
    labels: ['', 'A', 'A-1..B-3', 'A-1..A-2..A-3', `${'x'.repeat(64)}1`],
    backwards: ['A-3..A-1'],
    many: ['A-1..A-20001'],
  }
  for (const [fault, texts] of Object.entries(wrong))
    for (const labels of texts) t.match(gridOf({ ...order, labels }), { fault }, labels)
  for (const odd of [{ levels: 0 }, { levels: 1.5 }, { width: 0 }, { gap: -1 }, { x: Number.NaN }])
    t.match(gridOf({ ...order, ...odd }), { fault: 'size' })
})

t.test('aisles lie side by side, and their letter or number counts up', async (t) => {
  const pair = { ...order, labels: 'A-01..A-02', levels: 1, aisles: 3, step: 4 }
  const shown = (odd: Partial<typeof order>) => {
    const made = gridOf({ ...pair, ...odd })
    if (!('places' in made)) return made.fault
    return made.places.map(({ slot_id, aisle, points: [at] }) => `${slot_id} ${aisle} ${at?.x},${at?.y}`)
  }
  t.same(shown({}), ['A-01 A 1,5', 'A-02 A 2.4,5', 'B-01 B 1,9', 'B-02 B 2.4,9', 'C-01 C 1,13', 'C-02 C 2.4,13'])
  t.same(shown({ isDown: true, aisles: 2 }), ['A-01 A 1,5', 'A-02 A 1,6.2', 'B-01 B 5,5', 'B-02 B 5,6.2'])
  const named = (labels: string, aisles = 2) => shown({ labels, aisles })
  t.same(
    named('H1-az-1'),
    ['H1-az-1 az 1,5', 'H1-ba-1 ba 1,9'],
    'the part before the bay counts, two letters as a pair',
  )
  t.same(named('09.1'), ['09.1 09 1,5', '10.1 10 1,9'])
  t.same(named('A09-1'), ['A09-1 09 1,5', 'A10-1 10 1,9'])
  for (const labels of ['Z-1', '9-1', '1..2', 'RACK-1', '#1']) t.equal(named(labels), 'aisles', labels)
  for (const aisles of [0, -1, 1.5, 201, Number.NaN]) t.equal(named('AA-1', aisles), 'aisles', String(aisles))
  t.equal(shown({ labels: '0001-01..0001-101', aisles: 200 }), 'many')
  const levels = { labels: 'A-1', levels: 3, aisles: 2 }
  for (const step of [3.39, Number.NaN]) t.equal(shown({ ...levels, step }), 'overlap', 'three levels and two gaps')
  t.equal(shown({ ...levels, step: 3.4 }).length, 6, 'aisles may touch')
  t.equal(zoneOfAisle('Rack A', 'A', 'B'), 'Rack B')
  t.equal(zoneOfAisle('a', 'A', 'B'), 'B')
  t.equal(zoneOfAisle('Area', 'A', 'B'), 'Area B', 'the end of a word is no aisle')
  t.equal(zoneOfAisle('Cold', '01', '02'), 'Cold 02')
})

t.test('a grid is stored by the gateway as it was drawn, also with a label that looks like a formula', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const by = people.ada
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'W', timezone: 'UTC' } })
  for (const labels of ['A-1..A-2', '=A-1', '@B-1', '-5']) {
    const made = gridOf({ ...order, labels, levels: 1, x: -3 })
    if (!('places' in made)) throw new Error(made.fault)
    const headers = { 'Content-Type': 'text/csv' }
    const ask = { by, headers, bytes: listOfPlaces(made.places, () => ['=Z', 'storage']) }
    const answer = await gateway.ask('POST', '/api/whms/slots/import?createZones=true', ask)
    t.equal(answer.status, 200, answer.text)
    for (const { slot_id, points } of made.places) {
      const { body } = await gateway.ask('GET', '/api/whms/slots', { by })
      const stored = body.data.find((one: { slot_id: string }) => one.slot_id === slot_id)
      t.match(stored, { zone: '=Z', floor_plan_polygon: points }, slot_id)
    }
  }
})

t.test('a cell that a spreadsheet would run begins with an apostrophe; numbers and places stay', async (t) => {
  for (const text of ['=1+1', '+cmd', '-x', '@sum', "'=1"]) t.equal(cellOf(text), `'${text}`)
  t.equal(cellOf('=a,b'), `"'=a,b"`)
  for (const text of ['-5', '-1.5', 'A-01']) t.equal(cellOf(text), text)
  t.equal(cellOf('-1 0, 2 0'), '"-1 0, 2 0"')
})
