import type { Browser } from 'playwright-core'
import t from 'tap'
import { HttpListener } from '../../src/http/index.ts'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { basic, byCloud, cloudFor, lookFrom } from '../support/cloud.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

// A busy machine takes its time to start a browser.
t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test('the sign-in page says truly why a storage user does not come in', inBrowser, async (t) => {
  if (!browser) throw new Error('there is no browser')
  const { server, gateway } = await cloudFor(t, { gateway: { clock: new SimulatedClock(Date.now()) } })
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
  const port = await listener.start()
  t.teardown(async () => {
    await listener.stop()
    gateway.end()
  })
  const page = await browser.newPage()
  t.teardown(() => page.close())
  await page.goto(`http://127.0.0.1:${port}/`)
  const isAnswered = async (name: string, secret: string, words: RegExp) => {
    await page.getByLabel('User name').fill(name)
    await page.getByLabel('Secret or application password', { exact: true }).fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText(words).waitFor()
    t.pass(`${words}`)
  }
  await page.getByLabel('Account of').selectOption({ label: 'this gateway' })
  const wrong = /^User name or secret is wrong\. It was tried as an account of this gateway\.$/
  await isAnswered('otto', 'selma-app-password', wrong)
  await page.getByLabel('Account of').selectOption({ index: 0 })
  await isAnswered('otto', 'selma-app-password', /^This secret belongs to another user name\. Check the user name/)
  for (let n = 0; n < 8; n += 1) {
    await lookFrom(gateway, `10.0.${n}.1`, byCloud(server, `nobody-${n}`, basic(`nobody-${n}`, `a guess ${n}`)))
  }
  await isAnswered(
    'adele',
    'adele login',
    /^Too many wrong passwords .* An application password works at once\. Or try again in 30 min/,
  )
  await server.stop()
  await isAnswered('gast', 'gast-app-password', /^The storage server does not answer/)
})

t.test('the sign-in offers the account again that signed in last on this browser', inBrowser, async (t) => {
  const { url } = await place(t, { storage: { instances: [{ url: 'http://127.0.0.1:9' }] } })
  const { page } = await open(t, browser, url)
  const account = page.getByLabel('Account of')
  const shown = () => account.locator('option:checked').innerText()
  await account.waitFor()
  t.not(await shown(), 'this gateway', 'first the storage server')
  await account.selectOption({ label: 'this gateway' })
  await signIn(page, 'ada')
  await page.locator('#floor').waitFor()
  await page.context().clearCookies()
  await page.reload()
  await account.waitFor()
  t.equal(await shown(), 'this gateway')
})
