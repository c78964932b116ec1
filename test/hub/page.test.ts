import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { offersOf, pastedOf, runsOffered, type Site } from '../../src/console/page/hub/list.ts'
import { hubTexts } from '../../src/console/page/hub/texts.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, signIn as signInAs } from '../support/browser.ts'
import { fedSite, forkOf, headOffice } from '../support/head-office.ts'
import type { TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { pictureOf, screens, themes } from '../support/screens.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const browser = await launchBrowser()
t.teardown(() => browser?.close())

const secret = (username: string) => ({ username, secret: `${username}-secret` })

const signInTo = (hub: TestHub, body: object, type = 'application/json') =>
  hub.api.request('/api/session', { method: 'POST', headers: { 'Content-Type': type }, body: JSON.stringify(body) })

const cookieOf = (answer: Response) => answer.headers.get('set-cookie')?.split(';')[0] ?? ''

t.test('a page closes an alert only with the token of its session', async (t) => {
  const hub = await headOffice(t, postgres)
  t.equal(await forkOf(hub), 422)
  const [alert] = await hub.rows('SELECT log_id, alert_id FROM alert')
  const answer = await signInTo(hub, secret('adam'))
  const { csrfToken } = (await answer.json()) as { csrfToken: string }
  const close = (more: Record<string, string>) =>
    hub.ask('POST', `/api/hub/alerts/${alert?.['log_id']}/${alert?.['alert_id']}/close`, {
      headers: { cookie: cookieOf(answer), ...more },
    })
  t.equal((await close({})).status, 403, 'as a page of another origin would send it')
  t.same(await hub.rows('SELECT closed_at FROM alert'), [{ closed_at: null }])
  t.equal((await close({ 'X-CSRF-Token': csrfToken })).status, 204)
  t.same(await hub.rows('SELECT closed_by FROM alert'), [{ closed_by: 'adam@https://hub.example' }])
})

t.test('an account of the config signs in to the page and sees its own sites, until it signs out', async (t) => {
  const hub = await headOffice(t, postgres)
  const asked = (path: string, cookie: string, method = 'GET', more = {}) =>
    hub.ask(method, path, { headers: { cookie, ...more } })
  t.equal((await signInTo(hub, { username: 'lars', secret: 'no' })).status, 401)
  t.equal((await signInTo(hub, secret('lars'), 'text/plain')).status, 415, 'as a page of another origin could send it')
  const answer = await signInTo(hub, secret('lars'))
  t.equal(answer.status, 201)
  t.match(answer.headers.get('set-cookie'), /HttpOnly; SameSite=Strict/)
  const cookie = cookieOf(answer)
  const { csrfToken } = (await answer.json()) as { csrfToken: string }
  t.match((await asked('/api/session', cookie)).body, { siteId: 'head-office', caller: { username: 'lars' } })
  t.match((await asked('/api/hub/sites', cookie)).body.data, [{ siteId: 'dc-8' }])
  t.equal((await asked('/api/hub/sites', cookie)).body.data.length, 1)
  t.same(
    await hub.rows('SELECT 1 FROM page_session WHERE token_hash = $1', [Buffer.from(cookie.split('=')[1] ?? '')]),
    [],
  )
  t.equal((await asked('/api/session', cookie, 'DELETE')).status, 403, 'without the token against forgery')
  t.equal((await asked('/api/session', cookie, 'DELETE', { 'X-CSRF-Token': csrfToken })).status, 204)
  t.match((await asked('/api/session', cookie)).body, { caller: null, csrfToken: null })
  t.equal((await asked('/api/hub/sites', cookie)).status, 401)
})

t.test('a session ends twelve hours after its last use, and with the secret of its account', async (t) => {
  const hub = await headOffice(t, postgres)
  const cookie = cookieOf(await signInTo(hub, secret('dora')))
  const status = async () => (await hub.ask('GET', '/api/hub/sites', { headers: { cookie } })).status
  hub.clock.advance(11 * 3_600_000)
  t.equal(await status(), 200)
  hub.clock.advance(11 * 3_600_000)
  t.equal(await status(), 200, 'the last use counts')
  await hub.rows(`UPDATE page_session SET account_mark = '\\x00'`)
  t.equal(await status(), 401, 'of another secret')
  const next = cookieOf(await signInTo(hub, secret('dora')))
  hub.clock.advance(12 * 3_600_000)
  t.equal((await hub.ask('GET', '/api/hub/sites', { headers: { cookie: next } })).status, 401)
  const count = async () => (await hub.rows('SELECT count(*)::int AS n FROM page_session'))[0]?.['n']
  const before = await count()
  await signInTo(hub, secret('dora'))
  t.equal(await count(), before, 'a new one takes the row of one that is over')
  await hub.rows(
    `INSERT INTO page_session (token_hash, instance, username, account_mark, made_at, expires_at)
     SELECT sha256(n::text::bytea), 'https://hub.example', 'lars', '', $1, $2 FROM generate_series(1, 200) n`,
    [new Date(hub.clock.now() - 1), new Date(hub.clock.now() + 3_600_000)],
  )
  await signInTo(hub, secret('lars'))
  const ofLars = await hub.rows(`SELECT count(*)::int AS n FROM page_session WHERE username = 'lars'`)
  t.same(ofLars, [{ n: 200 }], 'and no account piles them up')
})

t.test('whoever guesses sessions is told to wait before one is looked up', async (t) => {
  const hub = await headOffice(t, postgres)
  const right = cookieOf(await signInTo(hub, secret('dora')))
  const wrong = right.replace(/=.*/, `=${'A'.repeat(43)}`)
  const statusOf = async (path: string, cookie: string) => (await hub.ask('GET', path, { headers: { cookie } })).status
  const statuses = new Set<number>()
  for (let i = 0; i < 60; i += 1) statuses.add(await statusOf('/api/hub/sites', wrong))
  t.same([...statuses], [401])
  t.equal(await statusOf('/api/hub/sites', wrong), 429, 'it is not looked up')
  t.equal(await statusOf('/api/hub/sites', right), 200, 'the session of a colleague behind the same address')
  for (let i = 0; i < 120; i += 1) statuses.add(await statusOf('/api/session', wrong))
  t.same([...statuses], [401, 200])
  t.equal(await statusOf('/api/session', wrong), 429)
  hub.clock.advance(60_000)
  t.equal(await statusOf('/api/hub/sites', right), 200)
})

t.test('the page and its files are for everybody, and run only what the head office serves', async (t) => {
  const hub = await headOffice(t, postgres)
  for (const path of [
    '/',
    '/find?code=P-1',
    '/recall',
    '/alerts',
    '/sites/dc-7',
    '/logs/0190a5c4-3c00-7000-8000-000000000007',
  ]) {
    const page = await hub.ask('GET', path)
    t.equal(page.status, 200, path)
    t.match(page.headers.get('content-security-policy'), /default-src 'none'; script-src 'self'/)
    t.notMatch(page.headers.get('content-security-policy'), /unsafe|wasm/)
    for (const [, file = ''] of page.text.matchAll(/"(\/assets\/[^"]+)"/g)) {
      t.match((await hub.ask('GET', file)).headers.get('cache-control'), /immutable/, file)
    }
  }
  t.equal((await hub.ask('GET', '/assets/none.js')).status, 404)
})

