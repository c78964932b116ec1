import t from 'tap'
import { importer } from '../../src/app/import-command.ts'
import {
  boxOf,
  changesOf,
  csvOf,
  fitted,
  isRetired,
  type PlanSlot,
  unchanged,
  withoutSaved,
  withRetired,
} from '../../src/console/page/plan-draft.ts'
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
