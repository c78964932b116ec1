import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import t from 'tap'
import { referencesIn } from '../../src/console/page/data/incident-data.ts'
import { quickDays, spanOf } from '../../src/console/page/evidence/report-span.ts'
import { inBrowser, launchBrowser, open, type Place, place, record, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { lookAt } from '../support/look.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const incidents = '/api/governance/incidents'
const aPath = (path: string) => (url: URL) => url.pathname === path

/** A hall with a move, and an incident about it. */
async function damage(t: Parameters<typeof place>[0]): Promise<Place & { readonly id: number }> {
  const made = await place(t)
  await furnish(made.gateway, ['A-01-01'])
  await record(made.gateway, { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'P-1' })
  const body = {
    ...{ severity: 'high', category: 'damage', title: 'Crushed corner', description: 'Found at the morning round' },
    evidenceReferences: ['event:1', 'asset:P-1', 'the lorry driver has a photo'],
  }
  const { body: incident } = await made.gateway.ask('POST', incidents, { by: people.olga, body })
  return { ...made, id: incident.id }
}

t.test(
  'an incident is reported, investigated, packed and resolved, and its evidence is said to be kept',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t)
    await furnish(gateway, ['A-01-01'])
    await record(gateway, { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'P-1' })
    const { page, faults } = await open(t, browser, `${url}incidents`)
    await signIn(page, 'sven')
    await page.getByText('No incident was reported.').waitFor()
    await page.getByLabel('Category').fill('damage')
    await page.getByLabel('Title').fill('Crushed corner')
    await page.getByLabel('References, one a line').fill('event:1\n\nsomebody else’s paper')
    await page.getByRole('button', { name: 'Report it' }).press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Crushed corner' }).waitFor()
    await page.getByRole('link', { name: /^P-1 was placed in A-01-01/ }).waitFor()
    await page.getByText('The gateway keeps all of this').waitFor()
    await page.getByRole('button', { name: 'Start the investigation' }).press('Enter')
    await page.getByRole('button', { name: 'It starts now' }).press('Enter')
    await page.getByRole('region', { name: 'Timeline' }).getByText('Under investigation').waitFor()
    const [kept] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Make and download it' }).press('Enter'),
    ])
    await page.getByText(/is among your downloads|it is among/).waitFor()
    t.equal(
      readFileSync(await kept.path())
        .subarray(0, 4)
        .toString('latin1'),
      'PK\u0003\u0004',
      'a zip',
    )
    t.match(kept.suggestedFilename(), /\.zip$/)
    const resolve = page.getByRole('button', { name: 'Resolve it', exact: true })
    await resolve.press('Enter')
    await page.getByRole('button', { name: 'Resolve it for good' }).press('Enter')
    await page.getByText('Write the result first.').waitFor()
    await page.getByLabel('What is the result?').fill('repacked, 20 EUR')
    await resolve.press('Enter')
    await page.getByRole('button', { name: 'Resolve it for good' }).press('Enter')
    await page.getByText('retention applies again').waitFor()
    t.equal(await page.getByRole('button', { name: /Resolve|Start/ }).count(), 0)
    const { body } = await gateway.ask('GET', `${incidents}/1`, { by: people.ada })
    t.match(body, { status: 'resolved', resolution: 'repacked, 20 EUR', evidenceReferences: { length: 2 } })
    await page.getByRole('link', { name: 'All incidents' }).press('Enter')
    await page.getByLabel('Status').selectOption('open')
    await page.getByText('No incident matches.').waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Crushed corner' }).waitFor()
    t.same(faults, [])
  },
)

t.test('a package that cannot be made says why, and an operator is offered none', inBrowser, async (t) => {
  const { url, id } = await damage(t)
  const { page } = await open(t, browser, `${url}incidents/${id}`)
  await signIn(page, 'sven')
  const error = { code: 'PACKAGES_WAITING', message: 'Two packages are being made' }
  await page.route(aPath(`${incidents}/${id}/package`), (route) => route.fulfill({ status: 503, json: { error } }))
  await page.getByRole('button', { name: 'Make and download it' }).click()
  await page.getByText('It could not be made: Two packages are being made. Try again.').waitFor()
  const other = await open(t, browser, `${url}incidents/${id}`, { locale: 'de-DE' })
  await signIn(other.page, 'olga')
  await other.page.getByText('Found at the morning round').waitFor()
  t.match(await other.page.locator('main').innerText(), /P-1 wurde auf A-01-01 eingelagert/)
  t.equal(await other.page.getByRole('region', { name: 'Beweispaket' }).count(), 0)
  t.equal(await other.page.getByRole('button', { name: /Lösen|Untersuchung/ }).count(), 0)
})

