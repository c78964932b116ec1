import type { Browser } from 'playwright-core'
import t from 'tap'
import { viewAt, viewsFor } from '../../src/console/page/views.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { pictureOf, screens } from '../support/screens.ts'

t.setTimeout(120_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test('the menu opens over every view, closes with Escape, and a person signs out anywhere', inBrowser, async (t) => {
  const { url } = await place(t)
  for (const [screen, context] of Object.entries(screens)) {
    const { page, faults } = await open(t, browser, `${url}todo`, context)
    await signIn(page, 'ada')
    const more = page.locator('.views-menu summary')
    await more.focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Language').waitFor()
    t.same(await violations(page), [], screen)
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth'),
      context.viewport.width,
      `${screen}: not sideways`,
    )
    const path = pictureOf(`menu ${screen}`)
    if (path !== undefined) await page.screenshot({ path })
    await page.keyboard.press('Escape')
    await page.getByLabel('Language').waitFor({ state: 'hidden' })
    t.equal(await more.evaluate((it) => it === it.ownerDocument.activeElement), true, 'the keys are where they were')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    t.same(faults, [])
    await page.context().close()
  }
})

t.test('an address belongs to one view, and a person is shown what there is a use for', (t) => {
  t.equal(viewAt('/'), 'floor')
  t.equal(viewAt('/cameras/7'), 'cameras')
  t.equal(viewAt('/camerass'), undefined)
  t.equal(viewAt('/nowhere'), undefined)
  const picker = { username: 'pia', role: 'viewer', permissions: ['whms:read'] }
  t.notOk(viewsFor(picker).includes('verify'))
  t.ok(viewsFor({ ...picker, permissions: ['whms:read', 'events:verify'] }).includes('verify'))
  t.end()
})
