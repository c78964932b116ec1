import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, place, record, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { pictureOf, screens } from '../support/screens.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** English words that a German page would not have. */
const isEnglish = /\b(the|and|slot|pallet|loading|verified|not yet|nothing|camera)\b/i

/** The words of the page that are not marked as English. */
const germanOf = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const copy = document.body.cloneNode(true)
    for (const one of copy.querySelectorAll('[lang=en], script, noscript')) one.remove()
    const labels = [...copy.querySelectorAll('[aria-label], [placeholder], [title], [alt]')].flatMap((one) =>
      ['aria-label', 'placeholder', 'title', 'alt'].map((name) => one.getAttribute(name) ?? ''))
    return [copy.textContent, ...labels].join(' | ')
  })()`)

/** An expression for the page: the names of facts that are wider than their column. */
const longNames = `[...document.querySelectorAll('dt')]
  .filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent)`

t.test('a German browser finds the console in German, and keeps another choice', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-01-01', 'A-01-02'])
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'P-1', scale_weight_kg: 412.5 })
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-01-02', asset_barcode: 'P-1' })
  const { page, faults } = await open(t, browser, url, { ...screens.handheld, locale: 'de-AT' })
  const german = async (view: string) => {
    t.equal(await page.getAttribute('html', 'lang'), 'de')
    t.notMatch((await germanOf(page)).match(isEnglish)?.[0] ?? '', isEnglish, view)
    t.same(await violations(page), [], view)
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, `${view}: not sideways`)
    t.same(await page.evaluate(longNames), [], `${view}: no name of a fact runs into its value`)
    const path = pictureOf(`german ${view}`)
    if (path) await page.screenshot({ path, fullPage: true })
  }
  await page.getByRole('heading', { name: 'Anmelden' }).waitFor()
  await german('sign-in')
  await signIn(page, 'ada')
  await page.getByRole('heading', { name: 'Letzte Ereignisse' }).waitFor()
  await page.getByText('412,5 kg').waitFor()
  await page.getByText('die Palette steht laut Lagerbuch auf einem anderen Stellplatz').first().waitFor()
  const why = page.getByRole('cell', { name: /^sie wurde seither auf A-01-02 eingelagert/ })
  await why.waitFor()
  t.equal(await why.locator('[lang=en]').count(), 0)
  await german('floor')
  await page.goto(`${url}?slot=1`)
  await page.getByText('Zugelassen').waitFor()
  await german('slot')
  await page.locator('.views-menu summary').click()
  await page.getByRole('link', { name: 'Zu tun' }).click()
  await page.getByText('Stellplatz A-01-01, Palette P-1: sie wurde seither auf A-01-02 eingelagert').waitFor()
  await page.getByText('Nachsehen, auf welchem der beiden sie steht').waitFor()
  t.equal(await page.locator('main [lang=en]').count(), 0, 'the ledger’s contradictions are told in German')
  await german('to do')
  await page.goto(`${url}find/P-1`)
  await page.getByRole('heading', { name: '2 Bewegungen, neueste zuerst' }).waitFor()
  await page.getByText('Für A-01-02 ist keine eingerichtet').waitFor()
  await german('find')
  await page.goto(`${url}training`)
  await page.getByRole('button', { name: 'Einlagern' }).waitFor()
  await german('training')
  await page.getByRole('button', { name: 'Einlagern' }).click()
  await page.getByRole('button', { name: 'Speichern' }).waitFor()
  await german('a task')
  await page.goto(`${url}todo`)
  await page.locator('.views-menu summary').click()
  await german('menu')
  await page.getByLabel('Sprache').selectOption('en')
  await page.getByRole('heading', { name: 'To do' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'To do' }).waitFor()
  t.equal(await page.getAttribute('html', 'lang'), 'en')
  t.same(faults, [])
})

t.test('types of zones and goods, and kinds of devices, are German words on a German page', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  const send = (method: 'POST' | 'PUT', path: string, body: object) =>
    gateway.ask(method, `/api/${path}`, { by: people.ada, body })
  await furnish(gateway, ['S-1'], { constraints: { allowed_types: ['pallet'] } })
  await send('PUT', 'whms/slots/1', { constraints: { allowed_types: ['box', 'drum'] } })
  await send('POST', 'whms/assets', { asset_id: 'F-1', type: 'drum' })
  await record(gateway, { event_type: 'PLACED', slot_code: 'S-1', asset_barcode: 'F-1' })
  await send('POST', 'devices', { name: 'wand-1', kind: 'kiosk' })
  const { page } = await open(t, browser, `${url}?slot=1`, { locale: 'de-DE' })
  await signIn(page, 'ada')
  await page.getByText('S (Lagerung)').waitFor()
  await page.getByText('Kiste, Fass', { exact: true }).waitFor()
  await page.goto(`${url}find/F-1`)
  await page.getByText('Fass', { exact: true }).waitFor()
  await page.goto(`${url}devices`)
  await page.getByText(/^Wandbildschirm · /).waitFor()
  await page.goto(`${url}audit`)
  await page.getByText('Wandbildschirm', { exact: true }).waitFor()
  await page.getByText('Zugelassene Arten: Kiste, Fass').first().waitFor()
})

t.test('why a label or a slot of the plan is refused is marked as English on a German page', inBrowser, async (t) => {
  const { gateway, url } = await place(t, { printers: [{ name: 'dock-1', host: '127.0.0.1' }] })
  await furnish(gateway, ['A-01'])
  const { page } = await open(t, browser, `${url}labels`, { locale: 'de-DE' })
  await signIn(page, 'ada')
  await page.getByLabel('Bezeichnungen der Stellplätze').fill('Z-99')
  await page.getByRole('button', { name: 'Auf diesem Drucker drucken' }).click()
  const refused = page.getByRole('listitem').filter({ hasText: 'Z-99: ' })
  await refused.locator('[lang=en]').waitFor()
  await page.goto(`${url}plan`)
  await page.getByLabel('Von links').fill('3')
  await page.getByLabel('Von links').press('Enter')
  const error = { code: 'VALIDATION_ERROR', message: 'The slot is too narrow', details: null }
  await page.route('**/api/whms/slots/batch', (route) => route.fulfill({ status: 400, json: { error } }))
  await page.getByRole('button', { name: '1 Stellplatz speichern' }).click()
  await page.getByRole('alert').getByRole('listitem').locator('[lang=en]').getByText('The slot is too narrow').waitFor()
})
