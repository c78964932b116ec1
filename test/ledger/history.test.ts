import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { executor, openWriter, type ReadTx, type Statement, type Tx, UnitOfWork } from '../../src/database/index.ts'
import { judgementsAfter, moveBefore } from '../../src/ledger/derive/around.ts'
import { type HistoryPage, pageOfHistory, type SlotsMeant } from '../../src/ledger/derive/history.ts'
import { assetLocation, endOfStay, newestMoveOfAsset } from '../../src/ledger/derive/location.ts'
import { judgedAfter, lastIdReceivedBy, newestTimestampMs } from '../../src/ledger/derive/state.ts'
import { stepsOf } from '../../src/ledger/derive/stays.ts'
import { assetIsKnown, type HistoryFilter, slotState, slotStates } from '../../src/ledger/index.ts'
import { placementIdOf, scenesAround } from '../../src/ledger/record/scene.ts'
import { wholeSight } from '../../src/warehouse/index.ts'
import { sightWithout } from '../../src/warehouse/sight.ts'
import { furnish, people, testGateway } from '../support/gateway.ts'
import { runOf } from '../support/plain-sql.ts'

/** Returns SQLite's query plans of all reads of `work`. */
function plansOf(t: Ending, work: (tx: ReadTx) => void): string[] {
  const { tx, plans } = explaining(t)
  work(tx)
  return plans
}

type Ending = { teardown(work: () => void): void }

/** A transaction on an empty ledger that notes SQLite's query plans. */
type Asked = Statement<unknown, unknown>

function explaining(t: Ending, prepare: (tx: Tx) => void = () => {}): { tx: ReadTx; plans: string[] } {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-plans-'))
  const { db, close } = openWriter({ dataDir, nowMs: 1 })
  t.teardown(() => {
    close()
    rmSync(dataDir, { recursive: true })
  })
  const tx = executor(db)
  prepare(tx)
  const plans: string[] = []
  const explain = (sql: string, parameters: readonly unknown[] = []) => {
    const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[]
    plans.push(rows.map((row) => row.detail).join(' | '))
  }
  const explained = (door: 'all' | 'get') => {
    const ask = tx[door] as (statement: Asked, given: unknown) => unknown
    return ((statement: Asked, given: unknown) => {
      explain(statement.sql, statement.valuesOf(given))
      return ask(statement, given)
    }) as never
  }
  return {
    plans,
    tx: {
      ...tx,
      all: explained('all'),
      get: explained('get'),
    },
  }
}

/** Returns SQLite's query plans for one page of the history. */
async function plansOfHistory(
  t: Ending,
  filter: HistoryFilter,
  page: Partial<HistoryPage> = {},
  slots: Partial<SlotsMeant> = {},
  prepare?: (tx: Tx) => void,
): Promise<string[]> {
  const { tx, plans } = explaining(t, prepare)
  const work = { read: (look) => look(tx), readInSlices: UnitOfWork.prototype.readInSlices } as UnitOfWork
  await pageOfHistory(work, filter, { hiddenWarehouses: [], ...slots }, { limit: 50, offset: 0, ...page })
  return plans.filter((plan) => /\be\b/.test(plan) && !plan.includes('json_each'))
}

/** The indexes that a plan reads the ledger by, in their order. */
const indexesIn = (plan = '') => [...plan.matchAll(/INDEX placement_event_(\w+)/g)].map(([, name]) => name)

t.test('a history of one slot, pallet or kind of event is found by an index, however long the ledger is', async (t) => {
  const slot = ['occupancy', 'judgement']
  const asset = ['location', 'asset_judgement']
  const asked: {
    filter: HistoryFilter
    page?: Partial<HistoryPage>
    slots?: Partial<SlotsMeant>
    indexes: string[]
  }[] = [
    { filter: {}, indexes: ['history'] },
    { filter: { fromMs: 1, toMs: 5 }, indexes: ['history'] },
    { filter: {}, slots: { hiddenWarehouses: [2] }, indexes: ['history'] },
    { filter: { slotId: 7 }, indexes: slot },
    { filter: { slotId: 7, eventType: 'PLACED' }, indexes: slot },
    { filter: { slotId: 7 }, page: { before: { timestampMs: 1, id: 1 } }, indexes: slot },
    { filter: { assetKeys: ['P'] }, indexes: asset },
    { filter: { assetKeys: ['P'], eventType: 'DISPUTED' }, indexes: asset },
    { filter: { assetKeys: ['P'], workOrderRef: 'W' }, indexes: asset },
    { filter: { eventType: 'DISPUTED' }, indexes: ['type'] },
    { filter: { eventType: 'DISPUTED', fromMs: 1 }, slots: { zoneId: 3 }, indexes: ['type'] },
    { filter: { workOrderRef: 'W' }, indexes: ['work_order'] },
  ]
  for (const { filter, page, slots: meant, indexes } of asked) {
    const what = JSON.stringify({ filter, page, meant })
    const plans = await plansOfHistory(t, filter, page, meant)
    t.ok(plans.length > 0, what)
    for (const plan of plans) {
      t.strictSame(indexesIn(plan), indexes, what)
      t.notMatch(plan, /TEMP B-TREE/, `${what}: in the order of the indexes`)
    }
  }
  for (const filter of [{ afterSeq: 7 }, { afterSeq: 7, fromMs: 1 }]) {
    for (const plan of await plansOfHistory(t, filter)) t.match(plan, /SEARCH e USING INTEGER PRIMARY KEY \(rowid>\?\)/)
  }
})

