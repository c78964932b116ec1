import BetterSqlite3 from 'better-sqlite3'
import type { Browser } from 'playwright-core'
import t from 'tap'
import { helpTopics } from '../../src/console/help/topics.ts'
import { databaseFile } from '../../src/database/index.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { furnish } from '../support/gateway.ts'
import { pictureOf, screens } from '../support/screens.ts'

t.setTimeout(400_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test('the manual is readable on every screen, in light and dark', inBrowser, async (t) => {
  const { url } = await place(t)
  for (const { viewport } of Object.values(screens)) {
    const { page, faults } = await open(t, browser, 'about:blank', { viewport, reducedMotion: 'reduce' })
    for (const path of ['help', 'help/commands', 'help/config', 'help/integrate']) {
      await page.goto(`${url}${path}`)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const where = `${path}, ${viewport.width}, ${colorScheme}`
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, `${where}: not sideways`)
        t.same(await violations(page), [], where)
        const picture = pictureOf(`${path} ${viewport.width} ${colorScheme}`)
        if (picture) await page.screenshot({ path: picture })
        t.same(faults, [], 'the browser has nothing to complain of')
      }
    }
    await page.context().close()
  }
})

t.test('no page is wider than a phone, and each is accessible', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page } = await open(t, browser, 'about:blank', screens.handheld)
  for (const topic of helpTopics) {
    await page.goto(`${url}help/${topic}`)
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), screens.handheld.viewport.width, topic)
    t.same(await violations(page), [], topic)
  }
})

t.test('a search finds a part of a page and leads there; nothing is loaded for it before', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page, faults } = await open(t, browser, 'about:blank')
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.goto(`${url}help/commands`)
  await page.getByRole('heading', { level: 1, name: 'Commands' }).waitFor()
  t.notOk(asked.includes('/help/search.json'))
  const field = page.getByRole('searchbox', { name: 'Search the manual' })
  await field.fill('rate_limited')
  const found = page.getByRole('region', { name: 'Found in the manual' })
  await found.getByRole('link', { name: 'Error codes: RATE_LIMITED' }).click()
  await page.waitForURL(`${url}help/errors#rate_limited`)
  t.ok(await page.getByRole('heading', { name: 'RATE_LIMITED' }).isVisible())
  await field.fill('nosuchwordatall')
  await found.getByText('Nothing found. Try fewer words.').waitFor()
  await field.press('Escape')
  t.equal(await found.isVisible(), false)
  t.equal(await field.inputValue(), '')
  t.same(
    asked.filter((path) => !/^\/(assets\/(help|style)-|help\b)/.test(path)),
    [],
    'of the console only its style sheet is loaded',
  )
  t.same(faults, [])
})

t.test('without JavaScript the manual is pages with links, and no field that does nothing', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page } = await open(t, browser, `${url}help`, { javaScriptEnabled: false })
  t.equal(await page.getByRole('searchbox').isVisible(), false)
  await page.getByRole('main').getByRole('link', { name: 'Error codes' }).click()
  await page.getByRole('link', { name: 'RATE_LIMITED', exact: true }).click()
  t.equal(page.url(), `${url}help/errors#rate_limited`)
})

t.test('a printed page is its text in black, without menus', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page } = await open(t, browser, `${url}help/alerts`, { colorScheme: 'dark' })
  await page.emulateMedia({ media: 'print' })
  for (const name of ['Pages', 'Search the manual']) t.equal(await page.getByLabel(name).isVisible(), false, name)
  t.equal(await page.evaluate("getComputedStyle(document.querySelector('.help-text')).color"), 'rgb(0, 0, 0)')
  await page.goto(`${url}help/config`)
  t.equal((await page.pdf({ format: 'A4' })).subarray(0, 5).toString(), '%PDF-')
  // As wide as paper.
  await page.setViewportSize({ width: 700, height: 1000 })
  t.same(
    await page.evaluate(
      "[...document.querySelectorAll('.help-text *')].filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible').map((one) => one.outerHTML.slice(0, 80))",
    ),
    [],
    'nothing is cut off at the edge of the paper',
  )
})

t.test('the console leads to the manual: from its menu, and from an alert to what to do', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-01-01'])
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  t.teardown(() => db.close())
  const add = db.prepare('INSERT INTO alert (kind, subject, message, created_at_ms) VALUES (?, ?, ?, ?)')
  add.run('disk.low', 'disk', 'The disk has 1.9 GB free, less than 2 GB.', gateway.clock.now() - 600_000)
  const { page } = await open(t, browser, `${url}alerts`, { locale: 'de-AT' })
  await signIn(page, 'ada')
  await page.getByRole('link', { name: 'Mehr im Handbuch' }).click()
  await page.getByRole('heading', { level: 2, name: 'disk.low' }).waitFor()
  t.equal(page.url(), `${url}help/alerts?language=de#disklow`)
  await page.goto(`${url}alerts`)
  await page.getByText('Mehr', { exact: true }).click()
  await page.getByRole('link', { name: 'Hilfe' }).click()
  await page.getByRole('heading', { level: 1, name: 'Handbuch' }).waitFor()
  t.equal(page.url(), `${url}help?language=de`)
})
