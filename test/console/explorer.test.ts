import type { Browser } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, signIn } from '../support/browser.ts'
import { explore } from '../support/explorer.ts'
import { people } from '../support/gateway.ts'
import { livelyHall } from '../support/lively-hall.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test(
  'whoever taps, types and scans at random finds no error, no dead end and no lost input',
  inBrowser,
  async (t) => {
    const floor = await livelyHall(t)
    if (!browser) throw new Error('no Chromium')
    const { found, acts } = await explore({ browser, floor, seed: 7, acts: 40, mostMs: 15_000 })
    t.same(found, [])
    t.ok(acts > 3, `${acts} acts`)
  },
)

t.test('the receipt that somebody of the house opens leads back to its unit', inBrowser, async (t) => {
  const { gateway, url } = await livelyHall(t)
  const { body } = await gateway.ask('GET', '/api/whms/transport-units', { by: people.ada })
  const { page } = await open(t, browser, url)
  await signIn(page, 'ada')
  await page.locator('#floor').waitFor()
  await page.goto(`${url}receipt/${body.data[0].id}`)
  await page.getByRole('link', { name: 'Back to the unit' }).click()
  await page.waitForURL(`**/units/${body.data[0].id}`)
})
