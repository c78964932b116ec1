import type { Browser } from 'playwright-core'
import t from 'tap'
import { permissionsOf } from '../../src/config/index.ts'
import { viewAt, views, viewsFor } from '../../src/console/page/kit/views.ts'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, place, placeOf, record, signIn } from '../support/browser.ts'
import { cloudFor } from '../support/cloud.ts'
import { furnish, people } from '../support/gateway.ts'
import { pictureOf, screens } from '../support/screens.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { eventually } from '../support/waiting.ts'

t.setTimeout(120_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test('the menu opens over every view, closes with Escape, and a person signs out anywhere', inBrowser, async (t) => {
  const { url } = await place(t)
  for (const [screen, context] of Object.entries(screens)) {
    const { page, faults } = await open(t, browser, `${url}todo`, context)
    await signIn(page, 'ada')
    const more = page.locator('.views-menu summary')
    await more.focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Language').waitFor()
    t.same(await violations(page), [], screen)
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth'),
      context.viewport.width,
      `${screen}: not sideways`,
    )
    const { y = 0, height = 0 } = (await page.getByLabel('Language').boundingBox()) ?? {}
    if (screen !== 'handheld') t.ok(y + height <= context.viewport.height, `${screen}: no entry is below the edge`)
    const path = pictureOf(`menu ${screen}`)
    if (path !== undefined) await page.screenshot({ path })
    await page.keyboard.press('Escape')
    await page.getByLabel('Language').waitFor({ state: 'hidden' })
    t.equal(await more.evaluate((it) => it === it.ownerDocument.activeElement), true, 'the keys are where they were')
    // On a phone the way out is in the menu.
    if (context.viewport.width <= 560) await more.click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    t.same(faults, [])
    await page.context().close()
  }
})

t.test('the bar of a tablet has two rows in each language, with the way out in the first', inBrowser, async (t) => {
  const { url } = await place(t)
  for (const locale of ['en-US', 'de-DE']) {
    const { page } = await open(t, browser, url, { ...screens.tablet, locale })
    await signIn(page, 'ada')
    for (const path of ['', 'todo']) {
      await page.goto(`${url}${path}`)
      const boxOf = (what: string) => page.locator(`.bar > ${what}`).boundingBox()
      await page.locator('.bar > .sign-out button').waitFor()
      const [site, out, views, scan] = await Promise.all(['.site', '.sign-out', '.views', '.scan'].map(boxOf))
      const middle = (box: typeof site) => (box ? box.y + box.height / 2 : Number.NaN)
      const said = `${locale} /${path}`
      t.ok(Math.abs(middle(site) - middle(out)) < 8, `${said}: the way out is beside the name of the site`)
      t.ok(Math.abs(middle(views) - middle(scan)) < 8, `${said}: the field for codes is beside the views`)
      t.ok(out && out.x + out.width > screens.tablet.viewport.width - 60, `${said}: at the right edge`)
      t.ok(
        scan && scan.x + scan.width > screens.tablet.viewport.width - 60,
        `${said}: no room is left beside the field`,
      )
    }
  }
})

t.test('every link of the floor and of the queue is large enough for a thumb', inBrowser, async (t) => {
  const { gateway, url } = await place(t)
  await furnish(gateway, ['A-1'])
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-1', asset_barcode: 'P-1', scale_weight_kg: 412.5 })
  const { page } = await open(t, browser, url, screens.handheld)
  await signIn(page, 'ada')
  await page.locator('.bar').waitFor()
  for (const [path, one] of [
    ['', '.pallet-link'],
    ['verify', '.verify-what a'],
  ] as const) {
    await page.goto(`${url}${path}`)
    await page.locator(one).first().waitFor()
    for (const link of await page.locator('main a').all()) {
      const box = await link.boundingBox()
      if (box) t.ok(box.height >= 44, `/${path}: ${await link.innerText()}, ${box.height} px`)
    }
  }
})

