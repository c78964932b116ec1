import pg from 'pg'
import t from 'tap'
import { everyStatement } from '../../src/hub/store/statement.ts'
import { askAs, fedSite, forkOf, headOffice, story } from '../support/head-office.ts'
import type { TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const [juice, soup] = ['09521234543213', '00012345678905']
const sscc = '095201234567891242'

type Pallet = { readonly gtin: string | null; readonly siteId: string; readonly asset_barcode: string; state: string }
const lineOf = ({ gtin, siteId, asset_barcode, state }: Pallet) => `${gtin} ${siteId} ${asset_barcode} ${state}`
const recalled = async (hub: TestHub, query: string, username?: string) =>
  (await askAs(hub, `/api/hub/recall?${query}`, username)).body

/** The two sites of the story, one with the same lot number on another item, and one that knows no item of its pallet. */
async function mixedSites() {
  const hub = await headOffice(t, postgres)
  await fedSite(hub, 11, [['12:00', 'PLACED', 1, 'S-1']], { assets: [{ key: 'S-1', gtin: soup, lot: 'L-7731' }] })
  await fedSite(hub, 12, [['12:00', 'PLACED', 2, 'X-1']], { assets: [{ key: 'X-1', lot: 'L-7731' }] })
  await fedSite(hub, 13, [['12:00', 'PLACED', 3, 'J-9']], { assets: [{ key: 'J-9', gtin: juice, lot: 'L-8' }] })
  return hub
}

t.test('who knows the lot alone finds its pallets on every site, item by item', async (t) => {
  const hub = await mixedSites()
  const { data, nextCursor } = await recalled(hub, 'lot=L-7731')
  t.same(data.map(lineOf), [
    `${soup} dc-11 S-1 here`,
    `${juice} dc-7 P-2 two_places`,
    `${juice} dc-8 P-1 here`,
    `${juice} dc-8 P-2 two_places`,
    `${juice} dc-7 P-3 left`,
    'null dc-12 X-1 here',
  ])
  t.equal(nextCursor, null)
  t.same(new Set(data.flatMap(({ lots }: { lots: string[] }) => lots)), new Set(['L-7731']))
  t.same((await recalled(hub, 'lot=L-7731', 'lars')).data.map(lineOf), [`${juice} dc-8 P-1 here`], 'of dc-8 alone')
  t.same((await recalled(hub, 'lot=L-9')).data, [])
})

t.test('the list to send has item and lot of each pallet', async (t) => {
  const hub = await mixedSites()
  const linesOf = async (query: string) =>
    (await askAs(hub, `/api/hub/recall?${query}&format=csv`)).text.trimEnd().split('\r\n')
  const [head, first, ...others] = await linesOf('lot=L-7731')
  t.equal(head, 'siteId,asset_barcode,slot,since,state,unit,gtin,lot')
  t.equal(first, `dc-11,S-1,A-01,2026-03-02T12:00:00.000Z,here,,${soup},L-7731`)
  t.equal(others.length, 5)
  const ofItem = (await linesOf(`gtin=${juice}`)).slice(1)
  t.same(
    ofItem.filter((line) => /,(J-9|P-4),/.test(line)).map((line) => line.split(',').at(-1)),
    ['L-8', "'=L-1"],
    'of every lot, each with its own',
  )
})

t.test('a recall names the sites that may have more than it knows, also when it finds nothing', async (t) => {
  const hub = await mixedSites()
  const behind = async (username?: string) => (await recalled(hub, 'lot=none', username)).behind
  t.same(await behind(), [])
  const fedAt = new Date(hub.clock.now()).toISOString()
  const log = { 11: '0190a5c4-3c00-7000-8000-000000000211' }
  await hub.rows('UPDATE log_head SET witnessed_size = size + 3 WHERE log_id = $1', [log[11]])
  t.equal(await forkOf(hub), 422)
  const fork = { siteId: 'dc-8', reason: 'forked', fedAt, leavesBehind: 0 }
  t.same(await behind(), [{ siteId: 'dc-11', reason: 'missing', fedAt, leavesBehind: 3 }, fork])
  t.same(await behind('lars'), [fork], 'of the sites that the account may see')
  hub.clock.advance(16 * 60_000)
  t.same(
    (await behind()).map(({ siteId, reason }: { siteId: string; reason: string }) => `${siteId} ${reason}`),
    ['dc-11 late', 'dc-12 late', 'dc-13 late', 'dc-7 late', 'dc-8 forked'],
  )
  await hub.rows(`UPDATE log SET retired_at = now() WHERE site_id <> 'dc-8'`)
  t.same(await behind(), [fork], 'a closed site has no more')
  const file = (await askAs(hub, '/api/hub/recall?lot=L-7731&format=csv')).text.split('\r\n')
  t.equal(file[1], `dc-8,,,${fedAt},not_up_to_date,,,`)
  t.match(file[2], /^dc-11,S-1,/)
})

t.test('a recall needs an item or a lot, and says so', async (t) => {
  const hub = await headOffice(t, postgres)
  const { status, body } = await askAs(hub, '/api/hub/recall')
  t.equal(status, 400)
  t.match(JSON.stringify(body), /VALIDATION_ERROR.*lot: send gtin, lot or both/)
  for (const query of [
    'gtin=',
    'lot=',
    'lot=L%00',
    'lot=L-1&cursor=abc',
    'lot=L-1&cursor=%00',
    `lot=L-1&cursor=${btoa('["a\\u0000","P-1"]')}`,
  ])
    t.equal((await askAs(hub, `/api/hub/recall?${query}`)).status, 400, query)
})

t.test('a pallet that two sites know as of another item is named under both', async (t) => {
  const hub = await headOffice(t, postgres)
  await fedSite(hub, 11, [['12:00', 'PLACED', 1, 'A-1']], { assets: [{ key: 'A-1', sscc, gtin: juice, lot: 'L-5' }] })
  await fedSite(hub, 12, [['13:00', 'PLACED', 2, 'B-1']], { assets: [{ key: 'B-1', sscc, gtin: soup, lot: 'L-5' }] })
  t.same((await recalled(hub, 'lot=L-5')).data.map(lineOf), [
    `${soup} dc-11 B-1 two_places`,
    `${soup} dc-12 B-1 two_places`,
    `${juice} dc-11 A-1 two_places`,
    `${juice} dc-12 A-1 two_places`,
  ])
})

t.test('a pallet of which one site knows the item and another does not is named once, under its item', async (t) => {
  const hub = await headOffice(t, postgres)
  await fedSite(hub, 11, [['12:00', 'PLACED', 1, 'B-1']], { assets: [{ key: 'B-1', sscc, gtin: juice, lot: 'L-5' }] })
  await fedSite(hub, 12, [['13:00', 'PLACED', 2, 'A-1']], { assets: [{ key: 'A-1', sscc, lot: 'L-5' }] })
  const bySscc = [`${juice} dc-11 B-1 two_places`, `${juice} dc-12 B-1 two_places`]
  t.same((await recalled(hub, 'lot=L-5')).data.map(lineOf), bySscc, 'by its SSCC')
  await fedSite(hub, 13, [['12:00', 'PLACED', 1, 'X-7']], { assets: [{ key: 'X-7', gtin: soup, lot: 'L-6' }] })
  await fedSite(hub, 14, [['11:00', 'PLACED', 2, 'X-7']], { assets: [{ key: 'X-7', lot: 'L-6' }] })
  const byBarcode = [`${soup} dc-13 X-7 two_places`, `${soup} dc-14 X-7 two_places`]
  t.same((await recalled(hub, 'lot=L-6')).data.map(lineOf), byBarcode, 'by its barcode')
})

t.test('a recall names a pallet once when a site that does not know its item has an SSCC on it', async (t) => {
  const hub = await headOffice(t, postgres)
  const withoutItem = (key: string) => ({ assets: [{ key, sscc, lot: 'L-5' }] })
  await fedSite(hub, 11, [['12:00', 'PLACED', 1, 'K-1']], { assets: [{ key: 'K-1', gtin: juice, lot: 'L-5' }] })
  await fedSite(hub, 12, [['13:00', 'PLACED', 2, 'K-1']], withoutItem('K-1'))
  const lines = async () => (await recalled(hub, 'lot=L-5')).data.map(lineOf)
  const at = (...sites: string[]) => sites.map((site) => `${juice} ${site} K-1 two_places`)
  t.same(await lines(), at('dc-11', 'dc-12'))
  await fedSite(hub, 13, [['14:00', 'PLACED', 3, 'A-1']], withoutItem('A-1'))
  await fedSite(hub, 14, [['15:00', 'PLACED', 3, 'Z-1']], withoutItem('Z-1'))
  t.same(await lines(), at('dc-11', 'dc-12', 'dc-13', 'dc-14'), 'also at sites that have that SSCC on another barcode')
  t.same((await recalled(hub, `lot=L-5&gtin=${juice}`)).data.map(lineOf), await lines())
  const own = '00095201234567891259'
  await fedSite(hub, 15, [['12:00', 'PLACED', 1, own]], { assets: [{ key: own, gtin: juice, lot: 'L-6' }] })
  await fedSite(hub, 16, [['13:00', 'PLACED', 2, own]], { assets: [{ key: own, lot: 'L-6' }] })
  const ofOwn = ['dc-15', 'dc-16'].map((site) => `${juice} ${site} ${own} two_places`)
  t.same((await recalled(hub, 'lot=L-6')).data.map(lineOf), ofOwn, 'which may be its barcode')
})

/** So many pallets of a lot, a third of each of two items and a third of none. */
async function manyPallets(hub: TestHub, count: number, lot: string): Promise<void> {
  await hub.rows(
    `INSERT INTO asset_position (log_id, asset_key, at, seq, event_type, slot_id, slot_code)
     SELECT $1::uuid, $2 || '-' || lpad(n::text, 6, '0'), '2026-03-02T08:00:00Z', n, 'P', n, 'B-' || n FROM generate_series(1, $3::int) n`,
    [story['dc-8']?.logId, lot, count],
  )
  await hub.rows(
    `INSERT INTO asset (log_id, asset_key, gtin, lot, version)
     SELECT log_id, asset_key, (ARRAY['${soup}', '${juice}', NULL])[1 + slot_id % 3], $1, 1 FROM asset_position WHERE asset_key LIKE $1 || '-%'`,
    [lot],
  )
}

t.test('a lot of more pallets than an answer has goes on item by item, and its file has all of them', async (t) => {
  const hub = await headOffice(t, postgres)
  await manyPallets(hub, 30_003, 'L-1')
  const pages: Pallet[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, nextCursor }: { data: Pallet[]; nextCursor: string | null } = await recalled(
      hub,
      `lot=L-1&cursor=${cursor}`,
    )
    pages.push(data)
    cursor = nextCursor
  }
  t.same(
    pages.map((page) => page.length),
    [10_000, 10_000, 10_000, 3],
  )
  const items = pages.flat().map(({ gtin }) => gtin)
  t.same(items, [
    ...Array.from({ length: 10_001 }, () => soup),
    ...Array.from({ length: 10_001 }, () => juice),
    ...Array.from({ length: 10_001 }, () => null),
  ])
  t.equal(new Set(pages.flat().map(({ asset_barcode }) => asset_barcode)).size, 30_003)
  const lines = (await askAs(hub, '/api/hub/recall?lot=L-1&format=csv')).text.trimEnd().split('\r\n')
  t.equal(new Set(lines).size, 30_004, 'a line for each and one head')
})

