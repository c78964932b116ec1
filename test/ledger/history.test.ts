import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { executor, openWriter, type ReadTx } from '../../src/database/index.ts'
import { assetIsKnown, slotState, slotStates } from '../../src/ledger/index.ts'
import { judgedAfter, lastIdUpTo, newestOfAsset, newestTimestampMs } from '../../src/ledger/state.ts'
import { type HistoryFilter, type HistoryPage, listEvents } from '../../src/ledger/store.ts'
import { furnish, people, testGateway } from '../support/gateway.ts'

/** What SQLite would do for everything that `work` reads. */
function plansOf(t: { teardown(work: () => void): void }, work: (tx: ReadTx) => void): string[] {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-plans-'))
  const { db, close } = openWriter({ dataDir, nowMs: 1 })
  t.teardown(() => {
    close()
    rmSync(dataDir, { recursive: true })
  })
  const tx = executor(db)
  const plans: string[] = []
  const explain = (sql: string, parameters: readonly unknown[] = []) => {
    const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[]
    plans.push(rows.map((row) => row.detail).join(' | '))
  }
  work({
    ...tx,
    allOf: (sql, parameters) => {
      explain(sql, parameters)
      return tx.allOf(sql, parameters)
    },
    oneOf: (sql, parameters) => {
      explain(sql, parameters)
      return tx.oneOf(sql, parameters)
    },
  })
  return plans
}

/** The indexes that a plan reads the ledger by, in their order. */
const indexesIn = (plan = '') => [...plan.matchAll(/COVERING INDEX placement_event_(\w+)/g)].map(([, name]) => name)

t.test('a history of one slot, pallet or kind of event is found by an index, however long the ledger is', async (t) => {
  const page = { limit: 50, offset: 0 }
  const slot = ['occupancy', 'judgement']
  const asset = ['location', 'asset_judgement']
  const asked: { filter: Partial<HistoryFilter>; page?: Partial<HistoryPage>; indexes: string[] }[] = [
    { filter: {}, indexes: ['history'] },
    { filter: { slotId: 7 }, indexes: slot },
    { filter: { slotId: 7, eventType: 'PLACED' }, indexes: slot },
    { filter: { slotId: 7 }, page: { before: { timestampMs: 1, id: 1 } }, indexes: slot },
    { filter: { assetKey: 'P' }, indexes: asset },
    { filter: { assetKey: 'P', eventType: 'DISPUTED' }, indexes: asset },
    { filter: { eventType: 'DISPUTED' }, indexes: ['type'] },
  ]
  for (const { filter, page: cut, indexes } of asked) {
    const [rows, total] = plansOf(t, (tx) => {
      listEvents(tx, { hiddenWarehouses: [], ...filter }, { ...page, ...cut })
    })
    const what = JSON.stringify({ filter, cut })
    t.strictSame(indexesIn(rows), indexes, what)
    // The rows of one page are put in order at the very end; nothing before that may be.
    t.notMatch(rows, /TEMP B-TREE.*\|/, `${what}: in the order of the indexes`)
    if (Object.keys(filter).length > 0) t.notMatch(rows, /SCAN e\b/, `${what}: no more than that`)
    if (Object.keys(filter).length > 0) t.strictSame(indexesIn(total), indexes, `${what}: its total`)
  }
  const [hidden, hiddenTotal] = plansOf(t, (tx) => {
    listEvents(tx, { eventType: 'DISPUTED', hiddenWarehouses: [2] }, page)
  })
  for (const plan of [hidden, hiddenTotal]) t.match(plan, /INDEX placement_event_type \(event_type=\?/)
  for (const eventType of [undefined, 'PLACED']) {
    const plans = plansOf(t, (tx) => {
      listEvents(tx, { hiddenWarehouses: [], eventType }, { ...page, afterSeq: 7 })
    })
    const followed = plans.find((plan) => plan.includes('opening'))
    t.match(followed, /SEARCH e USING INTEGER PRIMARY KEY \(rowid>\?\)/, 'what is new, by its number')
    t.notMatch(followed, /SCAN e\b|INDEX placement_event/)
  }
})

t.test('what stands where is read from the covering indexes alone', async (t) => {
  const plans = plansOf(t, (tx) => {
    slotState(tx, 1, { atMs: 1 })
    slotStates(tx)
    newestOfAsset(tx, 'P', { atMs: undefined, lastId: undefined })
    newestTimestampMs(tx, 1, 'P')
    judgedAfter(tx, 1, 'P', 1)
    assetIsKnown(tx, 'P', { atMs: 1 })
  })
  t.ok(plans.length >= 7)
  for (const plan of plans) {
    t.notMatch(plan, /TEMP B-TREE|SCAN (p|j|placement_event)\b|placement_event USING INDEX/, plan)
    t.match(plan, /COVERING INDEX placement_event_(occupancy|judgement|location|asset_judgement) /, plan)
  }
})

t.test('what was known at a time is found in a few looks, whatever the times are', async (t) => {
  const times = fc.array(fc.nat(40), { maxLength: 60 }).map((steps) => steps.toSorted((a, b) => a - b))
  fc.assert(
    fc.property(times, fc.integer({ min: -2, max: 45 }), (receivedAt, limit) => {
      let looks = 0
      const oneOf = (sql: string, [id]: readonly number[] = []) => {
        looks += 1
        if (sql.includes('max(id)')) return { id: receivedAt.length }
        return id === undefined || id < 1 ? undefined : { value: receivedAt[id - 1] }
      }
      const found = lastIdUpTo({ oneOf } as unknown as ReadTx, 'received_at_ms', limit)
      t.equal(found, receivedAt.filter((ms) => ms <= limit).length)
      t.ok(looks <= 9, `${looks} looks in ${receivedAt.length} events`)
    }),
  )
})

t.test('the total is what the question means: with after_seq what is still to come', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const by = people.olga
  const get = async (query: string) => (await gateway.ask('GET', `/api/whms/events?${query}`, { by })).body.pagination
  t.match(await get('after_seq=0'), { total: 0, hasMore: false }, 'nothing yet')
  for (const slot_code of ['A', 'B', 'A', 'B', 'A']) {
    await gateway.ask('POST', '/api/whms/events', {
      by,
      body: { event_type: 'REMOVED', slot_code, asset_barcode: 'P' },
    })
  }
  t.match(await get('after_seq=2&limit=1'), { total: 3, hasMore: true })
  t.match(await get('after_seq=5'), { total: 0, hasMore: false })
  t.match(await get('after_seq=2&slot_id=1'), { total: 2 })
  t.match(await get('slot_id=1&event_type=REMOVED&limit=1'), { total: 3, hasMore: true })
  t.match(await get('slot_id=1&event_type=PLACED'), { total: 0 })
  t.match(await get('asset_barcode=P&slot_id=2&limit=1&offset=1'), { total: 2, hasMore: false })
})
