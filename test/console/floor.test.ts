import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, record, signIn, slot } from '../support/browser.ts'
import { heldPhoto, people } from '../support/gateway.ts'
import { followed, type LivePage } from '../support/live-page.ts'
import { pictureOf, screens, themes } from '../support/screens.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(300_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const label = (aisle: string, bay: number, level: number) => `${aisle}-${String(bay).padStart(2, '0')}-0${level}`

/** Two racks of eight bays with three levels, with a slot in every state. */
async function racks(t: Parameters<typeof place>[0]): Promise<Place> {
  const made = await place(t)
  const { gateway } = made
  const by = people.ada
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'North hall', timezone: 'Europe/Berlin' } })
  for (const [name, color, aisle] of [
    ['Rack A', '#2f6fab', 'A'],
    ['Rack B', '#b7791f', 'B'],
  ] as const) {
    await gateway.ask('POST', '/api/whms/zones', { by, body: { name, zone_type: 'storage', warehouseId: 1, color } })
    for (let bay = 1; bay <= 8; bay += 1)
      for (let level = 1; level <= 3; level += 1) {
        const [x, y] = [bay * 1.5, (aisle === 'A' ? 0 : 6) + level * 1.3]
        const corners = [
          { x, y },
          { x: x + 1.3, y },
          { x: x + 1.3, y: y + 1.1 },
          { x, y: y + 1.1 },
        ]
        const body = { slot_id: label(aisle, bay, level), zone: name, floor_plan_polygon: corners }
        await gateway.ask('POST', '/api/whms/slots', { by, body })
      }
  }
  const put = async (n: number, slot_code: string, asset_barcode: string) =>
    record(gateway, { event_type: 'PLACED', slot_code, asset_barcode, photo_url: await heldPhoto(gateway, n) })
  for (let bay = 1; bay <= 6; bay += 1) {
    await put(bay, label('A', bay, 1), `P-A${bay}`)
    await put(bay + 10, label('B', bay, 2), `P-B${bay}`)
    const judged = { slot_code: label('A', bay, 1), asset_barcode: `P-A${bay}` }
    if (bay < 5) await record(gateway, { event_type: 'VERIFIED', ...judged }, people.sven)
  }
  const disputed = { slot_code: label('B', 6, 2), asset_barcode: 'P-B6', verification_notes: 'torn wrap' }
  await record(gateway, { event_type: 'DISPUTED', ...disputed }, people.sven)
  await put(30, label('B', 8, 1), 'P-A1')
  return made
}

const shown = (page: Page, name: string) => page.getByRole('button', { name }).first().waitFor()

t.test('the floor is seen whole in both themes on every screen, as a plan and as a table', inBrowser, async (t) => {
  const { url } = await racks(t)
  for (const [screen, context] of Object.entries(screens)) {
    const { page, faults } = await open(t, browser, url, { ...context, colorScheme: 'light', reducedMotion: 'reduce' })
    await signIn(page, 'sven')
    await shown(page, 'Slot A-01-01, zone Rack A: verified, pallet P-A1')
    await page
      .getByText(/it was placed in .* since, and never taken out here/)
      .first()
      .waitFor()
    const table = page.getByRole('region', { name: 'The slots as a table' })
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      t.match(await page.getByRole('list', { name: 'Legend' }).innerText(), /Disputed\s+1\b[\s\S]*Contradiction\s+\d/)
      t.equal(await table.getByRole('row').count(), 26, 'a head and a page of rows')
      await table.getByRole('combobox').selectOption('Disputed')
      await table.getByText('Page 1 of 1, 1 slot').waitFor()
      await table.getByRole('combobox').selectOption('All')
      t.same(await violations(page), [], `${screen}, ${colorScheme}`)
      t.equal(
        await page.evaluate('document.documentElement.scrollWidth'),
        context.viewport.width,
        `${screen}: not sideways`,
      )
      const path = pictureOf(`floor ${screen} ${colorScheme}`)
      if (path !== undefined) await page.screenshot({ path })
      await slot(page, 'A-03-01').click()
      await page.getByRole('heading', { name: 'Rack A from its front' }).waitFor()
      t.equal(await page.locator('.rack tbody tr').count(), 3, 'three levels, the highest first')
      t.match(await page.locator('.rack tbody th').first().innerText(), /^03$/)
      await page.getByRole('button', { name: 'A-03-02: Empty' }).click()
      await page.locator('.slot-panel').getByRole('heading', { name: 'A-03-02' }).waitFor()
      t.same(await violations(page), [], `${screen}, ${colorScheme}: a rack`)
      const chosen = pictureOf(`floor chosen ${screen} ${colorScheme}`)
      if (chosen !== undefined) await page.screenshot({ path: chosen })
      t.same(faults, [])
      await page.getByRole('button', { name: 'Close the slot' }).click()
      await page.locator('.slot-panel').waitFor({ state: 'detached' })
    }
    await page.context().close()
  }
})