t.test('what stands where is read from the covering indexes alone', async (t) => {
  const plans = plansOf(t, (tx) => {
    slotState(tx, 1, { atMs: 1 })
    slotStates(tx)
    newestMoveOfAsset(tx, 'P', wholeSight, { atMs: undefined, lastId: undefined })
    assetLocation(tx, 'P', wholeSight, { atMs: 1 })
    const placed = { id: 1, slot_id: 1, timestamp_ms: 1, event_type: 'PLACED', asset_key: 'P' } as const
    endOfStay(tx, placed, wholeSight, { atMs: 1, lastId: 9 })
    newestTimestampMs(tx, 1, 'P', wholeSight)
    judgedAfter(tx, 1, 'P', 1)
    assetIsKnown(tx, 'P', wholeSight, { atMs: 1 })
  })
  t.ok(plans.length >= 10)
  for (const plan of plans) {
    t.notMatch(plan, /TEMP B-TREE|SCAN (p|j|placement_event)\b|placement_event USING INDEX/, plan)
    t.match(plan, /COVERING INDEX placement_event_(occupancy|judgement|location|asset_judgement) /, plan)
  }
})

t.test(
  'stays, judgements and what a correction looks at are found by the indexes over moves and judgements',
  async (t) => {
    const bounds = { atMs: 5, lastId: 9 }
    const move = { id: 1, slot_id: 1, timestamp_ms: 1 }
    const page = { limit: 50, offset: 0, order: 'newest first', onlyStays: true, sight: sightWithout([2]) } as const
    const plans = plansOf(t, (tx) => {
      stepsOf(tx, { slotId: 1 }, bounds, page)
      stepsOf(tx, { assetKey: 'P' }, {} as typeof bounds, { ...page, order: 'oldest first', onlyStays: false })
      judgementsAfter(tx, 1, 0, bounds)
      moveBefore(tx, move, bounds)
      scenesAround(tx, { ...move, asset_key: 'P' }, { type: 'PLACED', slotId: 2, assetKey: 'Q' })
      placementIdOf(tx, 1, 'P', { timestampMs: 1, withoutId: 1 })
    })
    t.ok(plans.length > 10, `${plans.length} plans`)
    for (const plan of plans) {
      t.notMatch(plan, /TEMP B-TREE|SCAN placement_event\b/, plan)
      t.match(plan, /INDEX placement_event_(occupancy|judgement|location|asset_judgement) |^SCAN \(subquery/, plan)
    }
  },
)

t.test('what was known at a time is found in a few looks, whatever the times are', async (t) => {
  const times = fc.array(fc.nat(40), { maxLength: 60 }).map((steps) => steps.toSorted((a, b) => a - b))
  fc.assert(
    fc.property(times, fc.integer({ min: -2, max: 45 }), (receivedAt, limit) => {
      let looks = 0
      const get = ({ sql }: Asked, [limitMs = 0, id]: readonly number[] = []) => {
        looks += 1
        if (sql.includes('max(id)')) return { id: receivedAt.length }
        const ms = id === undefined ? undefined : receivedAt[id - 1]
        return ms === undefined ? undefined : { is: Number(ms <= limitMs) }
      }
      const found = lastIdReceivedBy({ get } as unknown as ReadTx, limit)
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

t.test('the history answers what an auditor asks: whose, for which order, where and when', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const by = people.ada
  const polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Annex', timezone: 'UTC' } })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'X', zone_type: 'cold', warehouseId: 2 } })
  const annex = { slot_id: '7', zone: 'X', zoneId: 2, floor_plan_polygon: polygon }
  await gateway.ask('POST', '/api/whms/slots', { by, body: annex })
  const events = [
    { slot_code: 'A', operator: 'olga', work_order_ref: 'WO-1', timestamp: '2026-03-02T07:00:00Z' },
    { slot_code: 'B', operator: 'oskar', work_order_ref: 'WO-1', timestamp: '2026-03-02T07:10:00Z' },
    { slot_code: '7', operator: 'olga', timestamp: '2026-03-02T07:20:00Z' },
    { slot_code: 'A', operator: 'oskar', corrects_event_id: 1, timestamp: '2026-03-02T07:05:00Z' },
  ]
  for (const event of events) {
    const body = { event_type: 'REMOVED', asset_barcode: 'P', ...event }
    t.equal((await gateway.ask('POST', '/api/whms/events', { by, body })).status, 201)
  }
  const ask = (query: string) => gateway.ask('GET', `/api/whms/events?${query}`, { by: people.vera })
  const ids = async (query: string) => (await ask(query)).body.data.map((e: { id: number }) => e.id)
  for (const [query, expected] of [
    ['', [3, 2, 4, 1]],
    ['slot_code=A', [4, 1]],
    ['slot_code=7', [3]],
    ['slot_id=1&slot_code=A', [4, 1]],
    ['slot_id=2&slot_code=A', []],
    ['slot_code=nowhere', []],
    ['operator=olga', [3, 1]],
    ['operator=ada', [3, 2, 4, 1]],
    ['operator=ada&event_type=REMOVED&limit=2', [3, 2]],
    ['operator=ada&slot_code=A&from=2026-03-02T07:05:00Z', [4]],
    ['operator=ada&from=2026-03-02T07:05:00Z&to=2026-03-02T07:20:00Z', [2, 4]],
    ['operator=ada&after_seq=1', [2, 3, 4]],
    ['operator=nobody', []],
    ['operator=%27%20OR%201%3D1%20--', []],
    ['work_order_ref=WO-1', [2, 1]],
    ['work_order_ref=WO-1&operator=oskar', [2]],
    ['corrects_event_id=1', [4]],
    ['zoneId=2', [3]],
    ['zoneId=9', []],
    ['warehouseId=1', [2, 4, 1]],
    ['from=2026-03-02T07:05:00Z&to=2026-03-02T07:20:00Z', [2, 4]],
    ['from=2026-03-02T09:05:00.001%2B02:00', [3, 2]],
    ['asset_barcode=P&to=2026-03-02T07:05:00Z', [1]],
    ['after_seq=1&operator=oskar', [2, 4]],
    ['after_seq=0&from=2026-03-02T07:05:00Z', [2, 3, 4]],
  ] as const) {
    t.same(await ids(query), expected, query || 'all')
    const { pagination } = (await ask(query)).body
    t.equal(pagination.total, query.includes('limit') ? 4 : expected.length, `total of ${query}`)
  }
  for (const query of ['from=yesterday', 'to=2026-02-30T00:00:00Z', 'zoneId=x', 'operator=', 'slot_code=%00', 'from='])
    t.equal((await ask(query)).status, 400, query)
})

t.test('a history whose span ends before it begins is refused, and one of no length is empty', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const ask = (from: string, to: string) =>
    gateway.ask('GET', `/api/whms/events?from=${from}&to=${to}`, { by: people.vera })
  const [early, late] = ['2026-03-02T07:05:00Z', '2026-03-02T07:20:00Z']
  t.match(await ask(late, early), {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', fields: [{ path: 'to' }] } },
  })
  t.match(await ask(early, early), { status: 200, body: { data: { length: 0 } } })
})

t.test('what one person did and what belongs to a work order are found by an index', async (t) => {
  const asked: [HistoryFilter, string][] = [
    [{ operator: 'olga', fromMs: 1, toMs: 9 }, 'placement_event_operator (operator_commitment=? AND timestamp_ms'],
    [{ operator: 'olga', fromMs: 1, toMs: 9 }, 'placement_person_operator (operator_id=? AND timestamp_ms'],
    [{ operator: 'olga', fromMs: 1, toMs: 9 }, 'placement_event_actor (actor_commitment=? AND timestamp_ms'],
    [{ operator: 'olga', fromMs: 1, toMs: 9 }, 'COVERING INDEX placement_person_actor (actor_id=? AND timestamp_ms'],
    [{ operator: 'olga@https://b.example' }, 'placement_person_operator (operator_id=?'],
    [{ workOrderRef: 'WO-1', operator: 'olga' }, 'placement_event_work_order (work_order_ref=?'],
    [{ correctsEventId: 1 }, 'placement_event_corrects (corrects_event_id=?'],
    [{ fromMs: 1, toMs: 9 }, 'placement_event_history (timestamp_ms>? AND timestamp_ms<?'],
  ]
  for (const [filter, index] of asked) {
    const plans = await plansOfHistory(t, filter, {}, {}, (tx) => {
      const known = `INSERT INTO person (name, instance, salt) VALUES ('olga', ?, zeroblob(32))`
      for (const instance of ['https://a.example', 'https://b.example', null]) runOf(tx, known, [instance])
    })
    const [plan = ''] = plans
    t.ok(plan.includes(index), `${index} | ${plan}`)
    if (filter.operator !== undefined) t.notMatch(plan, /SCAN (e|l)\b|TEMP B-TREE.*\|/, plan)
  }
})
