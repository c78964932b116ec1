import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, place, record, signIn } from '../support/browser.ts'
import { furnish, type Person, people } from '../support/gateway.ts'
import { followed, type LivePage } from '../support/live-page.ts'
import { scannerAt } from '../support/scanner.ts'
import { pictureOf, screens } from '../support/screens.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

/** Two slots; a pallet that was placed, disputed, moved and verified, and one that was removed. */
async function story({ gateway }: Place): Promise<void> {
  await furnish(gateway, ['A-01-01', 'A-01-02'])
  const first = { slot_code: 'A-01-01', asset_barcode: 'P-1' }
  await record(gateway, { event_type: 'PLACED', ...first, scale_weight_kg: 412.5, operator: 'Piet' })
  await record(gateway, { event_type: 'DISPUTED', ...first, verification_notes: 'wet & torn' }, people.sven)
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-01-02', asset_barcode: 'P-1' })
  await record(gateway, { event_type: 'VERIFIED', slot_code: 'A-01-02', asset_barcode: 'P-1' }, people.sven)
  await record(gateway, { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'P-2' })
  await record(gateway, { event_type: 'REMOVED', slot_code: 'A-01-01', asset_barcode: 'P-2' })
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })

t.test('a scan opens its story from anywhere, and nothing of it stays in a field', inBrowser, async (t) => {
  const at = await place(t)
  await story(at)
  const { page, faults } = await open(t, browser, at.url)
  await signIn(page, 'sven')
  await page.getByRole('button', { name: 'Slot A-01-01, zone S' }).waitFor()
  const scanner = await scannerAt(page)

  await page.getByRole('button', { name: 'Slot A-01-01, zone S' }).focus()
  await scanner.scan('P-1')
  await heading(page, 'P-1').waitFor()
  t.match(page.url(), /\/find\/P-1$/)
  const field = page.getByLabel('Scan or type a pallet, slot or unit')
  await field.fill('half a w')
  await scanner.scan('P-2', { ends: ['Enter', 'Enter'] })
  await heading(page, 'P-2').waitFor()
  t.equal(await field.inputValue(), 'half a w', 'what was typed is still there, without the scan')
  await page.evaluate("document.getElementById('scan').readOnly = true")
  await scanner.scan('P-1', { altKey: true })
  await heading(page, 'P-1').waitFor()
  await page.evaluate("document.getElementById('scan').readOnly = false")
  await scanner.scan('A-01-02', { ends: ['Tab'] })
  await page.getByRole('heading', { name: 'Slot A-01-02' }).waitFor()
  t.match(page.url(), /\/\?slot=\d+$/, 'a slot is shown on the floor')

  await field.fill('')
  for (let n = 0; n < 10; n++) await scanner.scan(`X-${n}0`, { gapMs: 20 })
  await heading(page, 'X-90').waitFor()
  await page.getByText('Last 10 scans').click()
  const listed = await page.locator('.scan-result li .code').allTextContents()
  t.same(
    listed.toReversed(),
    Array.from({ length: 10 }, (_, n) => `X-${n}0`),
    'each scan once, in its order',
  )
  await page.getByText('No slot, pallet or transport unit').waitFor()
  await scanner.scan('(01)04012345678901(10)L7')
  await page.getByText('It was read as GS1: GTIN 04012345678901, lot L7.').waitFor()
  await page.goBack()
  await heading(page, 'X-90').waitFor()
  t.same(faults, [], 'no error, and nothing that the content security policy had to stop')
})

t.test('times of a story are those of the hall, also after a question that failed', inBrowser, async (t) => {
  const at = await place(t)
  await story(at)
  const { body } = await at.gateway.ask('GET', '/api/whms/events?limit=1&asset_barcode=P-1', { by: people.sven })
  const clockIn = (timeZone: string) =>
    new Date(body.data[0].timestamp).toLocaleTimeString('en-GB', { timeZone, timeStyle: 'medium' })
  const { page } = await open(t, browser, `${at.url}find/P-1`, { timezoneId: 'America/New_York' })
  await page.clock.install()
  let asked = 0
  await page.route('**/api/whms/warehouses', (route) => (asked++ === 0 ? route.abort() : route.continue()))
  await signIn(page, 'sven')
  await page.getByText(clockIn('Europe/Berlin')).first().waitFor()
  t.equal(await page.getByText(clockIn('America/New_York')).count(), 0, 'the story says its zone')
  const again = page.waitForResponse('**/api/whms/warehouses')
  await page.clock.fastForward(16_000)
  t.equal((await again).status(), 200, 'what a slot or a unit says has the zone from there')
})