t.test('a lot goes on behind a pallet whose item is no GTIN, which was stored before', async (t) => {
  const hub = await headOffice(t, postgres)
  // In the order of the items: the first is the last of the answer.
  for (const gtin of ['', 'a b', '-']) {
    const lot = `L-${gtin.length}${gtin.length > 1}`
    await manyPallets(hub, 10_001, lot)
    await hub.rows('UPDATE asset SET gtin = $1 WHERE lot = $2', [gtin, lot])
    const first = await recalled(hub, `lot=${lot}`)
    const { status, body } = await askAs(hub, `/api/hub/recall?lot=${lot}&cursor=${first.nextCursor}`)
    t.same([first.data.length, status, body.data?.length, body.nextCursor], [10_000, 200, 1, null], `"${gtin}"`)
  }
})

t.test('an item that is no GTIN is none, and one of 13 digits is found as one of 14', async (t) => {
  const hub = await headOffice(t, postgres)
  const items = ['a b', '-', '', '9521234543210', '9521234543213']
  const assets = items.map((gtin, i) => ({ key: `G-${i}`, gtin, lot: 'L-5' }))
  const moves = items.map((_, i) => ['12:00', 'PLACED', i + 1, `G-${i}`] as const)
  await fedSite(hub, 11, moves, { assets })
  t.same((await recalled(hub, 'lot=L-5')).data.map(lineOf), [
    `${juice} dc-11 G-4 here`,
    ...[0, 1, 2, 3].map((i) => `null dc-11 G-${i} here`),
  ])
})

