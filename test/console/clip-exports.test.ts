import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, placeOf, signIn } from '../support/browser.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import { lookAt } from '../support/look.ts'
import { detection, gatewayWithClip, sha256 } from '../support/recorded-clip.ts'
import { screens } from '../support/screens.ts'

t.setTimeout(180_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const press = (page: Page, name: RegExp) => page.getByRole('button', { name }).click()

type Clip = { readonly gateway: TestGateway; readonly url: string; readonly clip: Buffer; readonly path: string }

/** A gateway with four eyes that listens, of the browser's time; the path of the page of its camera, at its clip. */
async function placeWithClip(t: Parameters<typeof open>[0]): Promise<Clip> {
  const { gateway, clip } = await gatewayWithClip(t, { privacy: { fourEyesForExport: true } })
  const path = `cameras/7?at=${new Date(gateway.clock.now()).toISOString()}`
  gateway.clock.advance(Date.now() - gateway.clock.now())
  return { gateway, clip, path, url: (await placeOf(t, gateway)).url }
}

/** Opens that page. */
async function atTheClip(t: Parameters<typeof open>[0], { url, path }: Clip, name: string): Promise<Page> {
  const { page } = await open(t, browser, `${url}${path}`)
  await signIn(page, name)
  await page.locator('.day-clip video').waitFor()
  return page
}

t.test('a clip leaves by the console only with the agreement of a second person', inBrowser, async (t) => {
  const made = await placeWithClip(t)
  const { url, clip } = made
  const sven = await atTheClip(t, made, 'sven')
  await sven.getByText('No clip of this camera was handed out.').waitFor()
  await sven.getByText('Hand this clip out', { exact: true }).click()
  await sven.getByLabel('Why it leaves the gateway').fill('Police report 4711/26')
  await sven.getByLabel('Recipient').fill('Police station 12')
  await sven.route('**/export', (route) => route.abort(), { times: 1 })
  await press(sven, /^Hand out$/)
  await sven.getByText(/^Not done:/).waitFor()
  t.equal(await sven.getByLabel('Why it leaves the gateway').inputValue(), 'Police report 4711/26', 'it stays')
  await press(sven, /^Hand out$/)
  await sven.getByText('It waits for another supervisor or admin').waitFor()
  await sven.getByText('waits for a second person').waitFor()
  t.equal(await sven.getByRole('button', { name: /^Approve/ }).count(), 0, 'not by who asked')
  const { page: ada } = await open(t, browser, `${url}cameras`)
  await signIn(ada, 'ada')
  await ada.getByRole('link', { name: /^A clip of .+ waits for the agreement of a second person\.$/ }).click()
  await ada.getByText('Police report 4711/26').waitFor()
  t.equal((await ada.request.get(`${url}${detection.slice(1)}/clip`)).status(), 200, 'it can be looked at')
  await press(ada, /^Approve/)
  await press(ada, /^Yes, it may leave the gateway/)
  await ada.getByText('may be downloaded', { exact: true }).waitFor()
  t.equal(await ada.getByRole('link', { name: 'Download' }).count(), 0, 'who approved did not ask')
  await sven.reload()
  const [download] = await Promise.all([
    sven.waitForEvent('download'),
    sven.getByRole('link', { name: 'Download' }).click(),
  ])
  const bytes = await download.createReadStream().then((stream) => stream.toArray())
  t.equal(sha256(Buffer.concat(bytes)), sha256(clip))
  const olga = await open(t, browser, `${url}cameras/7`)
  await signIn(olga.page, 'olga')
  await olga.page.locator('.camera-day').waitFor()
  t.equal(await olga.page.getByText('Clips that were handed out').count(), 0, 'not the business of her role')
})

t.test('the sign for the door of a camera is opened from its page, and read on a phone too', inBrowser, async (t) => {
  const { gateway } = await gatewayWithClip(t)
  const { url } = await placeOf(t, gateway)
  const { page } = await open(t, browser, `${url}cameras/7`, screens.handheld)
  await signIn(page, 'vera')
  const link = page.getByRole('link', { name: 'Sign for the door, to print' })
  const [sign] = await Promise.all([page.waitForEvent('popup'), link.click()])
  await sign.getByRole('heading', { name: 'Video surveillance' }).waitFor()
  t.equal(await sign.evaluate('document.documentElement.scrollWidth'), screens.handheld.viewport.width)
})

t.test('what was asked for is withdrawn, refused, and fits every screen', inBrowser, async (t) => {
  const made = await placeWithClip(t)
  const { gateway, url, path } = made
  for (const by of [people.sven, people.ada])
    await gateway.ask('POST', `${detection}/export`, { by, body: { reason: `For ${by.username}` } })
  const sven = await atTheClip(t, made, 'sven')
  await press(sven, /^Withdraw/)
  await press(sven, /^Yes, withdraw/)
  await sven.getByText('Withdrawn.').waitFor()
  await press(sven, /^Refuse/)
  await press(sven, /^Yes, refuse/)
  await sven.getByText('Refused.', { exact: false }).first().waitFor()
  await sven.getByText('refused', { exact: true }).nth(1).waitFor()
  const ready = async (page: Page) => {
    await page.getByText('refused', { exact: true }).nth(1).waitFor()
    await page.getByText('Hand this clip out', { exact: true }).click()
  }
  await lookAt(t, { browser, url, as: 'ada' }, [{ path, ready }])
})
