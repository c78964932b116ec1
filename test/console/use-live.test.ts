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
  const { useLive } = await import(new URL('../../src/console/page/data/use-live.ts', import.meta.url).href)
  // A hook belongs to the component that is drawn: preact's own hook of drawing names one that draws nothing.
  const preact: string = 'preact' // its types need those of a browser
  const { options } = await import(preact)
  options.__r({ __c: { setState: () => {} } })
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

t.test('what failed is asked for again soon, also while the stream comes; what ended with a link is not', async (t) => {
  const { restMs } = await import(new URL('../../src/console/page/data/use-live.ts', import.meta.url).href)
  const known = { answer: 1, isLive: true, hasFailed: false, hasLeft: false }
  const live = { comesLive: () => true }
  t.equal(restMs(known, live), 60_000)
  t.equal(restMs({ ...known, isLive: false }, live), 15_000)
  t.equal(restMs(known, {}), 15_000, 'the stream does not tell all')
  t.equal(restMs({ ...known, hasFailed: true }, live), 15_000, 'an older answer is on the page')
  const asked = { ...known, answer: undefined, hasFailed: true }
  t.equal(restMs(asked, { isFixed: true }), 15_000)
  t.equal(restMs(known, { isFixed: true }), undefined)
  t.equal(restMs({ ...asked, hasLeft: true }, { isFixed: true }), undefined, 'the link has ended')
})

t.test(
  'a busy dock does not use up the rate: after two quick questions in a minute a list rests as before',
  async (t) => {
    const { paceMs } = await import(new URL('../../src/console/page/data/use-live.ts', import.meta.url).href)
    t.equal(paceMs(500, [], 100_000), 500)
    t.equal(paceMs(500, [99_000], 100_000), 500)
    t.equal(paceMs(500, [98_000, 99_000], 100_000), 5000)
    t.equal(paceMs(500, [30_000, 99_000], 100_000), 500, 'a minute later')
    t.equal(paceMs(500, [], 100_000, true), 10_000, 'a list that takes many requests')
  },
)

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
