import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { parse } from 'yaml'
import { dateAfter, dateIn, dayOf } from '../../src/console/page/data/day-line.ts'
import { plainWords } from '../../src/video/problems.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, signIn } from '../support/browser.ts'
import { furnish } from '../support/gateway.ts'
import { pictureOf, screens } from '../support/screens.ts'
import { busyCells, quietCells, storeCells } from '../support/stored-cells.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const zone = 'Europe/Berlin'

/** Yesterday something moved at noon on the left of the picture, and half a minute later on the right. Both were recorded. */
async function yesterday(t: Parameters<typeof place>[0]): Promise<Place> {
  const cameras = [{ id: 1, name: 'Dock 1', url: 'rtsp://127.0.0.1:9/main', viewers: ['olga'] }]
  const made = await place(t, { cameras })
  const { gateway } = made
  await furnish(gateway, ['A-1'])
  const day = dayOf(dateAfter(dateIn(gateway.clock.now(), zone), -1), zone)
  const noonMs = day.fromMs + 12 * 3_600_000
  const frames = [
    ...Array(25).fill(quietCells),
    ...Array(10).fill(busyCells(3)),
    ...Array(140).fill(quietCells),
    ...Array(10).fill(busyCells(11)),
    ...Array(100).fill(quietCells),
  ]
  await storeCells(join(gateway.live.config.dataDir, 'scores'), 1, noonMs, frames)
  for (const [i, motionAt] of [noonMs + 5000, noonMs + 35_000].entries()) {
    gateway.cameras.heard({
      type: 'clipClosed',
      ...{ detectionId: i + 1, cameraId: 1, motionAt, score: 0.5, sceneChange: false, file: `${i + 1}.mp4` },
      ...{ sha256: `${i}`.repeat(64), sizeBytes: 1000, startedAt: motionAt - 5000, endedAt: motionAt + 10_000 },
      ...{ preRollSeconds: 5, askedPreRollSeconds: 5, durationSeconds: 15, pictures: 225, longestGapSeconds: 0.07 },
      ...{ original: true, width: 320, height: 180, peakScore: 0.6, snapshot: null, closedBy: 'post-roll' },
    })
  }
  await gateway.audit('test.settled', {})
  return made
}

/** Opens the panel on yesterday and waits for the first answer. */
async function opened(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Try other settings' }).click()
  await page.getByRole('button', { name: 'Show yesterday' }).click()
  await page.getByText('Yesterday it would have been 2 events, as it was.').waitFor()
}

t.test('a mask that is drawn says at once which of yesterday’s events would be gone', inBrowser, async (t) => {
  const { url, gateway } = await yesterday(t)
  const { page } = await open(t, browser, `${url}cameras/1`)
  await signIn(page, 'ada')
  await opened(page)
  const drawing = page.locator('.mask-picture svg')
  await drawing.scrollIntoViewIfNeeded()
  const box = await drawing.boundingBox()
  if (!box) throw new Error('the drawing is not shown')
  await page.mouse.move(box.x + box.width * 0.1, box.y + box.height * 0.1)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.6, { steps: 3 })
  await page.mouse.up()
  await page.getByText('Yesterday it would have been 1 event instead of 2.').waitFor()
  await page.getByText('One is gone.').waitFor()
  await page.getByText('(would be gone)').waitFor()
  t.equal(await page.getByText('(would be gone)').count(), 1)
  t.equal(await page.getByText('(would stay)').count(), 1)
  const entry = parse(await page.locator('.tune-keep pre').innerText()) as { motion: { masks: { x: number }[][] } }
  t.ok(Math.abs((entry.motion.masks[0]?.[0]?.x ?? 0) - 0.1) < 0.01, 'the mask begins where it was drawn')
  await page.getByRole('button', { name: 'Remove Mask 1' }).click()
  await page.getByText('Yesterday it would have been 2 events, as it was.').waitFor()
  await page.getByLabel('Sensitivity', { exact: true }).last().fill('1')
  await page.getByLabel('Sensitivity', { exact: true }).last().press('Enter')
  await page.getByText('2 are gone.').waitFor()
  await page.getByRole('button', { name: 'Use sensitivity 1 from now on' }).click()
  await page.getByText('Sensitivity 1 is in use.').first().waitFor()
  t.equal(gateway.cameras.settingsOf(gateway.live.config.cameras[0] as never).sensitivity, 1)
})