t.test('the bar of a phone has one row of 56 px, and its menu leads to every view', inBrowser, async (t) => {
  const { url } = await place(t)
  for (const locale of ['en-US', 'de-DE']) {
    const { page } = await open(t, browser, url, { ...screens.handheld, locale })
    await signIn(page, 'ada')
    await page.locator('.bar').waitFor()
    for (const path of ['', 'todo', 'people', 'find/P-1']) {
      await page.goto(`${url}${path}`)
      const bar = page.locator('.bar')
      await bar.waitFor()
      const box = await bar.boundingBox()
      t.ok(box && box.height <= 56, `${locale} /${path}: ${box?.height} px`)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), screens.handheld.viewport.width)
      t.same(await violations(page), [], `${locale} /${path}`)
    }
    await page.locator('.views-menu summary').click()
    const links = page.locator('.views-sheet a[href^="/"]')
    const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    for (const { address } of Object.values(views)) t.ok(addresses.includes(address), address)
    for (const link of await links.all()) t.ok(((await link.boundingBox())?.height ?? 0) >= 44, await link.innerText())
    await links.filter({ hasText: /^(To do|Zu tun)$/ }).click()
    await page.waitForURL(`${url}todo`)
    await page.context().close()
  }
})

t.test('what a person reaches for before the first picture of a view keeps the focus', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page } = await open(t, browser, `${url}todo`, screens.handheld)
  // A quick thumb, or a screen so busy that its next picture comes late.
  await page.evaluate(`new MutationObserver((_, observer) => {
    const more = document.querySelector('.views-menu summary')
    if (!more) return
    observer.disconnect()
    more.focus()
  }).observe(document, { childList: true, subtree: true })`)
  await signIn(page, 'ada')
  await page.getByText('No task is open').or(page.locator('.task-what')).first().waitFor()
  t.equal(await page.evaluate('document.activeElement.matches(".views-menu summary")'), true)
  await page.keyboard.press('Enter')
  await page.getByLabel('Language').waitFor()
})

