import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { furnish } from '../support/gateway.ts'
import { pictureOf, screens } from '../support/screens.ts'

t.setTimeout(120_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const events = '**/api/whms/events?*'

/** Answers with an event of which nothing is said, which no view can draw. */
const breakEvents = (page: Page) =>
  page.route(events, (route) => route.fulfill({ json: { success: true, data: [{ id: 1 }], pagination: { total: 1 } } }))

const notice = (page: Page) => page.getByRole('alert').filter({ has: page.locator('code') })

t.test('a page of which a part cannot be drawn says so, with a way on, and stays as it was', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-01-01'])
  for (const [screen, context] of Object.entries(screens)) {
    const { page, faults } = await open(t, browser, url, context)
    await breakEvents(page)
    await signIn(page, 'vera')
    await notice(page).getByText('A part of this page could not be drawn').waitFor()
    t.match(await notice(page).locator('code').innerText(), /undefined/, 'what the program said')
    t.match(faults[0] ?? '', /undefined/, 'and the browser is told, as of any other error')
    t.equal(await notice(page).count(), 1, 'once')
    t.equal(await notice(page).getByRole('link').count(), 0, 'this is the first page')
    await page.getByRole('banner').waitFor()
    t.same(await violations(page), [], screen)
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth'),
      context.viewport.width,
      `${screen}: not sideways`,
    )
    const path = pictureOf(`undrawn ${screen}`)
    if (path !== undefined) await page.screenshot({ path })
    await page.unroute(events)
    await page.getByRole('button', { name: 'Load the page again' }).click()
    await page.getByRole('button', { name: 'Slot A-01-01, zone' }).waitFor()
    t.equal(await notice(page).count(), 0)
    await page.context().close()
  }
})

t.test('the notice is in the language of the page, and leads to the first one from any other', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page } = await open(t, browser, `${url}todo`, { locale: 'de-DE' })
  await page.route('**/api/whms/discrepancies', (route) => route.fulfill({ json: { success: true, data: [{}] } }))
  await signIn(page, 'vera')
  await notice(page).getByText('undefined').waitFor()
  t.same(await notice(page).locator('code').getAttribute('lang'), 'en')
  await page.getByRole('button', { name: 'Seite neu laden' }).waitFor()
  await notice(page).getByRole('link', { name: 'Zur ersten Seite' }).click()
  await page.waitForURL(url)
})

t.test(
  'a screen on the wall, where nobody presses anything, loads its page again after a minute',
  inBrowser,
  async (t) => {
    const { url } = await place(t)
    const { page } = await open(t, browser, 'about:blank')
    await page.clock.install()
    let isBroken = true
    await page.route('**/api/device-pairings', (route) =>
      isBroken ? route.fulfill({ json: { success: true } }) : route.continue(),
    )
    await page.goto(`${url}wall`)
    await notice(page).getByText('It loads again in a minute.').waitFor()
    t.equal(await notice(page).getByRole('button').count(), 0)
    await page.clock.runFor(50_000)
    t.equal(await notice(page).count(), 1)
    isBroken = false
    const loaded = page.waitForEvent('load')
    await page.clock.runFor(10_000)
    await loaded
    await page.locator('.wall-pairing').waitFor()
    t.equal(await notice(page).count(), 0)
    isBroken = true
    await page.route(/undrawn/, (route) => route.abort())
    const broken = page.waitForEvent('pageerror')
    await page.reload()
    await broken
    const again = page.waitForEvent('load')
    await page.clock.runFor(60_000)
    await again
    t.equal(await notice(page).count(), 0, 'also where the notice cannot be fetched')
  },
)
