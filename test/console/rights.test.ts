import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { cheapHash, furnish, people, type TestGateway } from '../support/gateway.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** As a reload of the config does: `sven` has another role, and perhaps another secret. */
function change(gateway: TestGateway, role: string, secret = 'sven-secret'): void {
  const { config } = gateway.live
  const users = Object.values(people).map(({ username, role: before }) =>
    username === 'sven'
      ? { username, role, secretHash: cheapHash(secret) }
      : { username, role: before, secretHash: cheapHash(`${username}-secret`) },
  )
  gateway.live.config = { ...config, auth: { ...config.auth, users } } as typeof config
}

/** A page that comes back from behind others looks at once. */
const comeBack = (page: Page) => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)

t.test('a view says that the role was changed, and goes on with what the new role may do', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-01'])
  const { page } = await open(t, browser, `${url}todo`)
  await signIn(page, 'sven')
  const verify = page.getByRole('navigation').getByRole('link', { name: 'Verify' })
  await verify.waitFor()
  change(gateway, 'viewer')
  await comeBack(page)
  await page.getByRole('alert').getByText('Your role is now viewer.').waitFor()
  await verify.waitFor({ state: 'detached' })
  await page.getByRole('navigation').getByRole('link', { name: 'Floor' }).click()
  await page.getByText('Your role is now viewer.').waitFor({ state: 'detached' })
})

t.test(
  'who loses a role while typing loses no text, also when the secret was changed with it',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t)
    await furnish(gateway, ['A-01'])
    const { page } = await open(t, browser, `${url}incidents`, { locale: 'de-DE' })
    await signIn(page, 'sven')
    const typed = page.locator('#report-description')
    await typed.fill('torn wrap')
    await page.locator('#report-category').fill('damage')
    change(gateway, 'viewer')
    await page.locator('form button[type=submit].strong').click()
    await page.locator('.role-changed').getByText('Ihre Rolle ist jetzt').waitFor()
    t.equal(await typed.inputValue(), 'torn wrap')
    change(gateway, 'viewer', 'another-secret')
    await page.locator('form button[type=submit].strong').click()
    await page.locator('dialog.gate.again:modal').waitFor()
    await signIn(page, 'sven', 'another-secret')
    await page.locator('dialog.gate.again').waitFor({ state: 'detached' })
    t.equal(await typed.inputValue(), 'torn wrap')
    await page.locator('.role-changed').waitFor()
    page.on('dialog', (dialog) => dialog.accept())
    await page.locator('nav a[href="/todo"]').first().click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    t.equal(await page.locator('nav a[href="/verify"]').count(), 0, 'the next view is that of the new role')
  },
)
