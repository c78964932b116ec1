import t from 'tap'
import type { Permission } from '../../src/config/index.ts'
import { reachOf } from '../../src/hub/ask/reach.ts'
import { OfferService } from '../../src/hub/offers/service.ts'
import { connectionOf, HubDatabase } from '../../src/hub/store/database.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { readBarcode } from '../../src/warehouse/index.ts'
import { verifyBundle } from '../support/evidence/bundle.ts'
import { checkpointText, testLog } from '../support/evidence/forge.ts'
import { cheapHash } from '../support/gateway.ts'
import {
  askAs,
  continuation,
  fedSite,
  forkOf,
  headOffice,
  type Move,
  placements,
  story,
} from '../support/head-office.ts'
import { feedOf, feedPathOf, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const user = (username: string) => ({ username, role: 'viewer', secretHash: cheapHash(`${username}-secret`) })
const wide = '0190a5c4-3c00-7000-8000-000000000099'

t.test('a barcode is found on any site, with its trail from site to site', async (t) => {
  const hub = await headOffice(t, postgres)
  const { status, body } = await askAs(hub, '/api/hub/search?code=P-1')
  t.equal(status, 200)
  t.match(body.data, [
    { siteId: 'dc-8', slot: 'A-01', slot_id: 1, since: '2026-03-02T11:00:00.000Z', state: 'here' },
    { siteId: 'dc-7', slot: null, state: 'left' },
  ])
  t.match(body.trail, [
    { siteId: 'dc-7', event_type: 'PLACED', timestamp: '2026-03-02T08:00:00.000Z', seq: 1 },
    { siteId: 'dc-7', event_type: 'REMOVED' },
    { siteId: 'dc-8', event_type: 'PLACED' },
  ])
  t.match((await askAs(hub, '/api/hub/search?code=P-2')).body.data, [
    { siteId: 'dc-8', state: 'two_places' },
    { siteId: 'dc-7', state: 'two_places', isVerified: true },
  ])
  t.match((await askAs(hub, '/api/hub/search?code=P-3')).body.data, [{ siteId: 'dc-7', slot: null, state: 'left' }])
  t.same((await askAs(hub, '/api/hub/search?code=P-9')).body.data, [])
  t.equal((await askAs(hub, '/api/hub/search?code=P%00')).status, 400, 'no code has a zero character')
  t.equal((await askAs(hub, '/api/hub/sites/dc-7%00/slots')).status, 404)
})

t.test('a unit that is made and sent off in one feed, or whose first step comes late, has its pallet', async (t) => {
  const hub = await headOffice(t, postgres)
  const [siteId, logId, sscc] = ['dc-9', '0190a5c4-3c00-7000-8000-000000000009', '095201234567891235']
  const asset = readBarcode(sscc).key
  const moves: Move[] = [
    ['08:00', 'PLACED', 1, asset],
    ['09:00', 'REMOVED', 1, asset],
  ]
  const step = (seq: number, time: string, unitId: string, more: object) => {
    const facts = { v: 2, kind: 'unit-history', siteId, logId, seq, unitId, status: 'active' }
    return Buffer.from(JSON.stringify({ ...facts, timestamp: `2026-03-02T${time}:00.000Z`, ...more }))
  }
  const made = { toStage: 'planned', direction: 'outbound', sscc }
  const leaves = [
    ...placements({ siteId, logId, moves }),
    step(3, '09:00', 'u-1', { ...made, reference: 'LKW-7' }),
    step(4, '09:10', 'u-1', { toStage: 'loading' }),
    step(5, '10:00', 'u-2', { toStage: 'departed' }),
    step(6, '09:30', 'u-2', { ...made, reference: 'LKW-8' }),
  ]
  const log = testLog({ siteId, logId, leaves })
  const token = await hub.enrol(log)
  const foundAfter = async (from: number, end: number) => {
    const fed = await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end) })
    t.equal(fed.status, 200)
    const { data, unit } = (await askAs(hub, `/api/hub/search?code=${sscc}`)).body
    return [data[0].state, unit?.reference, unit?.direction, unit?.stage]
  }
  t.same(await foundAfter(0, 4), ['in_transit', 'LKW-7', 'outbound', 'loading'])
  t.same(await foundAfter(4, 5), ['in_transit', 'LKW-7', 'outbound', 'loading'], 'no pallet is known of the other unit')
  t.same(await foundAfter(5, 6), ['in_transit', 'LKW-8', 'outbound', 'departed'], 'the later step stays the newest')
})