t.test('two screens agree within a second, and an event costs them no list', inBrowser, async (t) => {
  const { gateway, url } = await racks(t)
  const both: LivePage[] = []
  for (let n = 0; n < 2; n += 1) {
    const { page } = await open(t, browser, url)
    const live = await followed(page)
    await signIn(page, 'vera')
    await shown(page, 'Slot A-01-01, zone Rack A: verified, pallet P-A1')
    await page.getByText('Live').waitFor()
    await live.rest((path) => path === '/api/whms/slots')
    live.asked.length = 0
    both.push(live)
  }
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-08-01', asset_barcode: 'P-new' })
  for (const live of both) {
    await live.hears('event')
    await live.goOn(500)
    await shown(live.page, 'Slot A-08-01, zone Rack A: not yet verified, pallet P-new')
    await live.page.locator('.events').getByText('P-new').first().waitFor()
    t.notOk(live.asked.includes('/api/whms/slots'), 'nobody read the list of slots again')
  }
  for (const { page } of both) t.match(await page.locator('.tile').first().innerText(), /14 of 48/)
})

t.test('contradictions are shown on a floor where something changes while they are asked for', inBrowser, async (t) => {
  const { gateway, url } = await racks(t)
  const { page } = await open(t, browser, url)
  const found = page.getByText(/it was placed in .* since, and never taken out here/).first()
  const again = Promise.withResolvers<void>()
  let isAnswered = false
  await page.route('**/api/whms/discrepancies', async (route) => {
    if (isAnswered) again.resolve()
    const answer = await route.fetch()
    await record(gateway, { event_type: 'PLACED', slot_code: 'A-08-01', asset_barcode: 'P-meanwhile' })
    await shown(page, 'Slot A-08-01, zone Rack A: not yet verified, pallet P-meanwhile')
    isAnswered = true
    await route.fulfill({ response: answer })
  })
  await signIn(page, 'vera')
  await Promise.race([found.waitFor(), again.promise])
  t.ok(await found.isVisible(), 'the answer counts that was on its way')
})

t.test(
  'a floor asks for contradictions as it is opened, and shows no number before it knows one',
  inBrowser,
  async (t) => {
    const { url } = await racks(t)
    const { page } = await open(t, browser, url)
    const live = await followed(page)
    let asked = 0
    await page.route('**/api/whms/discrepancies', (route) => {
      asked += 1
      return asked === 1 ? route.abort() : route.continue()
    })
    await waitUntil('the next full ten seconds are far off', () => Date.now() % 10_000 < 3000)
    await signIn(page, 'vera')
    await shown(page, 'Slot A-01-01, zone Rack A: verified, pallet P-A1')
    await live.stop()
    await live.goOn(500)
    await waitUntil('the floor has asked for contradictions', () => asked === 1)
    await live.settle()
    const legend = page.getByRole('list', { name: 'Legend' })
    t.match(await legend.innerText(), /Contradiction\s+–/)
    for (let n = 0; n < 3 && asked === 1; n += 1) await page.clock.runFor(5000)
    await live.settle()
    await legend.getByText(/Contradiction\s+\d/).waitFor()
    t.equal(asked, 2, 'a question that failed is asked again on a floor where nothing changes')
  },
)

