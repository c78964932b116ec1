import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, type Place, type place, placeOf, record, signIn } from '../support/browser.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { lookAtPhotos } from '../support/retention.ts'
import { scannerAt } from '../support/scanner.ts'
import { pictureOf, screens, themes } from '../support/screens.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { shown, waiting } from '../support/verifying.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const stateOf = async ({ gateway }: Place, slot: string) =>
  (await gateway.ask('GET', `/api/whms/slots/${slot}`, { by: people.vera })).body

t.test('photo, film and weight are on one screen with the buttons, on every screen', inBrowser, async (t) => {
  const { url } = await waiting(t)
  for (const [screen, context] of Object.entries(screens)) {
    const { page, faults } = await open(t, browser, `${url}verify`, { ...context, reducedMotion: 'reduce' })
    await signIn(page, 'sven')
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      await shown(page, 'A-3')
      const photo = page.locator('.verify-photo > button img')
      await photo.waitFor()
      t.ok(
        await photo.evaluate((image: { decode(): Promise<void>; naturalWidth: number }) =>
          image.decode().then(() => image.naturalWidth > 0),
        ),
      )
      await page.getByText('No camera watches A-3.').waitFor()
      const acts = await page.locator('.verify-acts').boundingBox()
      for (const what of ['.verify-what', '.facts dd >> nth=0']) {
        const box = await page.locator(what).boundingBox()
        t.ok(box && acts && box.y + box.height <= acts.y, `${screen}: ${what} is above the buttons without scrolling`)
      }
      t.match(await page.locator('.verify-side').innerText(), /412\.5 kg/)
      for (const name of ['Verify', 'Dispute', 'Next', 'Previous']) {
        const box = await page.getByRole('button', { name, exact: true }).boundingBox()
        t.ok(box && box.height >= 48 && box.width >= 48, `${screen}: ${name} is a target of 48 px`)
        t.ok(box && box.y + box.height <= context.viewport.height, `${screen}: ${name} needs no scrolling`)
      }
      t.same(await violations(page), [], `${screen}, ${colorScheme}`)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), context.viewport.width)
      const path = pictureOf(`verify ${screen} ${colorScheme}`)
      if (path !== undefined) await page.screenshot({ path })
      t.same(faults, [])
    }
    await page.context().close()
  }
})

t.test(
  'pallet, slot and weight are above the buttons of a handheld in German too, also behind a verdict',
  inBrowser,
  async (t) => {
    const { url } = await waiting(t)
    const { page } = await open(t, browser, `${url}verify`, { ...screens.handheld, locale: 'de-DE' })
    await signIn(page, 'sven')
    for (const slot of ['A-3', 'A-1']) {
      await page.locator('.verify-what').getByRole('link', { name: slot, exact: true }).waitFor()
      await page.locator('.verify-buttons .strong[aria-disabled=false]').waitFor()
      const acts = await page.locator('.verify-acts').boundingBox()
      const weight = await page.locator('.facts dd').first().boundingBox()
      t.ok(weight && acts && weight.y + weight.height <= acts.y, `${slot}: the weight`)
      await page.getByRole('button', { name: 'Geprüft' }).click()
    }
  },
)

t.test('a supervisor goes through the placements with four keys', inBrowser, async (t) => {
  const floor = await waiting(t)
  const { page } = await open(t, browser, `${floor.url}verify`)
  await signIn(page, 'sven')
  await shown(page, 'A-3')
  await page.keyboard.press('j')
  await shown(page, 'A-1')
  await page.keyboard.press('k')
  await shown(page, 'A-3')
  await page.keyboard.press('v')
  await page.getByRole('status').getByText('Verified: P-A-3 in A-3. 2 placements wait').waitFor()
  t.match(await stateOf(floor, 'A-3'), { isVerified: true })
  await shown(page, 'A-1')
  await page.keyboard.press('d')
  const answer = page.getByRole('alert').filter({ hasText: /\S/ }).or(page.getByRole('status').getByText('Disputed'))
  await answer.first().waitFor()
  t.match(await answer.first().innerText(), 'Write what is wrong, then dispute.')
  await page.keyboard.type('jkvd torn wrap')
  await page.keyboard.press('Escape')
  await page.keyboard.press('d')
  await page.getByRole('status').getByText('Disputed: P-A-1 in A-1. 1 placement waits').waitFor()
  t.match(await stateOf(floor, 'A-1'), { isDisputed: true }, 'the keys of a note are no verdict')
  const { body } = await floor.gateway.ask('GET', '/api/whms/events?event_type=DISPUTED', { by: people.vera })
  t.equal(body.data[0].verification_notes, 'jkvd torn wrap')
  await shown(page, 'A-2')
})