t.test('a pallet tells its story, proves a move in the browser, and shows the past', inBrowser, async (t) => {
  const at = await place(t)
  await story(at)
  const { page, faults } = await open(t, browser, `${at.url}find/P-1`)
  await signIn(page, 'sven')
  await heading(page, 'P-1').waitFor()
  await page.getByText(/^In A-01-02 since /).waitFor()
  const moves = page.locator('.move')
  t.equal(await moves.count(), 2)
  t.match(await moves.nth(0).innerText(), /A-01-02[\s\S]*Verified by sven/)
  t.match(await moves.nth(1).innerText(), /A-01-01[\s\S]*Piet[\s\S]*412.5 kg[\s\S]*Disputed by sven[\s\S]*wet & torn/)
  await moves.nth(0).getByText('No camera watches A-01-02.').waitFor()
  await moves.nth(0).getByText('No camera watched here, because none is set up for A-01-02.').waitFor()
  await moves
    .nth(0)
    .getByRole('button', { name: /^Photo/ })
    .click()
  await page.getByRole('dialog').getByRole('img').waitFor()
  await page.keyboard.press('Escape')

  await moves
    .nth(1)
    .getByRole('button', { name: /^Prove it/ })
    .click()
  await moves.nth(1).getByText('Proven: recorded like this').waitFor()
  const lines = await moves.nth(1).locator('.proof-lines li').allInnerTexts()
  t.match(
    lines.join('\n'),
    /The record holds[\s\S]*The signature of the log holds[\s\S]*Ed25519[\s\S]*Piet[\s\S]*Photos holds/,
  )
  await moves
    .nth(1)
    .getByText(/^Signed on /)
    .count()
  const saved = page.waitForEvent('download')
  await moves
    .nth(1)
    .getByRole('button', { name: /^Download the proof/ })
    .click()
  t.match((await saved).suggestedFilename(), /^event-\d+\.proof\.json$/)

  await moves
    .nth(1)
    .getByRole('link', { name: /^As of then/ })
    .click()
  await page.getByText('You see the past').waitFor()
  await page.getByText(/^In A-01-01 since /).waitFor()
  t.equal(await moves.count(), 1)
  await page.reload()
  await page.getByText(/^In A-01-01 since /).waitFor()
  await page.goto(`${at.url}find/P-2`)
  await page.getByText(/^Removed from A-01-01 on /).waitFor()
  t.same(faults, [], 'no error, and nothing that the content security policy had to stop')
})

t.test('a story can be shown to somebody without an account, until its link expires', inBrowser, async (t) => {
  const at = await place(t)
  await story(at)
  const { page } = await open(t, browser, `${at.url}find/P-1`)
  await signIn(page, 'vera')
  await page.getByRole('button', { name: 'Link that expires' }).click()
  const link = await page.getByLabel(/^Opens this story/).inputValue()
  const since = await page.getByText(/^In A-01-02 since /).innerText()
  const stranger = await open(t, browser, link, { timezoneId: 'America/New_York' })
  await heading(stranger.page, 'P-1').waitFor()
  const read = await stranger.page.getByText(/^In A-01-02 since /).innerText()
  t.equal(read, since, 'in the time of the hall, wherever it is read')
  t.equal(await stranger.page.locator('.move').count(), 2)
  t.equal(await stranger.page.getByRole('button', { name: /^Prove/ }).count(), 0)
  t.same(stranger.faults, [])
  at.gateway.clock.advance(3600_000)
  await stranger.page.reload()
  await stranger.page.getByText('This link is invalid or has expired.').waitFor()
  const other = link.replace('/find/P-1', '/find/P-2')
  await stranger.page.goto(other)
  await stranger.page.getByText('This link is invalid or has expired.').waitFor()
})

