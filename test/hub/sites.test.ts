import t, { type Test } from 'tap'
import { problemsOf, standingOf } from '../../src/hub/ask/problems.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, signIn } from '../support/browser.ts'
import { askAs, fedSite, forkOf, headOffice } from '../support/head-office.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { screens } from '../support/screens.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const browser = await launchBrowser()
t.teardown(() => browser?.close())

const now = Date.parse('2026-03-02T08:01:00Z')
const fleet = {
  ...{ openAlerts: 0, cameras: { configured: 3, withoutPictures: 0 }, freeBytes: 50 * 1024 ** 3 },
  ...{ certificateUntil: '2026-05-02T08:00:00.000Z', backupAt: '2026-03-02T01:00:00.000Z', rehearsedAt: null },
  configHash: 'ab'.repeat(32),
}
const site = {
  state: 'live',
  health: 'healthy',
  lagSeconds: 60,
  leavesBehind: 0,
  unendedLogs: [],
  openAlerts: 0,
  differsIn: [],
  fleet,
} as const

t.test('a site shows what somebody should look after, before it fails', async (t) => {
  const kindsOf = (more: object) => problemsOf({ ...site, ...more }, now).map(({ kind, amount }) => `${kind} ${amount}`)
  const ofFleet = (more: object) => kindsOf({ fleet: { ...fleet, ...more } })
  t.same(kindsOf({}), [])
  t.same(kindsOf({ fleet: null, health: null }), [], 'of an older gateway nothing is known')
  t.same(kindsOf({ fleet: null, leavesBehind: 40 }), ['behind 40'])
  t.same(kindsOf({ state: 'forked', openAlerts: 1 }), ['forked 0', 'alerts 1'])
  t.same(kindsOf({ health: 'degraded' }), ['degraded 0'])
  t.same(kindsOf({ openAlerts: 2 }), ['alerts 2'], 'of an earlier log, too')
  t.same(kindsOf({ lagSeconds: 901 }), ['late 0'])
  t.same(kindsOf({ lagSeconds: null }), ['late 0'], 'never heard')
  t.same(kindsOf({ unendedLogs: ['one'] }), ['older-log 1'])
  t.same(kindsOf({ differsIn: ['auth', 'webhooks'] }), ['drift 2'])
  t.same(ofFleet({ certificateUntil: '2026-03-07T08:00:00Z' }), ['certificate 4'])
  t.same(ofFleet({ certificateUntil: '2026-03-01T08:00:00Z' }), ['certificate -2'])
  t.same(ofFleet({ backupAt: '2026-02-20T08:00:00Z' }), ['backup 10'])
  t.same(ofFleet({ backupAt: null }), ['unbacked 0'])
  t.same(ofFleet({ openAlerts: 3 }), ['gateway-alerts 3'])
  t.same(ofFleet({ freeBytes: 1024 ** 3, cameras: { configured: 3, withoutPictures: 2 } }), [
    'cameras 2',
    `disk ${1024 ** 3}`,
  ])
  t.same(
    kindsOf({ state: 'retired', fleet: { ...fleet, backupAt: null }, lagSeconds: 9999 }),
    [],
    'a closed one has none',
  )
  t.equal(standingOf({ ...site, state: 'forked', health: 'unhealthy' }), 'forked')
  t.equal(standingOf({ ...site, openAlerts: 1 }), 'degraded')
})

/** dc-8 of the region north has forked, dc-7 has no backup, dc-11 to dc-14 are well, but dc-14 is configured otherwise. */
async function fleetOfSites(t: Test) {
  const hub = await headOffice(t, postgres, {
    listens: true,
    hub: { regions: { north: ['dc-8', 'dc-11'], south: ['dc-7', 'dc-12', 'dc-14'] } },
  })
  for (const n of [11, 12, 13, 14]) await fedSite(hub, n, [['08:00', 'PLACED', 1, `P-${n}`]])
  t.equal(await forkOf(hub), 422)
  const say = (siteId: string, more: object) =>
    hub.rows('UPDATE log_head SET status = $1 WHERE log_id = (SELECT log_id FROM log WHERE site_id = $2)', [
      JSON.stringify({ health: 'healthy', version: '1.2.3', troubles: [], fleet: { ...fleet, ...more } }),
      siteId,
    ])
  const sections = { auth: 'a'.repeat(16) }
  for (const n of [7, 8, 11, 12, 13])
    await say(`dc-${n}`, { configSections: sections, ...(n === 7 && { backupAt: null }) })
  await say('dc-14', { configSections: { auth: 'b'.repeat(16) } })
  return hub
}