t.test(
  'a key that is held gives one verdict, and none is given on a photo that is not there yet',
  inBrowser,
  async (t) => {
    const floor = await waiting(t)
    const { page } = await open(t, browser, `${floor.url}verify`)
    const isLet = Promise.withResolvers<void>()
    const photos = '**/api/whms/evidence/photos/*'
    await page.route(photos, async (route) => {
      await isLet.promise
      await route.continue()
    })
    await signIn(page, 'sven')
    await page.getByRole('region', { name: 'Slot A-3, Pallet P-A-3' }).waitFor()
    const verify = page.getByRole('button', { name: 'Verify', exact: true })
    await page.keyboard.press('v')
    await page.getByRole('alert').getByText('the photo of this placement is not on the screen yet').waitFor()
    await verify.click({ force: true })
    t.match(await stateOf(floor, 'A-3'), { isVerified: false })
    isLet.resolve()
    await shown(page, 'A-3')
    t.equal(await page.getByText('not on the screen yet').count(), 0, 'what was waited for is there')
    // For a key that is already down, Playwright sends a repetition.
    for (let i = 0; i < 3; i += 1) await page.keyboard.down('v')
    await page.getByRole('status').getByText('Verified: P-A-3 in A-3. 2 placements wait').waitFor()
    await shown(page, 'A-1')
    await page.keyboard.down('v')
    await page.keyboard.up('v')
    await page.unroute(photos)
    await page.route(photos, (route) => route.abort())
    await page.keyboard.press('j')
    await page.getByText('The photo could not be loaded.').waitFor()
    await page.keyboard.press('v')
    await page.getByRole('alert').getByText('the photo of this placement is not on the screen yet').waitFor()
    t.match(await stateOf(floor, 'A-2'), { isVerified: false }, 'a photo that did not come was not seen')
    await page.unroute(photos)
    await page.getByRole('button', { name: 'Load the photo again' }).click()
    await page.locator('.verify-photo > button img').waitFor()
    await shown(page, 'A-2')
  },
)

const dayMs = 86_400_000

/** Three placements that wait: the photo of A-3 was removed by retention, that of A-1 is lost, and that of A-2 is there. */
async function withoutPhotos(t: Parameters<typeof place>[0]): Promise<Place> {
  const before = await testGateway({ clock: new SimulatedClock(Date.now()) })
  await furnish(before, ['A-1', 'A-2', 'A-3'])
  const put = async (gateway: TestGateway, slot_code: string, n: number) => {
    const photo_url = await heldPhoto(gateway, n)
    await record(gateway, { event_type: 'PLACED', slot_code, asset_barcode: `P-${slot_code}`, photo_url })
    return photo_url.slice(-64)
  }
  await put(before, 'A-3', 1)
  const gateway = await lookAtPhotos(before, before.clock.now() - 91 * dayMs)
  const lost = await put(gateway, 'A-1', 2)
  rmSync(join(gateway.live.config.dataDir, 'photos', lost.slice(0, 2), `${lost}.png`))
  await put(gateway, 'A-2', 3)
  return placeOf(t, gateway)
}