const truck = '095201234567891235'
const sscc = '095201234567891242'

const outbound = { unitId: 'u-1', toStage: 'departed', direction: 'outbound', reference: 'LKW-7' }

t.test('a pallet that moved under another name is there, whatever was put into its former slot', async (t) => {
  const hub = await headOffice(t, postgres)
  const moves: Move[] = [
    ['08:00', 'PLACED', 1, `00${sscc}`],
    ['09:00', 'PLACED', 2, 'PAL-1'],
    ['10:00', 'PLACED', 1, 'PAL-2'],
  ]
  await fedSite(hub, 11, moves, { assets: [{ key: 'PAL-1', sscc }] })
  for (const code of [`(00)${sscc}`, 'PAL-1'])
    t.match((await askAs(hub, `/api/hub/search?code=${encodeURIComponent(code)}`)).body.data, [
      { siteId: 'dc-11', slot_id: 2, state: 'here' },
    ])
})

t.test('the SSCC on a label finds the pallet, whatever barcode each site has for it', async (t) => {
  const hub = await testHub(t, postgres, { users: [user('dora')] })
  await fedSite(
    hub,
    11,
    [
      ['08:00', 'PLACED', 1, 'PAL-1'],
      ['09:00', 'REMOVED', 1, 'PAL-1'],
    ],
    {
      assets: [{ key: 'PAL-1', sscc, gtin: '09521234543213', lot: 'L-1' }],
    },
  )
  await fedSite(hub, 12, [
    ['10:00', 'PLACED', 1, `00${sscc}`],
    ['10:30', 'REMOVED', 1, `00${sscc}`],
  ])
  await fedSite(hub, 13, [['11:00', 'PLACED', 4, 'BOX-9']], { assets: [{ key: 'BOX-9', sscc }] })
  const here = { siteId: 'dc-13', asset_barcode: 'BOX-9', slot: 'A-04', state: 'here' }
  for (const code of [`(00)${sscc}`, sscc, 'PAL-1', 'BOX-9']) {
    const { data, trail } = (await askAs(hub, `/api/hub/search?code=${encodeURIComponent(code)}`)).body
    t.match(
      data,
      [here, { siteId: 'dc-12', state: 'left' }, { siteId: 'dc-11', asset_barcode: 'PAL-1', state: 'left' }],
      code,
    )
    t.equal(data.length, 3)
    t.same(
      trail.map(({ siteId, asset_barcode }: Record<string, string>) => `${siteId} ${asset_barcode}`),
      ['dc-11 PAL-1', 'dc-11 PAL-1', `dc-12 00${sscc}`, `dc-12 00${sscc}`, 'dc-13 BOX-9'],
    )
  }
  t.match((await askAs(hub, '/api/hub/recall?gtin=9521234543213&lot=L-1')).body.data, [
    { siteId: 'dc-13', asset_barcode: 'PAL-1', slot: 'A-04', state: 'here' },
  ])
})

t.test('a pallet that a site knows by two barcodes is where it was moved last', async (t) => {
  const hub = await testHub(t, postgres, { users: [user('dora')] })
  await fedSite(
    hub,
    11,
    [
      ['08:00', 'PLACED', 1, 'PAL-1'],
      ['09:00', 'REMOVED', 1, sscc],
    ],
    { assets: [{ key: 'PAL-1', sscc }] },
  )
  t.match((await askAs(hub, '/api/hub/search?code=PAL-1')).body.data, [{ siteId: 'dc-11', slot: null, state: 'left' }])
  await fedSite(
    hub,
    12,
    [
      ['08:00', 'PLACED', 1, 'X-1'],
      ['08:10', 'PLACED', 2, 'X-2'],
    ],
    {
      assets: [
        { key: 'X-1', sscc: truck },
        { key: 'X-2', sscc: truck },
      ],
    },
  )
  t.match(
    (await askAs(hub, `/api/hub/search?code=${truck}`)).body.data,
    [
      { asset_barcode: 'X-2', state: 'two_places' },
      { asset_barcode: 'X-1', state: 'two_places' },
    ],
    'two labels with one SSCC at one site',
  )
})

