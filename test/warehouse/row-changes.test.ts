import t from 'tap'
import { RowChanges } from '../../src/warehouse/index.ts'

t.test('an asset that changes again while it is told stays to be told', async (t) => {
  const changes = new RowChanges()
  for (const id of [3, 1, 2]) changes.add(id)
  const first = changes.next(2)
  t.same(first.ids, [3, 1])
  changes.add(3)
  changes.sent(first)
  t.same(changes.next(9).ids, [2, 3])
  changes.sent(changes.next(9))
  t.ok(changes.isEmpty)
})

t.test('when more assets change than are remembered, all of them are to be told', async (t) => {
  const changes = new RowChanges()
  for (let id = 1; id <= 20_000; id += 1) changes.add(id)
  t.notOk(changes.takeTooMany())
  changes.add(20_001)
  t.same(changes.next(9).ids, [])
  t.notOk(changes.isEmpty)
  t.ok(changes.takeTooMany())
  t.notOk(changes.takeTooMany(), 'once')
  t.ok(changes.isEmpty)
})
