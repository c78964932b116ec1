import t from 'tap'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'

t.test('a page that an update replaced is loaded anew when it opens another view', inBrowser, async (t) => {
  const browser = await launchBrowser()
  t.teardown(() => browser?.close())
  const { url } = await place(t)
  const { page } = await open(t, browser, url)
  await signIn(page, 'ada')
  await page.evaluate('globalThis.untouched = true')
  let isReplaced = true
  await page.route('**/assets/*.js', (route) => (isReplaced ? route.fulfill({ status: 404 }) : route.continue()))
  page.on('request', (request) => {
    if (request.isNavigationRequest()) isReplaced = false
  })
  await page.getByRole('navigation').getByRole('link', { name: 'Cameras' }).click()
  await page.getByRole('heading', { name: 'Cameras' }).waitFor()
  t.equal(new URL(page.url()).pathname, '/cameras')
  t.equal(await page.evaluate('globalThis.untouched'), undefined, 'the page was loaded anew')
})

t.test('a page whose gateway does not answer waits and is not loaded anew', inBrowser, async (t) => {
  const browser = await launchBrowser()
  t.teardown(() => browser?.close())
  const { url } = await place(t)
  const { page } = await open(t, browser, url)
  await signIn(page, 'ada')
  await page.evaluate('globalThis.untouched = true')
  await page.route('**/assets/*.js', (route) => route.abort())
  await page.getByRole('navigation').getByRole('link', { name: 'Cameras' }).click()
  await page.getByRole('status').filter({ hasText: 'No connection to the gateway' }).waitFor()
  t.equal(await page.evaluate('globalThis.untouched'), true)
  await page.unroute('**/assets/*.js')
  await page.getByRole('heading', { name: 'Cameras' }).waitFor()
  t.equal(await page.evaluate('globalThis.untouched'), true)
})
