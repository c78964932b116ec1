import { createHash } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { launchBrowser, open, signIn } from '../support/browser.ts'
import { liveYard } from '../support/live-yard.ts'
import { fileNeeds } from '../support/needs.ts'
import { pictureOf, screens, themes } from '../support/screens.ts'
import { waitUntil } from '../support/waiting.ts'

fileNeeds(t, 'chromium-headless-shell')
t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())
const yard = liveYard(t)

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

t.test('a browser shows the camera: its own stream, or MPEG-1', async (t) => {
  const { daemon, rtsp } = await yard
  const { page, faults } = await open(t, browser, `${daemon.url}/cameras`)
  await signIn(page, 'ada')
  await page.getByRole('link', { name: 'Camera 1', exact: true }).click()
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

t.test('the wall shows each camera: pictures, or since when and why it does not watch', async (t) => {
  const { daemon } = await yard
  for (const [screen, context] of Object.entries(screens)) {
    const { page, faults } = await open(t, browser, `${daemon.url}/cameras`, { ...context, reducedMotion: 'reduce' })
    await signIn(page, 'ada')
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      const tile = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
      await tile('Camera 1').getByText('Watching', { exact: true }).waitFor()
      await tile('Camera 1').getByRole('img', { name: 'Newest picture of Camera 1' }).waitFor()
      await tile('Camera 5').getByText(/^Away/).waitFor()
      t.match(
        await tile('Camera 5').innerText(),
        /Since .+, because the camera was offline\. Nothing answers at the address of the camera\./,
      )
      t.match(await tile('Camera 6').innerText(), /Switched off/)
      t.same(await violations(page), [], `${screen}, ${colorScheme}`)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), context.viewport.width, `${screen}: fits`)
      const path = pictureOf(`cameras ${screen} ${colorScheme}`)
      if (path) await page.screenshot({ path, fullPage: true })
      t.same(faults, [])
    }
    await page.context().close()
  }
})

t.test('the page of a camera that is away says once why', async (t) => {
  const { daemon } = await yard
  const { page } = await open(t, browser, `${daemon.url}/cameras/5`)
  await signIn(page, 'ada')
  const card = page.getByRole('region', { name: 'Live pictures of Camera 5' })
  await card.getByText('No picture now.').waitFor()
  await card.getByText(/^Away/).waitFor()
  t.equal((await card.innerText()).split('Nothing answers at the address of the camera').length, 2)
})

t.test('only the tiles that somebody looks at are live', async (t) => {
  const { daemon, rtsp } = await yard
  const { page } = await open(t, browser, `${daemon.url}/cameras`)
  const sockets: string[] = []
  page.on('websocket', (socket) => sockets.push(socket.url().replace(/^.*cctv|\?.*$/g, '')))
  await signIn(page, 'owen')
  const picture = page.getByRole('img', { name: 'Newest picture of Camera 1' })
  await picture.or(page.locator('.live')).first().waitFor()
  t.equal(await page.locator('.live').count(), 0, 'a wall costs no stream')
  await picture.waitFor()
  t.same(sockets, [])
  await page.getByRole('button', { name: 'Watch live: Camera 1' }).press('Enter')
  await seesMoving(page, 'video')
  t.same(sockets, ['/1/live'])
  await page.getByRole('button', { name: 'Stop live: Camera 1' }).press('Enter')
  await page.locator('.live').waitFor({ state: 'detached' })
  t.equal(rtsp.clients('door').mostAtOnce, 1, 'and the camera has one connection')
})
