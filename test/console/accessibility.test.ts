import BetterSqlite3 from 'better-sqlite3'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, place, record, signIn, slot } from '../support/browser.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import { build, halls } from '../support/halls.ts'
import { eventually } from '../support/waiting.ts'

t.setTimeout(400_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** A theme changes the colors alone, whatever the shape of the screen, so that the tablet is looked at in the light only. */
const screens: Record<string, { readonly context: BrowserContextOptions; readonly isDarkToo?: true }> = {
  desktop: { context: { viewport: { width: 1280, height: 800 } }, isDarkToo: true },
  tablet: { context: { viewport: { width: 800, height: 1280 }, hasTouch: true } },
  handheld: {
    context: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
    isDarkToo: true,
  },
}

/** Alerts, webhooks that work and that do not, cameras in trouble, events with warnings and notes. */
async function furnish(gateway: TestGateway, t: { teardown(work: () => unknown): void }): Promise<void> {
  const [hall] = halls
  if (hall) await build(gateway, hall)
  const judged = { slot_code: '002-02', asset_barcode: 'P-002-02', verification_notes: 'wrong & wet' }
  await record(gateway, { event_type: 'DISPUTED', ...judged }, people.sven)
  for (const body of [{}, { active: false }]) {
    const webhook = { url: 'https://erp.example.com/hooks', secret: 'a secret of sixteen or more', ...body }
    await gateway.ask('POST', '/api/webhooks', { by: people.ada, body: { ...webhook, events: ['whms.placement'] } })
  }
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  t.teardown(() => db.close())
  db.exec(
    `INSERT INTO alert (kind, subject, message, created_at_ms) VALUES ('webhook.failing', 'x', 'erp.example.com does not answer', 1)`,
  )
}

const cameras = [
  { id: 1, url: 'rtsp://127.0.0.1:9/main' },
  { id: 2, url: 'rtsp://127.0.0.1:9/main', enabled: false },
]

for (const [screen, { context, isDarkToo }] of Object.entries(screens)) {
  t.test(`nobody is kept out: no view on a ${screen} has anything that axe finds`, inBrowser, async (t) => {
    const { gateway, url } = await place(t, { cameras })
    await furnish(gateway, t)
    const { page } = await open(t, browser, url, { reducedMotion: 'reduce', ...context })
    const look = async (view: string) => {
      t.equal(await page.getByRole('heading', { level: 1 }).count(), 1, `${view} has one main heading`)
      t.same(await violations(page), [], view)
      if (!isDarkToo) return
      await page.emulateMedia({ colorScheme: 'dark' })
      t.same(await violations(page), [], `${view} in the dark`)
      await page.emulateMedia({ colorScheme: 'light' })
    }
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await look('sign-in')
    await signIn(page, 'ada', 'guess')
    await page.getByRole('alert').getByText('User name or secret is wrong.').waitFor()
    await look('sign-in after a wrong secret')
    await signIn(page, 'ada')
    await slot(page, '002-02').waitFor()
    await page.locator('.alerts').waitFor()
    await page.locator('.webhooks .chip').first().waitFor()
    await page.locator('.cameras .chip').first().waitFor()
    await page.locator('.events .event').first().waitFor()
    await look('the floor')
    await slot(page, '002-02').press('Enter')
    await page.locator('.slot-panel .event').first().waitFor()
    await look('a chosen slot')
    await page.goto(`${url}find/P-002-02`)
    await page.locator('.move .no-film').first().waitFor()
    await page
      .getByRole('button', { name: /^Prove it/ })
      .first()
      .click()
    await page.locator('.proof-lines').first().waitFor()
    // A button that is scrolled half below the bar would count as too small.
    await page.evaluate('scrollTo(0, 0)')
    await look('the story of a pallet with a proof')
    await page.goto(`${url}find/nobody`)
    await page.getByRole('heading', { name: 'Never seen here' }).waitFor()
    await page.getByText('Next: compare it with the label').waitFor()
    await look('an unknown code')
    await page.goto(url)
    await slot(page, '002-02').waitFor()
    await page.context().setOffline(true)
    await page.getByRole('alert').getByText('No connection to the gateway.').waitFor()
    await look('without a connection')
  })
}

t.test('what scrolls can be scrolled without a mouse', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, t)
  const { page } = await open(t, browser, url, { viewport: { width: 1280, height: 500 } })
  await signIn(page, 'sven')
  await slot(page, '002-02').press('Enter')
  await page.locator('.slot-panel .event').first().waitFor()
  for (const name of ['Last events', 'Slots in use by zone']) {
    const region = page.getByRole('group', { name })
    await region.focus()
    await page.keyboard.press('ArrowDown')
    const scrolled = () => region.evaluate((element: { scrollTop: number }) => element.scrollTop)
    t.ok(await eventually(scrolled, (top) => top > 0), `${name} is scrolled by a key`)
  }
})

t.test('before the gateway has answered, the page has a heading too', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page } = await open(t, browser, 'about:blank')
  await page.route('**/api/session', (route) => route.abort())
  await page.goto(url)
  await page.getByRole('status').getByText('No connection to the gateway.').waitFor()
  t.same(await violations(page), [])
  t.equal(await page.getByRole('heading', { level: 1 }).count(), 1)
})
