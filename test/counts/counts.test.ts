import t, { type Test } from 'tap'
import { importer } from '../../src/app/control/import-command.ts'
import { openDifferences } from '../../src/counts/index.ts'
import { databaseFile, executor, openReader } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { wholeSight } from '../../src/warehouse/index.ts'
import { type Ask, furnish, heldPhoto, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'

const otto = { username: 'otto', role: 'operator' } as const satisfies Person
const { olga, sven, ada, vera } = people

type Yard = {
  gateway: TestGateway
  place: (slot: string, barcode: string, more?: object) => Promise<void>
  remove: (slot: string, barcode: string, more?: object) => Promise<void>
  open: (body: object) => Promise<number>
  post: (path: string, by: Person, body?: object, headers?: Record<string, string>) => ReturnType<TestGateway['ask']>
  get: (
    path: string,
    by?: Person,
  ) => Promise<TestGateway extends { ask: (...a: never[]) => Promise<infer A> } ? A : never>
  scan: (id: number, slot: string, found: string[], by?: Person, more?: object) => ReturnType<TestGateway['ask']>
  shows: (slot: string) => Promise<string | null>
}

async function yard(t: Test, labels: readonly string[], config: Record<string, unknown> = {}): Promise<Yard> {
  const gateway = await testGateway({ config, people: [...Object.values(people), otto] })
  t.teardown(() => gateway.end())
  await furnish(gateway, labels)
  const photo_url = await heldPhoto(gateway)
  const ask = (method: string, path: string, options: Ask) => gateway.ask(method, `/api/whms/${path}`, options)
  const event = async (event_type: string, slot_code: string, asset_barcode: string, more: object) => {
    gateway.clock.advance(1000)
    const body = { event_type, slot_code, asset_barcode, ...(event_type === 'PLACED' && { photo_url }), ...more }
    const { status } = await ask('POST', 'events', { by: ada, body })
    if (status !== 201) throw new Error(`the event was answered ${status}`)
  }
  const post: Yard['post'] = (path, by, body, headers = {}) => ask('POST', path, { by, headers, ...(body && { body }) })
  return {
    gateway,
    place: (slot, barcode, more = {}) => event('PLACED', slot, barcode, more),
    remove: (slot, barcode, more = {}) => event('REMOVED', slot, barcode, more),
    open: async (body) => (await post('counts', sven, body)).body.id,
    post,
    get: (path, by = sven) => ask('GET', path, { by }),
    scan: (id, slot_code, found, by = olga, more = {}) => {
      gateway.clock.advance(1000)
      const what = found.length > 0 ? { barcodes: found } : { empty: true }
      return post(`counts/${id}/scans`, by, { slot_code, ...what, ...more })
    },
    shows: async (slot) => (await ask('GET', `slots/${slot}`, { by: vera })).body.assetBarcode,
  }
}

async function approve({ post, gateway }: Yard, id: number, by: Person = sven) {
  await post(`counts/${id}/submit`, olga)
  gateway.clock.advance(1000)
  return post(`counts/${id}/approve`, by)
}

t.test('a count that finds everything as expected confirms it, empty slots too', async (t) => {
  const y = await yard(t, ['A', 'B', 'C'])
  await y.place('A', 'P-1')
  await y.place('B', 'P-2')
  const opened = await y.post('counts', sven, { reference: 'Q1', slot_codes: ['A', 'B', 'C'] })
  t.match(opened, {
    status: 201,
    body: {
      success: true,
      state: 'open',
      reference: 'Q1',
      slots: { total: 3, counted: 0 },
      outcomes: null,
      createdBy: 'sven',
    },
  })
  t.equal(opened.headers.get('location'), '/api/whms/counts/1')
  const first = await y.scan(1, 'A', [']C1P-1'.slice(3)])
  t.match(first, {
    status: 201,
    body: {
      countId: 1,
      slot_code: 'A',
      found: ['P-1'],
      empty: false,
      counter: 'olga',
      decides: true,
      warnings: { length: 0 },
    },
  })
  await y.scan(1, 'B', ['P-2'])
  t.match(await y.scan(1, 'C', []), { status: 201, body: { found: { length: 0 }, empty: true } })
  t.match((await y.get('counts/1')).body, { state: 'counting', slots: { counted: 3 } })
  t.match(
    (await y.get('counts/1/review')).body.lines.map((l: { status: string }) => l.status),
    ['matched', 'matched', 'matched'],
  )
  const done = await approve(y, 1)
  t.match(done, {
    status: 200,
    body: {
      state: 'approved',
      closedBy: 'sven',
      outcomes: { matched: 3, corrected: 0 },
      leftOut: { length: 0 },
      warnings: { length: 0 },
    },
  })
  t.equal(done.body.eventIds.length, 2, 'an empty slot has no pallet that an event could name')
  t.match((await y.get(`events/${done.body.eventIds[0]}`)).body, {
    event_type: 'VERIFIED',
    asset_barcode: 'P-1',
    operator: 'olga',
    actor: 'sven',
    photoEvidence: 'count',
    count: { id: 1, scanId: first.body.id, scanSha256: first.body.sha256 },
  })
  t.match((await y.get('slots/A')).body, { isVerified: true })
  t.match(verifyLedger(y.gateway.live.config.dataDir), { ok: true })
})

t.test('the counter is not told what is expected', async (t) => {
  const y = await yard(t, ['A'])
  await y.place('A', 'P-EXPECTED')
  const id = await y.open({ slot_codes: ['A'] })
  const answers = [
    await y.scan(id, 'A', ['P-OTHER']),
    await y.get(`counts/${id}`, olga),
    await y.get(`counts/${id}/slots`, olga),
    await y.post(`counts/${id}/submit`, olga),
  ]
  for (const { status, text } of answers) {
    t.ok(status < 300)
    t.notMatch(text, /EXPECTED|missing|different|mismatch/i)
  }
  t.match(await y.get(`counts/${id}/review`, olga), { status: 403 })
  t.match((await y.get(`counts/${id}/review`)).text, /P-EXPECTED/)
})

t.test('what is missing is taken out of the ledger, what is extra is put in', async (t) => {
  const y = await yard(t, ['A', 'B'])
  await y.place('A', 'P-1')
  const id = await y.open({ slot_codes: ['A', 'B'] })
  await y.scan(id, 'A', [])
  await y.scan(id, 'B', ['P-NEW'])
  t.match((await y.get(`counts/${id}/review`)).body.lines, [
    {
      slot_code: 'A',
      status: 'different',
      expected: ['P-1'],
      found: { length: 0 },
      missing: ['P-1'],
      extra: { length: 0 },
    },
    {
      slot_code: 'B',
      status: 'different',
      expected: { length: 0 },
      found: ['P-NEW'],
      extra: [{ asset_barcode: 'P-NEW', ledgerSlot: null }],
    },
  ])
  const before = (await y.get('events')).body.pagination.total
  t.equal(before, 1, 'nothing is recorded before somebody has decided')
  t.match((await y.get(`counts/${id}/review`)).body.lines, [{ outcome: null }, { outcome: null }])
  t.match(await approve(y, id), { body: { outcomes: { corrected: 2 } } })
  t.match((await y.get(`counts/${id}/review`)).body.lines, [{ outcome: 'corrected' }, { outcome: 'corrected' }])
  t.equal(await y.shows('A'), null)
  t.equal(await y.shows('B'), 'P-NEW')
  t.match((await y.get('slots/B')).body, { isVerified: false }, 'a correction wants a look of its own')
  t.match((await y.get('assets/P-1/location')).body, { slot: null })
})

t.test('pallets that stand in each other’s slots are swapped', async (t) => {
  const y = await yard(t, ['A', 'B'])
  await y.place('A', 'P-1')
  await y.place('B', 'P-2')
  const id = await y.open({ slot_codes: ['A', 'B'] })
  await y.scan(id, 'A', ['P-2'])
  await y.scan(id, 'B', ['P-1'])
  t.match(await approve(y, id), { body: { outcomes: { corrected: 2 } } })
  t.same([await y.shows('A'), await y.shows('B')], ['P-2', 'P-1'])
  t.match((await y.get('assets/P-1/location')).body, { slot: { slot_id: 'B' } })
  t.match((await y.get('assets/P-2/location')).body, { slot: { slot_id: 'A' } })
})

t.test('a pallet that is found in a counted slot leaves the one that nobody counted', async (t) => {
  const y = await yard(t, ['A', 'B'])
  await y.place('B', 'P-1')
  const id = await y.open({ slot_codes: ['A'] })
  await y.scan(id, 'A', ['P-1'])
  t.match((await y.get(`counts/${id}/review`)).body.lines, [{ extra: [{ asset_barcode: 'P-1', ledgerSlot: 'B' }] }])
  await approve(y, id)
  t.same([await y.shows('A'), await y.shows('B')], ['P-1', null])
})

t.test(
  'a slot that still shows a pallet which was put elsewhere is emptied, and the pallet stays where it is',
  async (t) => {
    const y = await yard(t, ['A', 'B'])
    await y.place('A', 'P-1')
    await y.place('B', 'P-1')
    t.same([await y.shows('A'), await y.shows('B')], ['P-1', 'P-1'])
    const id = await y.open({ slot_codes: ['A'] })
    await y.scan(id, 'A', [])
    await approve(y, id)
    t.same([await y.shows('A'), await y.shows('B')], [null, 'P-1'])
    t.match((await y.get('assets/P-1/location')).body, { slot: { slot_id: 'B' } })
  },
)

t.test('a slot that has moved since it was scanned is left as the ledger has it', async (t) => {
  const y = await yard(t, ['A', 'B', 'C'])
  await y.place('A', 'P-1')
  const id = await y.open({ slot_codes: ['A', 'B', 'C'] })
  await y.scan(id, 'A', [])
  await y.scan(id, 'B', ['P-2'])
  await y.place('A', 'P-9')
  await y.place('C', 'P-2')
  t.match(
    (await y.get(`counts/${id}/review`)).body.lines.map((l: { status: string }) => l.status),
    ['moved', 'moved', 'not_counted'],
  )
  const done = await approve(y, id)
  t.match(done.body, {
    eventIds: { length: 0 },
    outcomes: { moved: 2, not_counted: 1, corrected: 0 },
    leftOut: [
      { slot_code: 'A', outcome: 'moved' },
      { slot_code: 'B', outcome: 'moved' },
      { slot_code: 'C', outcome: 'not_counted' },
    ],
    warnings: [{ code: 'SLOTS_LEFT_OUT' }],
  })
  t.same([await y.shows('A'), await y.shows('B'), await y.shows('C')], ['P-9', null, 'P-2'])
})

t.test('an event that comes in late and happened before the scan explains what was found', async (t) => {
  const y = await yard(t, ['A'])
  await y.place('A', 'P-1')
  const offline = new Date(y.gateway.clock.now() + 60_000).toISOString()
  y.gateway.clock.advance(600_000)
  const id = await y.open({ slot_codes: ['A'] })
  await y.scan(id, 'A', [])
  t.match((await y.get(`counts/${id}/review`)).body.lines, [{ status: 'different' }])
  await y.remove('A', 'P-1', { timestamp: offline })
  t.match((await y.get(`counts/${id}/review`)).body.lines, [{ status: 'matched', expected: { length: 0 } }])
})

t.test('one barcode in two slots is a conflict, until one of them is counted again', async (t) => {
  const y = await yard(t, ['A', 'B'])
  const id = await y.open({ slot_codes: ['A', 'B'] })
  await y.scan(id, 'A', ['P-1'])
  await y.scan(id, 'B', ['P-1'])
  await y.post(`counts/${id}/submit`, olga)
  t.match(
    (await y.get(`counts/${id}/review`)).body.lines.map((l: { status: string }) => l.status),
    ['conflict', 'conflict'],
  )
  t.match(await y.post(`counts/${id}/recount`, sven, { slot_codes: ['B'], reason: 'look again' }), {
    status: 200,
    body: { state: 'counting', slots: { counted: 1 } },
  })
  t.match((await y.get(`counts/${id}/slots`, otto)).body.data, [
    { slot_code: 'A', state: 'counted' },
    { slot_code: 'B', state: 'to_recount' },
  ])
  const again = await y.scan(id, 'B', [], olga)
  t.match(again, { body: { warnings: [{ code: 'SAME_COUNTER' }] } })
  t.match(await y.scan(id, 'B', [], otto), { body: { warnings: { length: 0 }, decides: true } })
  t.match(await approve(y, id), { body: { outcomes: { corrected: 1, matched: 1 } } })
  t.same([await y.shows('A'), await y.shows('B')], ['P-1', null])
})

t.test('of several scans of a slot the last one made decides, whenever it comes in', async (t) => {
  const y = await yard(t, ['A'])
  const id = await y.open({ slot_codes: ['A'] })
  y.gateway.clock.advance(600_000)
  const early = new Date(y.gateway.clock.now() - 300_000).toISOString()
  t.match(await y.scan(id, 'A', ['P-2']), { body: { decides: true } })
  t.match(await y.scan(id, 'A', ['P-1'], olga, { timestamp: early }), { status: 201, body: { decides: false } })
  t.match((await y.get(`counts/${id}/review`)).body.lines, [{ found: ['P-2'], scans: 2 }])
})

t.test('a scan made before a recount was asked for, and delivered after, counts no more', async (t) => {
  const y = await yard(t, ['A'])
  const id = await y.open({ slot_codes: ['A'] })
  await y.scan(id, 'A', ['P-1'])
  const then = new Date(y.gateway.clock.now()).toISOString()
  y.gateway.clock.advance(60_000)
  await y.post(`counts/${id}/recount`, sven, { slot_codes: ['A'] })
  t.match(await y.scan(id, 'A', ['P-1'], otto, { timestamp: then }), { body: { decides: false } })
  t.match((await y.get(`counts/${id}/review`)).body.lines, [{ status: 'not_counted', scans: 2 }])
})

t.test('a scan that is sent twice is kept once', async (t) => {
  const y = await yard(t, ['A'])
  const id = await y.open({ slot_codes: ['A'] })
  const scan = { slot_code: 'A', barcodes: ['P-1', ']C1P-1', 'P-1'], client_scan_id: 's-1' }
  const first = await y.post(`counts/${id}/scans`, olga, scan)
  const second = await y.post(`counts/${id}/scans`, olga, scan)
  t.match([first.status, second.status], [201, 200])
  t.equal(second.body.id, first.body.id)
  t.match(await y.post(`counts/${id}/scans`, olga, { ...scan, barcodes: ['P-2'] }), {
    status: 400,
    body: { error: { fields: [{ path: 'client_scan_id' }] } },
  })
  const keyed = { slot_code: 'A', empty: true }
  await y.post(`counts/${id}/scans`, olga, keyed, { 'Idempotency-Key': 'k' })
  const replayed = await y.post(`counts/${id}/scans`, olga, keyed, { 'Idempotency-Key': 'k' })
  t.equal(replayed.headers.get('idempotency-replayed'), 'true')
  t.match((await y.get(`counts/${id}/review`)).body.lines, [{ scans: 2 }])
})

t.test('a count is approved once, and closed for good', async (t) => {
  const y = await yard(t, ['A'])
  const id = await y.open({ slot_codes: ['A'] })
  t.match(await y.post(`counts/${id}/approve`, sven), {
    status: 400,
    body: { error: { code: 'INVALID_TRANSITION', details: /open/ } },
  })
  await y.scan(id, 'A', ['P-1'])
  const { version } = (await y.get(`counts/${id}`)).body
  await y.post(`counts/${id}/submit`, olga)
  t.match(
    await y.post(`counts/${id}/approve`, sven, undefined, { 'If-Match': String(version) }),
    { status: 412 },
    'it is not what was looked at any more',
  )
  t.match(await y.post(`counts/${id}/approve`, olga), { status: 403 })
  const headers = { 'Idempotency-Key': 'once' }
  const first = await y.post(`counts/${id}/approve`, sven, undefined, headers)
  const second = await y.post(`counts/${id}/approve`, sven, undefined, headers)
  t.same([first.status, second.status], [200, 200])
  t.same(second.body, first.body)
  t.match(await y.post(`counts/${id}/approve`, sven), {
    status: 400,
    body: { error: { code: 'INVALID_TRANSITION', details: /approved/ } },
  })
  for (const step of ['submit', 'cancel']) t.match(await y.post(`counts/${id}/${step}`, sven, {}), { status: 400 })
  t.match(await y.scan(id, 'A', []), { status: 400, body: { error: { code: 'INVALID_TRANSITION' } } })
  t.equal((await y.get('events')).body.pagination.total, 1)
})

t.test('a count that is cancelled changes nothing', async (t) => {
  const y = await yard(t, ['A'])
  const id = await y.open({ slot_codes: ['A'] })
  await y.scan(id, 'A', ['P-1'])
  t.match(await y.post(`counts/${id}/cancel`, sven, { reason: 'fire drill' }), {
    status: 200,
    body: { state: 'cancelled', reason: 'fire drill', closedBy: 'sven' },
  })
  t.equal((await y.get('events')).body.pagination.total, 0)
  t.match(await y.scan(id, 'A', []), { status: 400 })
})

t.test('who has counted may approve, with a warning', async (t) => {
  const y = await yard(t, ['A'])
  const id = await y.open({ slot_codes: ['A'] })
  await y.scan(id, 'A', ['P-1'], sven)
  t.match(await approve(y, id), { body: { warnings: [{ code: 'COUNTED_BY_APPROVER' }] } })
})

t.test('rules that refuse scans do not keep a count from telling what stands there', async (t) => {
  const y = await yard(t, ['A'], { ledger: { enforce: ['UNKNOWN_ASSET'] } })
  const id = await y.open({ slot_codes: ['A'] })
  await y.scan(id, 'A', ['P-1'])
  t.match(await approve(y, id), { status: 200, body: { outcomes: { corrected: 1 } } })
})

t.test('slots are chosen by zone, by when they were last counted, by what only a list tells, and by lot', async (t) => {
  const y = await yard(t, ['A', 'B', 'C', 'D'])
  const by = 'root'
  const stock = Buffer.from('slot_id,asset_barcode\nA,P-1\nB,P-2\n')
  await importer(y.gateway)(stock, { kind: 'opening-stock', dryRun: false, createZones: false }, by)
  const chosen = async (body: object) => {
    const { status, body: opened } = await y.post('counts', sven, body)
    if (status !== 201) return opened.error.code
    return (await y.get(`counts/${opened.id}/slots`)).body.data.map((s: { slot_code: string }) => s.slot_code).join('')
  }
  t.equal(await chosen({ zoneId: 1 }), 'ABCD')
  t.equal(await chosen({ openingOnly: true }), 'AB')
  const id = await y.open({ slot_codes: ['A', 'C'] })
  await y.scan(id, 'A', ['P-1'])
  await y.scan(id, 'C', [])
  await approve(y, id)
  t.equal(await chosen({ openingOnly: true }), 'B', 'a count has seen the pallet of A')
  t.match((await y.get('events/1')).body.opening, { countedAt: String })
  t.match((await y.get('events/2')).body.opening, { countedAt: null })
  t.match((await y.get('evidence/opening-lists')).body.data, [{ uncounted: 1 }])
  t.equal(await chosen({ notCountedSince: '1970-01-01T00:00:00Z' }), 'BD')
  t.equal((await chosen({ sample: 2 })).length, 2)
  t.equal(await chosen({ slot_codes: ['A', 'nowhere'] }), 'REFERENCE_NOT_FOUND')
  t.equal(await chosen({ zoneId: 99 }), 'REFERENCE_NOT_FOUND')
  t.equal(
    await chosen({ slot_codes: ['A'], notCountedSince: '1970-01-01T00:00:00Z' }),
    'VALIDATION_ERROR',
    'there is nothing to count',
  )
})

t.test('differences that nobody has decided are known to the list of contradictions', async (t) => {
  const y = await yard(t, ['A'])
  await y.place('A', 'P-1')
  const id = await y.open({ slot_codes: ['A'] })
  await y.scan(id, 'A', ['P-2'])
  const db = openReader(databaseFile(y.gateway.live.config.dataDir))
  t.teardown(() => db.close())
  t.match(openDifferences(executor(db), wholeSight), [
    { countId: id, slotId: 1, kind: 'different', expected: ['P-1'], unexpected: ['P-2'] },
  ])
  await approve(y, id)
  t.same(openDifferences(executor(db), wholeSight), [])
})

t.test('what was scanned cannot be changed afterwards, and verification sees who tries', async (t) => {
  const y = await yard(t, ['A'])
  const id = await y.open({ slot_codes: ['A'] })
  await y.scan(id, 'A', ['P-1'])
  await approve(y, id)
  const { dataDir } = y.gateway.live.config
  t.match(verifyLedger(dataDir), { ok: true })
  const { default: BetterSqlite3 } = await import('better-sqlite3')
  const db = new BetterSqlite3(databaseFile(dataDir))
  t.teardown(() => db.close())
  t.throws(() => db.exec(`UPDATE count_scan SET found = '[]'`), /append-only/)
  t.throws(() => db.exec('DELETE FROM count_outcome'), /append-only/)
  db.exec(`DROP TRIGGER count_scan_no_update; UPDATE count_scan SET found = '[]'`)
  t.match(
    verifyLedger(dataDir).mismatches.filter(({ where }) => where.startsWith('scan')),
    [{ where: 'scan 1', what: 'does not state what event 1 says' }],
  )
})

t.test('what a count found otherwise is a discrepancy until somebody decides', async (t) => {
  const yardOfTwo = await yard(t, ['A', 'B'])
  const { place, open, scan, get } = yardOfTwo
  await place('A', 'P-1')
  const id = await open({ slot_codes: ['A', 'B'] })
  await scan(id, 'A', ['P-9'])
  await scan(id, 'B', [])
  const differences = async () => (await get('discrepancies?kind=count_difference')).body.data
  t.match(await differences(), [
    { slot: { slot_id: 'A' }, assetBarcode: 'P-1', otherAssetBarcode: 'P-9', countId: id, eventIds: { length: 0 } },
  ])
  t.equal((await approve(yardOfTwo, id)).status, 200)
  t.strictSame(await differences(), [])
})

t.test(
  'a difference of a count names a pallet that is missing and one that is not expected, never one that fits',
  async (t) => {
    const { place, open, scan, get } = await yard(t, ['A', 'B', 'C', 'D'])
    await place('A', 'P-1')
    await place('B', 'P-2')
    await place('C', 'P-3')
    const id = await open({ slot_codes: ['A', 'B', 'C', 'D'] })
    await scan(id, 'A', ['P-1', 'P-9'])
    await scan(id, 'B', [])
    await scan(id, 'C', ['P-3'])
    await scan(id, 'D', ['P-3'])
    const { data } = (await get('discrepancies?kind=count_difference')).body
    const named = data.map((one: { slot: { slot_id: string }; assetBarcode: unknown; otherAssetBarcode: unknown }) => [
      ...[one.slot.slot_id, one.assetBarcode, one.otherAssetBarcode],
    ])
    t.strictSame(named.toSorted(), [
      ['A', 'P-1', 'P-9'],
      ['B', 'P-2', null],
      ['C', 'P-3', null],
      ['D', null, 'P-3'],
    ])
  },
)
