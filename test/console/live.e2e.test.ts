import { createHash } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import t from 'tap'
import { inBrowser, launchBrowser, open, signIn } from '../support/browser.ts'
import { liveYard } from '../support/live-yard.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** Waits until three different pictures were seen, none of them black. */
async function seesMoving(page: Page, element: 'video' | 'canvas'): Promise<void> {
  const seen = new Set<string>()
  await waitUntil('three different pictures', async () => {
    // The element is another one after the player has connected again.
    const taken = await page
      .locator(`.live ${element}`)
      .screenshot()
      .catch(() => undefined)
    if (!taken) return false
    const { data } = PNG.sync.read(taken)
    const isBlack = data.reduce((sum, level) => sum + level, 0) / data.length < 80
    if (!isBlack) seen.add(createHash('sha256').update(data).digest('hex'))
    return seen.size >= 3
  })
}

t.test('a browser shows the camera: its own stream, or MPEG-1', inBrowser, async (t) => {
  const { daemon, rtsp } = await liveYard(t)
  const { page, faults } = await open(t, browser, `${daemon.url}/cameras`)
  await signIn(page, 'ada')
  await page.getByRole('link', { name: 'Camera 1' }).click()
  await page.getByRole('heading', { name: 'Camera 1' }).waitFor()
  await seesMoving(page, 'video')
  await page.goto(`${daemon.url}/cameras/1?format=mpeg1`)
  await seesMoving(page, 'canvas')
  await page.goto(`${daemon.url}/cameras/2`)
  await seesMoving(page, 'canvas')
  t.equal(rtsp.clients('door').mostAtOnce, 1, 'the camera has one connection')
  t.same(
    faults.filter((text) => !/GPU stall/.test(text)),
    [],
    'and the content security policy has nothing against it',
  )
})