t.test('of a very long story the newest moves are shown, and the past is asked for again', inBrowser, async (t) => {
  const at = await place(t)
  await story(at)
  const moves = 1003
  const { page } = await open(t, browser, `${at.url}find/P-1?at=${encodeURIComponent(new Date().toISOString())}`)
  let failures = 1
  await page.route('**/api/whms/assets/P-1/story?*', async (route) => {
    if (failures-- > 0) return route.fulfill({ status: 500, json: {} })
    const asked = new URL(route.request().url()).searchParams
    const body = await (await route.fetch({ url: `${at.url}api/whms/assets/P-1/story?limit=1` })).json()
    const from = Number(asked.get('cursor') ?? asked.get('offset') ?? 0)
    const to = Math.min(from + Number(asked.get('limit')), moves)
    const data = Array.from({ length: to - from }, (_, n) => ({
      ...body.data[0],
      event: { ...body.data[0].event, id: 5000 + from + n },
    }))
    const pagination = { hasMore: to < moves, total: moves, nextCursor: to < moves ? String(to) : null }
    return route.fulfill({ json: { success: true, data, pagination } })
  })
  await signIn(page, 'sven')
  await page.getByText('The gateway answered with status 500').waitFor()
  await page.getByText('Only the newest moves are shown. 3 older moves are left out.').waitFor()
  const shown = page.locator('.move')
  t.equal(await shown.count(), 1000)
  t.match(await shown.first().innerText(), /number 6002/)
  t.match(await shown.last().innerText(), /number 5003/)
})

t.test(
  'a pallet is marked on a small plan, beside its counts and the pallets of the same lot',
  inBrowser,
  async (t) => {
    const at = await place(t)
    const by = people.ada
    await story(at)
    for (const [asset_id, lot] of [
      ['P-1', 'L7'],
      ['P-2', 'L7'],
      ['P-3', 'L7'],
      ['P-4', 'L8'],
    ]) {
      const body = { asset_id, type: 'pallet', gtin: '04012345678901', lot }
      const made = await at.gateway.ask('POST', '/api/whms/assets', { by, body })
      if (made.status !== 201) {
        const changed = await at.gateway.ask('PUT', `/api/whms/assets/${asset_id}`, {
          by,
          body: { gtin: body.gtin, lot },
        })
        t.equal(changed.status, 200, changed.text)
      }
    }
    const opened = { slot_codes: ['A-01-02'], reference: 'W48' }
    t.equal((await at.gateway.ask('POST', '/api/whms/counts', { by: people.sven, body: opened })).status, 201)
    const { page, faults } = await open(t, browser, `${at.url}find/P-1`)
    await signIn(page, 'sven')
    await page.getByRole('link', { name: 'Show slot A-01-02 on the floor plan' }).waitFor()
    await page.getByText('A-01-02 in zone S').waitFor()
    await page.getByText('Count W48: A-01-02 is not counted yet.').waitFor()
    await page.getByText('2 other pallets have this GTIN and lot. 0 of them are in a slot.').waitFor()
    t.same(await page.locator('.alike th .code').allInnerTexts(), ['P-2', 'P-3'])
    t.same(await violations(page), [])
    t.same(await page.locator('nav.views > a').allInnerTexts(), ['Floor', 'To do', 'Verify', 'Cameras'])
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    const path = pictureOf('find')
    if (path !== undefined) await page.screenshot({ path, fullPage: true })
    await page.getByRole('link', { name: 'Show slot A-01-02 on the floor plan' }).click()
    await page.getByRole('heading', { name: 'Slot A-01-02' }).waitFor()
    t.same(faults, [])
  },
)

t.test(
  'a story is up to date by the stream, and asks for nothing while its pallet stands still',
  inBrowser,
  async (t) => {
    const at = await place(t)
    await story(at)
    const { page } = await open(t, browser, `${at.url}find/P-1`)
    const live = await followed(page)
    await signIn(page, 'sven')
    await page.getByText(/^In A-01-02 since /).waitFor()
    const isOfStory = (path: string) => /story|scan/.test(path)
    await live.rest(isOfStory)
    live.asked.length = 0
    const ofStory = () => live.asked.filter(isOfStory).length
    await record(at.gateway, { event_type: 'PLACED', slot_code: 'A-01-01', asset_barcode: 'P-9' })
    await live.hears('event')
    // Once a minute the page asks anyway: what is looked at here lies before that.
    await live.goOn(10_000)
    t.equal(ofStory(), 0, 'another pallet elsewhere is no reason to ask')
    await record(at.gateway, { event_type: 'REMOVED', slot_code: 'A-01-02', asset_barcode: 'P-1' })
    await live.hears('event', 2)
    await live.goOn(5000)
    await live.settle()
    await page.getByText(/^Removed from A-01-02 on /).waitFor()
    t.equal(await page.locator('.small-plan').count(), 0)
    t.equal(ofStory(), 2, 'a scan and a story')
  },
)