t.test('a pallet is on its way until it is placed somewhere, and not for ever after', async (t) => {
  const hub = await testHub(t, postgres, { users: [user('dora')] })
  await fedSite(
    hub,
    11,
    [
      ['08:00', 'PLACED', 1, truck],
      ['09:00', 'REMOVED', 1, truck],
    ],
    { steps: [['09:10', outbound]] },
  )
  const stateOf = async () => {
    const { data, unit } = (await askAs(hub, `/api/hub/search?code=${truck}`)).body
    return [...data.map(({ siteId, state }: Record<string, string>) => `${siteId} ${state}`), unit?.reference ?? null]
  }
  t.same(await stateOf(), ['dc-11 in_transit', 'LKW-7'])
  await fedSite(hub, 12, [], {
    steps: [['09:20', { unitId: 'u-2', toStage: 'planned', direction: 'inbound', reference: 'IN-2' }]],
  })
  t.same(await stateOf(), ['dc-11 in_transit', 'IN-2'], 'it is expected elsewhere')
  await fedSite(hub, 13, [
    ['12:00', 'PLACED', 1, truck],
    ['15:00', 'REMOVED', 1, truck],
  ])
  t.same(await stateOf(), ['dc-13 left', 'dc-11 left', null], 'it arrived, and was used up there')
})

t.test('a pallet that was taken out for use is not on its way with the unit that brought it', async (t) => {
  const hub = await testHub(t, postgres, { users: [user('dora')] })
  const unpacking = { unitId: 'u-3', toStage: 'storing', direction: 'inbound' }
  await fedSite(
    hub,
    11,
    [
      ['08:00', 'PLACED', 1, truck],
      ['10:00', 'REMOVED', 1, truck],
    ],
    { steps: [['08:10', unpacking]] },
  )
  const { data, unit } = (await askAs(hub, `/api/hub/search?code=${truck}`)).body
  t.match(data, [{ siteId: 'dc-11', state: 'left' }])
  t.equal(unit, null)
})

t.test('a recall says where every pallet of a lot is now, also as a file to send', async (t) => {
  const hub = await headOffice(t, postgres)
  await fedSite(
    hub,
    11,
    [
      ['08:00', 'PLACED', 1, truck],
      ['09:00', 'REMOVED', 1, truck],
    ],
    {
      steps: [['09:10', outbound]],
      assets: [{ key: truck, sscc: truck, gtin: '09521234543213', lot: 'L-7731' }],
    },
  )
  const { body } = await askAs(hub, '/api/hub/recall?gtin=9521234543213&lot=L-7731')
  t.match(body.data, [
    { siteId: 'dc-7', asset_barcode: 'P-2', slot: 'A-02', since: '2026-03-02T08:10:00.000Z', state: 'two_places' },
    { siteId: 'dc-8', asset_barcode: 'P-1', slot: 'A-01', since: '2026-03-02T11:00:00.000Z', state: 'here' },
    { siteId: 'dc-8', asset_barcode: 'P-2', slot: 'A-02', since: '2026-03-02T11:10:00.000Z', state: 'two_places' },
    { siteId: 'dc-11', asset_barcode: truck, slot: null, state: 'in_transit', unit: { reference: 'LKW-7' } },
    { siteId: 'dc-7', asset_barcode: 'P-3', slot: null, since: '2026-03-02T09:10:00.000Z', state: 'left', unit: null },
  ])
  t.same([body.data.length, body.nextCursor], [5, null])
  const file = await askAs(hub, '/api/hub/recall?gtin=09521234543213&lot=L-7731&format=csv')
  t.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8')
  const [head, ...lines] = file.text.trim().split('\r\n')
  t.equal(head, 'siteId,asset_barcode,slot,since,state,unit,gtin,lot')
  t.match(lines[3], /^dc-11,095201234567891235,,2026-03-02T09:00:00.000Z,in_transit,LKW-7,09521234543213,L-7731$/)
  t.equal(lines.length, 5)
  t.equal((await askAs(hub, '/api/hub/recall?gtin=9521234543214')).status, 400, 'a wrong check digit')
})

