import { createHash } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { importer } from '../../src/app/control/import-command.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { readNumber, readPolygon } from '../../src/imports/cells.ts'
import type { ImportOptions, ListKind } from '../../src/imports/index.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { eventually } from '../support/waiting.ts'

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

/** Errors in a list, and the lines and columns that are reported for each. */
const wrongLists: { what: string; kind: ListKind; list: string | Buffer; says: [number, string | null, RegExp][] }[] = [
  { what: 'nothing in it', kind: 'slots', list: '', says: [[1, null, /empty/]] },
  {
    what: 'a misspelt column',
    kind: 'slots',
    list: 'slot_id,zome\nX,S\n',
    says: [
      [1, 'zome', /did you mean zone\?/],
      [2, 'floor_plan_polygon', /needed/],
      [2, 'zone', /required/],
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
    what: 'a quote inside of a cell',
    kind: 'assets',
    list: 'asset_id,type\nP,pallet\nQ"1,box\n',
    says: [[3, null, /inside of a cell/]],
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

for (const { what, kind, list, says } of wrongLists)
  t.test(`a list with ${what} is told by line and column, and nothing of the list is stored`, async (t) => {
    const gateway = await yard(t, ['A'])
    const result = await take(gateway, kind, list)
    t.equal(result.ok, false)
    t.same(
      result.problems.map(({ line, column }) => [line, column]),
      says.map(([line, column]) => [line, column]),
    )
    for (const [i, { message }] of result.problems.entries()) t.match(message, says[i]?.[2], message)
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
  t.match(done, { ok: true, sha256, created: 2, warnings: { UNKNOWN_ASSET: undefined, LATE_EVENT: 1 } })
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

t.test('while thousands of lines come in, others have their turn', async (t) => {
  const gateway = await yard(t)
  const lines = Array.from({ length: 2500 }, (_, i) => `R-${i},S,${i % 100},${i},1,1`)
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
    created: 2500,
  })
  const stock = Array.from({ length: 2000 }, (_, i) => `R-${i},P-${i}`)
  t.match(await take(gateway, 'opening-stock', `slot_id,asset_barcode\n${stock.join('\n')}\n`), {
    ok: true,
    created: 2000,
  })
  going = false
  await others
  t.ok(turns > 100, `${turns} requests were answered meanwhile`)
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

type Corner = { x: number; y: number }
type SlotRow = { slot_id: string; zone: string; floor_plan_polygon: Corner[]; version: number }

async function planOf(gateway: TestGateway) {
  const { data }: { data: SlotRow[] } = await get(gateway, 'whms/slots')
  const boxes = data.map(({ slot_id, zone, floor_plan_polygon }) => {
    const [xs, ys] = [floor_plan_polygon.map(({ x }) => x), floor_plan_polygon.map(({ y }) => y)]
    return {
      slot_id,
      zone,
      left: Math.min(...xs),
      right: Math.max(...xs),
      top: Math.min(...ys),
      bottom: Math.max(...ys),
    }
  })
  const at = (label: string) => {
    const found = boxes.find(({ slot_id }) => slot_id === label)
    if (!found) throw new Error(`there is no slot ${label}`)
    return found
  }
  return { boxes, at }
}

t.test('labels become a plan: aisles are rows, bays stand side by side, levels one above the other', async (t) => {
  const gateway = await yard(t)
  const labels = ['B-01-1', 'A-02-2', 'A-01-1', 'A-02-1', 'A-01-2', 'A-10-1', 'C.01.A', 'C.01.B', 'D/3', 'W2-E-01-01']
  const list = `slot_id\n${labels.join('\n')}\n`
  const options = { grid: true, createZones: true }
  const done = await take(gateway, 'slots', list, options)
  t.match(done, { ok: true, created: 10, zonesCreated: ['B', 'A', 'C', 'D', 'W2-E'] })
  const { boxes, at } = await planOf(gateway)
  t.equal(at('A-01-1').zone, 'A', 'the zone is the aisle')
  t.ok(at('A-01-1').right < at('A-02-1').left && at('A-02-1').right < at('A-10-1').left, 'bays from left to right')
  t.equal(at('A-01-1').top, at('A-02-1').top)
  t.ok(at('A-01-2').bottom < at('A-01-1').top, 'the second level above the first')
  t.ok(at('C.01.B').bottom < at('C.01.A').top, 'levels may be letters')
  t.equal(at('A-01-1').left, at('B-01-1').left, 'the same bay of every aisle in one line')
  const rows = ['A-01-1', 'B-01-1', 'C.01.A', 'D/3', 'W2-E-01-01'].map((label) => at(label).bottom)
  t.same(
    rows,
    rows.toSorted((a, b) => a - b),
    'aisles in the order of their names',
  )
  for (const one of boxes) {
    for (const other of boxes) {
      if (one === other) continue
      const isApart =
        one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top
      t.ok(isApart, `${one.slot_id} and ${other.slot_id} lie apart`)
    }
  }

  const before = await get(gateway, 'whms/slots')
  t.match(await take(gateway, 'slots', list, options), { ok: true, unchanged: 10, created: 0 })
  t.same(await get(gateway, 'whms/slots'), before, 'the same list again moves nothing')
  const other = await yard(t)
  await take(other, 'slots', `slot_id\n${labels.toReversed().join('\n')}\n`, options)
  const [one, two] = [boxes, (await planOf(other)).boxes].map((all) =>
    all.toSorted((a, b) => (a.slot_id < b.slot_id ? -1 : 1)),
  )
  t.same(one, two, 'the order of the lines means nothing')

  t.match(await take(gateway, 'slots', 'slot_id\nA-03-1\nAA-01-1\n', options), { ok: true, created: 2 })
  const grown = await planOf(gateway)
  t.equal(grown.at('A-03-1').top, grown.at('A-02-1').top, 'a bay that comes later stands in its aisle')
  t.ok(grown.at('A-02-1').right < grown.at('A-03-1').left && grown.at('A-03-1').right < grown.at('A-10-1').left)
  t.ok(
    grown.at('AA-01-1').top > Math.max(...boxes.map(({ bottom }) => bottom)),
    'an aisle that comes later is below all',
  )
})

t.test('a place that the list gives wins over the grid, and a label that says no place is told', async (t) => {
  const gateway = await yard(t)
  const list = 'slot_id,zone,x,y,width,height\nA-01-01,S,50,60,2,1\nA-01-02,S,,,,\nDock,S,,,,\nRamp 2 left,S,,,,\n'
  const refused = await take(gateway, 'slots', list, { grid: true })
  t.match(refused, {
    ok: false,
    problemCount: 2,
    problems: [
      { line: 4, column: 'slot_id', message: /^Dock cannot be read as aisle, bay and level such as A-01-02; give it/ },
      { line: 5, column: 'slot_id' },
    ],
  })
  t.equal(refused.causes.length, 1, 'one cause, though each names its label')
  t.match(await take(gateway, 'slots', list.replace(/Dock[\s\S]*/, ''), { grid: true }), { ok: true, created: 2 })
  t.match((await planOf(gateway)).at('A-01-01'), { left: 50, top: 60, right: 52, bottom: 61 })
})

t.test('slots go to the warehouse that --warehouse names', async (t) => {
  const gateway = await yard(t)
  for (const name of ['South', 'Twin', 'twin']) {
    await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: { name, timezone: 'UTC' } })
  }
  const list = 'slot_id\nA-01-01\n'
  const options = { grid: true, createZones: true }
  t.match(await take(gateway, 'slots', list, { ...options, warehouse: 'south' }), { ok: true, created: 1 })
  t.match(await get(gateway, 'whms/slots/A-01-01'), { warehouseId: 2, zone: 'A' })
  t.match(await take(gateway, 'slots', 'slot_id\nB-01-01\n', { ...options, warehouse: '1' }), { ok: true })
  t.match(await get(gateway, 'whms/slots/B-01-01'), { warehouseId: 1 })
  t.match((await take(gateway, 'slots', list, { ...options, warehouse: '1' })).problems, [
    { line: 2, column: 'slot_id', message: 'A-01-01 is a slot of warehouse 2; a label names one slot in all' },
  ])
  t.match((await take(gateway, 'slots', list, { ...options, warehouse: 'Twin' })).problems, [
    { line: 1, column: null, message: /^2 warehouses are called Twin; give --warehouse the id: there are 1 \(Hall\)/ },
  ])
  t.match((await take(gateway, 'slots', list, { ...options, warehouse: 'East' })).problems, [
    { line: 1, message: /^there is no warehouse East; give --warehouse one of 1 \(Hall\), 2 \(South\)/ },
  ])
})

t.test('two thousand lines with one mistake are one cause, with a count and three examples', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const lines = Array.from({ length: 2000 }, (_, n) => `A-${n + 1},A,storage,${n},0,1,1`)
  const list = `slot_id,zone,zone_type,x,y,width,height\n${lines.join('\n')}\n`
  for (const createZones of [false, true]) {
    t.match(await take(gateway, 'slots', list, { dryRun: true, createZones }), {
      ok: false,
      problemCount: 1,
      problems: [{ line: 1, message: /there is no warehouse yet; make one: gatehouse warehouse add/ }],
    })
  }
  await furnish(gateway, [])
  const refused = await take(gateway, 'slots', list, { dryRun: true })
  t.equal(refused.problemCount, 2000)
  t.match(refused.causes, [{ column: 'zone', count: 2000, examples: [{ line: 2 }, { line: 3 }, { line: 4 }] }])
  t.equal(refused.causes.length, 1)
  t.match(await take(gateway, 'slots', list, { dryRun: true, createZones: true }), { ok: true, created: 2000 })
  t.match(await take(gateway, 'slots', list, { createZones: true }), { ok: true, created: 2000 })
})

t.test('a dry run says what the run says, also where lines depend on each other', async (t) => {
  const config = { ledger: { enforce: ['SLOT_ALREADY_OCCUPIED'] } }
  const labels = Array.from({ length: 60 }, (_, n) => `S-${n + 1}`)
  const rows = labels.map((label) => `${label},P-${label}`)
  const both = `slot_id,asset_barcode\n${rows.join('\n')}\nS-1,P-second\n`
  const [tried, done] = await Promise.all(
    [true, false].map(async (dryRun) => take(await yard(t, labels, config), 'opening-stock', both, { dryRun })),
  )
  t.match(tried, { ok: false, problemCount: Number, problems: [{ line: 62 }] })
  t.same({ ...tried, dryRun: false }, done)
  const twins = `slot_id,zone,x,y,width,height\n${labels.map((label) => `${label},S,0,0,1,1`).join('\n')}\ns-1,S,0,0,1,1\n`
  const gateway = await yard(t)
  t.match((await take(gateway, 'slots', twins, { dryRun: true })).problems, [
    { line: 62, column: 'slot_id', message: 'is on line 2 already' },
  ])
})

t.test('an admin imports slots through the API: tried first, then all of it, or nothing', async (t) => {
  const gateway = await yard(t)
  const send = (list: string, query = '', by: (typeof people)[keyof typeof people] = people.ada) =>
    gateway.ask('POST', `/api/whms/slots/import${query}`, { by, bytes: list, headers: { 'Content-Type': 'text/csv' } })
  const bad = 'slot_id,zone,x,y,width,height\nL-1,S,0,0,1,1\nL-2,S,2,0,0,1\n'
  t.match(await send(bad, '?dryRun=true'), {
    status: 200,
    body: { success: true, dryRun: true, ok: false, problemCount: Number, problems: [{ line: 3, column: 'width' }] },
  })
  t.match(await send(bad), {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', details: /^line 3.width: /, fields: [{ path: 'line 3.width' }] } },
  })
  t.equal((await get(gateway, 'whms/slots')).data.length, 0, 'nothing of it is stored')
  const good = 'slot_id,zone,zone_type,x,y,width,height\nL-1,S,,0,0,1,1\nL-2,New,cold,2,0,1,1\n'
  t.match((await send(good, '?dryRun=true&createZones=true')).body, { ok: true, created: 2, zonesCreated: ['New'] })
  t.equal((await get(gateway, 'whms/slots')).data.length, 0, 'a dry run stores nothing')
  t.match(await send(good, '?createZones=true'), { status: 200, body: { dryRun: false, ok: true, created: 2 } })
  t.match((await send(good)).body, { created: 0, updated: 0, unchanged: 2 })
  const { data } = await get(gateway, 'governance/audit?action=list.imported')
  t.match(data, [{ actor: /^ada/, entity: 'slot' }])
  t.equal((await send(good, '', people.olga)).status, 403)
  t.match((await send(good, '?dryrun=true')).body, { error: { details: /dryRun/ } })
  t.match((await send(good, '?warehouseId=7')).body, { error: { details: /warehouse/ } })
  t.equal((await send(`slot_id\n${'x'.repeat(4 * 1024 * 1024)}`)).status, 413)
})

t.test('a list for the API has at most 30,000 lines', async (t) => {
  const gateway = await yard(t)
  const lines = Array.from({ length: 30_001 }, (_, n) => `L-${n},S,0,0,1,1`)
  const answer = await gateway.ask('POST', '/api/whms/slots/import', {
    by: people.ada,
    bytes: `slot_id,zone,x,y,width,height\n${lines.join('\n')}\n`,
    headers: { 'Content-Type': 'text/csv' },
  })
  t.match(answer, {
    status: 400,
    body: {
      error: {
        code: 'VALIDATION_ERROR',
        message: 'Nothing of the list is stored',
        fields: [{ path: 'line 30002', message: /more than 30000 lines; split it, or import it at the box/ }],
      },
    },
  })
})

t.test('a line that is refused after the trial leaves the lines before it, and the answer says how many', async (t) => {
  const gateway = await yard(t)
  const numbers = Array.from({ length: 400 }, (_, n) => n + 1)
  const slots = `slot_id,zone,x,y,width,height\n${numbers.map((n) => `S-${n},S,0,${n},1,1`).join('\n')}\n`
  await take(gateway, 'slots', slots)
  const stock = ['slot_id,asset_barcode', ...numbers.map((n) => `S-${n},P-${n}`)]
  const importing = take(gateway, 'opening-stock', stock.join('\n'))
  await eventually(
    () => get(gateway, 'whms/events?limit=1'),
    ({ data }) => data.length > 0,
    { withinMs: 20_000, everyMs: 1 },
  )
  const body = { event_type: 'REMOVED', slot_code: 'S-400', asset_barcode: 'P-400' }
  t.equal((await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })).status, 201)
  t.match(await importing, {
    ...{ ok: false, partlyStored: true, created: 399, updated: 0, problemCount: 2 },
    problems: [
      { line: 401, column: 'asset_barcode', message: /saw it leave S-400/ },
      { line: 401, column: null, message: /before it are stored \(399 new, .* import the whole list again/ },
    ],
  })
  const audited = (await get(gateway, 'governance/audit?action=list.imported')).data
  t.equal(audited.length, 2, 'the list of slots, and what was stored of the list of stock')
  t.match(await take(gateway, 'opening-stock', stock.slice(0, -1).join('\n')), {
    ...{ ok: true, partlyStored: false, created: 0, unchanged: 399 },
  })
})

t.test('the API says too how much is stored when a zone goes away in the middle of an import', async (t) => {
  const gateway = await yard(t)
  const lines = Array.from({ length: 400 }, (_, n) => `L-${n},S,0,${n},1,1`)
  const importing = gateway.ask('POST', '/api/whms/slots/import', {
    by: people.ada,
    bytes: `slot_id,zone,x,y,width,height\n${lines.join('\n')}\n`,
    headers: { 'Content-Type': 'text/csv' },
  })
  await eventually(
    () => get(gateway, 'whms/slots?limit=1'),
    ({ data }) => data.length > 0,
    { withinMs: 20_000, everyMs: 1 },
  )
  const body = { name: 'Renamed', zone_type: 'storage', warehouseId: 1 }
  t.equal((await gateway.ask('PUT', '/api/whms/zones/1', { by: people.ada, body })).status, 200)
  const refused = await importing
  t.match(refused, {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', message: 'A part of the list is stored', fields: [{}, {}] } },
  })
  const [, stored = ''] = /stored \((\d+) new/.exec(refused.body.error.details) ?? []
  t.equal((await get(gateway, 'whms/slots?limit=500')).data.length, Number(stored))
})

t.test('of two lists that are sent at once, the second is tried when the first is stored', async (t) => {
  const gateway = await yard(t, ['A', 'B'])
  const lists = ['slot_id,asset_barcode\nA,P-1\n', 'slot_id,asset_barcode\nB,P-1\n']
  t.match(await Promise.all(lists.map((list) => take(gateway, 'opening-stock', list))), [
    { ok: true, created: 1 },
    { ok: false, partlyStored: false, problems: [{ line: 2, column: 'asset_barcode', message: /has it in A/ }] },
  ])
})

t.test('what an export guards against formulas is read as it was', async (t) => {
  const gateway = await yard(t)
  const list = "slot_id,zone,x,y,width,height\n'=1+1,S,0,0,1,1\n''=2,S,1,0,1,1\n'quoted,S,2,0,1,1\n"
  t.match(await take(gateway, 'slots', list), { ok: true, created: 3 })
  const { data } = await get(gateway, 'whms/slots')
  t.same(
    data.map((slot: { slot_id: string }) => slot.slot_id),
    ['=1+1', "'=2", "'quoted"],
  )
})

t.test('a line of any length and a header of any number of columns are refused at once', async (t) => {
  const gateway = await yard(t)
  const commas = await take(gateway, 'slots', `slot_id${','.repeat(3_000_000)}\nA-01\n`)
  t.match(commas.problems, [{ line: 1, message: /more than 65,536 characters/ }])
  const twins = await take(gateway, 'slots', `${'slot_id,'.repeat(1001)}\nA-01\n`)
  t.match(twins.problems, [{ line: 1, message: 'the list has 1,002 columns; at most 1,000 are read' }])
  t.equal(twins.problems.length, 1)
  const wide = await take(gateway, 'slots', `slot_id,zone${',x'.repeat(900)}\nA-01,S\n`)
  t.notMatch(JSON.stringify(wide.problems), /columns; at most/)
})