t.test('pallets are on their way with the units of their own sites, where many sites number units alike', async (t) => {
  const hub = await headOffice(t, postgres)
  const numbers = [1, 2, 3]
  const ssccOf = (n: number) => `09520123456789${1000 + n}`
  for (const n of numbers) {
    // Each site has all units; one of them carries its pallet.
    const steps = numbers.map((unit) => {
      const facts = { action: 'created', unitId: `u-${unit}`, direction: 'outbound', toStage: `stage of ${n}` }
      return ['12:30', { ...facts, sscc: unit === n ? ssccOf(n) : `other-${n}-${unit}` }] as const
    })
    const moves = [
      ['12:00', 'PLACED', 1, `B-${n}`],
      ['12:20', 'REMOVED', 1, `B-${n}`],
    ] as const
    await fedSite(hub, 20 + n, moves, { steps, assets: [{ key: `B-${n}`, sscc: ssccOf(n), gtin: juice, lot: 'L-5' }] })
  }
  type Line = { asset_barcode: string; state: string; unit: { siteId: string; unitId: string; stage: string } }
  const { data } = (await recalled(hub, 'lot=L-5')) as { data: Line[] }
  t.same(
    data.map(({ asset_barcode, state, unit }) => [asset_barcode, state, unit?.siteId, unit?.unitId, unit?.stage]),
    numbers.map((n) => [`B-${n}`, 'in_transit', `dc-2${n}`, `u-${n}`, `stage of ${n}`]),
  )
})

t.test('a lot is found by its index among many, whatever plan the server keeps', async (t) => {
  const hub = await headOffice(t, postgres)
  await hub.rows(
    `INSERT INTO asset (log_id, asset_key, gtin, lot, version) SELECT $1::uuid, 'Q-' || n, '${juice}', 'L-' || n / 50, 1
     FROM generate_series(1, 200000) n`,
    [story['dc-8']?.logId],
  )
  await hub.rows('VACUUM ANALYZE asset')
  const statement = everyStatement().find(({ name }) => name === 'assets-of-lot-of-any-item')
  const client = new pg.Client({ host: postgres.folder, user: 'super', database: hub.database })
  await client.connect()
  t.teardown(() => client.end())
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`)
    await client.query(`PREPARE of_lot AS ${statement?.text}`)
    const { rows } = await client.query(`EXPLAIN EXECUTE of_lot('L-77', NULL, false, '', '')`)
    await client.query('DEALLOCATE of_lot')
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    t.match(plan, /asset_lot/, mode)
    t.notMatch(plan, /Seq Scan on asset /, mode)
  }
})
