import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { furnish, people, testGateway } from '../support/gateway.ts'

t.test('a person first met in what is undone is met anew, and what follows says who it is', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const removal = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1', operator: 'ruben' }
  const post = (path: string, body: object) => gateway.ask('POST', `/api/whms/${path}`, { by: people.olga, body })
  // Refused after the operator was met: alone, in a batch that is rolled back, and in one that goes on without it.
  const wrong = { ...removal, event_type: 'PLACED', operator: 'ruben' }
  t.equal((await post('events', wrong)).status, 400)
  t.equal((await post('events/batch', { mode: 'rollback', events: [removal, wrong] })).status, 400)
  const some = await post('events/batch', { mode: 'proceed', events: [{ ...wrong, operator: 'tessa' }, removal] })
  t.equal(some.status, 200)
  t.match(await post('events', { ...removal, operator: 'tessa' }), { status: 201, body: { operator: 'tessa' } })
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const named = db.prepare('SELECT name FROM person WHERE instance IS NULL ORDER BY id').pluck().all()
  db.close()
  t.strictSame(named, ['ruben', 'tessa'])
  const { body } = await gateway.ask('GET', '/api/whms/events', { by: people.vera })
  t.strictSame(
    body.data.map(({ operator }: { operator: string }) => operator),
    ['tessa', 'ruben'],
  )
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, events: 2, mismatches: { length: 0 } })
})

t.test('a gateway that has met more people than it keeps in mind still knows each of them', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const removal = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
  for (let first = 0; first < 2100; first += 100) {
    const events = Array.from({ length: 100 }, (_, n) => ({ ...removal, operator: `helper-${first + n}` }))
    const { status } = await gateway.ask('POST', '/api/whms/events/batch', { by: people.olga, body: { events } })
    t.equal(status, 201)
  }
  const again = { ...removal, operator: 'helper-7' }
  await gateway.ask('POST', '/api/whms/events', { by: people.olga, body: again })
  const { body } = await gateway.ask('GET', '/api/whms/events?operator=helper-7', { by: people.vera })
  t.strictSame(
    body.data.map(({ id }: { id: number }) => id),
    [2101, 8],
  )
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, events: 2101, mismatches: { length: 0 } })
})
