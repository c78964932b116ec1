import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { furnish } from '../support/gateway.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** A busy device draws its frames late, and the page counts who listens to the document and the window. */
const slowFrames = `
  window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 300)
  window.cancelAnimationFrame = clearTimeout
  const listening = new Set()
  const numbers = new Map()
  const keyOf = (target, kind, listener, how) => {
    if (!numbers.has(listener)) numbers.set(listener, numbers.size)
    return [target === document ? 'document' : 'window', kind, numbers.get(listener), Boolean(how?.capture ?? how)].join(' ')
  }
  const { addEventListener, removeEventListener } = EventTarget.prototype
  const isWide = (target) => target === document || target === window || target === undefined
  EventTarget.prototype.addEventListener = function (kind, listener, how) {
    if (isWide(this) && listener) listening.add(keyOf(this, kind, listener, how))
    return addEventListener.call(this ?? window, kind, listener, how)
  }
  EventTarget.prototype.removeEventListener = function (kind, listener, how) {
    if (isWide(this) && listener) listening.delete(keyOf(this, kind, listener, how))
    return removeEventListener.call(this ?? window, kind, listener, how)
  }
  window.listenersNow = () => [...listening].map((key) => key.split(' ').slice(0, 2).join(' ')).sort()
`

const listeners = (page: Page) => page.evaluate<string[]>('listenersNow()')
const keyListeners = async (page: Page) => (await listeners(page)).filter((one) => one === 'document keydown').length

/** Follows a link of the bar; some of them are in its menu. */
const follow = async (page: Page, path: string) => {
  await page
    .locator(`nav a[href="${path}"]`)
    .first()
    .evaluate((link: { click(): void }) => link.click())
  await page.waitForURL((url) => url.pathname === path)
}

/** Goes to a view, and waits until all effects of its first drawings have run. */
async function goTo(page: Page, path: string): Promise<void> {
  await follow(page, path)
  await page.locator('main h1').first().waitFor()
  for (let frame = 0; frame < 4; frame += 1) await page.evaluate('new Promise(requestAnimationFrame)')
}

t.test('a view whose frames are late listens once, and no longer when it is left', inBrowser, async (t) => {
  const { gateway, url } = await place(t, { cameras: [{ id: 1, name: 'Dock 1', url: 'rtsp://127.0.0.1:9/main' }] })
  await furnish(gateway, ['A-1'])
  const { page } = await open(t, browser, 'about:blank')
  await page.addInitScript(slowFrames)
  await page.goto(`${url}todo`)
  await signIn(page, 'ada')
  const views = ['/plan', '/cameras', '/todo', '/webhooks']
  // The files of all views are loaded.
  for (const path of [...views, '/units']) await goTo(page, path)
  const [before, keys] = [await listeners(page), await keyListeners(page)]
  for (const path of views) {
    await goTo(page, path)
    if (path === '/plan') t.equal(await keyListeners(page), keys + 1, 'its Ctrl+Z')
    await goTo(page, '/units')
    t.same(await listeners(page), before, `${path} has taken its listeners along`)
  }
  for (const path of views) await follow(page, path)
  await goTo(page, '/units')
  t.same(await listeners(page), before, 'views that were left before their first frame did not begin to listen')
})