t.test('a recall leaves no pallet out when one barcode has another SSCC at each site', async (t) => {
  const hub = await testHub(t, postgres, { users: [user('dora')] })
  const printed = [
    ['A-1', sscc],
    ['P-7', sscc],
    ['P-7', truck],
    ['Z-9', truck],
  ] as const
  for (const [i, [key, printedSscc]] of printed.entries()) {
    const assets = [{ key, sscc: printedSscc, gtin: '09521234543213', lot: 'L-5' }]
    await fedSite(hub, 11 + i, [[`1${i}:00`, 'PLACED', 1, key]], { assets })
  }
  const path = '/api/hub/recall?gtin=9521234543213&lot=L-5'
  const found: { siteId: string }[] = (await askAs(hub, path)).body.data
  const all = ['dc-11', 'dc-12', 'dc-13', 'dc-14']
  t.same([...new Set(found.map(({ siteId }) => siteId))].toSorted(), all)
  const [, ...lines] = (await askAs(hub, `${path}&format=csv`)).text.trim().split('\r\n')
  t.same([...new Set(lines.map((line) => line.split(',')[0]))].toSorted(), all, 'and so has the file')
})

t.test(
  'a recall of more pallets than an answer has goes on where it ended, and its file has all of them',
  async (t) => {
    const hub = await headOffice(t, postgres)
    const { logId } = story['dc-8'] as (typeof story)[string]
    const copies =
      "SELECT $1::uuid, 'Q-' || lpad(n::text, 5, '0'), $2::timestamptz, n, 'P', n, 'B-' || n FROM generate_series(1, 10001) n"
    await hub.rows(
      `INSERT INTO asset_position (log_id, asset_key, at, seq, event_type, slot_id, slot_code) ${copies}`,
      [logId, '2026-03-02T08:00:00Z'],
    )
    await hub.rows(
      `INSERT INTO asset (log_id, asset_key, gtin, lot, version) SELECT log_id, asset_key, '09521234543213', 'L-9', 1
     FROM asset_position WHERE asset_key LIKE 'Q-%'`,
    )
    const path = '/api/hub/recall?gtin=9521234543213&lot=L-9'
    const first = (await askAs(hub, path)).body
    const second = (await askAs(hub, `${path}&cursor=${first.nextCursor}`)).body
    t.same([first.data.length, second.data.length, second.nextCursor], [10_000, 1, null])
    t.match(second.data, [{ asset_barcode: 'Q-10001', state: 'here' }])
    const lines = (await askAs(hub, `${path}&format=csv`)).text.trim().split('\r\n')
    t.equal(new Set(lines).size, 10_002, 'a line for each and one head')
  },
)

t.test('the floor of a site is shown as it is and as it was', async (t) => {
  const hub = await headOffice(t, postgres)
  const slotsAt = async (query: string) =>
    (await askAs(hub, `/api/hub/sites/dc-7/slots${query}`)).body.data.map(
      (slot: { slot: string; assetBarcode: string | null; isVerified?: boolean }) =>
        `${slot.slot} ${slot.assetBarcode}${slot.isVerified ? ' verified' : ''}`,
    )
  t.same(await slotsAt(''), ['A-01 P-4', 'A-02 P-2 verified', 'A-03 null'])
  t.same(await slotsAt('?at=2026-03-02T08:30:00Z'), ['A-01 P-1', 'A-02 P-2', 'A-03 P-3'])
  t.same(await slotsAt('?at=2026-03-02T08:05:00Z'), ['A-01 P-1'])
  t.equal((await askAs(hub, '/api/hub/sites/dc-9/slots')).status, 404)
})

t.test('sites are listed with their lag, and a fork as an alert', async (t) => {
  const hub = await headOffice(t, postgres)
  hub.clock.advance(90_000)
  t.match((await askAs(hub, '/api/hub/sites')).body.data, [
    { siteId: 'dc-7', name: 'Site dc-7', size: 7, state: 'live', lagSeconds: 90, openAlerts: 0 },
    { siteId: 'dc-8', size: 2, lagSeconds: 90 },
  ])
  t.equal(await forkOf(hub), 422)
  t.match((await askAs(hub, '/api/hub/alerts')).body.data, [{ siteId: 'dc-8', type: 'log.forked', closedAt: null }])
  t.match((await askAs(hub, '/api/hub/sites')).body.data[1], { state: 'forked', openAlerts: 1 })
  const odd = JSON.stringify({ version: { tag: 'meta' }, health: 7, troubles: null })
  await hub.rows('UPDATE log_head SET status = $1', [odd])
  t.match((await askAs(hub, '/api/hub/sites')).body.data[0], {
    version: null,
    health: null,
    troubles: { length: 0 },
    fleet: null,
  })
})

