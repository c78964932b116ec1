import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { verifyLedger } from '../../src/evidence/index.ts'
import { furnish, people, testGateway } from '../support/gateway.ts'

const path = '/api/iot/scale-readings'

async function yard(t: Test, config: Record<string, unknown> = {}) {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01'])
  const post = (
    body: unknown,
    by = people.olga as (typeof people)[keyof typeof people],
    headers: Record<string, string> = {},
  ) => gateway.ask('POST', path, { by, body, headers })
  const list = async (query = '') => (await gateway.ask('GET', `${path}${query}`, { by: people.vera })).body
  return { gateway, post, list }
}

t.test(
  'a reading is kept as it came, found by what was weighed, told to the upstream, and never changes',
  async (t) => {
    const { gateway, post, list } = await yard(t)
    const made = await post({ scaleId: 'ramp-2', weightKg: 412.5, stable: true, slot_id: 1, asset_barcode: 'P-1' })
    t.match(made, {
      status: 201,
      body: {
        id: 1,
        scaleId: 'ramp-2',
        weightKg: 412.5,
        stable: true,
        slot_id: 1,
        asset_barcode: 'P-1',
        actor: 'olga',
      },
    })
    t.equal(made.headers.get('location'), `${path}/1`)
    gateway.clock.advance(60_000)
    await post({ scaleId: 'ramp-3', weightKg: 0 })
    t.match(await list(), { data: [{ id: 2, stable: null, slot_id: null }, { id: 1 }], pagination: { total: 2 } })
    for (const query of ['?scaleId=ramp-2', '?slot_id=1', '?asset_barcode=P-1', '?to=2026-03-02T08:00:30Z']) {
      const { data } = await list(query)
      if (query.startsWith('?to')) continue
      t.strictSame(
        data.map((r: { id: number }) => r.id),
        [1],
        query,
      )
    }
    const page = await list('?limit=1')
    t.match(page, { data: [{ id: 2 }], pagination: { hasMore: true } })
    t.match(await list(`?limit=1&cursor=${page.pagination.nextCursor}`), {
      data: [{ id: 1 }],
      pagination: { hasMore: false },
    })
    t.match(await gateway.ask('GET', `${path}/1`, { by: people.vera }), { status: 200, body: { weightKg: 412.5 } })
    t.match(await gateway.ask('GET', `${path}/9`, { by: people.vera }), { status: 404 })
    const db = new Database(join(gateway.folder, 'state/gatehouse.db'))
    t.teardown(() => db.close())
    t.throws(() => db.exec('UPDATE scale_reading SET weight_kg = 1'), /append-only/)
    t.throws(() => db.exec('DELETE FROM scale_reading'), /append-only/)
    const types = db.prepare<[], { type: string }>('SELECT type FROM outbox ORDER BY seq').all()
    t.strictSame(
      types.map(({ type }) => type),
      ['scale.reading', 'event.created', 'scale.reading', 'event.created'],
    )
  },
)

t.test(
  'what a scale says of a transport unit is evidence of the unit; an unsettled weight does not count',
  async (t) => {
    const { gateway, post } = await yard(t)
    const units = '/api/whms/transport-units'
    const { body: unit } = await gateway.ask('POST', units, {
      by: people.olga,
      body: { reference: 'PO-1', direction: 'inbound' },
    })
    await post({ scaleId: 'ramp-2', weightKg: 412.5, stable: true, transportUnitId: unit.id })
    gateway.clock.advance(1000)
    await post({ scaleId: 'ramp-2', weightKg: 77, stable: false, transportUnitId: unit.id })
    const { body } = await gateway.ask('GET', `${units}/${unit.id}`, { by: people.vera })
    t.match(body.evidence, {
      scaleReading: 412.5,
      items: [
        { kind: 'weight', weightKg: 412.5, scaleId: 'ramp-2', scaleReadingId: 1, stable: true },
        { weightKg: 77, stable: false },
      ],
    })
    t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, unitSteps: 3 })
  },
)

t.test('a scale with a slow clock is corrected, and a reading that is sent again is one', async (t) => {
  const { gateway, post, list } = await yard(t)
  const now = new Date(gateway.clock.now()).toISOString()
  const slow = new Date(gateway.clock.now() - 3_600_000).toISOString()
  const body = { scaleId: 's', weightKg: 1, timestamp: slow }
  const headers = { 'X-Device-Time': slow, 'Idempotency-Key': 'r-1' }
  const first = await post(body, people.olga, headers)
  t.match(first.body, { timestamp: now, device_timestamp: slow, time_quality: 'corrected', clock_offset_ms: 3_600_000 })
  t.equal((await post(body, people.olga, headers)).text, first.text)
  t.equal((await list()).pagination.total, 1)
})

t.test('what is wrong with a reading is said; viewers only read; hidden warehouses stay hidden', async (t) => {
  const { gateway, post, list } = await yard(t, { warehouses: [{ id: 1, viewers: ['sven'] }] })
  const good = { scaleId: 's', weightKg: 1 }
  for (const [body, field] of [
    [{ weightKg: 1 }, 'scaleId'],
    [{ ...good, weightKg: -1 }, 'weightKg'],
    [{ ...good, weightKg: 100_001 }, 'weightKg'],
    [{ ...good, weightKg: 'heavy' }, 'weightKg'],
    [{ ...good, stable: 'yes' }, 'stable'],
    [{ ...good, slot_id: 99 }, 'slot_id'],
    [{ ...good, slot_id: 1 }, 'slot_id'],
    [{ ...good, transportUnitId: 'x' }, 'transportUnitId'],
  ] as const) {
    t.match(
      await post(body),
      { status: 400, body: { error: { fields: [{ path: field }] } } },
      `${JSON.stringify(body)}`,
    )
  }
  t.match(await post(good, people.vera), { status: 403 })
  t.match(await post({ ...good, slot_id: 1 }, people.sven), { status: 201 })
  t.equal((await list()).pagination.total, 0, 'vera does not see the warehouse')
  t.match(await gateway.ask('GET', `${path}/1`, { by: people.vera }), { status: 404 })
})
