import type { Browser, Locator, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, record, signIn } from '../support/browser.ts'
import { furnish, heldPhoto, people, type TestGateway } from '../support/gateway.ts'
import { pictureOf, screens } from '../support/screens.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** Two slots with pallets that no one has registered: one was weighed, one has a GS1 label. */
async function unregistered(t: Parameters<typeof place>[0]): Promise<Place> {
  const made = await place(t, { ledger: { assets: 'registered' } })
  await furnish(made.gateway, ['A-1', 'A-2'])
  await record(made.gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P-9', scale_weight_kg: 412.5 })
  const photo_url = await heldPhoto(made.gateway, 2)
  const labelled = { slot_code: 'A-2', asset_barcode: '(01)04012345678901(10)L7', photo_url }
  await record(made.gateway, { event_type: 'PLACED', ...labelled })
  return made
}

const asset = async (gateway: TestGateway, code: string) =>
  (await gateway.ask('GET', `/api/whms/assets/${encodeURIComponent(code)}`, { by: people.ada })).body

const lineOf = (page: Page, slot: string) => page.getByRole('listitem').filter({ hasText: slot })
const openForm = (line: Locator) => line.getByRole('button', { name: 'Register it' }).click()

t.test('a pallet that no one has registered is registered from its line, and the line goes', inBrowser, async (t) => {
  const { gateway, url } = await unregistered(t)
  const { page, faults } = await open(t, browser, `${url}todo`)
  await signIn(page, 'ada')
  const line = lineOf(page, 'Slot A-1, Pallet P-9')
  await openForm(line)
  const weight = line.getByLabel('Weight in kg')
  await weight.waitFor()
  t.equal(await weight.inputValue(), '412.5', 'the weight of its placement is offered')
  await line.getByText('The scale said 412.5 kg when it was placed.').waitFor()
  await line.getByLabel('Type', { exact: true }).selectOption('container')
  await line.getByLabel('GTIN').fill('04012345678901')
  await line.getByLabel('Lot').fill('L 8')
  await line.getByLabel('Best before').fill('2027-03-01')
  await line.getByRole('button', { name: 'Register', exact: true }).click()
  await page.getByRole('status').getByText('P-9 is registered.').waitFor()
  await line.waitFor({ state: 'detached' })
  t.match(await asset(gateway, 'P-9'), {
    ...{ type: 'container', weight_kg: 412.5, gtin: '04012345678901', lot: 'L 8', bestBefore: '2027-03-01' },
    provisional: false,
  })
  const other = lineOf(page, 'Slot A-2')
  await openForm(other)
  await other.getByText('Its label says: GTIN 04012345678901, Lot L7.').waitFor()
  t.equal(await other.getByLabel(/GTIN|Lot/).count(), 0, 'what the label says is not asked for')
  await other.getByRole('button', { name: 'Register', exact: true }).click()
  await other.waitFor({ state: 'detached' })
  t.match(await asset(gateway, '(01)04012345678901(10)L7'), { type: 'pallet', weight_kg: null, lot: 'L7' })
  t.same(faults, [])
})

t.test('a mistake is said beside its field, and what was typed stays', inBrowser, async (t) => {
  const { gateway, url } = await unregistered(t)
  const { page } = await open(t, browser, `${url}todo`)
  await signIn(page, 'ada')
  const line = lineOf(page, 'Slot A-1, Pallet P-9')
  await openForm(line)
  const save = line.getByRole('button', { name: 'Register', exact: true })
  await line.getByLabel('GTIN').fill('04012345678900')
  await line.getByLabel('Lot').fill('L8')
  await line.getByLabel('Weight in kg').fill('1,200')
  await save.click()
  await line.getByText('Write a number from 0 to 100000').waitFor()
  t.equal((await asset(gateway, 'P-9')).provisional, true, 'a thousand with a comma is not read as 1')
  await line.getByLabel('Weight in kg').fill('1200,5')
  await save.click()
  await line.getByText('The last one is a check digit; it has to fit.').waitFor()
  await page.getByRole('alert').getByText('Not registered: look at the fields that are marked.').waitFor()
  t.equal(await line.getByLabel('GTIN').getAttribute('aria-invalid'), 'true')
  t.equal(await line.getByLabel('Lot').inputValue(), 'L8')
  t.equal(await line.getByLabel('Weight in kg').inputValue(), '1200,5')
  await page.getByLabel('Scan or type a pallet, slot or unit').fill('P-9')
  page.once('dialog', (dialog) => void dialog.dismiss())
  await page.getByRole('link', { name: 'Floor' }).first().click()
  t.match(page.url(), /\/todo$/, 'it is not left without a question')
  await line.getByLabel('GTIN').fill('04012345678901')
  const registered = { asset_id: 'P-9', type: 'drum' }
  t.equal((await gateway.ask('POST', '/api/whms/assets', { by: people.ada, body: registered })).status, 201)
  await save.click()
  await page.getByText('Somebody registered it meanwhile; nothing was changed.').waitFor()
  await line.waitFor({ state: 'detached' })
  t.match(await asset(gateway, 'P-9'), { type: 'drum', weight_kg: null })
})

t.test('who may not register is told who does, and gets no form', inBrowser, async (t) => {
  const { url } = await unregistered(t)
  const { page } = await open(t, browser, `${url}todo`)
  await signIn(page, 'sven')
  await lineOf(page, 'Slot A-1, Pallet P-9').getByText('An admin registers it with its type and weight.').waitFor()
  t.equal(await page.getByRole('button', { name: 'Register it' }).count(), 0)
  await page.goto(`${url}find/P-9`)
  await page.getByText(/^In A-1 since /).waitFor()
  t.equal(await page.getByRole('button', { name: 'Register it' }).count(), 0)
})

t.test('a code that is not registered, or never seen, is registered where it is looked up', inBrowser, async (t) => {
  const { gateway, url } = await unregistered(t)
  const { page, faults } = await open(t, browser, `${url}find/P-9`)
  await signIn(page, 'ada')
  await page.getByText('No one has registered it yet').waitFor()
  await page.getByRole('button', { name: 'Register it' }).click()
  await page.getByRole('button', { name: 'Register', exact: true }).click()
  await page.getByRole('status').getByText('P-9 is registered.').waitFor()
  await page.getByText('No one has registered it yet').waitFor({ state: 'detached' })
  await page.locator('.facts').getByText('Pallet', { exact: true }).waitFor()
  await page.goto(`${url}find/NEW-1`)
  await page.getByRole('heading', { name: 'Never seen here' }).waitFor()
  await page.getByRole('button', { name: 'Register it' }).click()
  await page.getByLabel('Type', { exact: true }).selectOption('drum')
  await page.getByLabel('Weight in kg').fill('80')
  await page.getByRole('button', { name: 'Register', exact: true }).click()
  await page.getByRole('heading', { name: 'Never seen here' }).waitFor({ state: 'detached' })
  await page.locator('.facts').getByText('Drum', { exact: true }).waitFor()
  t.match(await asset(gateway, 'NEW-1'), { type: 'drum', weight_kg: 80 })
  t.same(faults, [])
})

for (const [screen, context] of Object.entries(screens))
  t.test(`the form is for everybody, on a ${screen} and in German`, inBrowser, async (t) => {
    const { gateway, url } = await unregistered(t)
    const { page } = await open(t, browser, `${url}todo`, { ...context, locale: 'de-DE', reducedMotion: 'reduce' })
    await signIn(page, 'ada')
    const line = lineOf(page, 'Stellplatz A-1, Palette P-9')
    await line.getByRole('button', { name: 'Erfassen' }).click()
    const weight = line.getByLabel('Gewicht in kg')
    await weight.waitFor()
    t.equal(await weight.inputValue(), '412,5')
    await line.getByLabel('GTIN').fill('1')
    await line.getByRole('button', { name: 'Erfassen' }).last().click()
    await line.getByText('Die letzte ist eine Prüfziffer').waitFor()
    t.equal(await line.locator('[lang=en]').count(), 0, 'nothing of it is English')
    t.same(await violations(page), [])
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), context.viewport.width, 'not sideways')
    const path = pictureOf(`register ${screen}`)
    if (path !== undefined) await page.screenshot({ path, fullPage: true })
    await line.getByLabel('GTIN').fill('')
    await line.getByRole('button', { name: 'Erfassen' }).last().click()
    await page.getByRole('status').getByText('P-9 ist erfasst.').waitFor()
    t.match(await asset(gateway, 'P-9'), { weight_kg: 412.5 })
    await page.goto(`${url}find/NEU-1`)
    await page.getByRole('button', { name: 'Erfassen' }).click()
    await page.getByLabel('Gewicht in kg').waitFor()
    t.same(await violations(page), [])
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), context.viewport.width, 'not sideways')
    const other = pictureOf(`register-find ${screen}`)
    if (other !== undefined) await page.screenshot({ path: other, fullPage: true })
  })
