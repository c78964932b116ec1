import { createHash } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { importer } from '../../src/app/import-command.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { readNumber, readPolygon } from '../../src/intake/cells.ts'
import type { ImportOptions, ListKind } from '../../src/intake/index.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'

async function yard(
  t: Test,
  labels: readonly string[] = [],
  config: Record<string, unknown> = {},
): Promise<TestGateway> {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, labels)
  return gateway
}

function take(
  gateway: TestGateway,
  kind: ListKind,
  list: string | Buffer,
  options: Partial<ImportOptions> & { by?: string } = {},
) {
  const { by = 'root', ...rest } = options
  return importer(gateway)(Buffer.from(list), { kind, dryRun: false, createZones: false, ...rest }, by)
}

async function get(gateway: TestGateway, path: string) {
  return (await gateway.ask('GET', `/api/${path}`, { by: people.ada })).body
}

t.test('a list of slots from a spreadsheet becomes slots, with their zones where asked for', async (t) => {
  const gateway = await yard(t)
  const list =
    '\ufeffslot_id;zone;zone_type;x;y;width;height;max_weight;allowed_types\r\nK-1;Kühl;cold;0;0;2;1;1200,5;pallet, box\r\nK-2;Kühl;;2;0;2;1;;\r\n\r\n'
  const refused = await take(gateway, 'slots', list)
  t.match(refused, { ok: false, problems: [{ line: 2, column: 'zone', message: /--create-zones/ }, { line: 3 }] })
  t.equal((await get(gateway, 'whms/slots')).data.length, 0, 'nothing of it is stored')
  const tried = await take(gateway, 'slots', list, { createZones: true, dryRun: true })
  t.match(tried, { ok: true, dryRun: true, rows: 2, created: 2, zonesCreated: ['Kühl'] })
  t.equal((await get(gateway, 'whms/zones')).data.length, 1, 'a dry run makes no zone')
  const done = await take(gateway, 'slots', list, { createZones: true })
  t.match(done, { ok: true, created: 2, updated: 0, unchanged: 0, zonesCreated: ['Kühl'], problemCount: 0 })
  t.match(await get(gateway, 'whms/slots/K-1'), {
    zone: 'Kühl',
    zone_type: 'cold',
    constraints: { max_weight: 1200.5, allowed_types: ['pallet', 'box'] },
    floor_plan_polygon: [
      { x: 0, y: 0 },
      { x: 2, y: 0 },
      { x: 2, y: 1 },
      { x: 0, y: 1 },
    ],
  })
  t.match(await get(gateway, 'whms/slots/K-2'), { zone_type: 'cold', constraints: null })
})

t.test('the same list again changes nothing and says so; a changed line changes that slot', async (t) => {
  const gateway = await yard(t)
  const list = (weight: number) =>
    `slot_id,zone,floor_plan_polygon,max_weight,max_height\nA,S,"POLYGON ((0 0, 1 0, 1 1, 0 0))",500,\nB,s,"[[0,0],[1,0],[1,1]]",${weight},180\n`
  t.match(await take(gateway, 'slots', list(500)), { ok: true, created: 2 })
  const before = await get(gateway, 'whms/slots')
  t.match(await take(gateway, 'slots', list(500)), { ok: true, created: 0, updated: 0, unchanged: 2 })
  t.same(await get(gateway, 'whms/slots'), before, 'not even a version')
  t.match(await take(gateway, 'slots', list(600), { dryRun: true }), { updated: 1, unchanged: 1 })
  t.match(await take(gateway, 'slots', list(600)), { created: 0, updated: 1, unchanged: 1 })
  t.match(await get(gateway, 'whms/slots/B'), { constraints: { max_weight: 600, max_height: 180 }, version: 2 })
  t.match(await take(gateway, 'slots', 'slot_id,max_height\nB,200\n'), { updated: 1 })
  t.match(
    await get(gateway, 'whms/slots/B'),
    { zone: 's', constraints: { max_weight: 600, max_height: 200 } },
    'what a list does not name stays',
  )
  t.match(await take(gateway, 'slots', 'slot_id,retired\nB,yes\n'), { updated: 1 })
  t.ok((await get(gateway, 'whms/slots/B')).retiredAt)
})

