import type { Browser } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { furnish, people } from '../support/gateway.ts'
import { screens } from '../support/screens.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test('an admin makes an account, looks at its sight, and takes it away', inBrowser, async (t) => {
  const { gateway, url } = await place(t, { warehouses: [{ id: 1, viewers: ['vera'] }] })
  await furnish(gateway, ['A-1'])
  await gateway.ask('POST', '/api/devices', { by: people.ada, body: { name: 'wall-1', kind: 'kiosk' } })
  const { page, faults } = await open(t, browser, `${url}people`, { ...screens.handheld, reducedMotion: 'reduce' })
  await signIn(page, 'ada')
  await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
  t.match(await page.title(), /^People/)
  const list = page.getByRole('region', { name: 'Accounts' })
  t.match(await list.getByRole('listitem').filter({ hasText: 'olga' }).innerText(), /in the config: changed there/)

  const form = page.getByRole('form', { name: 'Add an account' })
  await form.getByLabel('User name').fill('nora')
  await form.getByLabel('Role').selectOption('supervisor')
  await form.getByLabel('Groups').fill('leads, dock')
  await form.getByRole('button', { name: 'Make the account' }).click()
  const card = page.getByRole('region', { name: 'Secret of nora, shown once' })
  const secret = await card.locator('.code').innerText()
  t.match(secret, /^[\w-]{32}$/)
  await card.getByRole('button', { name: 'Done, hide it' }).click()

  await page.getByRole('button', { name: 'What may they see? nora' }).click()
  const sight = page.getByRole('region', { name: 'Sight of nora' })
  await sight.getByText('does not see').waitFor()
  t.match(await sight.innerText(), /Hall\s+does not see\s+not named by viewers/)
  t.match(await sight.innerText(), /events:verify: allowed/)
  t.match(await sight.innerText(), /accounts:manage: not allowed/)
  await page.getByRole('button', { name: 'What may they see? wall-1' }).click()
  await page.getByRole('region', { name: 'Sight of wall-1' }).waitFor()
  t.same(await violations(page), [])
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), screens.handheld.viewport.width)

  const nora = await open(t, browser, `${url}people`)
  await signIn(nora.page, 'nora', secret)
  const own = nora.page.getByRole('form', { name: 'Change the password' })
  await own.getByLabel('Current password').fill(secret)
  await own.getByLabel('New password').fill('password1234')
  await own.getByRole('button', { name: 'Change the password' }).click()
  await own.getByText(/first guesses/).waitFor()
  await own.getByLabel('New password').fill('correct horse battery')
  await own.getByRole('button', { name: 'Change the password' }).click()
  await nora.page.getByText('Your password is changed. Sign in with it.').waitFor()
  await signIn(nora.page, 'nora', 'correct horse battery')
  await nora.page.getByRole('region', { name: 'Open sessions' }).getByText('this one').waitFor()
  t.equal(await nora.page.getByRole('region', { name: 'Accounts' }).count(), 0, 'no admin')

  await page.reload()
  await page.getByRole('button', { name: 'Disable: nora' }).click()
  await page.getByRole('button', { name: 'Yes, disable nora and end the sessions' }).click()
  await page.getByText('nora is disabled.').waitFor()
  await nora.page.reload()
  await nora.page.getByLabel('User name').waitFor()
  t.same(faults, [])
})

t.test('the view is in German, too', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page } = await open(t, browser, `${url}people`, { locale: 'de-DE' })
  await signIn(page, 'ada')
  await page.getByRole('heading', { name: 'Personen', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Alle Sitzungen aller beenden' }).waitFor()
})