t.test('an address that is none says so, in words, with a field for codes and a way home', inBrowser, async (t) => {
  const { url, gateway } = await place(t)
  const html = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'
  const get = (path: string, Accept: string, method = 'GET') => gateway.ask(method, path, { headers: { Accept } })
  for (const path of ['/nowhere', '/units/1/2', '/index.php']) {
    const page = await get(path, html)
    t.equal(page.status, 404, path)
    t.match(page.headers.get('content-type'), /^text\/html/)
    t.match(page.headers.get('content-security-policy'), /default-src 'none'/)
    t.match(page.text, /<div id="app"/)
    for (const other of ['*/*', 'application/json', 'text/html;q=0, */*'])
      t.match(await get(path, other), { status: 404, body: { error: { code: 'NOT_FOUND' } } }, `${path} ${other}`)
  }
  t.match(await get('/nowhere', html, 'POST'), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  t.match(await get('/api/nowhere', html), { body: { success: false } })
  t.match(await get('/assets/nowhere.js', html), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  const { page } = await open(t, browser, `${url}nowhere/at/all`, { locale: 'de-DE' })
  await page.getByRole('heading', { name: 'Diese Seite gibt es nicht' }).waitFor()
  t.same(await violations(page), [])
  await page.getByRole('link', { name: 'Zur Anmeldung' }).click()
  await signIn(page, 'ada')
  await page.locator('#floor').waitFor()
  await page.goto(`${url}nowhere/at/all`)
  await page.getByText('/nowhere/at/all').waitFor()
  t.same(await violations(page), [])
  await page.locator('#scan').fill('P-1')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${url}find/P-1`)
  await page.goBack()
  await page.getByRole('link', { name: 'Zur Halle' }).click()
  await page.locator('#floor').waitFor()
})

t.test('a view that is not for a role says so at its address, and asks for nothing', inBrowser, async (t) => {
  const { url } = await place(t)
  for (const [name, locale, title, role] of [
    ['olga', 'en-US', /^“.+” is not for your role$/, 'signed in as olga (operator)'],
    ['vera', 'de-DE', /^„.+“ gehört nicht zu Ihrer Rolle$/, 'vera angemeldet (Leserecht)'],
  ] as const) {
    const { page, faults } = await open(t, browser, url, { ...screens.handheld, locale })
    await signIn(page, name)
    await page.locator('#floor').waitFor()
    const permissions = [...permissionsOf(people[name].role)]
    const own = viewsFor({ ...people[name], permissions })
    const others = Object.entries(views).filter(([view]) => !own.includes(view as keyof typeof views))
    t.ok(others.length >= 8)
    for (const [view, { address }] of others) {
      await page.goto(`${url}${address.slice(1)}`)
      await page.getByRole('heading', { name: title }).waitFor()
      await page.getByText(role).waitFor()
      t.same(await violations(page), [], view)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, `${view}: not sideways`)
    }
    t.same(faults, [], 'nothing was asked for that the gateway refuses')
    await page.locator('.missing-way').first().click()
    await page.locator('#floor').waitFor()
  }
})

t.test(
  'an admin whose storage server is away reads that the page waits for it, and goes on with it',
  inBrowser,
  async (t) => {
    const { gateway: made, server } = await cloudFor(t, { gateway: { clock: new SimulatedClock(Date.now()) } })
    const { gateway, url } = await placeOf(t, made)
    for (const [locale, title, why, again] of [
      ['en-US', '“Webhooks” has to wait', 'The storage server has not confirmed your role lately', 'Try again'],
      [
        'de-DE',
        '„Webhooks“ muss warten',
        'Der Speicherserver hat Ihre Rolle zuletzt nicht bestätigt',
        'Noch einmal versuchen',
      ],
    ] as const) {
      const { page, faults } = await open(t, browser, url, { ...screens.handheld, locale })
      await signIn(page, 'adele', 'adele-app-password')
      await page.locator('#floor').waitFor()
      // The floor would ask for webhooks meanwhile, and be refused.
      await page.goto('about:blank')
      server.misbehave('maintenance')
      gateway.clock.advance(5 * 60_000)
      await page.goto(`${url}webhooks`)
      await page.getByRole('heading', { name: title }).waitFor()
      await page.getByText(why).waitFor()
      t.same(await violations(page), [], locale)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, `${locale}: not sideways`)
      server.misbehave(undefined)
      gateway.clock.advance(60_000)
      await page.getByRole('link', { name: again }).click()
      await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
      t.same(faults, [])
    }
  },
)

t.test('an address belongs to one view, and a person is shown what there is a use for', (t) => {
  t.equal(viewAt('/'), 'floor')
  t.equal(viewAt('/cameras/7'), 'cameras')
  t.equal(viewAt('/camerass'), undefined)
  t.equal(viewAt('/nowhere'), undefined)
  t.equal(viewAt('/cameras/7/8'), undefined)
  t.equal(viewAt('/audit/7'), undefined)
  const picker = { username: 'pia', role: 'viewer', permissions: ['whms:read'] } as const
  t.notOk(viewsFor(picker).includes('verify'))
  t.ok(viewsFor({ ...picker, permissions: ['whms:read', 'events:verify'] }).includes('verify'))
  t.end()
})

t.test('each view has its own title in the tab', inBrowser, async (t) => {
  const { url } = await place(t)
  const { page } = await open(t, browser, url)
  const titled = async (title: string) =>
    t.equal(
      await eventually(
        () => page.title(),
        (shown) => shown === title,
      ),
      title,
    )
  await titled('test-site · Gatehouse')
  await signIn(page, 'ada')
  await titled('Floor · test-site · Gatehouse')
  const links = page.getByRole('navigation').getByRole('link')
  await links.filter({ hasText: 'To do' }).click()
  await titled('To do · test-site · Gatehouse')
  await page.goto(`${url}webhooks/4`)
  await titled('Webhooks 4 · test-site · Gatehouse')
  await page.goto(`${url}find/${encodeURIComponent('A-03 %')}`)
  await titled('A-03 % · test-site · Gatehouse')
})