/** So many sites that have never been asked for anything: straight into the tables. */
async function manySites(hub: TestHub, count: number): Promise<void> {
  await hub.rows(
    `INSERT INTO site (site_id, name) SELECT 'far-' || n, 'Far ' || n FROM generate_series(1, $1::int) n`,
    [count],
  )
  await hub.rows(
    `INSERT INTO log (log_id, site_id, origin, vkeys, enrolled_at)
     SELECT ('0190a5c4-3c00-7000-9000-' || lpad(n::text, 12, '0'))::uuid, 'far-' || n, 'far-' || n, '{}', $2 FROM generate_series(1, $1::int) n`,
    [count, new Date(hub.clock.now())],
  )
  await hub.rows(
    `INSERT INTO log_head (log_id, size, fed_at, status) SELECT log_id, 5, $1, '{"health": "healthy", "version": "1.2.3"}' FROM log
     WHERE site_id LIKE 'far-%'`,
    [new Date(hub.clock.now())],
  )
}

const fleet = {
  ...{ openAlerts: 0, cameras: { configured: 3, withoutPictures: 0 }, freeBytes: 50 * 1024 ** 3 },
  ...{ certificateUntil: '2026-05-02T08:00:00.000Z', backupAt: null, rehearsedAt: null, configHash: 'ab'.repeat(32) },
}