t.test('masks that are drawn and not copied are left only by somebody who agrees', inBrowser, async (t) => {
  const { url } = await yesterday(t)
  const { page } = await open(t, browser, `${url}cameras/1`, { locale: 'de-DE', permissions: ['clipboard-write'] })
  await signIn(page, 'ada')
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    void dialog.dismiss()
  })
  await page.getByRole('button', { name: 'Andere Einstellungen probieren' }).click()
  const mask = page.locator('.tune-panel').getByRole('button', { name: 'Neue Maske', exact: true })
  await mask.click()
  await page.locator('.tune-keep pre').waitFor()
  const away = page.locator('nav a[href="/todo"]').first()
  const leave = () => away.evaluate((link: { click(): void }) => link.click())
  await leave()
  await page.getByRole('button', { name: 'Schließen', exact: true }).click()
  t.same(
    asked,
    Array(2).fill('Die gezeichneten Masken und Zonen sind nicht kopiert und gehen verloren. Trotzdem weiter?'),
  )
  t.equal(new URL(page.url()).pathname, '/cameras/1')
  t.equal(await page.locator('.tune-keep pre').count(), 1, 'the mask is there')
  await page.locator('.tune-keep').getByRole('button').first().click()
  await page.locator('.tune-keep [role=status]').getByText(/\S/).waitFor()
  await leave()
  await page.waitForURL(`${url}todo`)
  t.equal(asked.length, 2, 'what was copied is kept')
})

t.test('an incident is reported from the clip that shows it', inBrowser, async (t) => {
  const { url } = await yesterday(t)
  const { page } = await open(t, browser, `${url}cameras/1`)
  await signIn(page, 'ada')
  await page.getByRole('button', { name: 'Day before' }).click()
  await page.getByRole('button', { name: /^Play the clip of 12:00:00/ }).click()
  t.same(await violations(page), [])
  await page.getByRole('link', { name: 'Report an incident about this clip' }).click()
  t.equal(await page.getByLabel('References, one a line').inputValue(), 'detection_event:1')
  await page.getByLabel('Category').fill('damage')
  await page.getByRole('button', { name: 'Report it' }).click()
  await page.getByRole('heading', { name: 'References' }).waitFor()
  await page.getByRole('link', { name: /Camera 1|camera 1/ }).click()
  await page.getByRole('heading', { name: 'Dock 1' }).waitFor()
})

/** After the next frame: in how many pixels each column of the trace differs from the first one. */
const traceColumns = `new Promise(requestAnimationFrame).then(() => {
  const canvas = document.querySelector('.day-line canvas')
  const scale = canvas.width / canvas.clientWidth
  const [top, high] = [Math.round(84 * scale), Math.round(60 * scale)]
  const { data } = canvas.getContext('2d').getImageData(0, top, canvas.width, high)
  const at = (x, y) => data.slice((y * canvas.width + x) * 4, (y * canvas.width + x) * 4 + 4).join()
  return Array.from({ length: canvas.width }, (_, x) =>
    Array.from({ length: high }, (_, y) => at(x, y) !== at(0, y)).filter(Boolean).length)
})`