t.test('incidents and reports can be read on every screen', inBrowser, async (t) => {
  const { gateway, url, id } = await damage(t)
  const span = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' }
  await gateway.ask('POST', '/api/governance/reports', { by: people.sven, body: span })
  const views = [
    { path: 'incidents', text: 'Crushed corner' },
    { path: `incidents/${id}`, text: 'Found at the morning round' },
    { path: 'reports', text: 'Made by sven' },
    { path: 'reports/1', text: 'The gateway signed all' },
  ]
  await lookAt(
    t,
    { browser, url, as: 'sven' },
    views.map(({ path, text }) => ({ path, ready: (page) => page.getByText(text).first().waitFor() })),
  )
})

t.test('a report of whole days is made by keyboard, and says how far it is secured', inBrowser, async (t) => {
  const { gateway, url } = await damage(t)
  const { page, faults } = await open(t, browser, `${url}reports`)
  await signIn(page, 'sven')
  await page.getByText('No report has been made yet.').waitFor()
  await page.getByLabel('Last day').fill('2026-03-01')
  await page.getByLabel('First day').fill('2026-03-02')
  await page.getByRole('button', { name: 'Make the report' }).press('Enter')
  await page.getByText('The last day is before the first one.').waitFor()
  t.equal(await page.getByLabel('First day').inputValue(), '2026-03-02', 'what was chosen is still there')
  await page.getByLabel('Last day').fill('2099-12-31')
  await page.getByRole('button', { name: 'Make the report' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Report 1' }).waitFor()
  await page.getByText('The gateway signed all').waitFor()
  await page.getByText('Nothing is known: the gateway has no record of that time.').waitFor()
  const { body } = await gateway.ask('GET', '/api/governance/reports/1', { by: people.ada })
  const { body: halls } = await gateway.ask('GET', '/api/whms/warehouses', { by: people.ada })
  const wanted = spanOf({ from: '2026-03-02', to: '2099-12-31' }, halls.data[0].timezone)
  t.same([Date.parse(body.from), Date.parse(body.to)], [Date.parse(wanted?.from ?? ''), Date.parse(wanted?.to ?? '')])
  const printed = page.context().waitForEvent('page')
  await page.getByRole('link', { name: 'Open the page to print' }).click()
  t.match(await (await printed).content(), /compliance report/i)
  await page.goBack()
  await page.getByRole('article', { name: 'Report 1' }).waitFor()
  t.same(faults, [])
  const german = await open(t, browser, `${url}reports/1`, { locale: 'de-DE' })
  await signIn(german.page, 'sven')
  const paper = german.page.context().waitForEvent('page')
  await german.page.getByRole('link', { name: 'Druckseite öffnen' }).click()
  await (await paper).getByRole('heading', { name: 'Compliance-Bericht 1' }).waitFor()
  const viewer = await open(t, browser, `${url}reports`)
  await signIn(viewer.page, 'olga')
  await viewer.page.getByText('More', { exact: true }).click()
  await viewer.page.getByRole('link', { name: 'Incidents' }).waitFor()
  t.equal(await viewer.page.getByRole('link', { name: 'Reports' }).count(), 0, 'an operator is not offered reports')
})

t.test('a quick choice of days is over: yesterday, seven days, the month before, by the calendar of the hall', (t) => {
  // 23:30 UTC on the last of February is already March in Berlin.
  const nowMs = Date.parse('2026-02-28T23:30:00Z')
  t.strictSame(quickDays('yesterday', nowMs, 'Europe/Berlin'), { from: '2026-02-28', to: '2026-02-28' })
  t.strictSame(quickDays('week', nowMs, 'Europe/Berlin'), { from: '2026-02-22', to: '2026-02-28' })
  t.strictSame(quickDays('month', nowMs, 'Europe/Berlin'), { from: '2026-02-01', to: '2026-02-28' })
  t.strictSame(quickDays('month', nowMs, 'UTC'), { from: '2026-01-01', to: '2026-01-31' })
  t.end()
})

t.test('the span of a day reaches from midnight to midnight of the hall, also when its clocks change', (t) => {
  t.strictSame(spanOf({ from: '2026-03-29', to: '2026-03-29' }, 'Europe/Berlin'), {
    from: '2026-03-28T23:00:00.000Z',
    to: '2026-03-29T22:00:00.000Z',
  })
  t.equal(spanOf({ from: '2026-03-30', to: '2026-03-29' }, 'UTC'), undefined)
  t.equal(spanOf({ from: '', to: '2026-03-29' }, 'UTC'), undefined)
  t.strictSame(referencesIn(' event:1 \n\nasset:P-1\n'), ['event:1', 'asset:P-1'])
  t.end()
})