t.test('every problem of a list is told by line and column, and nothing of the list is stored', async (t) => {
  const gateway = await yard(t, ['A'])
  const problems: { what: string; kind: ListKind; list: string | Buffer; says: [number, string | null, RegExp][] }[] = [
    { what: 'nothing', kind: 'slots', list: '', says: [[1, null, /empty/]] },
    {
      what: 'a misspelt column',
      kind: 'slots',
      list: 'slot_id,zome\nX,S\n',
      says: [
        [1, 'zome', /did you mean zone\?/],
        [2, 'zone', /required/],
        [2, 'floor_plan_polygon', /required/],
      ],
    },
    { what: 'a missing column', kind: 'opening-stock', list: 'slot_id\nA\n', says: [[1, 'asset_barcode', /needed/]] },
    {
      what: 'a column twice',
      kind: 'assets',
      list: 'asset_id,Asset_ID,type\nP,P,pallet\n',
      says: [[1, 'asset_id', /twice/]],
    },
    {
      what: 'another encoding',
      kind: 'assets',
      list: Buffer.from('asset_id,type\nP,pallet\nM\xfcll,box\n', 'latin1'),
      says: [[3, null, /UTF-8/]],
    },
    { what: 'UTF-16', kind: 'assets', list: Buffer.from('\ufeffasset_id', 'utf16le'), says: [[1, null, /UTF-16/]] },
    {
      what: 'a quote that stays open',
      kind: 'assets',
      list: 'asset_id,type\nP,pallet\nQ,"box\nR,box\n',
      says: [[3, null, /never closed/]],
    },
    {
      what: 'a barcode that became a number',
      kind: 'assets',
      list: 'asset_id;type\n3,40123E+17;pallet\n',
      says: [[2, 'asset_id', /format the column as text/]],
    },
    {
      what: 'too many cells',
      kind: 'assets',
      list: 'asset_id,type\nP,pallet,x\n',
      says: [[2, null, /3 cells under 2/]],
    },
    {
      what: 'two wrong cells',
      kind: 'assets',
      list: 'asset_id,type,weight_kg\nP,palet,1 kg\n',
      says: [
        [2, 'weight_kg', /expected a number/],
        [2, 'type', /pallet, container/],
      ],
    },
    {
      what: 'half the dimensions',
      kind: 'assets',
      list: 'asset_id,type,length\nP,pallet,120\n',
      says: [
        [2, 'width', /required/],
        [2, 'height', /required/],
      ],
    },
    {
      what: 'one asset in two spellings',
      kind: 'assets',
      list: 'asset_id,type\n00340123450000000017,pallet\n]C100340123450000000017,pallet\n',
      says: [[3, 'asset_id', /line 2/]],
    },
    {
      what: 'an unknown slot',
      kind: 'opening-stock',
      list: 'slot_id,asset_barcode\nZ,P\n',
      says: [[2, 'slot_id', /no slot Z/]],
    },
    {
      what: 'a time without an offset',
      kind: 'opening-stock',
      list: 'slot_id,asset_barcode,timestamp\nA,P,2026-03-02 08:00\n',
      says: [[2, 'timestamp', /RFC 3339/]],
    },
    {
      what: 'a control character',
      kind: 'opening-stock',
      list: 'slot_id,asset_barcode\nA,"P\u0007"\n',
      says: [[2, 'asset_barcode', /control/]],
    },
    {
      what: 'a line number behind a cell of several lines',
      kind: 'assets',
      list: 'asset_id,type\r\n"a\r\nb",pallet\r\nQ,pillet\r\n',
      says: [
        [2, 'asset_id', /control/],
        [4, 'type', /expected one of/],
      ],
    },
  ]
  for (const { what, kind, list, says } of problems) {
    const result = await take(gateway, kind, list)
    t.equal(result.ok, false, what)
    t.same(
      result.problems.map(({ line, column }) => [line, column]),
      says.map(([line, column]) => [line, column]),
      what,
    )
    for (const [i, { message }] of result.problems.entries()) t.match(message, says[i]?.[2], `${what}: ${message}`)
  }
  t.same((await get(gateway, 'whms/assets')).data, [])
  t.equal((await get(gateway, 'whms/events')).pagination.total, 0)
})

