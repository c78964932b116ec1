import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { furnish } from '../support/gateway.ts'

t.setTimeout(120_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const follow = async (page: Page, path: string) => {
  await page
    .locator(`nav a[href="${path}"]`)
    .first()
    .evaluate((link: { click(): void }) => link.click())
  await page.waitForURL((url) => url.pathname === path)
  await page.locator('main h1').first().waitFor()
}

t.test(
  'who goes back while the sign-in has ended signs in over the view before, and goes on there',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t)
    await furnish(gateway, ['A-01'])
    const { page } = await open(t, browser, `${url}find`)
    await signIn(page, 'sven')
    await page.locator('.find-page').waitFor()
    await follow(page, '/units')
    await follow(page, '/todo')
    await follow(page, '/counts')
    const again = page.locator('dialog.gate.again')
    await page.context().clearCookies()
    await follow(page, '/todo')
    await page.locator('dialog.gate.again:modal').waitFor()
    for (const path of ['/counts', '/todo', '/units', '/find']) {
      await page.goBack()
      await page.waitForURL((at) => at.pathname === path)
      await page.locator('main h1').first().waitFor()
      t.equal(await again.count(), 1, path)
      t.equal(await page.locator('dialog.gate.again:modal').count(), 1, `${path}: the sign-in lies over it`)
      await page.getByRole('button', { name: 'Show secret' }).click({ trial: true })
    }
    await signIn(page, 'sven')
    await again.waitFor({ state: 'detached' })
    await page.locator('nav a[href="/todo"]').first().click()
    await page.getByRole('heading', { level: 1, name: 'To do' }).waitFor()
  },
)
