import type { Browser } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { people } from '../support/gateway.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test('a list that is wanted again while it is read is read once more, so it shows what was done', async (t) => {
  Object.assign(globalThis, { document: { hidden: false }, window: { setTimeout: () => 0 } })
  const { useLive } = await import(new URL('../../src/console/page/use-live.ts', import.meta.url).href)
  const reads: PromiseWithResolvers<string>[] = []
  const load = () => {
    reads.push(Promise.withResolvers<string>())
    return reads.at(-1)?.promise
  }
  const { reload } = useLive(load, ['event'], () => {})
  reload()
  reload()
  reload()
  t.equal(reads.length, 1, 'one at a time')
  for (const wanted of [2, 2]) {
    reads.at(-1)?.resolve('')
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(reads.length, wanted)
  }
})

t.test('a page that was hidden for a while shows what came meanwhile as soon as it is seen', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  const { page } = await open(t, browser, `${url}devices`)
  await page.clock.install()
  const turn = (isHidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
      document.dispatchEvent(new Event('visibilitychange'))`,
    )
  await signIn(page, 'ada')
  await page.getByRole('heading', { name: 'Devices and badges' }).waitFor()
  await page.locator('main [role=status]').filter({ hasNotText: 'Loading' }).waitFor()
  await turn(true)
  await page.clock.runFor(60_000)
  const device = { name: 'dock-7' }
  const made = await gateway.ask('POST', '/api/devices', { by: people.ada, body: device })
  t.equal(made.status, 201, made.text)
  await turn(false)
  await page.getByText('dock-7').first().waitFor()
})