t.test('a list of sites has what was asked for, as JSON and as a file', async (t) => {
  const hub = await fleetOfSites(t)
  const listed = async (query: string, username?: string) => {
    const { status, body } = await askAs(hub, `/api/hub/sites?${query}`, username)
    const [, ...lines] = (await askAs(hub, `/api/hub/sites?${query}&format=csv`, username)).text.trimEnd().split('\r\n')
    const sites: string[] = body.data.map(({ siteId }: { siteId: string }) => siteId)
    t.same([status, lines.map((line) => line.split(',')[0])], [200, sites], `the file of ${query}`)
    return sites
  }
  t.same(await listed('show=trouble'), ['dc-14', 'dc-7', 'dc-8'], 'a fork, no backup, another config')
  t.same(await listed('show=trouble&region=south'), ['dc-14', 'dc-7'])
  t.same(await listed('show=drift'), ['dc-14'])
  t.same(await listed('show=forked'), ['dc-8'])
  t.same(await listed('show=well&region=north'), ['dc-11'])
  t.same(await listed('q=SITE%20DC-1&show=well'), ['dc-11', 'dc-12', 'dc-13', 'dc-14'])
  t.same(await listed('show=trouble', 'lars'), ['dc-8'])
  const { text } = await askAs(hub, '/api/hub/sites?show=trouble&format=csv')
  t.match(
    text,
    /^siteId,.*,standing,problems,offer.*\r\n.*,well,drift,,\r\n.*,well,unbacked,,\r\n.*,forked,forked alerts,,\r\n$/,
  )
  t.equal((await askAs(hub, '/api/hub/sites?show=odd')).status, 400)
})

t.test('the overview counts and saves the sites that it shows', inBrowser, async (t) => {
  const hub = await fleetOfSites(t)
  const { page } = await open(t, browser, hub.url, { ...screens.desktop, ignoreHTTPSErrors: true })
  await signIn(page, 'dora')
  const counts = page.getByRole('list', { name: 'Sites by state' })
  await counts.waitFor()
  t.same((await counts.innerText()).split('\n'), ['3 with a problem', '1 Fork', '5 Well'])
  await page.getByLabel('Region').selectOption('south')
  await page.getByText('3 of 6 sites').waitFor()
  t.same((await counts.innerText()).split('\n'), ['2 with a problem', '3 Well'])
  await counts.getByRole('button', { name: '2 with a problem' }).click()
  await page.getByText('2 of 6 sites').waitFor()
  const href = await page.getByRole('link', { name: 'File (CSV)' }).getAttribute('href')
  const lines = (await askAs(hub, href ?? '')).text.trimEnd().split('\r\n')
  t.same(
    lines.slice(1).map((line) => line.split(',')[0]),
    ['dc-14', 'dc-7'],
  )
  t.match(await page.locator('tbody').innerText(), /config differs from most in auth/)
})

t.test('the overview fits every screen', inBrowser, async (t) => {
  const hub = await fleetOfSites(t)
  await hub.rows(`UPDATE log_head SET witnessed_size = size + 40, size = 1234567`)
  for (const [name, screen] of Object.entries(screens)) {
    for (const locale of ['en-GB', 'de-DE']) {
      const { page } = await open(t, browser, hub.url, { ...screen, locale, ignoreHTTPSErrors: true })
      await page.locator('#username').fill('dora')
      await page.locator('#secret').fill('dora-secret')
      await page.keyboard.press('Enter')
      await page.locator('tbody tr').first().waitFor()
      const wider = await page.evaluate(
        `[document.documentElement, ...document.querySelectorAll('.scroller')].map((one) => one.scrollWidth - one.clientWidth)`,
      )
      t.same(wider, [0, 0], `${name} ${locale}`)
      t.same(await violations(page), [])
      await page.context().close()
    }
  }
})