t.test('a site that catches up says how many leaves are still missing', async (t) => {
  const hub = await headOffice(t, postgres)
  const log = testLog({ siteId: 'dc-9', logId: wide, size: 300 })
  const token = await hub.enrol(log)
  const behindAfter = async (from: number, end: number) => {
    await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end, 300) })
    const site = (await askAs(hub, '/api/hub/sites')).body.data[2]
    return [site.size, site.leavesBehind, site.lagSeconds]
  }
  t.same(await behindAfter(0, 100), [100, 200, 0], 'though it was heard a moment ago')
  t.match((await askAs(hub, '/api/hub/sites?format=csv')).text, /,leavesBehind,[\s\S]*,100,[^,]*,0,200,/)
  t.same(await behindAfter(100, 300), [300, 0, 0])
})

t.test('whoever may see one site sees nothing of the others', async (t) => {
  const hub = await headOffice(t, postgres)
  const seen = async (path: string) => (await askAs(hub, path, 'lars')).body
  t.match((await seen('/api/hub/sites')).data, [{ siteId: 'dc-8' }])
  const found = await seen('/api/hub/search?code=P-2')
  t.match(found.data, [{ siteId: 'dc-8', state: 'here' }])
  t.equal(JSON.stringify(found).includes('dc-7'), false)
  t.match((await seen('/api/hub/recall?gtin=9521234543213')).data, [
    { siteId: 'dc-8', asset_barcode: 'P-1', state: 'here' },
  ])
  t.equal((await seen('/api/hub/recall?gtin=9521234543213')).data.length, 1, 'P-2 has its lot at dc-7 alone')
  t.equal((await askAs(hub, '/api/hub/sites/dc-7/slots', 'lars')).status, 404)
})

const section = (fill: string) => fill.repeat(16)
const fleetWith = (sections: Record<string, string>) => ({
  ...{ openAlerts: 0, cameras: { configured: 0, withoutPictures: 0 }, freeBytes: 1, certificateUntil: null },
  ...{
    backupAt: null,
    rehearsedAt: null,
    configHash: Object.values(sections).join('').repeat(2).slice(0, 64).padEnd(64, '0'),
  },
  configSections: sections,
})

t.test('a box whose config differs from most, or from what it had, is named with the sections', async (t) => {
  const hub = await headOffice(t, postgres)
  const { auth, site } = { auth: section('a'), site: [section('1'), section('2'), section('3')] as const }
  const logs = (['dc-1', 'dc-2', 'dc-3'] as const).map((siteId, i) =>
    testLog({
      siteId,
      logId: `0190a5c4-3c00-7000-8000-00000000010${i}`,
      leaves: placements({
        siteId,
        logId: `0190a5c4-3c00-7000-8000-00000000010${i}`,
        moves: [['08:00', 'PLACED', 1, 'P-77']],
      }),
    }),
  )
  const tokens: string[] = []
  for (const log of logs) tokens.push(await hub.enrol(log))
  const tell = async (i: number, sections: Record<string, string>) => {
    const log = logs[i] as (typeof logs)[number]
    const body = {
      ...feedOf(log, 0, 1),
      status: { version: '1', health: 'healthy', troubles: [], fleet: fleetWith(sections) },
    }
    t.equal((await hub.ask('POST', feedPathOf(log), { token: tokens[i] ?? '', body })).status, 200)
  }
  for (const i of [0, 1, 2]) await tell(i, { auth, site: site[i] ?? '' })
  const configOf = async (i: number) => (await askAs(hub, '/api/hub/sites')).body.data[i].config
  t.same(await configOf(2), { differsIn: [], changedAt: null, changed: [] }, 'names of sites differ anyway')
  hub.clock.advance(60_000)
  await tell(2, { auth: section('b'), site: site[2] })
  t.match(await configOf(2), { differsIn: ['auth'], changedAt: /^2026-/, changed: ['auth'] })
  t.match(await configOf(0), { differsIn: { length: 0 }, changedAt: null })
})