t.test('of ten thousand wrong lines a thousand are told, and all are counted', async (t) => {
  const gateway = await yard(t)
  const list = `asset_id,type\n${Array.from({ length: 3000 }, (_, i) => `P-${i},tin`).join('\n')}\n`
  const result = await take(gateway, 'assets', list)
  t.match(result, { ok: false, problemCount: 3000 })
  t.equal(result.problems.length, 1000)
})

t.test('assets are registered, those that were only scanned too, and changed where the list says so', async (t) => {
  const gateway = await yard(t, ['A'])
  const photo_url = await heldPhoto(gateway)
  await gateway.ask('POST', '/api/whms/events', {
    by: people.ada,
    body: { event_type: 'PLACED', slot_code: 'A', asset_barcode: '340123450000000017', photo_url },
  })
  const list =
    'asset_id\ttype\tweight_kg\tlength\twidth\theight\n340123450000000017\tpallet\t412,5\t120\t80\t144\nDRUM-1\tdrum\t\t\t\t\n'
  t.match(await take(gateway, 'assets', list), { ok: true, created: 2 })
  t.match(await get(gateway, 'whms/assets/340123450000000017'), {
    provisional: false,
    weight_kg: 412.5,
    dimensions: { length: 120, width: 80, height: 144 },
  })
  t.match(await take(gateway, 'assets', list), { created: 0, updated: 0, unchanged: 2 })
  t.match(await take(gateway, 'assets', 'asset_id,weight_kg\nDRUM-1,20\n'), { updated: 1 })
  t.match(await get(gateway, 'whms/assets/DRUM-1'), { type: 'drum', weight_kg: 20, version: 2 })
})

t.test('opening stock becomes placements that point to the stored list, until a count has seen them', async (t) => {
  const gateway = await yard(t, ['A', 'B', 'C'])
  const list = 'slot_code,asset_id,weight_kg,timestamp\nA,P-1,412.5,2026-01-15T06:00:00+01:00\nB,P-2,,\n'
  const sha256 = createHash('sha256').update(list).digest('hex')
  const done = await take(gateway, 'opening-stock', list, { by: 'jürgen' })
  t.match(done, { ok: true, sha256, created: 2, warnings: { UNKNOWN_ASSET: 2, LATE_EVENT: 1 } })
  t.match(await get(gateway, 'whms/slots/A'), { isOccupied: true, assetBarcode: 'P-1', isVerified: false })
  t.match(await get(gateway, 'whms/events/1'), {
    event_type: 'PLACED',
    timestamp: '2026-01-15T05:00:00.000Z',
    operator: 'jürgen',
    actor: 'jürgen',
    photo_url: null,
    photo_sha256: null,
    photoEvidence: 'opening_list',
    opening: { sha256, line: 2, countedAt: null },
    count: null,
    scale_weight_kg: 412.5,
    client_event_id: `opening:${sha256}:2`,
  })
  const lists = await gateway.ask('GET', '/api/whms/evidence/opening-lists', { by: people.sven })
  t.match(lists.body.data, [{ sha256, sizeBytes: list.length, rows: 2, importedBy: 'jürgen', uncounted: 2 }])
  const stored = await gateway.ask('GET', `/api/whms/evidence/opening-lists/${sha256}`, { by: people.sven })
  t.match({ status: stored.status, text: stored.text }, { status: 200, text: list })
  t.equal((await gateway.ask('GET', `/api/whms/evidence/opening-lists/${sha256}`, { by: people.olga })).status, 403)
  t.equal(
    (await gateway.ask('GET', `/api/whms/evidence/opening-lists/${'0'.repeat(64)}`, { by: people.sven })).status,
    404,
  )

  const before = verifyLedger(gateway.live.config.dataDir)
  t.match(before, { ok: true, events: 2 })
  t.match(await take(gateway, 'opening-stock', list, { by: 'jürgen' }), { ok: true, created: 0, unchanged: 2 })
  t.match(await take(gateway, 'opening-stock', list, { by: 'somebody else' }), { ok: true, created: 0, unchanged: 2 })
  t.equal(verifyLedger(gateway.live.config.dataDir).root, before.root, 'the same list again leaves no trace in the log')
  t.match(
    await take(gateway, 'opening-stock', `${list}C,P-3,,\n`),
    { created: 1, unchanged: 2 },
    'a longer list adds what is new',
  )

  const taken = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
  await gateway.ask('POST', '/api/whms/events', { by: people.olga, body: taken })
  t.match(
    await take(gateway, 'opening-stock', list),
    { ok: true, created: 0, unchanged: 2 },
    'a line is told once for ever',
  )
  t.match(await get(gateway, 'whms/slots/A'), { isOccupied: false })
  t.match((await get(gateway, 'whms/events/1')).opening, { countedAt: null }, 'to be taken away is not to be counted')

  const folder = join(gateway.live.config.dataDir, 'lists', sha256.slice(0, 2))
  writeFileSync(join(folder, readdirSync(folder)[0] ?? ''), 'other')
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: false, mismatches: [{ what: 'its file has other bytes' }] })
})