t.test(
  'a floor without slots leads who may make them to the plan editor, and says whom others ask',
  inBrowser,
  async (t) => {
    const { url } = await place(t)
    for (const [name, locale, next, then] of [
      ['ada', 'en-US', 'There are no slots yet. Next: make them by their labels', 'At that time there were no slots.'],
      [
        ...(['olga', 'de-DE', 'Es gibt noch keine Stellplätze. Ein Admin dieses Gateways legt sie an.'] as const),
        'Zu dieser Zeit gab es keine Stellplätze.',
      ],
    ] as const) {
      const { page, faults } = await open(t, browser, url, { ...screens.handheld, locale })
      await signIn(page, name)
      await page.getByText(next).waitFor()
      t.same(await violations(page), [], name)
      const way = page.locator('#floor').getByRole('link', { name: 'To the plan editor' })
      t.equal(await way.count(), name === 'ada' ? 1 : 0)
      if (name === 'ada') await way.click()
      if (name === 'ada') await page.getByRole('heading', { name: 'Plan editor' }).waitFor()
      const past = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString())
      await page.goto(`${url}?at=${past}`)
      await page.getByText(then).waitFor()
      t.equal(await way.count(), 0)
      t.equal(await page.getByText(next).count(), 0)
      t.same(faults, [])
    }
  },
)