t.test('a placement whose photo is gone for good is judged by the sentence that says so', inBrowser, async (t) => {
  const floor = await withoutPhotos(t)
  const { page } = await open(t, browser, `${floor.url}verify`)
  const photos = '**/api/whms/evidence/photos/*'
  await page.route(photos, (route) => route.fulfill({ status: 404, body: '<h1>Not found</h1>' }))
  await signIn(page, 'sven')
  await page.locator('.no-photo').getByText('photo').first().waitFor()
  t.match(await page.locator('.no-photo').innerText(), /could not be loaded/, 'the page of a proxy is no answer')
  await page.keyboard.press('v')
  await page.getByRole('alert').getByText('Not recorded').waitFor()
  t.match(await stateOf(floor, 'A-3'), { isVerified: false })
  await page.unroute(photos)
  await page.getByRole('button', { name: 'Load the photo again' }).click()
  const date = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'Europe/Berlin' } as const
  const day = new Intl.DateTimeFormat('en-GB', date).format(Date.now())
  await page.getByText(`removed it on ${day}, `).waitFor()
  await page.getByText('because photos stay here for 90 days after their upload.').waitFor()
  await page.getByText('You can decide without it').waitFor()
  t.same(await violations(page), [])
  await page.keyboard.press('v')
  await page.getByRole('status').getByText('Verified: P-A-3 in A-3. 2 placements wait').waitFor()
  await page.getByText('the gateway does not have its file any more').waitFor()
  await page.getByLabel('Note').fill('wrong slot')
  await page.getByRole('button', { name: 'Dispute' }).click()
  await page.getByRole('status').getByText('Disputed: P-A-1 in A-1. 1 placement waits').waitFor()
  await shown(page, 'A-2')
  await page.goto(`${floor.url}find/P-A-3`)
  await page.locator('.move').getByText('The photo is gone for good.').waitFor()
})

t.test('the floor says why a photo is gone, and when it went, in place of a broken picture', inBrowser, async (t) => {
  const floor = await withoutPhotos(t)
  for (const [locale, photos, removed, lost] of [
    [
      'en-GB',
      'Taken when',
      /^The photo is gone for good\. The gateway removed it on .*\d{4}, .* for 90 days after/,
      'any more',
    ],
    [
      'de-DE',
      'Aufgenommen beim',
      /^Das Foto gibt es nicht mehr\. Das Gateway hat es am .*\d{4}, .* 90 Tage/,
      'nicht mehr. Den Grund',
    ],
  ] as const) {
    const { page } = await open(t, browser, `${floor.url}?slot=3`, { locale })
    await signIn(page, 'olga')
    const panel = page.locator('.slot-panel')
    await panel.getByText(removed).waitFor()
    t.equal(await panel.locator('img').count(), 0, 'no broken picture')
    t.same(await violations(page), [])
    const path = pictureOf(`photo gone ${locale}`)
    if (path !== undefined) await page.screenshot({ path })
    await page.goto(`${floor.url}?slot=1`)
    await panel.getByText(lost).waitFor()
    await page.route('**/api/whms/evidence/photos/*', (route) => route.abort())
    await page.goto(`${floor.url}?slot=2`)
    await panel.getByText(locale === 'en-GB' ? 'could not be loaded' : 'nicht geladen').waitFor()
    await page.unroute('**/api/whms/evidence/photos/*')
    await panel.getByRole('button', { name: /Load the photo|Foto neu laden/ }).click()
    await panel
      .getByRole('img', { name: new RegExp(photos) })
      .first()
      .waitFor()
  }
})

t.test('a pallet that is placed in its slot again is judged by its new photo', inBrowser, async (t) => {
  const floor = await waiting(t)
  const { page } = await open(t, browser, `${floor.url}verify`)
  await signIn(page, 'sven')
  await shown(page, 'A-3')
  const photo = page.locator('.verify-photo > button img')
  const before = await photo.getAttribute('src')
  const where = { slot_code: 'A-3', asset_barcode: 'P-A-3' }
  await record(floor.gateway, { event_type: 'REMOVED', ...where })
  const photo_url = await heldPhoto(floor.gateway, 7)
  await record(floor.gateway, { event_type: 'PLACED', ...where, photo_url })
  await page.getByRole('alert').getByText('This pallet was placed in this slot again.').waitFor()
  for (const slot of ['A-1', 'A-2', 'A-3']) {
    await page.getByRole('button', { name: 'Next' }).click()
    await shown(page, slot)
  }
  t.not(await photo.getAttribute('src'), before)
})