t.test('opening stock tells nothing that a scanner has told already', async (t) => {
  const gateway = await yard(t, ['A', 'B', 'C'])
  const photo_url = await heldPhoto(gateway)
  const place = (slot_code: string, asset_barcode: string) =>
    gateway.ask('POST', '/api/whms/events', {
      by: people.olga,
      body: { event_type: 'PLACED', slot_code, asset_barcode, photo_url },
    })
  await place('A', 'P-1')
  await place('B', 'P-2')
  const head = 'slot_id,asset_barcode\n'
  t.match(await take(gateway, 'opening-stock', `${head}C,P-1\n`), {
    ok: false,
    problems: [{ line: 2, column: 'asset_barcode', message: /has it in A/ }],
  })
  t.match(await take(gateway, 'opening-stock', `${head}B,P-9\n`), {
    ok: false,
    problems: [{ line: 2, column: 'slot_id', message: /has P-2 in it/ }],
  })
  t.match(
    await take(gateway, 'opening-stock', `${head}A,P-1\nC,P-3\n`),
    { ok: true, created: 1, unchanged: 1 },
    'what it has right is left as it is',
  )
  t.match(
    await take(gateway, 'opening-stock', `${head}C,P-4\n`),
    { ok: true, created: 1 },
    'of two that only lists tell, the later stands in front',
  )
  const two = await take(gateway, 'opening-stock', `${head}C,P-5\nC,P-6\n`)
  t.match(two, { ok: true, created: 2, notices: [{ line: 3, column: 'slot_id', message: /line 2/ }] })
})

t.test('ledger.enforce refuses lines of opening stock as it refuses scans', async (t) => {
  const gateway = await yard(t, ['A'], { ledger: { enforce: ['UNKNOWN_ASSET'] } })
  t.match(await take(gateway, 'opening-stock', 'slot_id,asset_barcode\nA,P-1\n'), {
    ok: false,
    problems: [{ line: 2, column: null, message: /UNKNOWN_ASSET/ }],
  })
})