/** A pallet that a count found, with two incidents about it and one about another. */
async function reported(at: Place): Promise<void> {
  const { gateway } = at
  await story(at)
  const post = async (path: string, body: unknown, by: Person = people.sven) => {
    gateway.clock.advance(1000)
    const answer = await gateway.ask('POST', path, { by, body })
    if (answer.status > 201) throw new Error(answer.text)
    return answer.body
  }
  const count = await post('/api/whms/counts', { slot_codes: ['A-01-01'] })
  const counted = `/api/whms/counts/${count.id}`
  await post(`${counted}/scans`, { slot_code: 'A-01-01', barcodes: ['P-1'] }, people.olga)
  await post(`${counted}/submit`, {}, people.olga)
  await post(`${counted}/approve`, {})
  const kinds = { severity: 'high', category: 'damage' }
  await post('/api/governance/incidents', { ...kinds, title: 'Crushed corner', evidenceReferences: ['event:1'] })
  await post('/api/governance/incidents', { ...kinds, evidenceReferences: ['asset:P-1'] })
  await post('/api/governance/incidents', { ...kinds, title: 'Not this one', evidenceReferences: ['asset:P-2'] })
  await post('/api/governance/incidents/2/resolve', { resolution: 'repacked' })
}

t.test('a pallet shows its incidents with their packages, and the count that found it', inBrowser, async (t) => {
  const at = await place(t)
  await reported(at)
  const { page, faults } = await open(t, browser, `${at.url}find/P-1`, screens.handheld)
  await signIn(page, 'sven')
  const own = page.getByRole('region', { name: 'Incidents about this pallet' })
  await own.getByRole('link', { name: 'Crushed corner' }).waitFor()
  t.same(await own.getByRole('link').allInnerTexts(), ['Incident 2: damage', 'Crushed corner'])
  t.same(await own.locator('li').nth(0).locator('.chip').allInnerTexts(), ['Resolved', 'High', 'damage'])
  t.same(await own.locator('li').nth(1).locator('.chip').allInnerTexts(), ['Open', 'High', 'damage'])
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, 'not sideways')
  t.same(await violations(page), [])
  const [kept] = await Promise.all([
    page.waitForEvent('download'),
    own.getByRole('button', { name: /^Package of evidence ?: Incident 1$/ }).click(),
  ])
  t.match(kept.suggestedFilename(), /incident-1.*\.zip$/)
  await own.getByText('it is among your downloads').waitFor()
  const path = pictureOf('find incidents')
  if (path !== undefined) await page.screenshot({ path, fullPage: true })
  await page.getByRole('link', { name: 'found by count 1' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Count 1' }).waitFor()
  await page.goBack()
  await own.getByRole('link', { name: 'Crushed corner' }).click()
  await page.getByRole('heading', { level: 1, name: 'Crushed corner' }).waitFor()
  t.same(faults, [])
})

t.test(
  'an incident about a pallet is reported from its story, and is there when one comes back',
  inBrowser,
  async (t) => {
    const at = await place(t)
    await story(at)
    const { page, faults } = await open(t, browser, `${at.url}find/P-1`)
    await signIn(page, 'olga')
    await page.getByRole('link', { name: 'Report an incident' }).click()
    await page.locator('#report-category:focus').waitFor()
    const about = await page.getByLabel('References, one a line').inputValue()
    t.match(about, /^asset:P-1\nevent:1\nevent:\d+/)
    // Keys as fast as these would be a scan.
    await page.getByLabel('Category').fill('damage')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Incident 1', exact: true }).waitFor()
    const made = await at.gateway.ask('GET', '/api/governance/incidents/1/package', { by: people.ada })
    t.match(
      made.bytes.toString('latin1'),
      /events\/1\/event-1\.proof\.json/,
      'its moves are in the package, with their photos',
    )
    await page.goto(`${at.url}find/P-1`)
    await page.getByRole('region', { name: 'Incidents about this pallet' }).getByText('Incident 1: damage').waitFor()
    const seen = await open(t, browser, `${at.url}find/P-1`)
    await signIn(seen.page, 'vera')
    await seen.page.getByText(/^In A-01-02 since /).waitFor()
    t.equal(await seen.page.getByRole('link', { name: 'Report an incident' }).count(), 0, 'a viewer reports nothing')
    t.same(faults, [])
  },
)

t.test(
  'a story, the incidents and one of them agree within a second, and ask for nothing in between',
  inBrowser,
  async (t) => {
    const at = await place(t)
    await reported(at)
    const views: LivePage[] = []
    for (const path of ['find/P-1', 'incidents', 'incidents/1']) {
      const { page } = await open(t, browser, `${at.url}${path}`)
      const live = await followed(page)
      await signIn(page, 'sven')
      await page.getByText('Crushed corner').first().waitFor()
      await live.rest((asked) => asked.includes('incidents'))
      views.push(live)
    }
    const agree = async (changes: number) => {
      for (const live of views) await live.hears('incident', changes)
      for (const live of views) await live.goOn(1000)
    }
    const post = async (path: string, body: unknown) => {
      const answer = await at.gateway.ask('POST', `/api/governance/incidents${path}`, { by: people.sven, body })
      t.ok(answer.status <= 201, answer.text)
    }
    await post('/1/investigate', {})
    await agree(1)
    for (const { page } of views) await page.locator('.chip').getByText('Under investigation').waitFor()
    await post('', { severity: 'low', category: 'water', evidenceReferences: ['asset:P-1'] })
    await agree(2)
    for (const { page } of views.slice(0, 2)) await page.getByRole('link', { name: 'Incident 4: water' }).waitFor()
  },
)

t.test('a German operator sees the incidents without packages, and a viewer none', inBrowser, async (t) => {
  const at = await place(t)
  await reported(at)
  const german = await open(t, browser, `${at.url}find/P-1`, { locale: 'de-DE' })
  await signIn(german.page, 'olga')
  const own = german.page.getByRole('region', { name: 'Vorfälle mit dieser Palette' })
  await own.getByRole('link', { name: 'Vorfall 2: damage' }).waitFor()
  t.same(await own.locator('li').nth(1).locator('.chip').allInnerTexts(), ['Offen', 'Hoch', 'damage'])
  t.equal(await own.getByRole('button').count(), 0)
  await german.page.getByRole('link', { name: 'gefunden bei Zählung 1' }).first().waitFor()
  const seen = await open(t, browser, `${at.url}find/P-1`)
  const asked: string[] = []
  seen.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await signIn(seen.page, 'vera')
  await seen.page.getByRole('link', { name: 'found by count 1' }).first().waitFor()
  t.equal(await seen.page.getByText('Crushed corner').count(), 0)
  t.notOk(asked.includes('/api/governance/incidents'), 'what a viewer may not read is not asked for')
  t.same([...german.faults, ...seen.faults], [])
})

/** Two films of one camera, in place of what the gateway answers. */
const twoFilms = {
  ...{ watching: [], gaps: [], reason: null, detail: null },
  clips: [
    { detectionId: 1, cctvId: 7, from: '2026-03-02T07:00:05.000Z', to: '2026-03-02T07:00:25.000Z', url: '/a' },
    { detectionId: 2, cctvId: 7, from: '2026-03-02T07:00:21.000Z', to: '2026-03-02T07:01:02.000Z', url: '/b' },
  ],
}

t.test('two films of one camera are told apart by their times, in the zone of the hall', inBrowser, async (t) => {
  const at = await place(t)
  await story(at)
  for (const [locale, span, other] of [
    ['en-GB', 'camera 7, 08:00:05 to 08:00:25', 'Camera 7, 08:00:21 to 08:01:02: the moment'],
    ['de-DE', 'Kamera 7, 08:00:05 bis 08:00:25', 'Kamera 7, 08:00:21 bis 08:01:02: der Augenblick'],
  ] as const) {
    const { page } = await open(t, browser, at.url, { locale, timezoneId: 'America/New_York' })
    await page.route('**/api/whms/events/*/footage', (route) => route.fulfill({ json: twoFilms }))
    await page.goto(`${at.url}find/P-2`)
    await signIn(page, 'sven')
    const move = page.locator('.move').last()
    await move.getByLabel(span).waitFor()
    await move.getByText(other).waitFor()
  }
})
