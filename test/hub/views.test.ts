import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open } from '../support/browser.ts'
import { cheapHash } from '../support/gateway.ts'
import { fedSite, forkOf, headOffice, story } from '../support/head-office.ts'
import { type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { screens } from '../support/screens.ts'

t.setTimeout(300_000)
fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const browser = await launchBrowser()
t.teardown(() => browser?.close())

const truck = '095201234567891235'
const dora = { username: 'dora', role: 'admin', secretHash: cheapHash('dora-secret') }

const looks = {
  'a desktop': { ...screens.desktop },
  'a tablet in the dark': { ...screens.tablet, colorScheme: 'dark' },
  'a phone in German and in the dark': { ...screens.handheld, locale: 'de-DE', colorScheme: 'dark' },
} as const

async function signedIn(t: Test, hub: TestHub, context: object): Promise<Page> {
  const { page } = await open(t, browser, hub.url, { reducedMotion: 'reduce', ...context, ignoreHTTPSErrors: true })
  await page.locator('#username').waitFor()
  t.same(await violations(page), [], 'sign-in')
  await page.locator('#username').fill('dora')
  await page.locator('#secret').fill('dora-secret')
  await page.keyboard.press('Enter')
  await page.locator('.hub-head').waitFor()
  return page
}

/**
 * A pallet is on its way from dc-12 to dc-13, which expects it. Another is in two places. A lot has two items. There is a fork, and
 * a box without a backup.
 */
async function busyOffice(t: Test): Promise<TestHub> {
  const hub = await headOffice(t, postgres, { listens: true, users: [dora] })
  const label = { key: truck, sscc: truck, gtin: '00012345678905', lot: 'L-7731' }
  const steps = [['09:10', { unitId: 'u-1', toStage: 'departed', direction: 'outbound', reference: 'LKW-7' }]] as const
  await fedSite(
    hub,
    12,
    [
      ['08:00', 'PLACED', 1, truck],
      ['09:00', 'REMOVED', 1, truck],
    ],
    { assets: [label], steps },
  )
  t.equal(await forkOf(hub), 422)
  const [alerts, cameras] = [
    [{ kind: 'backup.failed', at: '2026-03-02T07:00:00.000Z' }],
    { configured: 12, withoutPictures: 2 },
  ]
  const times = { certificateUntil: '2026-03-09T00:00:00.000Z', backupAt: null, rehearsedAt: null }
  const fleet = { openAlerts: 1, alerts, cameras, freeBytes: 1.2e9, ...times, configHash: 'ab'.repeat(32) }
  await hub.rows(`UPDATE log_head SET status = $1 WHERE log_id = $2`, [
    JSON.stringify({ health: 'degraded', version: '1.2.3', fleet }),
    story['dc-7']?.logId,
  ])
  return hub
}

const views = [
  ...['/', '/?q=none', '/find?code=P-2', `/find?code=${truck}`, '/find?code=none'],
  ...['/recall', '/recall?lot=L-7731', '/recall?lot=none', '/recall?gtin=1', '/alerts'],
  ...['/sites/dc-7', '/sites/dc-8', '/sites/dc-7?at=2026-03-01T00:00:00Z', '/sites/none'],
  ...[`/logs/${story['dc-7']?.logId}`, `/logs/${story['dc-8']?.logId}`, '/logs/none'],
]

for (const [screen, context] of Object.entries(looks)) {
  t.test(`no view on ${screen} keeps anybody out, or is wider than the screen`, inBrowser, async (t) => {
    const hub = await busyOffice(t)
    const page = await signedIn(t, hub, context)
    for (const view of views) {
      await page.goto(hub.url + view)
      await page.locator('h1').waitFor()
      await page.waitForLoadState('networkidle')
      t.equal(await page.getByRole('heading', { level: 1 }).count(), 1, `${view} has one main heading`)
      t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, `${view} fits`)
      t.same(await violations(page), [], view)
    }
  })
}

t.test('where there is nothing to show, a view says what to do next', inBrowser, async (t) => {
  const [empty, busy] = [await testHub(t, postgres, { listens: true, users: [dora] }), await busyOffice(t)]
  await busy.rows(`INSERT INTO site (site_id, name) VALUES ('new', 'New hall')`)
  await busy.rows(
    `INSERT INTO log (log_id, site_id, origin, vkeys, enrolled_at) VALUES ('0190a5c4-3c00-7000-8000-0000000000aa', 'new', 'new', '{}', now())`,
  )
  await busy.rows(`INSERT INTO log_head (log_id) VALUES ('0190a5c4-3c00-7000-8000-0000000000aa')`)
  const cases: [TestHub, string, RegExp][] = [
    [empty, '/', /gatehouse hub enrol --site ID/],
    [empty, '/alerts', /nothing to do/],
    [empty, '/find?code=X', /Compare it with the label.*Which sites are out of contact/],
    [empty, '/recall?lot=7731', /knows a pallet of lot 7731. Compare it with the label/],
    [busy, '/?q=none', /No site matches. Show all sites/],
    [busy, '/recall?gtin=09521234543220', /ask by the lot alone/],
    [
      busy,
      '/recall?lot=none',
      /2 sites are not up to date.*: Site dc-8 \(a fork: .*\), New hall \(never in contact\)\./,
    ],
    [busy, '/sites/new', /run “gatehouse status” on its gateway/],
    [busy, '/sites/dc-7?at=2026-03-01T00:00:00Z', /Choose a later time, or “Now”/],
    [busy, '/sites/none', /you may not see it. To the list of sites/],
    [busy, '/logs/none', /you may not see it. To the list of sites/],
    [busy, '/logs/0190a5c4-3c00-7000-8000-0000000000aa', /signed nothing here yet.*gatehouse status/],
  ]
  const pages = new Map<TestHub, Page>()
  for (const [hub, path, next] of cases) {
    const page = pages.get(hub) ?? (await signedIn(t, hub, screens.desktop))
    pages.set(hub, page)
    await page.goto(hub.url + path)
    await page.getByText(next).first().waitFor({ timeout: 10_000 })
    t.pass(path)
  }
  const page = pages.get(busy) as Page
  await page.goto(`${busy.url}/?q=none`)
  await page.getByRole('link', { name: 'Show all sites' }).click()
  await page.getByText('4 sites', { exact: true }).waitFor()
  t.equal(await page.getByLabel('Site or version').inputValue(), '')
})

t.test('a pallet is on its way to the site that expects it, and one in two places has both', inBrowser, async (t) => {
  const hub = await busyOffice(t)
  const page = await signedIn(t, hub, screens.desktop)
  const verdict = page.locator('.hub-verdict')
  const saysOf = async (code: string, says: RegExp) => {
    await page.goto(`${hub.url}/find?code=${code}`)
    await verdict.getByText(says).waitFor({ timeout: 10_000 })
    t.pass(await verdict.innerText())
  }
  await saysOf(
    truck,
    /^On its way from Site dc-12, with the transport unit LKW-7, whose last step was on 2 Mar 2026, 10:10/,
  )
  await fedSite(hub, 13, [], {
    steps: [['09:20', { unitId: 'u-2', toStage: 'planned', direction: 'inbound', reference: 'IN-2' }]],
  })
  await saysOf(truck, /^On its way from Site dc-12 to Site dc-13, with the transport unit IN-2/)
  await saysOf('P-2', /^In two places: Site dc-8, slot A-02 and Site dc-7, slot A-02\. It was placed/)
  await saysOf('P-1', /^It is at Site dc-8, slot A-01\./)
})
