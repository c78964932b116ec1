import type { Browser } from 'playwright-core'
import t, { type Test } from 'tap'
import { HttpListener } from '../../src/http/index.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, signIn } from '../support/browser.ts'
import { testGateway } from '../support/gateway.ts'
import { startProvider } from '../support/provider.ts'
import { companyPeople, groupRoles } from '../support/provider-site.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** A gateway that listens at its own `site.url`, with a provider of its people. */
async function listeningSite(t: Test) {
  const gateway = await testGateway({ clock: new SimulatedClock(Date.now()) })
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
  const url = `http://127.0.0.1:${await listener.start()}`
  t.teardown(async () => {
    await listener.stop()
    gateway.end()
  })
  const provider = await startProvider(t, { people: companyPeople(), siteUrl: url })
  const { config } = gateway.live
  const oidc = [{ ...provider.entry, groupsClaim: 'groups', groupRoles }] as never
  gateway.live.config = { ...config, site: { ...config.site, url }, auth: { ...config.auth, oidc } }
  return { gateway, url, provider }
}

t.test('a person signs in, steps up and signs out with the buttons of the console', inBrowser, async (t) => {
  const { gateway, url, provider } = await listeningSite(t)
  const { page } = await open(t, browser, `${url}/people`, { ignoreHTTPSErrors: true })
  const host = new URL(provider.issuer).host
  const button = page.getByRole('button', { name: `Sign in with ${host}` })
  await button.waitFor()
  t.same(await violations(page), [])
  const login = async (name: string) => {
    await page.getByLabel('Login').fill(name)
    await page.getByRole('button', { name: 'Continue' }).click()
  }
  await button.click()
  await login('nobody')
  await page.getByRole('alert').getByText('The sign-in provider did not sign you in.').waitFor()
  t.equal(new URL(page.url()).pathname, '/sign-in')

  await page.goto(`${url}/people`)
  await button.click()
  await login('u-2')
  const form = page.getByRole('form', { name: 'Add an account' })
  await form.waitFor()
  t.equal(new URL(page.url()).pathname, '/people', 'back at the view that was wanted')
  await page
    .getByText(/^adele~/)
    .locator('visible=true')
    .first()
    .waitFor()

  gateway.clock.advance(11 * 60_000)
  await page.goto(`${url}/people`)
  await form.getByLabel('User name').fill('dora')
  await form.getByRole('button', { name: 'Make the account' }).click()
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  await dialog.waitFor()
  t.same(await violations(page), [])
  await dialog.getByRole('button', { name: `Sign in with ${host}` }).click()
  await login('u-2')
  await form.getByLabel('User name').fill('dora')
  await form.getByRole('button', { name: 'Make the account' }).click()
  await page.getByRole('region', { name: 'Secret of dora, shown once' }).waitFor()

  await page.goto(`${url}/units`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Yes, sign me out' }).click()
  await page.getByLabel('User name').waitFor()
  t.equal(new URL(page.url()).pathname, '/sign-in')
  await button.click()
  await page.getByLabel('Login').waitFor()
  t.pass('the provider asks again: the person is signed out there too')
  await page.goto(url)
  await signIn(page, 'ada')
  await page.locator('#floor').waitFor()
})

t.test('a person who speaks German reads why a sign-in failed', inBrowser, async (t) => {
  const { url } = await listeningSite(t)
  const { page } = await open(t, browser, `${url}/sign-in?failed=factor`, { locale: 'de-DE' })
  await page
    .getByRole('alert')
    .getByText(/^Ihre Rolle braucht einen zweiten Faktor/)
    .waitFor()
  t.pass('in German')
})