t.test(
  'a hidden floor asks for no contradictions, and what is refused for good is not asked again',
  inBrowser,
  async (t) => {
    const { url } = await racks(t)
    const { page } = await open(t, browser, url)
    await page.clock.install()
    let status = 503
    let asked = 0
    await page.route('**/api/whms/discrepancies', (route) => {
      asked += 1
      return status === 200 ? route.continue() : route.fulfill({ status, json: { error: { message: 'No' } } })
    })
    const answered = () => page.waitForResponse('**/api/whms/discrepancies')
    const turn = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
      document.dispatchEvent(new Event('visibilitychange'))`,
      )
    const unanswered = answered()
    await signIn(page, 'vera')
    await unanswered
    await turn(true)
    const before = asked
    await page.clock.runFor(60_000)
    t.equal(asked, before, 'hidden')
    status = 403
    const refused = answered()
    await turn(false)
    await refused
    const ofRefusal = asked
    for (let n = 0; n < 6; n += 1) await page.clock.runFor(10_000)
    t.equal(asked, ofRefusal, 'refused for good')
    status = 200
    await turn(true)
    await turn(false)
    await page
      .getByRole('list', { name: 'Legend' })
      .getByText(/Contradiction\s+\d/)
      .waitFor()
  },
)

t.test('the contradictions of now are never shown on the floor of a time before', inBrowser, async (t) => {
  const { gateway, url } = await racks(t)
  const before = new Date(gateway.clock.now()).toISOString()
  gateway.clock.advance(2000)
  await record(gateway, { event_type: 'REMOVED', slot_code: 'A-02-01', asset_barcode: 'P-A2' })
  const { page } = await open(t, browser, `${url}?at=${encodeURIComponent(before)}`)
  await signIn(page, 'vera')
  await shown(page, 'Slot A-02-01, zone Rack A: verified, pallet P-A2')
  await page.getByRole('button', { name: 'Back to now' }).click()
  await shown(page, 'Slot A-02-01, zone Rack A: empty')
  const legend = page.getByRole('list', { name: 'Legend' })
  await legend.getByText(/Contradiction\s+\d/).waitFor()
  await page.route('**/api/whms/discrepancies?at=*', (route) => route.abort())
  await page.goBack()
  await shown(page, 'Slot A-02-01, zone Rack A: verified, pallet P-A2')
  t.match(await legend.innerText(), /Contradiction\s+–/)
  await page.unroute('**/api/whms/discrepancies?at=*')
  await legend.getByText(/Contradiction\s+\d/).waitFor()
})

t.test('seven tabs of one browser share one stream, also after the first one is closed', inBrowser, async (t) => {
  const { gateway, url } = await racks(t)
  const { page: first } = await open(t, browser, url)
  const context = first.context()
  let streams = 0
  context.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/stream') streams += 1
  })
  await signIn(first, 'vera')
  const pages = [first]
  for (let n = 1; n < 7; n += 1) {
    pages.push(await context.newPage())
    await pages.at(-1)?.goto(url)
  }
  for (const page of pages) {
    await shown(page, 'Slot A-01-01, zone Rack A: verified, pallet P-A1')
    await page.getByText('Live').waitFor()
  }
  t.equal(streams, 1)
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-08-01', asset_barcode: 'P-new' })
  for (const page of pages) await shown(page, 'Slot A-08-01, zone Rack A: not yet verified, pallet P-new')
  await pages.shift()?.close()
  await record(gateway, { event_type: 'REMOVED', slot_code: 'A-08-01', asset_barcode: 'P-new' })
  for (const page of pages) await shown(page, 'Slot A-08-01, zone Rack A: empty')
  t.equal(streams, 2)
})

t.test('the address of a slot in the second hall opens that hall, now and in the past', inBrowser, async (t) => {
  const { gateway, url } = await racks(t)
  const by = people.ada
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Annex', timezone: 'America/New_York' } })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'Yard', zone_type: 'storage', warehouseId: 2 } })
  const corners = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  const body = { slot_id: 'Y-01', zone: 'Yard', warehouseId: 2, floor_plan_polygon: corners }
  const { id } = (await gateway.ask('POST', '/api/whms/slots', { by, body })).body
  await record(gateway, { event_type: 'PLACED', slot_code: 'Y-01', asset_barcode: 'P-yard' })
  const past = encodeURIComponent(new Date(gateway.clock.now()).toISOString())
  const { page } = await open(t, browser, `${url}?slot=${id}`)
  await signIn(page, 'vera')
  // Another address would end the sign-in that is under way.
  await shown(page, 'Slot Y-01, zone Yard')
  const hall = page.getByLabel('Warehouse')
  for (const address of ['', `&at=${past}`]) {
    await page.goto(`${url}?slot=${id}${address}`)
    await shown(page, 'Slot Y-01, zone Yard')
    t.equal(await hall.locator('option:checked').innerText(), 'Annex')
    await page.locator('.slot-panel').getByRole('button', { name: 'Close' }).click()
    t.equal(await hall.locator('option:checked').innerText(), 'Annex', 'it stays when the slot is closed')
  }
  await hall.selectOption({ label: 'North hall' })
  await shown(page, 'Slot A-02-01, zone Rack A')
})

t.test('a printed floor names its slots, in the table and in the events', inBrowser, async (t) => {
  const { url } = await racks(t)
  const { page } = await open(t, browser, url)
  await signIn(page, 'vera')
  await shown(page, 'Slot A-02-01, zone Rack A: verified, pallet P-A2')
  await page.emulateMedia({ media: 'print' })
  t.match(await page.locator('.slot-table tbody').innerText(), /A-01-01/)
  t.match(await page.locator('.events').innerText(), /A-06-01|B-08-01/)
  t.equal(await page.locator('.time-slider input').isVisible(), false)
})

t.test('the slider shows the floor of a time before, and its address can be shared', inBrowser, async (t) => {
  const { gateway, url } = await racks(t)
  const before = new Date(gateway.clock.now()).toISOString()
  gateway.clock.advance(2000)
  await record(gateway, { event_type: 'REMOVED', slot_code: 'A-02-01', asset_barcode: 'P-A2' })
  const { page, faults } = await open(t, browser, `${url}?at=${encodeURIComponent(before)}`)
  await signIn(page, 'vera')
  await shown(page, 'Slot A-02-01, zone Rack A: verified, pallet P-A2')
  await page.getByText(/You see the past: .* from the ledger/).waitFor()
  await page.locator('.events').getByText('Placed').first().waitFor()
  t.notMatch(await page.locator('.events').innerText(), /Removed/, 'the list of events ends there too')
  t.same(await violations(page), [], 'the past')
  const path = pictureOf('floor past')
  if (path !== undefined) await page.screenshot({ path })
  await page.getByRole('button', { name: 'Back to now' }).click()
  await shown(page, 'Slot A-02-01, zone Rack A: empty')
  t.equal(new URL(page.url()).search, '')
  await page.goBack()
  await shown(page, 'Slot A-02-01, zone Rack A: verified, pallet P-A2')
  const isLet = Promise.withResolvers<void>()
  await page.route('**/api/whms/slots?at=*', async (route) => {
    await isLet.promise
    await route.continue()
  })
  const time = page.locator('.time-shown')
  const ofBefore = (await time.innerText()).trim()
  await page.getByRole('button', { name: '1 h earlier' }).click()
  await time.getByText('Loading').waitFor()
  t.ok((await time.innerText()).startsWith(ofBefore), 'the floor of the step before stays under its own time')
  isLet.resolve()
  await shown(page, 'Slot A-02-01, zone Rack A: empty')
  t.match(new URL(page.url()).searchParams.get('at') ?? '', /Z$/)
  t.same(faults, [])
})

t.test(
  'the floor of now is never shown as that of a time before, also while the ledger does not answer',
  inBrowser,
  async (t) => {
    const { gateway, url } = await racks(t)
    const before = new Date(gateway.clock.now()).toISOString()
    gateway.clock.advance(2000)
    await record(gateway, { event_type: 'REMOVED', slot_code: 'A-02-01', asset_barcode: 'P-A2' })
    const { page } = await open(t, browser, url)
    await signIn(page, 'vera')
    await shown(page, 'Slot A-02-01, zone Rack A: empty')
    await page.route('**/api/whms/slots?at=*', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'Retry-After': '1' },
        json: { error: { message: 'Too many requests' } },
      }),
    )
    await page.goto(`${url}?at=${encodeURIComponent(before)}`)
    await page.getByRole('alert').getByText('The plan cannot show that time: Too many requests.').waitFor()
    t.equal(await page.getByRole('button', { name: /zone Rack A/ }).count(), 0, 'no slot of now')
    await page.locator('.floor.past').waitFor()
    await page.unroute('**/api/whms/slots?at=*')
    await shown(page, 'Slot A-02-01, zone Rack A: verified, pallet P-A2')
    t.equal(await page.getByText('The plan cannot show that time').count(), 0)
    await page.context().clearCookies()
    await page.getByRole('button', { name: '10 min earlier' }).click()
    await page.getByText('You were signed out. Sign in again to go on.').waitFor()
  },
)

t.test('a floor whose sign-in has ended goes on where it was after the next one', inBrowser, async (t) => {
  const { gateway, url } = await racks(t)
  const { page } = await open(t, browser, url)
  await signIn(page, 'vera')
  await shown(page, 'Slot A-01-01, zone Rack A: verified, pallet P-A1')
  await slot(page, 'A-03-01').click()
  const filter = page.getByRole('region', { name: 'The slots as a table' }).getByRole('combobox')
  await filter.selectOption('Disputed')
  await page.context().clearCookies()
  await page.context().setOffline(true)
  await page.context().setOffline(false)
  const again = page.getByRole('dialog', { name: 'Sign in' })
  await again.waitFor()
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-08-01', asset_barcode: 'P-meanwhile' })
  await signIn(page, 'vera')
  await again.waitFor({ state: 'detached' })
  t.equal(await filter.inputValue(), 'disputed', 'the table is filtered as before')
  await page.locator('.slot-panel').getByRole('heading', { name: 'A-03-01' }).waitFor()
  await page.locator('.events').getByText('P-meanwhile').first().waitFor()
  await page.getByText('Live').waitFor()
})

t.test(
  'a plan that is changed slot by slot is read again when that has ended, not at each of them',
  inBrowser,
  async (t) => {
    const { gateway, url } = await racks(t)
    const { page } = await open(t, browser, url)
    await signIn(page, 'vera')
    await shown(page, 'Slot A-01-01, zone Rack A: verified, pallet P-A1')
    await page.getByText('Live').waitFor()
    let reads = 0
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/whms/slots') reads += 1
    })
    for (let n = 1; n <= 8; n += 1) {
      const body = { zone: 'Rack B' }
      const answer = await gateway.ask('PUT', `/api/whms/slots/${label('A', n, 3)}`, { by: people.ada, body })
      t.equal(answer.status, 200, answer.text)
    }
    await shown(page, 'Slot A-08-03, zone Rack B')
    t.ok(reads >= 1 && reads <= 2, `${reads} reads of the slots for eight changes`)
  },
)