/** Disputes the placement on the screen; the gateway records it, and its answer is lost. */
async function disputeWithoutAnswer(page: Page): Promise<void> {
  await page.getByLabel('Note').fill('torn wrap')
  await page.route('**/api/whms/events', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Dispute' }).click()
  await page
    .getByRole('alert')
    .getByText(/Not recorded/)
    .waitFor()
  await page.unroute('**/api/whms/events')
}

t.test('a verdict whose answer got lost is recorded once, however often it is sent', inBrowser, async (t) => {
  const floor = await waiting(t)
  // The requested placement stays on the screen until its verdict was answered.
  const { page } = await open(t, browser, `${floor.url}verify?slot=3`)
  await signIn(page, 'sven')
  await shown(page, 'A-3')
  await disputeWithoutAnswer(page)
  // A verdict on another one comes in between.
  await page.getByRole('button', { name: 'Next' }).click()
  await shown(page, 'A-1')
  await page.keyboard.press('v')
  await page.getByRole('status').getByText('Verified: P-A-1 in A-1.').waitFor()
  await shown(page, 'A-2')
  await page.getByRole('button', { name: 'Previous' }).click()
  await shown(page, 'A-3')
  await page.getByRole('button', { name: 'Dispute' }).click()
  await page.getByRole('status').getByText('Disputed: P-A-3 in A-3.').waitFor()
  const { body } = await floor.gateway.ask('GET', '/api/whms/events?event_type=DISPUTED', { by: people.vera })
  t.equal(body.data.length, 1)
})

t.test('a verdict on a pallet that was placed in its slot again is another one', inBrowser, async (t) => {
  const floor = await waiting(t)
  const { page } = await open(t, browser, `${floor.url}verify?slot=3`)
  await signIn(page, 'sven')
  await shown(page, 'A-3')
  await disputeWithoutAnswer(page)
  const before = (await page.locator('.verify-photo > button img').getAttribute('src')) ?? ''
  const where = { slot_code: 'A-3', asset_barcode: 'P-A-3' }
  await record(floor.gateway, { event_type: 'REMOVED', ...where })
  await record(floor.gateway, { event_type: 'PLACED', ...where, photo_url: await heldPhoto(floor.gateway, 7) })
  await page.getByRole('button', { name: 'Show this slot now' }).click()
  await page.locator(`.verify-photo > button img:not([src="${before}"])`).waitFor()
  await shown(page, 'A-3')
  t.equal(await page.getByLabel('Note').inputValue(), 'torn wrap')
  await page.getByRole('button', { name: 'Dispute' }).click()
  await page.getByRole('status').getByText('Disputed: P-A-3 in A-3.').waitFor()
  const { body } = await floor.gateway.ask('GET', '/api/whms/events?event_type=DISPUTED', { by: people.vera })
  t.equal(body.data.length, 2)
})

t.test(
  'a refusal keeps what was typed, and what another one verified leaves the queue by itself',
  inBrowser,
  async (t) => {
    const floor = await waiting(t)
    const { page } = await open(t, browser, `${floor.url}verify?slot=1`)
    await signIn(page, 'sven')
    await shown(page, 'A-1')
    await page.getByLabel('Note').fill('two labels')
    await page.route('**/api/whms/events', (route) => route.abort())
    await page.getByRole('button', { name: 'Dispute' }).click()
    await page
      .getByRole('alert')
      .getByText(/Not recorded: .* Your input is still here/)
      .waitFor()
    t.equal(await page.getByLabel('Note').inputValue(), 'two labels', 'inputValue after a refusal')
    await page.unroute('**/api/whms/events')
    await record(floor.gateway, { event_type: 'VERIFIED', slot_code: 'A-2', asset_barcode: 'P-A-2' }, people.sven)
    await page.getByText('2 placements wait').waitFor()
    t.equal(await page.getByLabel('Note').inputValue(), 'two labels', 'a change elsewhere takes nothing away')
    await page.getByRole('button', { name: 'Dispute' }).click()
    await page.getByText('1 placement waits').waitFor()
    await page.getByRole('button', { name: 'Verify', exact: true }).click()
    await page.getByText('Every placement is verified or disputed.').waitFor()
    t.same(await violations(page), [], 'nothing is left')
  },
)

t.test('who has to sign in again goes on with what was typed', inBrowser, async (t) => {
  const floor = await waiting(t)
  const { page } = await open(t, browser, `${floor.url}verify`)
  await signIn(page, 'sven')
  await shown(page, 'A-3')
  await page.getByLabel('Note').fill('torn wrap')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Dispute' }).click()
  const again = page.getByRole('dialog', { name: 'Sign in' })
  await again.getByText('You were signed out. Sign in again to go on.').waitFor()
  t.same(await violations(page), [], 'the sign-in over the view')
  t.equal(await again.getByLabel('Language').count(), 0, 'nothing in it loads the page again')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await signIn(page, 'sven')
  await again.waitFor({ state: 'detached' })
  t.equal(await page.getByLabel('Note').inputValue(), 'torn wrap')
  t.match(await page.locator(':focus').innerText(), /Dispute/, 'the focus is where it was')
  await page.getByRole('button', { name: 'Dispute' }).click()
  await page.getByRole('status').getByText('Disputed: P-A-3 in A-3. 2 placements wait').waitFor()
  await page.context().clearCookies()
  await page.getByLabel('Note').fill('for somebody else')
  await page.getByRole('button', { name: 'Dispute' }).click()
  await signIn(page, 'ada')
  await again.waitFor({ state: 'detached' })
  await page.locator('.bar > .who').getByText('ada', { exact: true }).waitFor()
  t.equal(await page.getByLabel('Note').inputValue(), '', 'another person begins anew')
})

t.test('a scan leaves a note that is not sent where it is, and offers what it found', inBrowser, async (t) => {
  const floor = await waiting(t)
  const { page, faults } = await open(t, browser, `${floor.url}todo`)
  await signIn(page, 'sven')
  await page.getByRole('link', { name: 'Verify', exact: true }).first().click()
  await shown(page, 'A-3')
  const asked: string[] = []
  let isAgreed = false
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    return isAgreed ? dialog.accept() : dialog.dismiss()
  })
  const note = page.getByLabel('Note')
  await note.fill('torn wrap')
  await (await scannerAt(page)).scan('P-A-1', { ends: ['Enter', 'Enter'] })
  const offered = page.getByRole('status').getByRole('link', { name: 'Open P-A-1' })
  await offered.waitFor()
  t.equal(await note.inputValue(), 'torn wrap')
  t.same(asked, [], 'a scan asks nothing')
  const question = page.waitForEvent('dialog')
  await page.evaluate('history.back()')
  await question
  await page.waitForURL('**/verify')
  await offered.click()
  t.equal(await note.inputValue(), 'torn wrap', 'neither the back button nor the link takes it unasked')
  t.same(asked, Array(2).fill('Your input is not sent and would be lost. Go on?'))
  isAgreed = true
  await page.evaluate('history.back()')
  await page.getByRole('heading', { level: 1, name: 'To do' }).waitFor()
  t.match(page.url(), /\/todo$/)
  t.equal(asked.length, 3)
  t.same(faults, [])
})

t.test('a reason that is not sent is kept at a scan, and what is sent asks nothing', inBrowser, async (t) => {
  const floor = await waiting(t)
  const { page } = await open(t, browser, `${floor.url}incidents`)
  await signIn(page, 'sven')
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    return dialog.dismiss()
  })
  await page.getByLabel('Category').fill('damage')
  const title = page.getByLabel('Title')
  await title.fill('Torn')
  const scanner = await scannerAt(page)
  await scanner.scan('P-A-1')
  await page.getByRole('status').getByRole('link', { name: 'Open P-A-1' }).waitFor()
  t.equal(await title.inputValue(), 'Torn')
  await page.getByRole('button', { name: 'Report it' }).click()
  await page.getByRole('heading', { level: 1, name: 'Torn' }).waitFor()
  const resolution = page.getByLabel('What is the result?')
  await resolution.fill('wrapped anew')
  await scanner.scan('P-A-2')
  await page.getByRole('status').getByRole('link', { name: 'Open P-A-2' }).waitFor()
  t.equal(await resolution.inputValue(), 'wrapped anew')
  await resolution.fill('')
  await scanner.scan('P-A-2')
  await page.getByRole('heading', { level: 1, name: 'P-A-2' }).waitFor()
  t.same(asked, [])
})
