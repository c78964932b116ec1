import t from 'tap'
import { testLog } from '../support/evidence/forge.ts'
import { cheapHash } from '../support/gateway.ts'
import { askAs, forkOf, headOffice, placements, story } from '../support/head-office.ts'
import type { TestHub } from '../support/hub.ts'
import { feedOf, feedPathOf, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

/** The lines of a file, the columns first. */
async function fileOf(hub: TestHub, path: string, username?: string): Promise<string[]> {
  const { status, headers, text } = await askAs(hub, path, username)
  if (status !== 200) throw new Error(`${path} was answered with ${status}`)
  t.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
  t.match(headers.get('content-disposition'), /^attachment; filename="[A-Za-z0-9._-]+\.csv"$/)
  return text.trimEnd().split('\r\n')
}

t.test('the floor of a site is a file, as it is and as it was', async (t) => {
  const hub = await headOffice(t, postgres)
  const floor = '/api/hub/sites/dc-7/slots?format=csv'
  const columns = 'siteId,warehouse,zone,slot,slot_id,state,assetBarcode,since,verdict'
  t.same(await fileOf(hub, floor), [
    columns,
    'dc-7,,,A-01,1,occupied,P-4,2026-03-02T09:20:00.000Z,unverified',
    'dc-7,,,A-02,2,occupied,P-2,2026-03-02T08:10:00.000Z,verified',
    'dc-7,,,A-03,3,empty,,2026-03-02T09:10:00.000Z,',
  ])
  t.same(await fileOf(hub, `${floor}&at=2026-03-02T08:05:00Z`), [
    columns,
    'dc-7,,,A-01,1,occupied,P-1,2026-03-02T08:00:00.000Z,',
  ])
  t.same(await fileOf(hub, `${floor}&at=2026-03-01T08:05:00Z`), [columns], 'an empty one has its columns')
  t.equal((await askAs(hub, floor, 'lars')).status, 404, 'who may not see the site gets no file of it')
  t.equal((await askAs(hub, floor, 'nobody')).status, 401)
})

t.test(
  'the file of the sites says what became of an offered version, and for which site the next stage waits',
  async (t) => {
    const hub = await headOffice(t, postgres)
    await hub.rows(
      `INSERT INTO upgrade_offer (version, stage, sites, offered_at, offered_by) VALUES ('1.3.0', 1, '{dc-7}', now(), 'ada')`,
    )
    hub.clock.advance(11_000)
    const [columns = '', ...lines] = await fileOf(hub, '/api/hub/sites?format=csv')
    const cells = (line: string) =>
      ['siteId', 'offered', 'offerState', 'offerWaits'].map((name) => line.split(',')[columns.split(',').indexOf(name)])
    t.same(lines.map(cells), [
      ['dc-7', '1.3.0', 'undecided', 'yes'],
      ['dc-8', '', '', ''],
    ])
  },
)

t.test('the trail of a barcode is a file, with names for those alone who see them on the page', async (t) => {
  const hub = await headOffice(t, postgres)
  const logId = (site: string) => story[site]?.logId
  const path = '/api/hub/search?code=P-1&format=csv'
  const [columns, ...moves] = await fileOf(hub, path)
  t.equal(columns, 'timestamp,siteId,event_type,slot,asset_barcode,operator,logId,seq,lostByRestore')
  t.same(moves, [
    `2026-03-02T08:00:00.000Z,dc-7,PLACED,A-01,P-1,,${logId('dc-7')},1,`,
    `2026-03-02T09:00:00.000Z,dc-7,REMOVED,A-01,P-1,,${logId('dc-7')},5,`,
    `2026-03-02T11:00:00.000Z,dc-8,PLACED,A-01,P-1,,${logId('dc-8')},1,`,
  ])
  t.same((await fileOf(hub, path, 'lars')).length, 2, 'of one site')
  t.same(await fileOf(hub, '/api/hub/search?code=%22P%0D%0A9/..&format=csv'), [columns])
})

t.test('all alerts are a file, also those behind the first page, and of the sites that one may see', async (t) => {
  const hub = await headOffice(t, postgres)
  t.equal(await forkOf(hub), 422)
  await hub.rows(
    `INSERT INTO alert (log_id, alert_id, source, type, severity, opened_at, closed_at, closed_by, detail)
     SELECT $1, 'log.retired.' || n, 'hub', 'log.retired', 'info', $2, $2, '=1+1', '{}' FROM generate_series(1, 1200) n`,
    [story['dc-7']?.logId, new Date('2026-02-01T00:00:00Z')],
  )
  const [columns, ...lines] = await fileOf(hub, '/api/hub/alerts?format=csv')
  t.equal(columns, 'siteId,type,severity,openedAt,closedAt,closedBy,logId,id,detail')
  t.equal(lines.length, 1201)
  t.equal(new Set(lines).size, 1201, 'each of them once')
  t.match(lines[0], /^dc-8,log\.forked,critical,2026-03-02T/)
  t.match(lines[1], /^dc-7,log\.retired,info,2026-02-01T00:00:00.000Z,2026-02-01T00:00:00.000Z,'=1\+1,/, 'no formula')
  t.equal((await fileOf(hub, '/api/hub/alerts?format=csv', 'lars')).length, 2)
  const first = (await askAs(hub, '/api/hub/alerts')).body
  t.equal(first.data.length, 500)
  const second = (await askAs(hub, `/api/hub/alerts?cursor=${first.nextCursor}`)).body
  t.equal(second.data.length, 500)
  t.same((await askAs(hub, `/api/hub/alerts?cursor=${second.nextCursor}`)).body.nextCursor, null)
  t.equal((await askAs(hub, '/api/hub/alerts?cursor=abc')).status, 400)
})

t.test('what is printed on a label is no formula in a file', async (t) => {
  const hub = await testHub(t, postgres, {
    users: [{ username: 'dora', role: 'viewer', secretHash: cheapHash('dora-secret') }],
  })
  const [siteId, logId] = ['dc-9', '0190a5c4-3c00-7000-8000-000000000099']
  const asset = '=HYPERLINK("http://evil")'
  const log = testLog({ siteId, logId, leaves: placements({ siteId, logId, moves: [['08:00', 'PLACED', 1, asset]] }) })
  await hub.ask('POST', feedPathOf(log), { token: await hub.enrol(log), body: feedOf(log, 0, 1) })
  const cell = `"'=HYPERLINK(""http://evil"")"`
  t.match((await fileOf(hub, `/api/hub/sites/${siteId}/slots?format=csv`))[1], `,${cell},`)
  t.match((await fileOf(hub, `/api/hub/search?code=${encodeURIComponent(asset)}&format=csv`))[1], `,${cell},`)
})