t.test('an address that is none says so to a browser, with the way to the sites', inBrowser, async (t) => {
  const hub = await headOffice(t, postgres, { listens: true })
  const get = (path: string, Accept: string) => hub.ask('GET', path, { headers: { Accept } })
  t.match(await get('/nowhere', 'application/json'), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  t.match(await get('/api/nowhere', 'text/html'), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  const { page } = await open(t, browser, `${hub.url}/todo`, { ignoreHTTPSErrors: true, locale: 'de-DE' })
  await signInAs(page, 'dora')
  await page.getByRole('heading', { name: 'Diese Seite gibt es nicht' }).waitFor()
  await page.getByText('/todo').waitFor()
  t.same(await violations(page), [])
  await page.getByRole('link', { name: 'Zur Liste der Standorte' }).click()
  await page.getByText('2 Standorte', { exact: true }).waitFor()
})

t.test('the page says which sites are not ready for the next step of an offer, the first five by name', async (t) => {
  const site = (
    name: string,
    offered: string | null,
    offerState: Site['offerState'],
    offerWaits = true,
    version = '1.2.0',
  ) => ({ name, offered, offerState, offerWaits, version }) as Site
  const runs = site('Hall 1', '1.3.0', 'runs', false, '1.3.0')
  const [offer] = offersOf([
    site('Hall 0', null, null, false),
    ...[runs, site('Hall 2', '1.3.0', 'failed'), site('Hall 3', '1.3.0', 'undecided')],
    site('Hall 4', '1.3.0', 'runs', false, '1.10.0'),
  ])
  t.match(offer, { version: '1.3.0', sites: 4, running: 1 }, 'one that runs a newer version does not run this one')
  const unheard = { ...site('Hall 4', '1.3.0', 'silent'), version: '1.3.0' }
  t.same([runs, unheard, site('Hall 2', '1.3.0', 'failed'), site('Hall 0', null, null)].map(runsOffered), [
    ...[true, true, false, false],
  ])
  t.match(offersOf([runs, site('Hall 2', '1.3.0', 'failed', false)]), [{ waitsFor: { length: 0 } }], 'the last stage')
  t.equal(
    hubTexts.sites.offerWaits(offer?.waitsFor ?? []),
    'Not ready for the next step: Hall 2 could not install it, Hall 3 has not installed it yet.',
  )
  const silent = Array.from({ length: 1200 }, (_, n) => ({ name: `Hall ${n}`, state: 'silent' as const }))
  t.match(hubTexts.sites.offerWaits(silent), /Hall 4 is out of contact, 1195 more\.$/)
})

t.test('a list that is pasted into a spreadsheet stays text', async (t) => {
  t.equal(pastedOf([['dc-7', '=1+1', 'A\t1', '-2']]), "dc-7\t'=1+1\tA 1\t'-2")
})

const shot = async (page: Page, name: string) => {
  const path = pictureOf(name)
  if (path) await page.screenshot({ path, fullPage: true })
}

async function signInAt(page: Page, username: string): Promise<void> {
  await page.getByLabel('User name').fill(username)
  await page.getByLabel('Secret', { exact: true }).fill(`${username}-secret`)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

t.test('a thousand sites are readable, and a pallet, a lot and a floor are found among them', inBrowser, async (t) => {
  const hub = await headOffice(t, postgres, { listens: true })
  const soup = { gtin: '00012345678905' }
  const moves = [1, 2, 3].map((n) => ['12:00', 'PLACED', n, `S-${n}`] as const)
  await fedSite(hub, 11, moves, {
    assets: [
      { key: 'S-1', ...soup, lot: 'L-7731' },
      { key: 'S-2', ...soup, lot: 'L-5' },
      { key: 'S-3', lot: 'L-5' },
    ],
  })
  await manySites(hub, 999)
  t.equal(await forkOf(hub), 422)
  await hub.rows(`UPDATE log_head SET status = $1 WHERE log_id IN (SELECT log_id FROM log WHERE site_id = 'dc-7')`, [
    JSON.stringify({ health: 'healthy', version: '1.2.3', fleet }),
  ])
  const { page, faults } = await open(t, browser, `${hub.url}/`, { ...screens.desktop, ignoreHTTPSErrors: true })
  await shot(page, 'hub-sign-in')
  await signInAt(page, 'dora')
  const rows = page.locator('tbody tr')
  await page.getByText('1,002 sites', { exact: true }).waitFor()
  t.equal(await rows.count(), 50, 'a page of them')
  t.match(await rows.first().innerText(), /Fork[\s\S]*Site dc-8|Fork[\s\S]*dc-8/, 'the fork comes first')
  t.match(await page.getByRole('alert').innerText(), /1 site has shown two histories/)
  t.match(await page.getByRole('row', { name: 'Site dc-7' }).innerText(), /no backup/)
  t.same(await violations(page), [])
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme })
    await shot(page, `hub-sites-${colorScheme}`)
  }
  await filterSites(t, page)
  await page.getByLabel('Site or version').fill('far 77')
  await page.getByText('11 of 1,002 sites').waitFor()
  await page.getByRole('button', { name: 'Sort by Site' }).click()
  await page.getByRole('button', { name: 'Sort by Site' }).click()
  t.match(await rows.first().innerText(), /Far 779/)
  t.match(page.url(), /q=far\+77.*down=1|down=1.*q=far\+77/, 'the address can be shared')
  // As in a tab that was opened in the background.
  await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })`)
  await page.getByRole('link', { name: 'Find' }).click()
  await page.getByLabel('Barcode or SSCC').fill('P-2')
  await page.keyboard.press('Enter')
  await page.getByText('In two places').waitFor()
  // 08:10 UTC, by the clock of the site in Berlin.
  await page.getByRole('region', { name: 'From site to site' }).getByText('9:10').waitFor()
  await page.evaluate('delete document.hidden')
  t.match(await page.getByRole('region', { name: 'From site to site' }).innerText(), /dc-8[\s\S]*dc-7/)
  await shot(page, 'hub-find')
  t.same(await violations(page), [])
  await recallAndFloor(t, page)
  t.match(faults, [/400 \(Bad Request\)/, /400 \(Bad Request\)/], 'the wrong GTIN, the wrong lot and nothing else')
  t.equal(faults.length, 2)
})

async function filterSites(t: Test, page: Page): Promise<void> {
  const counts = page.getByRole('list', { name: 'Sites by state' })
  t.match(await counts.innerText(), /1 Fork[\s\S]*1 Reports no state[\s\S]*1,000 Well/)
  await counts.getByRole('button', { name: '1 Fork', pressed: false }).click()
  await page.getByText('1 of 1,002 sites').waitFor()
  await counts.getByRole('button', { name: '1 Fork', pressed: true }).click()
  await page.getByText('1,002 sites', { exact: true }).waitFor()
  await page.getByLabel('Region').selectOption('north')
  await page.getByText('1 of 1,002 sites').waitFor()
  t.match(page.url(), /region=north/)
  await page.getByLabel('Region').selectOption('')
  await page.getByText('1,002 sites', { exact: true }).waitFor()
}

async function recallAndFloor(t: Test, page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Recall' }).click()
  await page.getByLabel('GTIN').fill('09521234543214')
  await page.getByRole('button', { name: 'List pallets' }).click()
  await page.getByText('This GTIN is not right').waitFor()
  t.equal(await page.getByLabel('GTIN').inputValue(), '09521234543214', 'what was typed stays')
  await page.goto(new URL(`/recall?lot=${'L'.repeat(91)}`, page.url()).href)
  await page.getByText('This lot is not right: 90 characters at most.').waitFor()
  t.equal(await page.getByText('GTIN is not right').count(), 0, 'which was not asked for')
  await page.getByLabel('GTIN').fill('')
  await page.getByLabel('Lot').fill('')
  await page.getByRole('button', { name: 'List pallets' }).click()
  await page.getByText('Type a lot, a GTIN, or both.').waitFor()
  await page.getByLabel('Lot').fill('L-7731')
  await page.getByRole('button', { name: 'List pallets' }).click()
  await page.getByText('3 pallets at 3 sites, 1 taken out').waitFor()
  await page.getByText('2 items have this lot number').waitFor()
  const juice = page.getByRole('region', { name: 'GTIN 09521234543213' })
  t.match(await juice.innerText(), /2 pallets at 2 sites, 1 taken out[\s\S]*P-2[\s\S]*P-1/)
  t.match(await page.getByRole('region', { name: 'GTIN 00012345678905' }).innerText(), /S-1/)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'File (CSV)' }).click(),
  ])
  t.equal(download.suggestedFilename(), 'recall.csv')
  await shot(page, 'hub-recall')
  t.same(await violations(page), [])
  await printedRecall(t, page)
  await page.goto(new URL('/recall?lot=L-5', page.url()).href)
  await page.getByRole('region', { name: 'Item not known' }).waitFor()
  t.equal(await page.getByText('have this lot number').count(), 0, 'what is not known is no second item')
  await page.goto(new URL('/sites/dc-7?at=2026-03-02T08:30:00Z', page.url()).href)
  await page.getByText('3 of 3 known slots taken').waitFor()
  t.match(await page.locator('tbody').innerText(), /A-01\s+P-1/)
  t.match(await page.getByRole('region', { name: 'Its gateway' }).innerText(), /0 of 3[\s\S]*50 GiB[\s\S]*abababab/)
  await shot(page, 'hub-floor-then')
  await page.getByRole('link', { name: 'Now' }).click()
  await page.getByText('2 of 3 known slots taken').waitFor()
  t.same(await violations(page), [])
}

/** On paper the list is alone: no navigation, nothing to fill in or to press. */
async function printedRecall(t: Test, page: Page): Promise<void> {
  const onScreen = [
    page.getByRole('link', { name: 'Recall' }),
    page.getByLabel('Lot'),
    page.getByRole('button', { name: 'Print' }),
  ]
  const areSeen = () => Promise.all(onScreen.map((element) => element.isVisible()))
  t.same(await areSeen(), [true, true, true])
  await page.emulateMedia({ media: 'print' })
  t.same(await areSeen(), [false, false, false], 'on paper')
  t.ok(await page.getByRole('region', { name: 'GTIN 00012345678905' }).isVisible())
  await page.emulateMedia({ media: 'screen' })
}

t.test(
  'the floor of a site is shown with slots in which nothing has ever been, and says that it is asked for',
  inBrowser,
  async (t) => {
    const hub = await headOffice(t, postgres, { listens: true })
    const slot = { zone: 'A', warehouse: 'Hall 19', isRetired: false }
    const slots = [1, 2].map((id) => ({ ...slot, id, code: `A-0${id}` }))
    await fedSite(hub, 19, [['08:00', 'PLACED', 1, 'P-9']], { slots })
    const { page, faults } = await open(t, browser, `${hub.url}/sites/dc-19`, { ignoreHTTPSErrors: true })
    const asked = Promise.withResolvers<void>()
    await page.route('**/api/hub/sites/dc-19/slots', async (route) => {
      await asked.promise
      await route.continue()
    })
    await page.getByLabel('User name').fill('dora')
    await page.getByLabel('Secret', { exact: true }).fill('dora-secret')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Asking the head office').waitFor()
    asked.resolve()
    await page.getByText('1 of 2 known slots taken').waitFor()
    t.match(await page.locator('tbody').innerText(), /A-01\s+P-9[\s\S]*A-02\s+empty\s+–/)
    t.equal(await page.getByText('Asking the head office').count(), 0)
    t.same(faults, [])
  },
)

t.test('an auditor takes the proof of a move from the trail', inBrowser, async (t) => {
  const hub = await headOffice(t, postgres, { listens: true })
  const { page, faults } = await open(t, browser, `${hub.url}/find?code=P-3`, { ignoreHTTPSErrors: true })
  await page.getByLabel('User name').fill('sven')
  await page.getByLabel('Secret', { exact: true }).fill('sven-secret')
  await page.getByRole('button', { name: 'Sign in' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'log entry 6 with its proof' }).click(),
  ])
  t.equal(download.suggestedFilename(), 'leaf-6.proof.json')
  t.same(faults, [])
})

t.test('the page speaks German to a browser that does, also on a phone', inBrowser, async (t) => {
  const hub = await headOffice(t, postgres, { listens: true })
  t.equal(await forkOf(hub), 422)
  const context = { ...screens.handheld, ignoreHTTPSErrors: true, locale: 'de-DE' }
  const { page, faults } = await open(t, browser, `${hub.url}/alerts`, context)
  await page.getByLabel('Benutzername').fill('dora')
  await page.getByLabel('Geheimnis').fill('dora-secret')
  await page.getByRole('button', { name: 'Anmelden' }).click()
  await page.getByText('Das Log zeigt zwei Verläufe').waitFor()
  t.equal(await page.locator('html').getAttribute('lang'), 'de')
  await shot(page, 'hub-alerts-de')
  await page.getByRole('link', { name: 'Standorte' }).click()
  await page.getByText('2 Standorte', { exact: true }).waitFor()
  await shot(page, 'hub-sites-de')
  t.same(await violations(page), [])
  t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, 'nothing is cut off')
  t.same(faults, [])
})
