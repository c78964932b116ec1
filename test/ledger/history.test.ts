import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { executor, openWriter, type ReadTx } from '../../src/database/index.ts'
import { assetIsKnown, slotState, slotStates } from '../../src/ledger/index.ts'
import { judgedAfter, newestOfAsset, newestTimestampMs } from '../../src/ledger/state.ts'
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

t.test('a history of one slot, pallet or kind of event is found by an index, however long the ledger is', async (t) => {
  const page = { limit: 50, offset: 0 }
  const asked: { filter: Partial<HistoryFilter>; page?: Partial<HistoryPage>; index: string }[] = [
    { filter: { slotId: 7 }, index: 'placement_event_slot' },
    { filter: { slotId: 7, eventType: 'PLACED' }, index: 'placement_event_slot' },
    { filter: { slotId: 7 }, page: { before: { timestampMs: 1, id: 1 } }, index: 'placement_event_slot' },
    { filter: { assetKey: 'P' }, index: 'placement_event_asset' },
    { filter: { assetKey: 'P', eventType: 'DISPUTED' }, index: 'placement_event_asset' },
    { filter: { eventType: 'DISPUTED' }, index: 'placement_event_type' },
    { filter: { eventType: 'DISPUTED', hiddenWarehouses: [2] }, index: 'placement_event_type' },
  ]
  for (const { filter, page: cut, index } of asked) {
    const [rows, total] = plansOf(t, (tx) => {
      listEvents(tx, { hiddenWarehouses: [], ...filter }, { ...page, ...cut })
    })
    const what = JSON.stringify({ filter, cut })
    t.match(rows, new RegExp(`^SEARCH e USING INDEX ${index} `), what)
    t.notMatch(rows, /TEMP B-TREE/, `${what}: in the order of the index`)
    t.match(total, new RegExp(`SEARCH e USING (COVERING )?INDEX ${index} `), `${what}: its total`)
  }
  const [rows] = plansOf(t, (tx) => {
    listEvents(tx, { hiddenWarehouses: [] }, { ...page, afterSeq: 7 })
  })
  t.match(rows, /^SEARCH e USING INDEX placement_event_leaf_seq /, 'what is new')
  const [followed] = plansOf(t, (tx) => {
    listEvents(tx, { hiddenWarehouses: [], eventType: 'PLACED' }, { ...page, afterSeq: 7 })
  })
  t.match(followed, /^SEARCH e USING INDEX placement_event_leaf_seq /, 'what is new of one kind')
})

t.test('what stands where is read from the covering indexes alone', async (t) => {
  const plans = plansOf(t, (tx) => {
    slotState(tx, 1, { atMs: 1, knownAtMs: 1 })
    slotStates(tx)
    newestOfAsset(tx, 'P', { atMs: undefined, lastId: undefined })
    newestTimestampMs(tx, 1, 'P')
    judgedAfter(tx, 1, 'P', 1)
    assetIsKnown(tx, 'P', { atMs: 1 })
  })
  t.ok(plans.length >= 7)
  for (const plan of plans) {
    t.notMatch(plan, /TEMP B-TREE|SCAN (p|j|placement_event)\b/, plan)
    t.match(plan, /COVERING INDEX placement_event_(occupancy|judgement|location|slot|asset|received) /, plan)
  }
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