t.test('the sites are a list to open in a spreadsheet, in which nothing is a formula', async (t) => {
  const hub = await headOffice(t, postgres)
  await hub.rows(`UPDATE site SET name = '=HYPERLINK("http://x")' WHERE site_id = 'dc-7'`)
  const { text, headers } = await askAs(hub, '/api/hub/sites?format=csv')
  t.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
  const [head, first] = text.split('\r\n')
  t.match(head, /^siteId,name,state,health,version,size,/)
  t.match(first, /^dc-7,"'=HYPERLINK/)
})

t.test('an alert is closed by who manages them at that site, and it stands who did', async (t) => {
  const hub = await headOffice(t, postgres)
  await forkOf(hub)
  const [alert] = (await askAs(hub, '/api/hub/alerts')).body.data
  const path = `/api/hub/alerts/${alert.logId}/${alert.id}/close`
  t.equal((await askAs(hub, path, 'dora', 'POST')).status, 403, 'a viewer may not')
  t.equal((await askAs(hub, path, 'olga', 'POST')).status, 404, 'an admin of another site may not')
  t.match((await askAs(hub, '/api/hub/alerts')).body.data, [{ closedAt: null, closedBy: null }])
  t.equal((await askAs(hub, path, 'adam', 'POST')).status, 204)
  t.match((await askAs(hub, '/api/hub/alerts')).body.data, [{ closedAt: /./, closedBy: 'adam@https://hub.example' }])
  t.equal((await askAs(hub, `/api/hub/alerts/${alert.logId}/none/close`, 'adam', 'POST')).status, 404)
})

t.test('whoever manages alerts at one site alone closes its alerts', async (t) => {
  const viewer = (username: string, elsewhere: object[]) => ({
    ...{ username, role: 'viewer', secretHash: cheapHash(`${username}-secret`), elsewhere },
  })
  const hub = await headOffice(t, postgres, {
    users: [
      viewer('vera', [{ role: 'admin', sites: ['dc-8'] }]),
      viewer('hans', [{ role: 'admin', sites: ['dc-7'] }]),
      viewer('dora', []),
    ],
  })
  await forkOf(hub)
  const [alert] = (await askAs(hub, '/api/hub/alerts', 'vera')).body.data
  const close = async (username: string) =>
    (await askAs(hub, `/api/hub/alerts/${alert.logId}/${alert.id}/close`, username, 'POST')).status
  t.equal(await close('dora'), 403, 'a viewer everywhere')
  t.equal(await close('hans'), 404, 'an admin of another site')
  t.equal(await close('vera'), 204)
  t.match((await askAs(hub, '/api/hub/alerts')).body.data, [{ closedBy: 'vera@https://hub.example' }])
})

t.test('a site has its regions, and the version that it is offered', async (t) => {
  const hub = await headOffice(t, postgres)
  await hub.rows(
    `INSERT INTO upgrade_offer (version, stage, sites, offered_at, offered_by) VALUES ('1.3.0', 1, '{dc-7}', now(), 'ada')`,
  )
  hub.clock.advance(11_000)
  t.match((await askAs(hub, '/api/hub/sites')).body.data, [
    { siteId: 'dc-7', regions: { length: 0 }, offered: '1.3.0' },
    { siteId: 'dc-8', regions: ['north'], offered: null, offerState: null },
  ])
})

t.test('a site that is offered a version says why the next stage waits for it', async (t) => {
  const hub = await headOffice(t, postgres)
  const db = new HubDatabase({ connection: connectionOf(hub.config.hub.database, 'app'), log: silentLogger() })
  t.teardown(() => db.close())
  const offers = new OfferService({ db, clock: hub.clock })
  await offers.begin('1.3.0', 'ada', 'dc-7')
  hub.clock.advance(11_000)
  const stands = async (status: object) => {
    const { logId = '' } = story['dc-7'] ?? {}
    await hub.rows('UPDATE log_head SET status = $2, fed_at = $3 WHERE log_id = $1', [
      ...[logId, status, new Date(hub.clock.now())],
    ])
    const [site] = (await askAs(hub, '/api/hub/sites')).body.data
    return [site.offerState, ...((await offers.open())?.waitsFor ?? [])]
  }
  const fellBack = {
    component: 'box',
    kind: 'update.fell_back',
    message: 'It went back.',
    since: '2026-03-02T08:00:00.000Z',
  }
  const on = (version: string, health = 'healthy', troubles: object[] = []) => ({ version, health, troubles })
  t.same(await stands(on('1.2.0')), ['undecided', 'dc-7 runs 1.2.0 and has not installed it yet'])
  t.same(await stands(on('1.2.0', 'degraded', [fellBack])), ['failed', 'dc-7 runs 1.2.0: It went back.'])
  t.same(await stands(on('1.3.0', 'degraded')), ['unwell', 'dc-7 is degraded'])
  t.same(await stands(on('1.3.0')), ['runs'])
  hub.clock.advance(16 * 60_000)
  const [site] = (await askAs(hub, '/api/hub/sites')).body.data
  t.same([site.offerState, (await offers.open())?.waitsFor], ['silent', ['dc-7 is out of contact']])
})

t.test(
  'the next stage waits for no site that is closed or runs a newer version, and none waits behind the last',
  async (t) => {
    const hub = await headOffice(t, postgres)
    const db = new HubDatabase({ connection: connectionOf(hub.config.hub.database, 'app'), log: silentLogger() })
    t.teardown(() => db.close())
    const offers = new OfferService({ db, clock: hub.clock })
    const runs = (siteId: string, version: string) =>
      hub.rows('UPDATE log_head SET status = $2, fed_at = $3 WHERE log_id = $1', [
        ...[story[siteId]?.logId, { version, health: 'healthy', troubles: [] }, new Date(hub.clock.now())],
      ])
    const stands = async () => {
      hub.clock.advance(11_000)
      const { data } = (await askAs(hub, '/api/hub/sites')).body
      const lines = data.map((site: { siteId: string; offerState: string | null; offerWaits: boolean }) =>
        [site.siteId, site.offerState, ...(site.offerWaits ? ['waits'] : [])].join(' '),
      )
      return [...lines, (await offers.open())?.waitsFor.length]
    }
    await offers.begin('1.3.0', 'ada', 'dc-7')
    await runs('dc-7', '1.2.9')
    t.same(await stands(), ['dc-7 undecided waits', 'dc-8 ', 1])
    await runs('dc-7', '1.10.0')
    t.same(await stands(), ['dc-7 runs', 'dc-8 ', 0], 'its gateway takes no older version')
    await offers.next('ada', false)
    await runs('dc-8', '1.2.0')
    t.same(await stands(), ['dc-7 runs', 'dc-8 undecided waits', 1])
    await hub.rows('UPDATE log SET retired_at = now() WHERE log_id = $1', [story['dc-8']?.logId])
    t.same(await stands(), ['dc-7 runs', 'dc-8 ', 0], 'a closed site takes nothing')
    await hub.rows('UPDATE log SET retired_at = NULL')
    await offers.next('ada', true)
    t.same(await stands(), ['dc-7 runs', 'dc-8 undecided', 0], 'no further stage is to come')
  },
)

t.test('a role can differ by site and region', async (t) => {
  const hub = await headOffice(t, postgres)
  t.match((await askAs(hub, '/api/hub/sites', 'nele')).body.data, [
    { siteId: 'dc-7', permissions: ['audit:read', 'evidence:read'] },
    { siteId: 'dc-8', permissions: { length: 0 } },
  ])
  const changed = { ...hub.config, hub: { ...hub.config.hub, regions: { north: ['dc-9'] } } }
  const reach = (username: string, permission: Permission) =>
    reachOf(changed, { username, instance: 'https://hub.example', groups: [], authMode: 'local' }, permission)
  t.same(reach('nele', 'whms:read'), ['dc-9', 'dc-7'])
  t.same(reach('nele', 'audit:read'), ['dc-7'], 'a supervisor there alone')
  t.same(reach('nele', 'alerts:manage'), [])
  t.equal(reach('dora', 'whms:read'), null, 'everywhere')
  t.same(reach('nobody', 'whms:read'), [])
})

t.test('nobody asks without an account', async (t) => {
  const hub = await headOffice(t, postgres)
  for (const path of ['search?code=P-1', 'recall?gtin=1', 'sites', 'sites/dc-7/slots', 'alerts']) {
    t.equal((await hub.ask('GET', `/api/hub/${path}`)).status, 401, path)
    t.equal((await askAs(hub, `/api/hub/${path}`, 'nobody')).status, 401, `${path} as nobody`)
  }
  t.equal((await askAs(hub, '/api/hub/sites?site=dc-7')).status, 400, 'an unknown parameter')
})

t.test('what a restore lost is shown as evidence, and counts for nothing else', async (t) => {
  const hub = await headOffice(t, postgres)
  const [siteId, logId] = ['dc-9', '0190a5c4-3c00-7000-8000-000000000009']
  const moves: Move[] = [
    ['08:00', 'PLACED', 1, 'P-1'],
    ['08:10', 'PLACED', 2, 'P-5'],
  ]
  const parent = testLog({ siteId, logId, leaves: placements({ siteId, logId, moves }) })
  const token = await hub.enrol(parent)
  await hub.ask('POST', feedPathOf(parent), { token, body: feedOf(parent, 0, 2) })
  const restored = async (end: string, asset: string) => {
    const child = await continuation(hub, parent, 1, logId.replace(/9$/, end), [['09:00', 'PLACED', 3, asset]])
    return (await hub.ask('POST', feedPathOf(child), { token, body: feedOf(child, 0, 2) })).status
  }
  t.equal(await restored('a', 'P-6'), 200)
  const found = async (code: string) => (await askAs(hub, `/api/hub/search?code=${code}`)).body
  const countOf = async (code: string) => {
    const { data, trail, behindFork } = await found(code)
    return [data.length, trail.length, behindFork.length]
  }
  t.same(await countOf('P-5'), [0, 0, 1])
  t.match((await found('P-5')).behindFork, [{ siteId, slot: 'A-02', seq: 2 }])
  t.same(await countOf('P-6'), [1, 1, 0])
  t.equal((await found('P-1')).trail.at(0)?.siteId, siteId, 'what was before the fork stays')
  t.equal(await restored('b', 'P-8'), 200, 'the same backup again')
  t.same(await countOf('P-6'), [0, 0, 1])
  const slotsAt = async (query: string) =>
    (await askAs(hub, `/api/hub/sites/${siteId}/slots${query}`)).body.data.map(
      (one: { assetBarcode: string }) => one.assetBarcode,
    )
  t.same(await slotsAt(''), ['P-1', 'P-8'])
  t.same(await slotsAt('?at=2026-03-02T10:00:00Z'), ['P-1', 'P-8'])
  t.match(
    (await askAs(hub, '/api/hub/sites')).body.data[2],
    { siteId, state: 'live', openAlerts: 0 },
    'the site is well',
  )
  const alerts = (await askAs(hub, '/api/hub/alerts')).body.data.map(({ type }: { type: string }) => type)
  t.same(new Set(alerts), new Set(['log.leaves-behind-fork', 'log.branch-lost']))
})

t.test(
  'a leaf comes with its proof under the newest checkpoint, and with the confirmation of the head office',
  async (t) => {
    const hub = await headOffice(t, postgres)
    const log = testLog({ siteId: 'dc-9', logId: wide, size: 700 })
    const token = await hub.enrol(log)
    for (const [from, end] of [
      [0, 300],
      [300, 700],
    ] as const) {
      t.equal((await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, from, end) })).status, 200)
    }
    for (const seq of [1, 256, 257, 513, 700]) {
      const { status, body } = await askAs(hub, `/api/hub/logs/${wide}/entries/${seq}`, 'sven')
      t.equal(status, 200)
      t.equal(body.leaf, log.leaves[seq - 1]?.toString('base64'), `leaf ${seq}, byte for byte`)
      const [head = '', note = ''] = body.tlogProof.split(/\n\n(.*)/s)
      const path = log.tree.path(seq - 1).map((hash) => hash.toString('base64'))
      t.same(head.split('\n'), ['c2sp.org/tlog-proof@v1', `index ${seq - 1}`, ...path])
      t.match(note, checkpointText(log.origin, 700, log.tree.root(700)))
      t.match(note, '\u2014 hub.example/w1 ')
      t.same(body.keys, [...log.signers.map(({ vkey }) => vkey), hub.witness.vkey])
      t.ok(verifyBundle(body, { keys: [log.signers[0].vkey] }).ok, 'a reader who knows only the formats takes it')
    }
  },
)

t.test('a leaf is shown to those who may read evidence of its site, and what is not there is not found', async (t) => {
  const hub = await headOffice(t, postgres)
  const { logId } = story['dc-7'] as (typeof story)[string]
  const at = async (place: string, username: string) => (await askAs(hub, `/api/hub/logs/${place}`, username)).status
  t.equal(await at(`${logId}/entries/1`, 'nele'), 200, 'a supervisor of this site')
  t.equal(await at(`${logId}/entries/1`, 'dora'), 403, 'a viewer reads no evidence')
  const { logId: other } = story['dc-8'] as (typeof story)[string]
  t.equal(await at(`${other}/entries/1`, 'nele'), 404, 'of another site')
  for (const place of [
    `${logId}/entries/8`,
    `${logId}/entries/0`,
    `${logId}/entries/x`,
    `${wide}/entries/1`,
    'x/entries/1',
  ])
    t.equal(await at(place, 'sven'), 404, place)
})