t.test('the line and the table of a day show clips, gaps and the trace, by keys and by taps', inBrowser, async (t) => {
  const { url, gateway } = await yesterday(t)
  gateway.cameras.threadStarted()
  const state = async (state: 'live' | 'backing-off') => {
    const bad = { problem: 'refused', words: plainWords('refused') } as const
    const said = state === 'live' ? { problem: null, words: null } : bad
    gateway.cameras.heard({ type: 'state', cameraId: 1, at: gateway.clock.now(), pictureAgoMs: 0, state, ...said })
    for (const _ of [1, 2, 3]) await gateway.audit('test.settled', {})
  }
  await state('live')
  await state('backing-off')
  gateway.clock.advance(30_000)
  await state('live')
  const { page } = await open(t, browser, `${url}cameras/1`)
  await signIn(page, 'ada')
  const rows = page.getByRole('group', { name: 'Clips and gaps' }).locator('tbody tr')
  await rows.filter({ hasText: 'Did not watch' }).waitFor()
  await page.getByRole('button', { name: 'Day before' }).click()
  await rows.filter({ hasText: 'Motion' }).nth(1).waitFor()
  t.equal(await rows.count(), 2, 'the gap was on another day')
  t.same(await violations(page), [])
  const line = page.getByRole('slider', { name: 'Time of the day' })
  await line.focus()
  await page.keyboard.press('n')
  const saysOfTime = (start: string, what: string) =>
    page.locator(`.day-line[aria-valuetext^="${start}"][aria-valuetext$="${what}"]`).waitFor()
  await saysOfTime('12:00:00', 'Motion.')
  const minutes = page.getByText(/^11:5\d:\d\d to 12:0\d:\d\d$/)
  // One key: several at this pace would be a scan.
  await page.keyboard.press('+')
  await page.getByText('06:00:00 to 18:00:00', { exact: true }).waitFor()
  for (let n = 0; n < 12 && (await minutes.count()) === 0; n += 1)
    await page.getByRole('button', { name: 'Closer' }).click()
  await minutes.waitFor()
  await line.focus()
  await page.keyboard.press('n')
  await saysOfTime('12:00:30', 'Motion.')
  // The scores of a day come in parts.
  let columns: number[] = []
  while (columns.filter((n) => n > 8).length < 4) columns = (await page.evaluate(traceColumns)) as number[]
  t.ok(columns.filter((n) => n > 8).length < columns.length / 4, 'the trace rises only where something moved')
  await page.keyboard.press('Enter')
  await page.getByLabel('Clip of 12:00:35').waitFor()
  t.match(new URL(page.url()).searchParams.get('at'), /:00:30/)
  await page.keyboard.press('0')
  await page.getByText('00:00:00 to 24:00:00', { exact: true }).waitFor()
  const width = (await line.boundingBox())?.width ?? 0
  // Six in the morning, far from any clip.
  await line.click({ position: { x: width / 4, y: 40 } })
  await saysOfTime('0', 'Nothing was recorded at this moment.')
  await line.click({ position: { x: width / 2, y: 40 } })
  await saysOfTime('12:00:', 'Motion.')
  await page.reload()
  await page.getByLabel(/^Clip of 12:00/).waitFor()
})

t.test('the keyboard alone draws a mask, and a lost connection takes nothing away', inBrowser, async (t) => {
  const { url } = await yesterday(t)
  const { page } = await open(t, browser, `${url}cameras/1`)
  await signIn(page, 'ada')
  await opened(page)
  await page.route('**/what-if', (route) => route.abort())
  await page.getByRole('button', { name: 'New mask' }).press('Enter')
  await page.getByRole('alert').getByText('Your settings are still here.').waitFor()
  const corner = page.getByRole('button', { name: 'Mask 1, corner 1' })
  await corner.focus()
  await page.keyboard.press('Shift+ArrowLeft')
  await page.keyboard.press('ArrowUp')
  const field = page.getByLabel('Corner 1, % from the left')
  t.equal(await field.inputValue(), '30')
  t.equal(await page.getByLabel('Corner 1, % from the top').inputValue(), '34')
  const isLost = page.waitForEvent('requestfailed', (request) => request.postData()?.includes('0.05') ?? false)
  await field.fill('5')
  await field.press('Enter')
  await isLost
  t.match(await page.locator('.tune-keep pre').innerText(), /\{ x: 0\.05, y: 0\.34 \}/)
  await page.unroute('**/what-if')
  await page.getByRole('button', { name: 'Ask again' }).click()
  await page.getByText(/^Yesterday it would have been/).waitFor()
  t.equal(await field.inputValue(), '5')
})

t.test(
  'every screen has room for it, axe finds nothing, and who may not tune does not see it',
  inBrowser,
  async (t) => {
    const { url } = await yesterday(t)
    for (const [screen, context] of Object.entries(screens)) {
      const colorScheme = screen === 'tablet' ? 'light' : 'dark'
      const { page } = await open(t, browser, `${url}cameras/1`, { ...context, colorScheme })
      await signIn(page, 'ada')
      await opened(page)
      await page.getByRole('button', { name: 'New mask' }).click()
      await page.locator('.tune-keep pre').waitFor()
      t.same(await violations(page), [], `${screen}, ${colorScheme}`)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), context.viewport.width, `${screen}: fits`)
      const path = pictureOf(`tune ${screen} ${colorScheme}`)
      if (path) await page.screenshot({ path, fullPage: true })
      await page.context().close()
    }
    const { page } = await open(t, browser, `${url}cameras/1`, { locale: 'de-DE' })
    await signIn(page, 'olga')
    await page.getByText('Bewegung').first().waitFor()
    t.equal(await page.locator('.tune').count(), 0)
  },
)