t.test('an import is told in the audit trail and to the receivers, in the name of who made it', async (t) => {
  const gateway = await yard(t, ['A'])
  await take(gateway, 'opening-stock', 'slot_id,asset_barcode\nA,P-1\n', { by: 'ada' })
  await gateway.ask('GET', '/api/whms/events', { by: people.ada })
  const { openReader, databaseFile } = await import('../../src/database/index.ts')
  const db = openReader(databaseFile(gateway.live.config.dataDir))
  t.teardown(() => db.close())
  const entries = db
    .prepare("SELECT action, auth_mode, address FROM audit_entry WHERE auth_mode = 'import' ORDER BY id")
    .all()
  t.same(entries, [
    { action: 'opening_list.stored', auth_mode: 'import', address: 'local' },
    { action: 'placement.recorded', auth_mode: 'import', address: 'local' },
    { action: 'list.imported', auth_mode: 'import', address: 'local' },
  ])
  t.same(db.prepare('SELECT type FROM outbox ORDER BY seq').pluck().all(), ['whms.placement', 'event.created'])
})

t.test('while ten thousand lines come in, others have their turn', async (t) => {
  const gateway = await yard(t)
  const lines = Array.from({ length: 10_000 }, (_, i) => `R-${i},S,${i % 100},${i},1,1`)
  let turns = 0
  let going = true
  const others = (async () => {
    while (going) {
      await gateway.ask('GET', '/api/ping')
      turns += 1
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  t.match(await take(gateway, 'slots', `slot_id,zone,x,y,width,height\n${lines.join('\n')}\n`), {
    ok: true,
    created: 10_000,
  })
  const stock = Array.from({ length: 8000 }, (_, i) => `R-${i},P-${i}`)
  t.match(await take(gateway, 'opening-stock', `slot_id,asset_barcode\n${stock.join('\n')}\n`), {
    ok: true,
    created: 8000,
  })
  going = false
  await others
  t.ok(turns > 400, `${turns} requests were answered meanwhile`)
})

t.test('numbers of spreadsheets are read where they can mean one thing only', async (t) => {
  const semicolons = { commaIsFree: true }
  const commas = { commaIsFree: false }
  for (const [text, numbers, value] of [
    ['412.5', commas, 412.5],
    ['412.5', semicolons, 412.5],
    ['412,5', semicolons, 412.5],
    ['412,5', commas, undefined],
    ['1.234', commas, 1.234],
    ['1.234', semicolons, undefined],
    ['1,234', semicolons, undefined],
    ['0,125', semicolons, 0.125],
    ['1234,567', semicolons, 1234.567],
    ['-3', commas, -3],
    ['1.234,5', semicolons, undefined],
    ['12 kg', semicolons, undefined],
    ['', commas, undefined],
  ] as const) {
    const read = readNumber(text, numbers)
    t.equal(
      'value' in read ? read.value : undefined,
      value,
      `${text} ${numbers.commaIsFree ? 'between semicolons' : 'between commas'}`,
    )
  }
  t.match(readPolygon('POLYGON((0 0,1 0,1 1,0 0))'), {
    value: [
      { x: 0, y: 0 },
      { x: 1, y: 0 },
      { x: 1, y: 1 },
    ],
  })
  t.match(readPolygon('0 0, 1 0, 1.5 -1'), { value: [{}, {}, { x: 1.5, y: -1 }] })
  t.ok('fault' in readPolygon('POLYGON((0 0, 1'))
  t.ok('fault' in readPolygon('[{"x":1}]'))
})

t.test('whatever bytes a list has, it is refused in words or taken', async (t) => {
  const gateway = await yard(t, ['A'])
  const cell = fc.oneof(fc.string(), fc.constantFrom('A', 'P-1', '"', '1,5', 'slot_id', '\r\n', ';', '='))
  const text = fc
    .array(fc.array(cell, { maxLength: 4 }).map((cells) => cells.join(',')))
    .map((lines) => `slot_id,asset_barcode\n${lines.join('\n')}`)
  const bytes = fc.oneof(
    text.map((s) => Buffer.from(s)),
    fc.uint8Array({ maxLength: 200 }).map((b) => Buffer.from(b)),
  )
  await fc.assert(
    fc.asyncProperty(bytes, fc.constantFrom<ListKind>('slots', 'assets', 'opening-stock'), async (list, kind) => {
      const result = await take(gateway, kind, list, { dryRun: true })
      return result.ok === (result.problemCount === 0)
    }),
    { numRuns: 200 },
  )
})
